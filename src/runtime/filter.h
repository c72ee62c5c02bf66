/* SPDX-License-Identifier: MIT */
/*
 * The ownership filter: which accesses need not leave their thread (MODE_FILTER).
 *
 * Law. The stream that the filter leaves names the same split activations as the full one, in a program without data
 * races. An access is silent if it changes nothing that another thread could see of it, or if it is summarised in the
 * shadow (shadow.h), from where the next thread that comes to the memory tells it, as PAST. While a thread owns a
 * granule nobody else touches it: so an edge into a silent access follows from the edge into the access that took the
 * granule, and edges out of it start from the last one, which is what the shadow has.
 *
 * A granule's words, `a` and `b`:
 *   0, 0                  untouched
 *   write, read           the last ones. Either may be missing. Whoever made both is the owner and goes on silently;
 *                         another one's write is told already if the reader is not the same
 *   READS read, read      two threads that only read, silently; what was written before is told, and so are the last
 *                         reads of others that were here before them
 *   PRECISE               everything is told: atomics
 * TOLD: the collector has this access. SOLE: nobody else has ever touched the granule, so other bytes of it, of which
 * the words do not speak, are the owner's as well.
 *
 * Bytes of a granule that are accessed apart share its words. Then a word has all of them, and the time of the oldest:
 * that is too early for some, which can lose an edge and never makes one.
 *
 * Words change by compare-and-swap where another reader may be at it in a program without races; otherwise by a plain
 * store. Whatever is in a word is true by itself, so words that got mixed up by racing accesses can lose edges too.
 */
#ifndef FISSION_RUNTIME_FILTER_H
#define FISSION_RUNTIME_FILTER_H

#include "runtime/self.h"
#include "runtime/shadow.h"

enum { TOLD = 1, READS = 2, SOLE = 4, PRECISE = 8, WORD_FLAGS = 15, WORD_BYTES = 0xf0 };

/* An access that is not covered: silent or told. Returns whether it was told. */
bool filter_access(struct self *s, uintptr_t address, size_t size, bool write, void *pc) __attribute__((noinline));

/* The same for any number of bytes. */
bool filter_range(struct self *s, uintptr_t address, size_t size, bool write, void *pc);

/* Before an atomic access, which is always told: what was silent there is told, and everything from now on. */
void filter_atomic(struct self *s, uintptr_t address, size_t size);

/* Whether the word is of this thread: its times begin with the thread's start, and none is later than now. */
static inline bool word_is_own(const struct self *s, uint64_t w)
{
	return w - s->own <= (s->now | (WORD_BYTES | WORD_FLAGS)) - s->own;
}

/*
 * The quick answers for a whole granule: there is nothing to do at all, or the thread's own word is renewed. They are
 * what filter.c says about silence, for the most frequent cases. False: it takes a closer look.
 */

/* A read where the thread has read before; no atomic has been here, or there would be no such word. */
static inline bool filter_read_quickly(const struct self *s, uint64_t *w, uint32_t *place, uint32_t pc)
{
	uint64_t stamp = s->now | WORD_BYTES, b = __atomic_load_n(&w[1], __ATOMIC_RELAXED);

	if (unlikely(!word_is_own(s, b)))
		return false;
	if (unlikely((b & WORD_BYTES) != WORD_BYTES))
		return false;
	if ((b ^ stamp) > TOLD) {
		place[1] = pc;
		__atomic_store_n(&w[1], stamp, __ATOMIC_RELAXED);
	}
	return true;
}

/* The same where two threads read: this may be the one that came first. */
static inline bool filter_read_first_quickly(const struct self *s, uint64_t *w, uint32_t *place, uint32_t pc)
{
	uint64_t stamp = s->now | WORD_BYTES, a = __atomic_load_n(&w[0], __ATOMIC_RELAXED);

	if (!word_is_own(s, a) || (a & (WORD_BYTES | READS | PRECISE)) != (WORD_BYTES | READS))
		return (a ^ stamp) <= WORD_FLAGS;
	place[0] = pc;
	__atomic_store_n(&w[0], stamp | READS, __ATOMIC_RELAXED);
	return true;
}

static inline bool filter_write_quickly(const struct self *s, uint64_t *w, uint32_t *place, uint32_t pc)
{
	uint64_t stamp = s->now | WORD_BYTES, a = __atomic_load_n(&w[0], __ATOMIC_RELAXED), b;

	if (!((a ^ stamp) & ~(uint64_t)(TOLD | SOLE)))
		return true;
	b = __atomic_load_n(&w[1], __ATOMIC_RELAXED);
	if (unlikely(!word_is_own(s, a)))
		return false;
	if (unlikely((a & (WORD_BYTES | READS | PRECISE)) != WORD_BYTES || (b && !word_is_own(s, b))))
		return false;
	place[0] = pc;
	__atomic_store_n(&w[0], stamp | (a & SOLE), __ATOMIC_RELAXED);
	return true;
}

/* The same for an access of one, two or four whole granules. */
static inline __attribute__((always_inline)) bool filter_quickly(struct self *s, uintptr_t address, size_t size,
	bool write, uint32_t pc)
{
	char *leaf;
	uint64_t *w;
	uint32_t *place;

	if (size < GRANULE || unlikely(address & (size - 1)))
		return false;
	leaf = shadow_find(address);
	if (unlikely(!leaf))
		return false;
	w = shadow_words(leaf, address);
	place = shadow_places(leaf, address);
#pragma GCC unroll 4
	for (size_t i = 0; i < size / GRANULE; i++)
		if (write ? !filter_write_quickly(s, w + 2 * i, place + 2 * i, pc) :
			!filter_read_quickly(s, w + 2 * i, place + 2 * i, pc) &&
			!filter_read_first_quickly(s, w + 2 * i, place + 2 * i, pc))
			return false;
	return true;
}

#endif
