/* SPDX-License-Identifier: MIT */
/*
 * What fission-speculate says of a program and a walk of it: candidates from branches that were not taken. It is a
 * process of its own, with LLVM in it; whatever becomes of it, here it has found something or nothing.
 *
 * A candidate is `suspected` and no more: it needs a branch to go the other way, which it may never do.
 */
#ifndef FISSION_SYMBOLIC_SUPPOSED_H
#define FISSION_SYMBOLIC_SUPPOSED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"

struct arena;
struct fault;

/* One of the three accesses. */
struct supposed_access {
	const char *operation, *where, *function;
	const char *locks; /* that its thread holds, with commas; "" if there are none */
	uint64_t thread;
	bool supposed;     /* it is on the way that was not taken */
};

/* The branch that has to go the other way. */
struct supposed_branch {
	const char *where, *function;
	uint64_t unit;     /* hash of its bitcode */
	uint64_t thread;
	uint32_t ordinal, edge;
	uint64_t value;    /* of the decision, as a walk would tell it (a of WALK_BRANCH or WALK_SWITCH), if: */
	bool valued;       /* there is one; the default of a switch has none */
};

struct supposed_candidate {
	const char *kind, *why, *variable;
	unsigned rank; /* 1 is best, 4 worst */
	struct supposed_branch needs;
	struct supposed_access access[3];
	uint64_t more;  /* others of this branch and variable */
	uint64_t group; /* the same number for all of one function and variable */
};

/* A name and a number: the rungs and the limits. */
struct supposed_count {
	const char *name;
	uint64_t count;
};

struct supposed {
	struct supposed_candidate *at;
	size_t count;
	struct supposed_count *rung, *limit;
	size_t rungs, limits;
	struct text json; /* all of it, as it was said */
};

struct supposed_setup {
	const char *helper;  /* the path of fission-speculate */
	const char *program, *walk; /* paths */
	unsigned milliseconds;      /* for all of it */
};

/* False with a fault if it cannot be run, says nothing in time, or says what is no answer. */
bool supposed_ask(struct supposed *s, const struct supposed_setup *setup, struct arena *a, struct fault *fault);

#endif
