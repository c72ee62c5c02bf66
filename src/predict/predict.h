/* SPDX-License-Identifier: MIT */
/*
 * From candidates to plans: other orders of a trace in which a block is split. 002 section II-B, with what its Figure 3
 * means instead of what it says (docs/predict.md).
 *
 * Three tiers, cheapest first; an instance is tried by each before the next one is:
 *
 *   A   every read but e2 and e3 sees the write that it saw     saturation (closure.h), then greedily (linear.h)
 *   B   every read sees the value that it saw                   SAT, with the order as variables (encode.h)
 *   C   reads see whatever there is                             as A; only an execution can tell
 *
 * A plan of A or B counts only if `witness`, which has no code in common with any of this, agrees. What the witness
 * refutes is a mistake of ours, is counted, and is no plan.
 *
 * Candidates are solved side by side; the answer to each depends on nothing but the trace and the settings.
 */
#ifndef FISSION_PREDICT_PREDICT_H
#define FISSION_PREDICT_PREDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "predict/candidate.h"
#include "predict/ideal.h"
#include "predict/whole.h"
#include "predict/witness.h"

struct order;

struct predict_setup {
	enum tier tier;    /* up to which */
	uint32_t window;   /* events that are reordered; 0: all */
	uint32_t budget;   /* of tier B: conflicts of the solver for an instance */
	uint32_t instances; /* how many of a candidate are tried; 0: all that it has */
	unsigned jobs;     /* threads; 0: as many as there are cores */
};

enum { PREDICT_WINDOW = 10000, PREDICT_BUDGET = 2000 };

/* What becomes of a candidate. */
struct prediction {
	const struct candidate *candidate;
	const struct instance *instance; /* NULL: there is no plan */
	enum tier tier;
	uint32_t start;       /* steps 0 to this - 1 come first, as they did */
	const uint32_t *step; /* then these */
	uint32_t steps;
	bool undecided;       /* no plan, but the budget of tier B ran out on the way */
	const char *refuted;  /* the witness's word against a plan that was made; NULL: none */
};

struct predictions {
	struct prediction *at; /* by candidate */
	size_t count;
	uint64_t found[TIERS];
	uint64_t undecided, refuted, without;
};

/* All of them, in the arena. */
struct predictions predict_all(const struct whole *w, const struct candidates *c, const struct predict_setup *setup,
	struct arena *a);

/* One instance by one tier: the steps, or NULL. `undecided` is set if tier B gave up. For tests and benchmarks. */
struct predict_try {
	const struct whole *w;
	const struct instance *at;
	enum tier tier;
	uint32_t window, budget;
};

bool predict_one(const struct predict_try *t, struct arena *a, struct prediction *to, bool *undecided);

/* The witness's word on a plan of tier A or B: NULL if it agrees. */
const char *predict_check(const struct witness *w, const struct whole *of, const struct prediction *p, struct arena *a);

#endif
