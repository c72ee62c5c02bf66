/* SPDX-License-Identifier: MIT */
/*
 * The suppression file: findings that somebody has looked at and accepts. docs/suppress.md is the definition.
 *
 *   atomicity:withdraw reason="see #812" owner=ana expires=2027-06-30
 *
 * One line each: a kind, a colon, a pattern (pattern.h), then attributes. `lock:LOCK,UNLOCK` lines teach home-made
 * locks, as in a configuration. This file knows lines and names; which names of a finding a kind looks at is decided
 * where everything is that hides findings, in report/hide.c.
 *
 * False with a fault, always STATUS_CONFIG: nobody may take a run for clean because its suppressions were not read. A
 * mistake in the file has its place and the remedy. What was read before it stays.
 */
#ifndef FISSION_POLICY_SUPPRESSIONS_H
#define FISSION_POLICY_SUPPRESSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"
#include "policy/date.h"

struct arena;
struct fault;
struct rules;
struct str;

enum suppression_kind {
	SUPPRESS_FUNCTION,
	SUPPRESS_VARIABLE,
	SUPPRESS_LOCK,
	SUPPRESS_FILE,
	SUPPRESS_ID,
	SUPPRESSION_KINDS
};

/* "atomicity", "atomicity_var", ...; and what `fission suppress --by` calls them: "function", "variable", ... */
extern const char *const suppression_word[SUPPRESSION_KINDS], *const suppression_by[SUPPRESSION_KINDS];

struct suppression {
	enum suppression_kind kind;
	struct text pattern;
	struct text reason, owner; /* empty: not given */
	date expires;              /* the last day on which it holds; 0: it always does */
	struct text place;         /* "fission.supp:12" */
	bool expired;
	uint64_t used; /* findings that it matches, counted by whoever asks */
};

struct suppressions {
	struct arena *arena;
	struct rules *rules; /* where the locks go; NULL: nowhere */
	date today;
	struct suppression *at;
	size_t count, capacity;
};

void suppressions_init(struct suppressions *s, struct arena *a, struct rules *rules, date today);

/* Adds what the file says; several may be read. */
bool suppressions_read(struct suppressions *s, const char *path, struct fault *fault);

/* The same of a text in memory. */
bool suppressions_take(struct suppressions *s, struct text text, struct fault *fault);

/* Whether the pattern of that kind of line matches the name. */
bool suppression_matches(const struct suppression *s, struct text name);

/* Appends the line, which says the same when it is read. The texts must have no control characters. */
void suppression_write(struct str *to, const struct suppression *s);

/*
 * The pattern that matches this name and can stand in a line: what would end the word is matched by '?'. Owned by the
 * arena.
 */
struct text suppression_pattern(struct arena *a, struct text name);

enum { ID_DIGITS = 8, ID_DIGITS_LEAST = 4 };

/* Whether the text is an id, "fsn-" and 8 hexadecimal digits, or the start of one with at least `least`. */
bool id_is_good(struct text id, size_t least);

#endif
