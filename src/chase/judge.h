/* SPDX-License-Identifier: MIT */
/*
 * What an execution was: which blocks it has split, whether that mattered, and what other orders of it could split.
 *
 * A finding counts if the run itself went along its path (causal; also where only locks make the path, since two blocks
 * may split each other by two variables) and no serial order explains what was read, or what was left in memory
 * (nonatomic: "value", "final"). A cycle that a serial order would explain does not count, and neither does what was
 * not decided.
 *
 * Of a program that tells of its locks alone, a finding counts if the run itself went along its path by one lock, and
 * sidetrack would show it: the split happened, whatever it does to the data. Other orders are those that sidetrack
 * suspects.
 */
#ifndef FISSION_CHASE_JUDGE_H
#define FISSION_CHASE_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "finding/finding.h"
#include "predict/candidate.h"
#include "predict/whole.h"
#include "predict/wide.h"

struct arena;
struct execution;
struct policy;

struct judged {
	struct execution *execution;
	struct whole whole;
	struct findings findings;
	struct candidates candidates;
	struct wides wides;
	struct findings windows; /* at lock level: what other orders could split */
	uint64_t variables;
	uint64_t fast; /* findings that count by the fast conditions alone */
	uint32_t *occurrence; /* by event: of its thread's operations of that kind at that place, from 1 */
};

/* Everything lives in the execution's arena. */
void judge(struct judged *j, struct execution *x, const struct policy *policy);

/* Makes `occurrence` of a trace that came from elsewhere: `whole` and the execution's tables are all that it needs. */
void judged_count(struct judged *j, struct arena *a);

/* Whether the finding counts. */
bool judged_counts(const struct judged *j, const struct finding *f);

/* The finding that counts and has that id; NULL: none. */
const struct finding *judged_find(const struct judged *j, uint64_t id);

/* The event of one of the finding's three operations, by its index; SIZE_MAX if there is none. See MARK_FIRST. */
size_t judged_event(const struct judged *j, const struct finding *f, int mark);

/* The number of a thread by creation; 0: it is of another process. */
uint32_t judged_thread(const struct judged *j, thread_id t);

#endif
