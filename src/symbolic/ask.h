/* SPDX-License-Identifier: MIT */
/*
 * Asking fission-solve: a process for a handful of questions about one walk. It is given a time; when that is over, or
 * when it falls over, what it has answered so far is what is known.
 */
#ifndef FISSION_SYMBOLIC_ASK_H
#define FISSION_SYMBOLIC_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolic/change.h"

struct arena;
struct walk;

enum ask_answer { ASK_UNKNOWN, ASK_UNSAT, ASK_SAT };

/* A question and, afterwards, its answer. */
struct ask {
	size_t condition; /* of the walk: this is to be decided otherwise; SIZE_MAX: the list ends here */
	bool valued;      /* namely with this value */
	uint64_t value;
	enum ask_answer answer;
	struct changes changes; /* ASK_SAT */
};

struct ask_setup {
	const char *solver; /* the program */
	int walk;           /* the file, which the other process opens by way of /proc */
	unsigned each;      /* milliseconds for a question, of a machine that does nothing else */
};

/* False if there was nobody to ask. */
bool ask_all(const struct ask_setup *setup, const struct walk *w, struct ask *ask, struct arena *a);

#endif
