/* SPDX-License-Identifier: MIT */
#include "lock_functions.h"

#include "base/arena.h"
#include "runtime/channel.h"

static void release(struct lock_calls *c, size_t i, const struct spin_listener *to)
{
	struct lock_held h = c->held[i];

	for (; i + 1 < c->count; i++)
		c->held[i] = c->held[i + 1];
	c->count--;
	c->given = true;
	to->lock(to->self, &h.taken, h.taken.event.thread, EVENT_RELEASE);
}

/* How many locks of the pair are held; the latest of them. */
static size_t held_of(const struct lock_calls *c, size_t *latest)
{
	size_t n = 0;

	for (size_t i = 0; i < c->count; i++)
		if (c->held[i].pair == c->of.pair) {
			*latest = i;
			n++;
		}
	return n;
}

void lock_calls_enter(struct lock_calls *c, struct role_of of, const struct spin_listener *to)
{
	size_t latest = 0;

	if (c->inside++)
		return;
	c->of = of;
	c->tried = c->got = c->given = false;
	if (of.role == ROLE_UNLOCK && held_of(c, &latest) == 1)
		release(c, latest, to);
}

static uint64_t distance(const struct lock_held *h, uint64_t address)
{
	uint64_t a = h->taken.address;

	return a > address ? a - address : address - a;
}

/* Of several locks, the one that is nearest to the word that is written; of two as near, the latest. */
static void release_nearest(struct lock_calls *c, uint64_t address, const struct spin_listener *to)
{
	size_t best = c->count;

	for (size_t i = 0; i < c->count; i++)
		if (c->held[i].pair == c->of.pair &&
			(best == c->count || distance(&c->held[i], address) <= distance(&c->held[best], address)))
			best = i;
	if (best < c->count)
		release(c, best, to);
}

static bool has_success(const struct spin_operation *o)
{
	if (o->event.kind != EVENT_ATOMIC_RMW)
		return false;
	return !(o->flags & ATOMIC_SWAPS) || o->flags & (ATOMIC_COMPARES | ATOMIC_FROM_ZERO | ATOMIC_TO_ZERO);
}

void lock_calls_atomic(struct lock_calls *c, const struct spin_operation *o, const struct spin_listener *to)
{
	if (c->of.role == ROLE_UNLOCK) {
		if (!c->given && o->event.kind != EVENT_ATOMIC_LOAD)
			release_nearest(c, o->address, to);
	} else if (o->event.kind == EVENT_ATOMIC_RMW || o->flags & ATOMIC_SWAPS) {
		c->tried = true;
		c->got = has_success(o);
		c->last = *o;
	}
}

bool lock_calls_leave(struct lock_calls *c, struct arena *a, const struct spin_listener *to)
{
	size_t latest = 0;

	if (--c->inside)
		return false;
	if (c->of.role == ROLE_UNLOCK) {
		if (!c->given && held_of(c, &latest))
			release(c, latest, to);
		return false;
	}
	if (c->got) {
		c->held = arena_reserve(a, c->held, &c->capacity, c->count, sizeof *c->held);
		c->held[c->count++] = (struct lock_held){c->of.pair, c->last};
		to->lock(to->self, &c->last, c->last.event.thread, EVENT_ACQUIRE);
	}
	return !c->tried;
}
