/* SPDX-License-Identifier: MIT */
/*
 * The questions of reorder.h and serial.h once more, answered so slowly that there is nothing to get wrong: every
 * interleaving is gone through, and each step of each is judged by reading the rules against all that came before.
 * No states, no steps that are done at once, no code in common. For traces of about ten events.
 */
#ifndef FISSION_TESTS_PROPS_NAIVE_H
#define FISSION_TESTS_PROPS_NAIVE_H

#include "reorder.h"
#include "serial.h"

/* As their namesakes; UNDECIDED if there are too many interleavings. */
enum reorder_answer naive_confirms(
	const struct event *events, size_t n, uint64_t first, uint64_t culprit, uint64_t second);
enum reorder_answer naive_confirms_data(const struct event *events, size_t n, uint64_t a, uint64_t x, uint64_t b);
enum reorder_answer naive_deadlocks(const struct event *events, size_t n);
enum reorder_answer naive_serial_by_view(const struct event *sequence, size_t n);
enum reorder_answer naive_atomic_by_view(const struct event *events, size_t n);

/* src/check/oracle.c judges each interleaving. */
enum reorder_answer naive_atomic_by_conflicts(const struct event *events, size_t n, enum serial_order order);

#endif
