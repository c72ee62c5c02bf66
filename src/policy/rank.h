/* SPDX-License-Identifier: MIT */
/*
 * How much a finding matters: rank 1 (act on it) to 4, and the reasons in words.
 *
 * The verdict says how sure we are that the code is not atomic; the rank how likely that is a mistake. It is decided
 * from facts about the finding, one bit each, by a table of rules. The first rule of the table whose facts hold
 * decides; the others that hold are further reasons. What is not known is no fact: a rule that hides or demotes needs
 * to know, and a finding about which nothing is known is of rank 2 or 3. docs/checks.md has the table.
 */
#ifndef FISSION_POLICY_RANK_H
#define FISSION_POLICY_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A window is what lies between the block's two ends. The section of an end is its code from taking the lock that is
 * free somewhere in the window to giving it back; an end that holds no such lock is a section by itself.
 */
enum rank_fact {
	FACT_DECLARED = 1 << 0,
	FACT_DATA = 1 << 1,       /* the culprit's accesses conflict with both sections' */
	FACT_REACQUIRE = 1 << 2,  /* the second section begins with the end of a condition wait */
	FACT_SAME_SITE = 1 << 3,  /* both sections begin at one place, reached by the same calls */
	FACT_BACKWARD = 1 << 4,   /* the second section stands before the first in the source */
	FACT_START = 1 << 5,      /* the block is a thread's start routine or main */
	FACT_FOREIGN = 1 << 6,    /* the block is not the project's own code */
	FACT_POINTER = 1 << 7,    /* the second section uses an object by a pointer that the first has loaded */
	FACT_VALUE = 1 << 8,      /* the second section writes a value that the first has read, and that has changed */
	FACT_UPDATE = 1 << 9,     /* the second section overwrites unread what the first has read, and that has changed */
	FACT_CYCLIC = 1 << 10,    /* the block has same-site or backward windows on the same lock or variable, too */
	FACT_WAIT = 1 << 11,      /* a condition wait inside the window */
	FACT_BEFORE = 1 << 12,    /* nobody but sidetrack says it, and only by BEFORE */
	FACT_OTHER_LOCK = 1 << 13, /* the block's thread holds another lock throughout the window */
	FACT_COMMUTES = 1 << 14,  /* all that conflicts is only added to, each time whole under one lock */
	FACT_DIRECT = 1 << 15,    /* both sections are the block's own code */
	FACT_APART = 1 << 16,     /* no memory of the culprit's section conflicts with both sections */
	FACT_CALLEES = 1 << 17,   /* the sections are in two calls that the block makes */
	FACT_SCATTERED = 1 << 18, /* the sections only read, no variable in both; theirs are kept apart elsewhere, too */
	FACT_REPRODUCED = 1 << 19, /* it was made to happen, twice, and no serial order explains the values */
	FACT_HARM = 1 << 20,      /* and the program crashed, or did what it does in no serial order */
	FACT_WAITER = 1 << 21,    /* a condition wait in the block's function, or in what it calls, wherever */
};

/* What every rule that hides looks at. */
enum { FACTS_HIDING = FACT_REACQUIRE | FACT_SAME_SITE | FACT_BACKWARD | FACT_START | FACT_FOREIGN };

/* What speaks of a loop: each round is meant to be atomic, the rounds together are not. */
enum { FACTS_LOOP = FACT_SAME_SITE | FACT_BACKWARD };

enum rank_act { RANK_PROMOTE, RANK_HIDE, RANK_DEMOTE };

struct rank_rule {
	const char *name;
	uint32_t facts;  /* all of them must hold */
	uint32_t unless; /* and none of these */
	enum rank_act act;
	unsigned rank;   /* what it makes of the finding: 1 to 3; 4 for what hides or demotes */
	const char *why; /* in words, for the report */
};

/* In the order of precedence; the last one holds always. */
extern const struct rank_rule rank_rules[];
extern const size_t rank_rule_count;

struct rank {
	unsigned rank; /* 1 to 4 */
	bool hidden;
};

struct rank rank_judge(uint32_t facts);

/* The rule that decides. */
const struct rank_rule *rank_rule(uint32_t facts);

/*
 * The rules that hold, the one that decides first: called with *at = 0, and again until it is NULL. The rule that
 * holds always is among them only if it decides.
 */
const struct rank_rule *rank_next_reason(uint32_t facts, size_t *at);

#endif
