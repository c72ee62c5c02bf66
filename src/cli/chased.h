/* SPDX-License-Identifier: MIT */
/* What a search has reproduced, as a trace of a report: what `chase` and `pairs` have in common. */
#ifndef FISSION_CLI_CHASED_H
#define FISSION_CLI_CHASED_H

#include <stddef.h>

struct arena;
struct chase;
struct report_trace;

/*
 * A trace for each execution that something was reproduced in; `to` has room for as many as there are hits. Of the
 * executions' findings only those stay that were reproduced, and as such. Returns how many traces these are.
 */
size_t chased_traces(const struct chase *c, struct arena *a, struct report_trace *to);

#endif
