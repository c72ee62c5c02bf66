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
 *   READS read, read      two threads that only read, silently; what was written before is told
 *   READS|MANY read, -    more than two: everything is told, but for repeats at the same time
 *   MANY without a time   everything is told: atomics
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

enum { TOLD = 1, READS = 2, SOLE = 4, MANY = 8, WORD_FLAGS = 15, WORD_BYTES = 0xf0 };

/* An access that is not covered: silent or told. Returns whether it was told. */
bool filter_access(struct self *s, uintptr_t address, size_t size, bool write, void *pc) __attribute__((noinline));

/* The same for any number of bytes. */
bool filter_range(struct self *s, uintptr_t address, size_t size, bool write, void *pc);

/* Before an atomic access, which is always told: what was silent there is told, and everything from now on. */
void filter_atomic(struct self *s, uintptr_t address, size_t size);

/* Whether one granule has it all: the same thread at the same time, and a write where it is one. */
static inline bool filter_covers_one(const uint64_t *w, uint64_t stamp, bool write)
{
	uint64_t a = __atomic_load_n(&w[0], __ATOMIC_RELAXED) ^ stamp;

	if (write)
		return !(a & ~(uint64_t)(TOLD | SOLE));
	return a <= WORD_FLAGS || (__atomic_load_n(&w[1], __ATOMIC_RELAXED) ^ stamp) <= WORD_FLAGS;
}

/* The quick answer: a repeat of what whole granules have. */
static inline bool filter_covers(struct self *s, uintptr_t address, size_t size, bool write)
{
	char *leaf = shadow_find(address);
	uint64_t stamp = s->now | WORD_BYTES;
	const uint64_t *w;

	if (unlikely(!leaf) || size < GRANULE || address & (size - 1))
		return false;
	w = shadow_words(leaf, address);
	for (size_t i = 0; i < size / GRANULE; i++)
		if (!filter_covers_one(w + 2 * i, stamp, write))
			return false;
	return true;
}

#endif
