/* SPDX-License-Identifier: MIT */
/*
 * The ownership filter: which accesses need not leave their thread (MODE_FILTER).
 *
 * Law. The stream that the filter leaves names the same split activations as the full one, in a program without data
 * races; but for those that are split only around another one, which is named. An access is silent if it changes
 * nothing that another thread could see of it, or if it is summarised in the shadow (shadow.h), from where the next
 * thread that comes to the memory tells it, as PAST. While a thread owns a granule nobody else touches it: so an edge
 * into a silent access follows from the edge into the access that took the granule, and edges out of it start from the
 * last one, which is what the shadow has.
 *
 * A granule's words, `a` and `b`:
 *   0, 0                  untouched
 *   write, read           the last ones. Either may be missing. Whoever made both is the owner and goes on silently;
 *                         another one's write is told already if the reader is not the same, or the reader knows of it
 *   READS read, read      two threads that only read, silently; what was written before is told, and so are the last
 *                         reads of others that were here before them. Later reads each may have noted for itself
 *                         (lately.h), so that neither disturbs the other
 *   PRECISE               everything is told: atomics
 * TOLD: the collector has this access. SOLE: nobody else has ever touched the granule, so other bytes of it, of which
 * the words do not speak, are the owner's as well. READS with SOLE: both know what was written to bytes that both have read.
 * ALL_KNOWN, instead of a read: others have, and whoever has written a part of it knows all that they did.
 * MIXED, of a word with a time: of some of its bytes the collector has heard at a later time.
 *
 * Old news. A thread that has told of an access, and so has learned of another's at its time, learns nothing more from
 * those that the other has made before. So where all words of a granule are its own or old news there is no need to tell
 * an access, and then no tick: the thread becomes the owner, and who comes to the granule after it
 * learns from it all that the words that go have said. The first FAMILIAR ones between two synchronisations are noted
 * all the same (ACCESS_KNOWN): what is done in short sections says what they are for. To the checks they are as silent as
 * the others, so what a note says may be told again, as PAST. Before a write that is noted comes what its section has read
 * there, if that was not noted. Only the first USUALLY ones of a place are told in full: of a block that is split, checks
 * name all memory that they hear of. A thread that has not synchronised since its
 * access races; that is not old news, so that it is told. Of racing threads that have, some races are not seen: the
 * first is.
 *
 * Bytes of a granule that are accessed apart share its words. Then a word has all of them, and the time of the oldest:
 * that is too early for some, which can lose an edge and never makes one. Packed data is mostly that: numbers that begin
 * and end in the midst of granules. Of what a thread knows it goes on silently there, too, as long as a word that goes
 * speaks of no more than the access, or was told; and adds bytes to a word of its own since it has synchronised.
 *
 * Where whole blocks of granules have the same words one pair stands for them all: blocks.h. Here a granule speaks for
 * itself; one whose block is live, or frozen with its words still there, is taken out before anything is decided.
 *
 * Words change by compare-and-swap where another reader may be at it in a program without races; otherwise by a plain
 * store. Whatever is in a word is true by itself, so words that got mixed up by racing accesses can lose edges too.
 */
#ifndef FISSION_RUNTIME_FILTER_H
#define FISSION_RUNTIME_FILTER_H

#include "runtime/lately.h"
#include "runtime/self.h"
#include "runtime/shadow.h"

enum {
	TOLD = 1, READS = 2, SOLE = 4, ALL_KNOWN = 4, MIXED = 8, PRECISE = 8, WORD_FLAGS = 15, WORD_BYTES = 0xf0,
	FAMILIAR = 16, USUALLY = 64, FEW = 16,
};

/* An access that is not covered: silent or told. Returns whether it was told. */
bool filter_access(struct self *s, uintptr_t address, size_t size, bool write, void *pc) __attribute__((noinline));

/* The same for any number of bytes. */
bool filter_range(struct self *s, uintptr_t address, size_t size, bool write, void *pc);

/* Before an atomic access, which is always told: what was silent there is told, and everything from now on. */
void filter_atomic(struct self *s, uintptr_t address, size_t size);

/*
 * Whether the word is of this thread: its ring's, and not older than its start. Of a ring that others had before, their
 * words are older.
 */
static inline bool word_is_own(const struct self *s, uint64_t w)
{
	return w - s->own <= s->reach;
}

static inline uint64_t time_of(uint64_t w)
{
	return w >> NOW_SHIFT & (((uint64_t)1 << TIME_BITS) - 1);
}

/*
 * The quick answers: there is nothing to do at all, or the thread's own word is renewed. They are what filter.c says
 * about silence, for the most frequent cases. False: it takes a closer look.
 *
 * An access of eight or sixteen bytes is two or four granules, which are nearly always touched together: their words
 * are alike, and one of them is looked at for all.
 */

enum { QUICK_TOLD = TOLD, QUICK_WRITTEN = TOLD | SOLE };

struct quick {
	struct self *self;
	uintptr_t address;
	uint64_t *word;   /* of the first granule */
	uint32_t *place;  /* its places */
	uint64_t bytes;
	uint32_t pc;
	unsigned granules;
};

static inline __attribute__((always_inline)) uint64_t quick_word(const struct quick *q, unsigned i)
{
	return __atomic_load_n(&q->word[i], __ATOMIC_RELAXED);
}

/* Word i of the other granules: how they differ from that of the first, every difference together. */
static inline __attribute__((always_inline)) uint64_t quick_differ(const struct quick *q, unsigned i, uint64_t first)
{
	uint64_t d = 0;

#pragma GCC unroll 4
	for (unsigned k = 1; k < q->granules; k++)
		d |= quick_word(q, 2 * k + i) ^ first;
	return d;
}

static inline __attribute__((always_inline)) void quick_set(const struct quick *q, unsigned i, uint64_t flags)
{
	uint64_t to = q->self->now | q->bytes | flags;

#pragma GCC unroll 4
	for (unsigned k = 0; k < q->granules; k++) {
		if (q->place[2 * k + i] != q->pc) /* it seldom is another: its line of memory stays where others have it too */
			q->place[2 * k + i] = q->pc;
		__atomic_store_n(&q->word[2 * k + i], to, __ATOMIC_RELAXED);
	}
}

/* How the word differs from what the access would make of it. */
static inline __attribute__((always_inline)) uint64_t quick_news(const struct quick *q, uint64_t w)
{
	return w ^ (q->self->now | q->bytes);
}

/*
 * Word w, which all granules have at i, is of a thread that goes on as its owner. A word that speaks of more bytes
 * keeps its time: see above.
 */
static inline __attribute__((always_inline)) bool quick_renew(const struct quick *q, unsigned i, uint64_t w, uint64_t flags)
{
	if ((w & q->bytes) != q->bytes)
		return false;
	if ((w & WORD_BYTES) == q->bytes)
		quick_set(q, i, flags);
	return true;
}

/* The thread is one of two that only read, with word w: it notes the read for itself. */
static inline __attribute__((always_inline)) bool quick_note(const struct quick *q, uint64_t w)
{
	char *leaf = lately_find(q->self->lately, q->address);

	if (!leaf || (w & q->bytes) != q->bytes)
		return false;
	if ((w & WORD_BYTES) != q->bytes)
		return true;
#pragma GCC unroll 4
	for (unsigned k = 0; k < q->granules; k++)
		lately_note(leaf, q->address + k * GRANULE, q->self->now | q->bytes, q->pc);
	return true;
}

/* The thread has just done more than to read: it has written there. */
static inline __attribute__((always_inline)) bool quick_is_written(const struct quick *q, uint64_t a)
{
	return quick_news(q, a) <= 0xff && !(quick_news(q, a) & q->bytes);
}

/* A read where the thread has read before; no atomic has been here, or there would be no such word. */
static inline __attribute__((always_inline)) bool quick_read(const struct quick *q)
{
	uint64_t a = quick_word(q, 0), b = quick_word(q, 1);
	bool own = word_is_own(q->self, b);

	if ((quick_differ(q, 0, a) | quick_differ(q, 1, b)) > QUICK_TOLD)
		return false;
	if (quick_is_written(q, a))
		return true;
	if (a & READS && q->self->notes)
		return (own || word_is_own(q->self, a)) && quick_note(q, own ? b : a);
	if (a & READS && !own)
		return word_is_own(q->self, a) && quick_renew(q, 0, a, a & (READS | SOLE));
	return own && (quick_news(q, b) <= WORD_FLAGS || quick_renew(q, 1, b, 0));
}

static inline __attribute__((always_inline)) bool quick_write(const struct quick *q)
{
	uint64_t a = quick_word(q, 0), b = quick_word(q, 1);

	if ((quick_differ(q, 0, a) | quick_differ(q, 1, b)) > QUICK_TOLD)
		return false;
	if (likely(word_is_own(q->self, a) && (!b || word_is_own(q->self, b))))
		return !(a & READS) && (!(quick_news(q, a) & ~(uint64_t)QUICK_WRITTEN) || quick_renew(q, 0, a, a & SOLE));
	if (a | b || q->self->fresh || !(q->address & (WINDOW - 1)))
		return !(quick_news(q, a) & ~(uint64_t)QUICK_WRITTEN);
	quick_set(q, 0, SOLE); /* untouched */
	return true;
}

/* Which bytes of their granules an access of the size has. */
static inline __attribute__((always_inline)) uint64_t bytes_of(uintptr_t address, size_t size)
{
	return size < GRANULE ? (((uint64_t)1 << size) - 1) << (4 + (address & (GRANULE - 1))) : WORD_BYTES;
}

/* Whether the thread has done the same already, and nothing since that would tell the two apart. */
static inline __attribute__((always_inline)) bool filter_is_there(const struct self *s, uintptr_t address, size_t size,
	bool write)
{
	uint64_t news;

	if (unlikely(!s->marks))
		return false;
	news = *lately_mark(s->marks, address, size, write) ^ s->look ^ address;
	return !(write ? news : news & ~LOOK_WRITTEN);
}

/*
 * It has done something: the filter has heard of it, and has words of it. Who has written a whole granule need not be
 * heard of if it reads there; a write of single bytes may have left an earlier time in the word, as if it had been then.
 */
static inline __attribute__((always_inline)) void filter_mark(struct self *s, uintptr_t address, size_t size, bool write)
{
	if (s->marks && !(address & (size - 1)))
		*lately_mark(s->marks, address, size, write) =
			(s->look ^ address) & (write || size < GRANULE ? UINT64_MAX : ~LOOK_WRITTEN);
}

/* The same for an access of `size` bytes: it must not reach into a granule that it does not begin with or fill. */
static inline __attribute__((always_inline)) bool filter_quickly(struct self *s, uintptr_t address, size_t size,
	bool write, uint32_t pc)
{
	char *leaf;
	struct quick q;

	if (unlikely(address & (size - 1)))
		return false;
	leaf = shadow_leaves[address << (64 - ADDRESSES) >> (64 - ADDRESSES + LEAF_SHIFT)];
	if (unlikely(!leaf))
		return false;
	q = (struct quick){s, address, shadow_words(leaf, address), shadow_places(leaf, address), bytes_of(address, size),
		pc, size < GRANULE ? 1 : size / GRANULE};
	if (!(write ? quick_write(&q) : quick_read(&q)))
		return false;
	filter_mark(s, address, size, write);
	return true;
}

/* Those bytes of [from, to) that are in the granule at `at`, in their place in a word. */
static inline uint64_t bytes_in(uintptr_t at, uintptr_t from, uintptr_t to)
{
	unsigned first = from > at ? (unsigned)(from - at) : 0;
	unsigned last = to < at + GRANULE ? (unsigned)(to - at) : GRANULE;

	return ((uint64_t)((1 << last) - 1) & ~(uint64_t)((1 << first) - 1)) << 4;
}

/*
 * The same for a few bytes that need not be aligned, granule by granule: numbers in packed data, of which there are many in
 * programs that compress or parse. What was answered of the first granules stays true if a later one takes a closer look.
 */
static inline bool filter_few_quickly(struct self *s, uintptr_t address, size_t size, bool write, uint32_t pc)
{
	uintptr_t to = address + size;
	char *leaf;

	if (unlikely(size - 1 >= FEW || (address ^ (to - 1)) >> LEAF_SHIFT || address >> ADDRESSES))
		return false;
	leaf = shadow_leaves[address >> LEAF_SHIFT];
	for (uintptr_t at = address & ~(uintptr_t)(GRANULE - 1); leaf && at < to; at += GRANULE) {
		struct quick q = {s, at, shadow_words(leaf, at), shadow_places(leaf, at), bytes_in(at, address, to), pc, 1};

		if (!(write ? quick_write(&q) : quick_read(&q)))
			return false;
	}
	return leaf;
}

/*
 * A write to more bytes of a granule than its word `a`, which is the thread's own, speaks of. False: it takes a closer
 * look.
 */
static inline bool few_added(const struct quick *q, unsigned i, uint64_t a, uint64_t b, uint64_t bytes)
{
	const struct self *s = q->self;
	uint64_t to = a & WORD_BYTES & ~bytes ? (a | bytes) & ~(uint64_t)TOLD : s->now | bytes | (a & SOLE);

	if (!(a & SOLE) && !(b == ALL_KNOWN && time_of(a) >= s->synced))
		return false;
	q->place[2 * i] = q->pc;
	__atomic_store_n(&q->word[2 * i], to, __ATOMIC_RELAXED);
	return true;
}

/* One granule of few_own; false: it takes a closer look. */
static inline __attribute__((always_inline)) bool few_own_at(const struct quick *q, unsigned i, uint64_t bytes, bool write)
{
	const struct self *s = q->self;
	uint64_t a = quick_word(q, 2 * i), b = quick_word(q, 2 * i + 1), w = write ? a : b, to = s->now | bytes;

	if (!write && (a ^ to) <= 0xff && !((a ^ to) & bytes))
		return true;
	if (unlikely(!word_is_own(s, w) || a & READS || (write && b > WORD_FLAGS && !word_is_own(s, b))))
		return false;
	if (unlikely(bytes & ~w))
		return write && few_added(q, i, a, b, bytes);
	if ((w & WORD_BYTES) != bytes || !((w ^ to) & ~(uint64_t)(write ? QUICK_WRITTEN : WORD_FLAGS)))
		return true;
	if (q->place[2 * i + !write] != q->pc)
		q->place[2 * i + !write] = q->pc;
	__atomic_store_n(&q->word[2 * i + !write], to | (write ? a & SOLE : 0), __ATOMIC_RELAXED);
	return true;
}

/*
 * The same for 4 or 8 bytes where all granules are the thread's own and speak of these bytes: without a loop it takes half
 * as long. In the last granule the access has what is left of the first one.
 */
static inline __attribute__((always_inline)) bool filter_few_own(struct self *s, uintptr_t address, size_t size, bool write,
	uint32_t pc)
{
	unsigned begins = address % GRANULE, last = size / GRANULE;
	uintptr_t from = address - begins;
	char *leaf;
	struct quick q;

	if (unlikely((from ^ (from + size)) >> LEAF_SHIFT || address >> ADDRESSES))
		return false;
	leaf = shadow_leaves[address >> LEAF_SHIFT];
	if (unlikely(!leaf))
		return false;
	q = (struct quick){s, from, shadow_words(leaf, from), shadow_places(leaf, from), 0, pc, 1};
	if (!few_own_at(&q, 0, WORD_BYTES << begins & WORD_BYTES, write))
		return false;
	if (last > 1 && !few_own_at(&q, 1, WORD_BYTES, write))
		return false;
	return !begins || few_own_at(&q, last, WORD_BYTES >> (GRANULE - begins) & WORD_BYTES, write);
}

#endif
