/* SPDX-License-Identifier: MIT */
/*
 * Random tables and events for tests of the trace files: everything that a file can hold, of every
 * kind and with every flag, with names that are hard to write down. Each event is sound by itself;
 * together they are not well-formed, which is of no concern to a file.
 */
#ifndef FISSION_TESTS_PROPS_RANDOM_EVENTS_H
#define FISSION_TESTS_PROPS_RANDOM_EVENTS_H

#include <stdint.h>

#include "base/rng.h"
#include "event/event.h"

struct tables;

/* Adds from 1 to `most` names a class, stacks and modules. */
void random_tables(struct rng *r, struct tables *t, uint32_t most);

/* An event that uses the tables. It often has much in common with `before`, as in real traces. */
struct event random_event(struct rng *r, const struct tables *t, const struct event *before);

#endif
