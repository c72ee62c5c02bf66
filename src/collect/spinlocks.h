/* SPDX-License-Identifier: MIT */
/*
 * Locks that a program makes of atomics, recognised by what is done to them.
 *
 * An object is a lock once one thread has *taken* it (an exchange or compare-and-exchange with acquire order from 0 to
 * something else) and has itself *given* it back (a release store, or exchange, of 0), and for as long as nothing else
 * is done to it: every take finds it free, every give is by its holder. Others may look at it (loads) and try in vain
 * (an exchange that leaves the value as it is, a failed compare-and-exchange). Whatever else happens to the object, it
 * is no lock from then on and for ever: counters, states, mailboxes, ticket locks.
 *
 * What a lock adds to the trace is an acquire behind each take and a release before each give. The atomic operations
 * stay where they are, with their order; so the lock orders nothing that they do not order already, and says only that
 * nobody else was between the two, which is true of each period as such.
 *
 * What it takes away is waiting. A look or a vain try is held back, and left out if the thread's next operation is on
 * the same object again, calls aside: otherwise each function that has waited for a lock would look as if it had been
 * interrupted in the middle. If the thread goes on to something else, it is handed on where it was; unless the lock
 * has changed hands in between, when it is too late for that: then it orders nothing, as a mutex's failed try-lock. A
 * thread that has seen 0 and goes on without taking the lock uses the object for more than a lock, and it is none.
 *
 * State: a record an object, an attempt a thread. Cost: constant an operation; linear in the threads that wait for it
 * when a lock is taken or given.
 */
#ifndef FISSION_COLLECT_SPINLOCKS_H
#define FISSION_COLLECT_SPINLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/seg.h"
#include "event/event.h"

/* An atomic operation: its event, what it did (enum atomic_flag), and the lock's id and place if it is one. */
struct spin_operation {
	struct event event;
	unsigned flags;
	uint32_t process;
	uint64_t address, pc;
};

/* What a thread has tried last, held back. One is a member of each thread's record. */
struct spin_attempt {
	struct spin_operation operation;
	uint32_t object;           /* 0: nothing is held back */
	bool stale;                /* the lock has changed hands since */
	struct spin_attempt *next; /* of the same object */
};

/* Who takes what comes out; `acquire` and `release` make the event of the lock. */
struct spin_listener {
	void *self;
	void (*atomic)(void *self, const struct spin_operation *o);
	void (*lock)(void *self, const struct spin_operation *o, thread_id thread, uint8_t kind);
};

struct spinlocks {
	struct map ids;     /* address and process to the number of the object */
	struct seg objects; /* struct spin_object, from 1 */
	uint32_t count;
	struct spin_listener to;
};

void spinlocks_init(struct spinlocks *s, struct arena *a, struct spin_listener to);

/* The thread whose attempt that is does the operation. */
void spinlocks_take(struct spinlocks *s, struct spin_attempt *attempt, const struct spin_operation *o);

/* The thread goes on to something else than calls and atomic operations on the object. */
void spinlocks_go_on(struct spinlocks *s, struct spin_attempt *attempt);

#endif
