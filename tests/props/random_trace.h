/* SPDX-License-Identifier: MIT */
/*
 * Small random traces, well-formed, as a reader would hand them out: the same seed makes the same
 * trace everywhere.
 *
 * Every event has a place of its own and every function and block a name of its own, so that no two
 * findings of one trace are ever taken for one. Each trace draws its own share of threads,
 * variables, locks and of the rarer kinds of events; threads and objects are few, so that conflicts
 * are frequent and more than a third of the traces are not serializable.
 */
#ifndef FISSION_TESTS_PROPS_RANDOM_TRACE_H
#define FISSION_TESTS_PROPS_RANDOM_TRACE_H

#include <stddef.h>
#include <stdint.h>

struct event;
struct tables;

/* No trace has more events. */
enum { RANDOM_TRACE_MOST = 40 };

/* Fills `events`, which has room for RANDOM_TRACE_MOST, and the fresh tables; returns how many. */
size_t random_trace(uint64_t seed, struct tables *tables, struct event *events);

#endif
