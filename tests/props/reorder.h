/* SPDX-License-Identifier: MIT */
/*
 * The judge of predictions: brute force over all correct reorderings of a small trace.
 *
 * A correct reordering takes from each thread a prefix of its events, in their order, so that
 *
 * - nobody holds a lock that another holds, unless both hold its shared side; acquiring again what one holds is free;
 * - a thread begins after its fork, and a join comes after all events that its thread has in the trace;
 * - a wait releases its mutex where it stands and has it again right before its thread's next event, whether or not
 *   anybody notifies (a wake-up may be spurious); it may already hold it when it then has to wait for something else;
 * - a thread passes a barrier when all have arrived that made up the round in the trace. Rounds of one barrier may
 *   overlap in a reordering: putting each arrival off to the first departure undoes that and changes nothing else;
 * - a semaphore is never below zero, where the initial count is the smallest that makes the trace itself possible;
 * - with REORDER_READS every read (also the one of an atomic read-modify-write) sees the write that it sees in the
 *   trace, byte by byte, or the initial value as there. An alloc counts as a write of its bytes. With REORDER_SYNC
 *   reads see whatever there is: Wang and Stoller's traces(T), 004 section 2.
 *
 * Events are as a reader hands them out, well-formed, each with a seq of its own. What is too large (the limits below,
 * 31 locks, 7 semaphores, 64 pairs of a read and a piece of memory, the states of one search) is UNDECIDED, not wrong.
 */
#ifndef FISSION_TESTS_PROPS_REORDER_H
#define FISSION_TESTS_PROPS_REORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event;

enum { REORDER_EVENTS_MOST = 40, REORDER_THREADS_MOST = 8, REORDER_STATES_MOST = 1 << 20 };

enum reorder_mode { REORDER_READS, REORDER_SYNC };

/* Compare with the one that is meant: UNDECIDED is not 0. */
enum reorder_answer { REORDER_NO, REORDER_YES, REORDER_UNDECIDED };

/*
 * Whether a section of another thread fits into a window: first and second are the seqs of two acquires of one lock by
 * one thread, culprit that of another thread's acquire of it. YES if in some correct reordering first, culprit, the
 * culprit's release (where its thread no longer holds the lock at all) and second come in this order, all reads as in
 * the trace but those of the culprit's thread after the culprit, which are free; what that thread does is taken as
 * recorded. The re-acquire of a wait goes by the seq of the event behind the wait. NO if the seqs are no such
 * acquires, or if the culprit is never released.
 */
enum reorder_answer reorder_confirms(
	const struct event *events, size_t n, uint64_t first, uint64_t culprit, uint64_t second);

/*
 * Whether an access comes between two others: a and b are seqs of accesses of one thread, x that of another thread's
 * access. YES if in some correct reordering a comes before x and x before b, all reads as in the trace but those of
 * x's thread from x on, and b. That they access common memory is the caller's business.
 */
enum reorder_answer reorder_confirms_data(const struct event *events, size_t n, uint64_t a, uint64_t x, uint64_t b);

/* Whether some REORDER_SYNC reordering gets stuck: a thread has events left, and nobody can go on. */
enum reorder_answer reorder_deadlocks(const struct event *events, size_t n);

/*
 * Called with one reordering, the events as they are in the trace, seqs and all; `stuck` if it does not have all
 * events. Returns whether to go on. The array is gone afterwards.
 */
typedef bool reorder_visit(void *self, const struct event *sequence, size_t n, bool stuck);

struct reorder_tour {
	enum reorder_mode mode;
	size_t budget; /* of reorderings */
	reorder_visit *visit;
	void *self;
};

/*
 * Visits every maximal correct reordering, one that nothing can be added to, once. YES if that were all, NO if the
 * visitor stopped it, UNDECIDED if there are more than the budget or the trace is too large.
 */
enum reorder_answer reorder_each(const struct event *events, size_t n, const struct reorder_tour *tour);

#endif
