/* SPDX-License-Identifier: MIT */
/* What a search has found, as a report takes it. */
#ifndef FISSION_CHASE_TELL_H
#define FISSION_CHASE_TELL_H

#include <stddef.h>

#include "finding/finding.h"

struct arena;
struct chase;
struct report;
struct report_trace;

/* What is said of all executions together: of no execution's tables. */
struct chase_told {
	struct tables tables;
	struct findings findings;
};

/*
 * Sets the report's traces, one for all executions together and one for each that something was reproduced in, best
 * rank first, and its failures. Findings that were not reproduced are dropped from their executions.
 */
void chase_tell(struct chase *c, struct chase_told *told, struct report *r, struct arena *a);

/*
 * A trace for each execution that something was reproduced in; `to` has room for as many as there are hits. Of the
 * executions' findings only those stay that were reproduced, and as such. Returns how many traces these are.
 */
size_t chase_traces(const struct chase *c, struct report_trace *to, struct arena *a);

#endif
