/* SPDX-License-Identifier: MIT */
/*
 * What the user has written down, as lists of patterns in the order of writing, one list a kind of statement.
 *
 * config.c fills them from a configuration file, comments.c from the comments of a source; policy.c answers from them.
 * Patterns are copied. Cost of a question: linear in its list; names are asked about once each.
 */
#ifndef FISSION_POLICY_RULES_H
#define FISSION_POLICY_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"

struct arena;

enum rule_kind {
	RULE_ATOMIC,   /* functions: declared atomic */
	RULE_EXPORTED, /* functions: they have external linkage */
	RULE_ASSUME_ATOMIC,
	RULE_ASSUME_MOVER,
	RULE_GUARDED,  /* variables: no races, whatever it looks like */
	RULE_NO_WARN,  /* files, with a line */
	RULE_FOREIGN,  /* files, modules, functions: not the project's */
	RULE_FUNCTION, /* watched or not */
	RULE_FILE,     /* the same */
	RULE_VARIABLE, /* the same */
	RULE_LOCK,     /* functions: they take a lock; the rule of the same number in RULE_UNLOCK is the other side */
	RULE_UNLOCK,
	RULE_LEFT,     /* functions: they have left the policy */
	RULE_KINDS
};

struct rule {
	struct text pattern;
	uint64_t line; /* RULE_NO_WARN */
	bool watch;    /* RULE_FUNCTION, RULE_FILE, RULE_VARIABLE: watch, or ignore */
};

struct rule_list {
	struct rule *at;
	size_t count, capacity;
};

struct rules {
	struct arena *arena;
	struct rule_list list[RULE_KINDS];
	uint64_t cutoff; /* of arrays; 0: none */
};

void rules_init(struct rules *r, struct arena *a);
void rules_add(struct rules *r, enum rule_kind kind, struct rule rule);

typedef bool rule_match(struct text pattern, struct text name);

/* The latest rule of the kind that matches the name, or NULL. */
const struct rule *rules_find(const struct rules *r, enum rule_kind kind, struct text name, rule_match *match);

/* What watch and ignore lines say: the latest that matches decides; if none does, whether there is no watch line. */
bool rules_watch(const struct rules *r, enum rule_kind kind, struct text name, rule_match *match);

#endif
