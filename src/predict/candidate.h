/* SPDX-License-Identifier: MIT */
/*
 * Three accesses that would split a block: candidates for another order of the trace (002, section II).
 *
 * A candidate is three places: s1 and s3 in one activation that is expected to be atomic, s2 in another thread, all on
 * one location. It has instances: the events of the trace that were there, nearest to each other first.
 *
 * - The block is the innermost one that holds both, by the policy, as for causal: never main or a start routine, and
 *   nothing is held across fork, join, barrier and wait unless the trace itself declares the block.
 * - The pattern is one of the four that no serial order explains, R-W-R, W-W-R, R-W-W, W-R-W, where a read-modify-write
 *   is both. W-W-W is none: e2 before the block leaves the same.
 * - Left out, and counted: what cannot be, because one lock is held from e1 to e3 and at e2, or because fork, join or a
 *   barrier orders e2 before or behind both.
 *
 * In the order of what matters most: by rank, as far as places and kinds tell it, then the pattern, then nearness.
 *
 * Cost: a look at the last LOOK_BACK accesses of the location for each access in a block, at LOOK_AROUND for each pair
 * that is new; so what lies further apart on a busy location is not seen.
 */
#ifndef FISSION_PREDICT_CANDIDATE_H
#define FISSION_PREDICT_CANDIDATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "check/check.h"
#include "finding/finding.h"
#include "predict/must.h"
#include "predict/whole.h"

struct policy;

enum { INSTANCES_MOST = 8, LOOK_BACK = 64, LOOK_AROUND = 256 };

/* One way in which it may come: steps of the trace. */
struct instance {
	uint32_t first, culprit, second;
	uint32_t loc;
	uint32_t distance; /* steps between the culprit and the window; 0: inside of it */
	struct block block;
};

enum candidate_pattern { PATTERN_RWW, PATTERN_RWR, PATTERN_WWR, PATTERN_WRW, PATTERNS };

extern const char *const pattern_text[PATTERNS];

struct candidate {
	site_id first, culprit, second;
	uint8_t pattern; /* enum candidate_pattern */
	uint32_t facts;  /* enum rank_fact, as far as they are known */
	struct instance instance[INSTANCES_MOST]; /* nearest first */
	uint32_t instances;
	uint64_t number; /* in the order in which they were met */
};

/* Why something is no candidate although it has the pattern. */
enum exclusion { EXCLUDED_LOCK, EXCLUDED_ORDER, EXCLUSIONS };

extern const char *const exclusion_text[EXCLUSIONS];

struct candidates {
	struct candidate *at;
	size_t count;
	uint64_t excluded[EXCLUSIONS]; /* triples of places */
};

/* Whether a lock is held from e1 to e3 and at e2, not on the shared side at both. */
bool candidate_is_locked(const struct whole *w, const struct instance *i);

/*
 * Candidates need to know which blocks were open, and so are found by a check that goes with others through a run. It
 * reports nothing. Before the first event it is told of the trace, by candidates_of(run, w), and the run must be given
 * w->event as they are.
 */
extern const struct check check_candidates;

void candidates_of(struct run *run, const struct whole *w);

/* After the last event. They live in the arena. */
struct candidates candidates_found(struct run *run, struct arena *a);

/* All of it at once: a run with this check alone. The policy may be NULL: the default one. */
struct candidates candidates_in(const struct whole *w, const struct policy *policy, struct arena *a);

/* The whole trace through a run: false, with nothing of it missing before that, at an event that breaks a rule. */
bool candidates_feed(struct run *run, const struct whole *w);

/* The step of the trace as a finding has it. */
struct access step_access(const struct whole *w, uint32_t step);

/* The same of one location, by its name, if it has one; otherwise by its address. */
struct access candidate_access(const struct whole *w, uint32_t step, uint32_t loc);

/* An instance as a finding: with block, path (of two links, which the caller provides) and facts. */
struct finding candidate_finding(const struct whole *w, const struct candidate *c, const struct instance *i,
	struct link path[2]);

#endif
