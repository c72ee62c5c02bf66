/* SPDX-License-Identifier: MIT */
/*
 * The order of atomic operations on one object, as the recording has it, is the order in which they happened: a
 * striped spin lock is held around an operation and the taking of its ticket.
 *
 * Nobody may ever hang on a stripe, so holding one is a wish and not a right:
 *   - A signal handler that interrupts the holder goes without; it sees its own ring as the owner.
 *   - Whoever has waited for a tenth of a second takes the stripe away: its holder was stopped, was cancelled, or left
 *     a handler by longjmp. A stripe is given back only by whom it still belongs to.
 *   - A child of fork has all of them free.
 * What is at stake is the order of two entries, never the operation itself.
 *
 * `changes` counts writes, before they happen. A thread that reads the same count behind its load as at its last one
 * has read from the same write: so the rounds of a waiting loop need no entries.
 */
#ifndef FISSION_RUNTIME_STRIPES_H
#define FISSION_RUNTIME_STRIPES_H

#include <stdbool.h>
#include <stdint.h>

struct self;

struct stripe {
	_Alignas(64) struct self *owner;
	uint64_t changes;
};

enum { STRIPES = 256 };

extern struct stripe stripes[STRIPES] __attribute__((visibility("hidden")));

/* The stripe of the sixteen bytes that the address is in: the largest atomic object. */
static inline struct stripe *stripe_of(const volatile void *address)
{
	return &stripes[((uintptr_t)address >> 4) * 0x9e3779b1u >> 16 & (STRIPES - 1)];
}

/* Slow path of stripe_take. */
bool stripe_wait(struct stripe *p, struct self *s);

/* Whether it is held now, and has to be given back. */
static inline bool stripe_take(struct stripe *p, struct self *s)
{
	struct self *nobody = 0;

	return __builtin_expect(__atomic_compare_exchange_n(&p->owner, &nobody, s, false, __ATOMIC_ACQUIRE,
			__ATOMIC_RELAXED), 1) || stripe_wait(p, s);
}

static inline void stripe_give(struct stripe *p, struct self *s)
{
	if (__builtin_expect(__atomic_load_n(&p->owner, __ATOMIC_RELAXED) == s, 1))
		__atomic_store_n(&p->owner, (struct self *)0, __ATOMIC_RELEASE);
}

/* In a new process with one thread. */
void stripes_forked(void);

#endif
