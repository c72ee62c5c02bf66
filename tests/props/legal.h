/* SPDX-License-Identifier: MIT */
/*
 * Whether a small trace is well-formed: the list in docs/traces.md once more, for the generator and
 * for the shrinking of traces, independent of src/event/wellformed.c.
 *
 * Where the list leaves something open this is the stricter reading, so that whatever it lets pass
 * is beyond doubt: an `end` has the label of its `begin`, and a thread that waits for a mutex or
 * for a barrier is not joined.
 *
 * State: fixed tables for a handful of threads and objects, so that a state can be copied.
 */
#ifndef FISSION_TESTS_PROPS_LEGAL_H
#define FISSION_TESTS_PROPS_LEGAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"

/* Ids are below the first two; deeper nesting counts as not legal. */
enum { LEGAL_THREADS = 8, LEGAL_SYNCS = 12, LEGAL_DEPTH = 6 };

/* Open functions or open blocks of one thread, oldest first. */
struct legal_stack {
	code_id code[LEGAL_DEPTH];
	size_t depth;
};

struct legal_thread {
	bool seen, forked, joined;
	struct legal_stack functions, blocks;
	uint64_t waits_for; /* the mutex of an unfinished wait, or 0 */
	uint8_t waits_depth;
	uint64_t at_barrier; /* or 0 */
	size_t round;
};

struct legal_sync {
	uint8_t held[LEGAL_THREADS]; /* how often each thread has acquired it */
	bool shared;		     /* by its shared side */
	size_t rounds;		     /* complete ones of a barrier */
	uint64_t parties, arrived;   /* of the current round */
};

struct legal {
	struct legal_thread thread[LEGAL_THREADS];
	struct legal_sync sync[LEGAL_SYNCS];
};

/* Takes the next event over if it is legal; the state is unchanged otherwise. Starts from all zero.
 */
bool legal_step(struct legal *l, const struct event *e);

bool legal_trace(const struct event *events, size_t n);

/* Whether the thread could do anything at all now. */
bool legal_runnable(const struct legal *l, thread_id t);

#endif
