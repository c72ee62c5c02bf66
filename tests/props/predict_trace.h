/* SPDX-License-Identifier: MIT */
/* Small random traces with values, as a whole, and triples of accesses in them: for the tests of predictions. */
#ifndef FISSION_TESTS_PROPS_PREDICT_TRACE_H
#define FISSION_TESTS_PROPS_PREDICT_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "event/tables.h"
#include "predict/candidate.h"
#include "predict/whole.h"

struct rng;

struct predict_trace {
	struct tables tables;
	struct whole whole;
};

/* The same seed makes the same trace everywhere. */
void predict_trace_make(struct predict_trace *t, struct arena *a, uint64_t seed);

/* Draws three accesses with a pattern of candidate.h, no more; false if that did not succeed. */
bool predict_trace_triple(const struct predict_trace *t, struct rng *rng, struct instance *to);

/* As text, on standard output. */
void predict_trace_print(const struct predict_trace *t);

#endif
