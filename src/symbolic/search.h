/* SPDX-License-Identifier: MIT */
/*
 * The search for inputs: from the walks of executions, decisions that could be made otherwise; from a solver, inputs
 * with which they are. 002's concolic half, behind the seam of chase/steer.h.
 *
 * Each walk gives questions: a decision on inputs, to be made otherwise, with all before it that shares inputs with it
 * as it was. No question is asked twice (slice.h); its answer is kept, and put together with the other inputs of
 * whatever run it comes up in again. What is answered waits for its turn, best first:
 *
 *	0  decisions of the thread that did not come to its milestone, or that somebody has asked for (search_want());
 *	   the plan is tried again with them
 *	1  ways that no execution has gone yet
 *	2  all others: one more turn of a loop, the same way by another thread
 *
 * What is behind ways that no execution has gone is looked at by fission-speculate (supposed.h): those behind which a
 * block could be split are asked for. It is asked about the first walk, and about some of those that went new ways.
 *
 * Of one walk so many questions are asked at most, those of the last decisions first. One that has left some is
 * executed again when nothing else is left. The search ends when all is asked, or when many executions in a row have
 * gone no new way and have brought the other half nothing.
 *
 * Who: the main thread of the tool. Cost: a process of the solver for each walk that has new questions.
 */
#ifndef FISSION_SYMBOLIC_SEARCH_H
#define FISSION_SYMBOLIC_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "chase/steer.h"
#include "event/walk.h"

struct str;

enum search_class { SEARCH_AIMED, SEARCH_NEW_WAY, SEARCH_OTHER, SEARCH_CLASSES };

/* Tries that wait, oldest first. */
struct search_queue {
	struct steer_try *at;
	size_t count, next, room;
};

/* What a question was answered: values of inputs, which are known by their hash. */
struct search_answer {
	struct search_value {
		uint64_t input, value;
	} *at;
	size_t count; /* 0: there is no other way */
};

/* Programs, by their paths. */
struct search_setup {
	const char *solver;     /* fission-solve */
	const char *speculator; /* fission-speculate, which says what ways are worth going; may not be there */
	const char *program;    /* that is chased */
};

struct search {
	struct arena arena;
	struct search_setup setup;
	int walk;           /* the file of the last execution; -1: none */
	char path[64];
	bool off;           /* the program was not built for it */
	struct map asked;   /* question to its number in answer + 1 */
	struct search_answer *answer;
	size_t answers, answer_room;
	struct map gone, tried, wanted;
	struct search_queue queue[SEARCH_CLASSES];
	struct search_queue unfinished; /* executions whose walks have more to ask */
	unsigned dull;      /* executions in a row that brought nothing */
	unsigned speculations; /* how often the speculator was asked */
	uint64_t wants;     /* ways that it has named */
	uint64_t walks, questions, answered, impossible, given_up, executions;
	uint64_t unwritable; /* answers of which no inputs could be made */
	uint64_t lost[WALK_LOST_REASONS]; /* of the walk that has lost most */
	bool full;          /* a walk was longer than there was room for */
	bool trying;        /* the execution at hand is one that was asked for here */
};

void search_init(struct search *s, const struct search_setup *setup);
void search_free(struct search *s);

struct steer search_steer(struct search *s);

/* The decision of that unit and ordinal is to be made so (a of WALK_BRANCH): a way that somebody would like to see. */
void search_want(struct search *s, uint64_t unit, uint32_t ordinal, uint64_t value);

/*
 * In a line, without its end: what was asked, and what could not be followed. Nothing if the program is not built for
 * it.
 */
void search_tell(const struct search *s, struct str *to);

#endif
