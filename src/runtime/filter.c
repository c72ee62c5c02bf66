/* SPDX-License-Identifier: MIT */
#include "filter.h"

#include "runtime/blocks.h"
#include "runtime/frames.h"

/* One access to one granule, or to a part of it. */
struct stroke {
	struct self *self;
	uint64_t bytes; /* which, in their place in a word */
	bool write;
	bool known; /* there is nothing to be learned from it */
	uint32_t place;
};

/* Granules side by side in one leaf, of which an access has the same bytes; or live blocks, of which it has all. */
struct row {
	uint64_t *word;
	uint32_t *place;
	size_t count;
	uintptr_t at; /* the first */
	size_t each;  /* GRANULE or BLOCK */
};

_Static_assert((int)BLOCK_LIVE == READS && (int)BLOCK_MARK == (PRECISE | SOLE), "a second word and a first one of none");

/*
 * How words become others: one of them alone, which only the thread itself changes; or both. NOTE: not the words, but
 * what the thread has noted for itself.
 */
enum how { KEEP, ONE, BOTH, SWAP, NOTE };

/* From which place a word gets its own before the access gets one. */
enum moved { STAYS, TO_FIRST, TO_SECOND };

/*
 * What an access makes of the words, and, if it is told, which of them have to be told first. Words are handed over
 * one by one: a struct of both would be written in halves and read as a whole, for which processors wait.
 */
struct change {
	uint64_t from_a, from_b;
	uint64_t a, b;
	enum how how;
	enum moved moved;
	unsigned at; /* whose place is the access's */
	bool past[2];
};

/* Accesses of the past, alike and side by side: told as one. */
struct past {
	uint64_t word;
	uintptr_t address;
	uint32_t place, count;
	bool write;
};

/*
 * A word of each kind, a and b, of the granules so far. Two branches of a loop that fill an array in turn would be an entry
 * for each few bytes of it: behind the first APART runs, those of one time go on as one, from the place of the first.
 */
struct pasts {
	struct past of[2];
	uint32_t runs; /* that were told */
};

enum { APART = 64, AHEAD = 1 << 10 /* bytes */ };

/* Words. */

static bool is_none(uint64_t w)
{
	return !(w >> NOW_SHIFT);
}

/* A ring may have had another thread before. */
static bool is_own(const struct self *s, uint64_t w)
{
	return word_is_own(s, w);
}

static bool is_foreign(const struct self *s, uint64_t w)
{
	return !is_none(w) && !is_own(s, w);
}

static bool is_within(uint64_t bytes, uint64_t w)
{
	return !(bytes & ~w);
}

static bool is_same_bytes(uint64_t w, uint64_t bytes)
{
	return (w & WORD_BYTES) == bytes;
}

/* A word of all bytes, or none. */
static bool is_full(uint64_t w)
{
	return is_none(w) || is_same_bytes(w, WORD_BYTES);
}

/* A read orders nothing beside a later write of the same thread; but it tells what a section has done. */
static bool is_behind(uint64_t read, uint64_t write)
{
	return read >> RING_SHIFT == write >> RING_SHIFT && time_of(read) <= time_of(write) &&
	       is_within(read & WORD_BYTES, write);
}

/* The thread's own word after one more access. */
static uint64_t renewed(const struct stroke *k, uint64_t w)
{
	if (is_none(w) || is_within(w & WORD_BYTES, k->bytes))
		return k->self->now | k->bytes;
	return is_within(k->bytes, w) ? w & ~(uint64_t)(SOLE | READS) : (w | k->bytes) & ~(uint64_t)(TOLD | SOLE | READS);
}

static uint64_t load(const uint64_t *w)
{
	return __atomic_load_n(w, __ATOMIC_RELAXED);
}

static void store(uint64_t *w, uint64_t to)
{
	__atomic_store_n(w, to, __ATOMIC_RELAXED);
}

/* For a write: whoever else is here now races with it. */
static void put(uint64_t *w, uint64_t a, uint64_t b)
{
	store(&w[1], b);
	store(&w[0], a);
}

/* The same in one instruction, which a signal handler cannot come into; if the words are these. */
static bool put_at_once(uint64_t *w, uint64_t a, uint64_t b, uint64_t to_a, uint64_t to_b)
{
#if defined __x86_64__
	bool done;

	__asm__ volatile("cmpxchg16b %1" : "=@ccz"(done), "+m"(*(__int128 *)w), "+a"(a), "+d"(b) :
		"b"(to_a), "c"(to_b) : "memory");
	return done;
#else
	(void)a, (void)b;
	put(w, to_a, to_b);
	return true;
#endif
}

static bool swap(uint64_t *w, uint64_t a, uint64_t b, uint64_t to_a, uint64_t to_b)
{
#if defined __x86_64__
	bool done;

	__asm__ volatile("lock cmpxchg16b %1" : "=@ccz"(done), "+m"(*(__int128 *)w), "+a"(a), "+d"(b) :
		"b"(to_a), "c"(to_b) : "memory");
	return done;
#else
	(void)a, (void)b;
	put(w, to_a, to_b);
	return true;
#endif
}

/*
 * Where two threads only read, each has noted its last read for itself. Before words are looked at they are settled:
 * made what these notes say. A reader that is at it right now notes a read that is later still; which is found the next
 * time.
 */

/* What the note of the word's thread makes of it, if that is of a later read. */
static uint64_t settled(uint64_t w, uintptr_t at, uint32_t *place)
{
	char *leaf = is_none(w) ? NULL : lately_find(lately_tables[w >> RING_SHIFT], at);
	const struct note *n = leaf ? lately_notes(leaf, at) : NULL;
	uint64_t x = n ? load(&n->word) : 0;

	if (x >> RING_SHIFT != w >> RING_SHIFT || x <= (w | WORD_BYTES | WORD_FLAGS) || !is_same_bytes(x, w & WORD_BYTES))
		return w;
	*place = (uint32_t)n->place;
	return x | (w & (READS | SOLE));
}

static void settle(uint64_t *w, uint32_t *place, uintptr_t at)
{
	uint64_t a, b, to_a, to_b;
	uint32_t to[2];

	do {
		a = load(&w[0]);
		b = load(&w[1]);
		to[0] = place[0];
		to[1] = place[1];
		to_a = a & READS ? settled(a, at, &to[0]) : a;
		to_b = a & READS ? settled(b, at, &to[1]) : b;
		if (to_a == a && to_b == b)
			return;
	} while (!swap(w, a, b, to_a, to_b));
	place[0] = to[0];
	place[1] = to[1];
}

/* The granule has the mark of a block, which it is taken out of: it gets words of its own. */
static __attribute__((noinline)) void take_out(char *leaf, uintptr_t at)
{
	uint64_t *w = shadow_words(leaf, at), *of = block_words(leaf, at);
	uint32_t *place = shadow_places(leaf, at), *place_of = block_places(leaf, at);

	block_break(leaf, at);
	while (load(&w[0]) == BLOCK_MARK) { /* places first: whoever finds words takes them as they are */
		place[0] = place_of[0];
		place[1] = place_of[1];
		swap(w, BLOCK_MARK, load(&w[1]), load(&of[0]), load(&of[1]) & ~(uint64_t)BLOCK_LIVE);
	}
}

/* Silence. */

/* Whether the words, which are the thread's own or none, speak of these bytes too. */
static bool speaks_of(uint64_t a, uint64_t b, uint64_t bytes)
{
	return a & SOLE || !(a | b) || is_within(bytes, a | b);
}

/*
 * The word is of this thread since it has synchronised: it can speak of other bytes, too. Nobody has been at those in
 * between, so that its time is right for them as far as others go.
 */
static bool is_mine_lately(const struct stroke *k, uint64_t w)
{
	return !is_none(w) && is_own(k->self, w) && time_of(w) >= k->self->synced;
}

static bool may_write_silently(const struct stroke *k, uint64_t a, uint64_t b)
{
	return a != PRECISE && !(a & READS) && !is_foreign(k->self, a) && !is_foreign(k->self, b) &&
	       (speaks_of(a, a, k->bytes) || (b == ALL_KNOWN && is_mine_lately(k, a)));
}

/* Whether the word has these bytes at this very time; for a read it may be a write. */
static bool is_now(const struct stroke *k, uint64_t w)
{
	return !((w ^ k->self->now) >> NOW_SHIFT) && is_within(k->bytes, w);
}

static bool reads_again(const struct stroke *k, uint64_t w)
{
	return is_own(k->self, w) && is_within(k->bytes, w);
}

static bool may_read_silently(const struct stroke *k, uint64_t a, uint64_t b)
{
	if (a == PRECISE)
		return false;
	if (a & READS)
		return reads_again(k, a) || reads_again(k, b);
	if (is_foreign(k->self, a))
		return reads_again(k, b);
	if (is_foreign(k->self, b) || !speaks_of(a, b, k->bytes))
		return false;
	return a & SOLE || !(a | b) || reads_again(k, b) || is_now(k, a);
}

static bool may_stay_silent(const struct stroke *k, uint64_t a, uint64_t b)
{
	return k->write ? may_write_silently(k, a, b) : may_read_silently(k, a, b);
}

/* One's own word after one more access, unless it says so already: then its place stays too. */
static void renew(const struct stroke *k, struct change *to)
{
	uint64_t a = to->from_a, b = to->from_b;

	if (to->at)
		to->b = renewed(k, b);
	else
		to->a = renewed(k, a) | (a | b ? a & (READS | SOLE) : SOLE);
	if ((to->a == a && to->b == b) || is_now(k, to->at ? b : a))
		*to = (struct change){a, b, a, b, .how = KEEP, .at = to->at};
	else
		to->how = a & READS && k->self->notes ? NOTE : ONE;
}

/* False: it has to be told. The first read is by a swap: another thread may be reading as well. */
static bool silent_change(const struct stroke *k, uint64_t a, uint64_t b, struct change *to)
{
	if (!may_stay_silent(k, a, b))
		return false;
	*to = (struct change){a, b, a, b, .how = KEEP, .at = a & READS ? !reads_again(k, a) : !k->write};
	if (!k->write && is_now(k, a))
		return true;
	if (!k->write && is_none(b) && !(a & READS))
		*to = (struct change){a, b, a | b ? a : SOLE, k->self->now | k->bytes, .how = SWAP, .at = 1};
	else
		renew(k, to);
	return true;
}

/* What the thread knows of others. */

static struct self *ring_of(uint64_t w)
{
	return channel_ring(channel, (uint32_t)(w >> RING_SHIFT));
}

static struct heard *heard_of(struct self *s, uint64_t w)
{
	return &s->heard[(w >> RING_SHIFT) % HEARD];
}

/* From here on it does: an access that comes after it and conflicts with it is told. */
static void learn(const struct stroke *k, uint64_t w)
{
	struct heard *n = heard_of(k->self, w);
	uint64_t since;

	if (!is_foreign(k->self, w) || !(w & k->bytes) || (w >= n->since && w <= n->word))
		return;
	since = ring_of(w)->since;
	if (w >= since)
		*n = (struct heard){since, w, n->since == since ? n->synced : 0};
}

/*
 * Whether the access of another thread is not news: this one has told of an access that came after a later one of the
 * same thread. That must have synchronised since, or they race for certain and both are told.
 */
static bool is_old_news(struct self *s, uint64_t w)
{
	struct heard *n = heard_of(s, w);

	if (w < n->since || w > (n->word | WORD_BYTES | WORD_FLAGS))
		return false;
	if (n->synced <= time_of(w))
		n->synced = __atomic_load_n(&ring_of(w)->synced, __ATOMIC_RELAXED);
	return n->synced > time_of(w);
}

static inline bool is_known(struct self *s, uint64_t w)
{
	return !is_foreign(s, w) || (!(w & MIXED) && is_old_news(s, w));
}

/* Whether what was written before is known: by the write's word, or one's own read where only two have read since. */
static bool knows_write(const struct stroke *k, uint64_t a, uint64_t b)
{
	if (a & READS)
		return a & SOLE && (is_own(k->self, a) ? is_within(k->bytes, a) : is_own(k->self, b) && is_within(k->bytes, b));
	return is_none(a) ? a & SOLE : is_within(k->bytes, a);
}

/* Another's word that goes must not speak of more, unless the collector has it. */
static bool may_go(const struct stroke *k, uint64_t w)
{
	return is_own(k->self, w) || ((w & TOLD || is_within(w & WORD_BYTES, k->bytes)) && is_known(k->self, w));
}

/*
 * A read makes two readers of what one has read. The write is told: a third reader has to hear of it, and comes upon
 * neither. If it is not the write stays, and the reader may go.
 */
static bool makes_two(const struct stroke *k, uint64_t a, uint64_t b)
{
	return is_foreign(k->self, b) && (is_none(a) || a & TOLD);
}

/*
 * A read goes on to other bytes of a granule of which the thread has read some lately, and knows what was written: so does
 * the other one of two readers, who has read them.
 */
static bool adds_bytes(const struct stroke *k, uint64_t a, uint64_t b)
{
	if (k->write || a == PRECISE)
		return false;
	if (a & READS)
		return a & SOLE && (is_mine_lately(k, a) || is_mine_lately(k, b)) && is_within(k->bytes, a | b);
	return is_mine_lately(k, b) && is_known(k->self, a) && (a & SOLE || is_within(k->bytes, a));
}

static bool may_take_over(const struct stroke *k, uint64_t a, uint64_t b)
{
	if (adds_bytes(k, a, b))
		return true;
	if (a == PRECISE || !knows_write(k, a, b))
		return false;
	if (k->write)
		return may_go(k, a) && may_go(k, b);
	return !(a & READS) && !is_own(k->self, b) && is_known(k->self, a) && (makes_two(k, a, b) || may_go(k, b));
}

static void bytes_added(const struct stroke *k, uint64_t a, uint64_t b, struct change *to)
{
	bool first = a & READS && is_mine_lately(k, a);

	to->a = first ? (renewed(k, a) & ~(uint64_t)TOLD) | (a & (READS | SOLE)) : a;
	to->b = first ? b : renewed(k, b) & ~(uint64_t)TOLD;
	to->how = SWAP;
	to->moved = STAYS;
	to->at = !first;
}

/* Whether a write learns what the word stands for, or knows it. */
static bool learns(const struct stroke *k, uint64_t w)
{
	return !is_foreign(k->self, w) || (w & k->bytes && !(w & MIXED));
}

/* The second word behind a write to a part of the granule: whether its thread knows what was ever done to the rest. */
static uint64_t all_known(const struct stroke *k, uint64_t a, uint64_t b)
{
	bool whole = !(a & READS) && (is_same_bytes(a, WORD_BYTES) || a & SOLE || b == ALL_KNOWN);

	return k->bytes != WORD_BYTES && whole && learns(k, a) && learns(k, b) ? ALL_KNOWN : 0;
}

/*
 * The first word of two readers, and what goes for it. SOLE: they know what was written to bytes that both have read, and to
 * all if that was done as a whole.
 */
static uint64_t two(const struct stroke *k, uint64_t write, uint64_t read)
{
	bool alike = is_same_bytes(read, k->bytes) && is_same_bytes(write, k->bytes);
	bool known = is_none(write) ? write & SOLE : !(write & MIXED) && (alike || is_full(write));

	return read | READS | (known ? SOLE : 0);
}

static inline void read_taken(const struct stroke *k, uint64_t a, uint64_t b, struct change *to)
{
	bool makes = makes_two(k, a, b), sole = is_own(k->self, a) && is_none(b);

	to->a = makes ? two(k, a, b) : sole ? a : a & ~(uint64_t)SOLE;
	to->b = k->self->now | k->bytes;
	to->how = SWAP;
	to->moved = makes ? TO_FIRST : STAYS;
	to->at = 1;
}

/* One's own read before it stays: whether the section has looked again decides what the write is taken for. */
static inline void write_taken(const struct stroke *k, uint64_t a, uint64_t b, struct change *to)
{
	uint64_t now = k->self->now | k->bytes;
	bool own = is_own(k->self, a), read = a & READS && own;

	to->a = read || !own || a & TOLD ? now : renewed(k, a);
	to->b = read ? a & ~(uint64_t)(READS | SOLE) : is_own(k->self, b) ? b : all_known(k, a, b);
	to->how = BOTH;
	to->moved = read ? TO_SECOND : STAYS;
	to->at = 0;
}

/* False: it has to be told. Field by field: what is put together in parts and copied as a whole has to wait for them. */
static bool taken_change(const struct stroke *k, uint64_t a, uint64_t b, struct change *to)
{
	if (!may_take_over(k, a, b))
		return false;
	to->from_a = a;
	to->from_b = b;
	to->past[0] = to->past[1] = false;
	if (k->write)
		write_taken(k, a, b, to);
	else if (adds_bytes(k, a, b))
		bytes_added(k, a, b, to);
	else
		read_taken(k, a, b, to);
	return true;
}

/* Telling the past. */

static void past_tell(struct self *s, const struct past *p)
{
	uint64_t stream = s->mode & MODE_BOTH ? STREAM_FILTERED << KIND_BITS : 0;

	if (p->count)
		self_put_sized(s, entry_first(ENTRY_PAST | stream, p->write, p->address), p->word,
			p->place | (uint64_t)p->count << 32);
}

static void pasts_tell(struct self *s, struct pasts *p)
{
	past_tell(s, &p->of[0]);
	past_tell(s, &p->of[1]);
	p->of[0].count = p->of[1].count = 0;
	p->runs++;
}

static bool tells_places_apart(const struct pasts *p)
{
	return p->runs < APART;
}

static bool goes_on(const struct pasts *all, const struct past *p, const struct past *next)
{
	return p->count && !((p->word ^ next->word) >> NOW_SHIFT) && p->write == next->write &&
	       (p->place == next->place || !tells_places_apart(all)) && p->word & next->word & WORD_BYTES &&
	       is_same_bytes(p->word, WORD_BYTES) && is_same_bytes(next->word, WORD_BYTES) &&
	       p->address + p->count * GRANULE == next->address;
}

static bool is_news(uint64_t w)
{
	return !is_none(w) && !(w & TOLD);
}

/* What was before and does not go on is told first. */
static bool breaks_off(const struct pasts *all, const struct past *p, const struct past *next)
{
	return is_news(next->word) && p->count && !goes_on(all, p, next);
}

static void past_add(struct past *p, const struct past *next)
{
	if (!is_news(next->word))
		return;
	if (p->count)
		p->count += next->count;
	else
		*p = *next;
}

/* In their order, which times do not say where a write follows a read at once. */
static void past_add_both(struct self *s, struct pasts *all, const struct past *a, const struct past *b)
{
	bool behind = a->write && is_behind(b->word, a->word);

	if (breaks_off(all, &all->of[behind], a) || breaks_off(all, &all->of[!behind], b))
		pasts_tell(s, all);
	past_add(&all->of[behind], a);
	past_add(&all->of[!behind], b);
}

/* What a told access makes of the words. */

/* One's own earlier access of the same kind to no other bytes says nothing any more. */
static bool is_superseded(const struct stroke *k, uint64_t w)
{
	return is_own(k->self, w) && is_within(w & WORD_BYTES, k->bytes);
}

/* What it says of other bytes is lost if it is not told. */
static bool has_more(const struct stroke *k, uint64_t w)
{
	return is_own(k->self, w) && !is_superseded(k, w);
}

/* The thread's own word after an access that is told; what it said of other bytes was told before. */
static uint64_t told(const struct stroke *k, uint64_t w)
{
	if (!is_own(k->self, w) || is_superseded(k, w))
		return k->self->now | k->bytes | TOLD;
	return (w & ~(uint64_t)WORD_FLAGS) | k->bytes | TOLD | MIXED;
}

static bool is_sole(const struct stroke *k, uint64_t a, uint64_t b)
{
	return !(a | b) || (a & SOLE && !is_foreign(k->self, a) && !is_foreign(k->self, b));
}

/*
 * One's own read before it is told as well, if it was silent: whether the section has looked again before it writes
 * decides what the write is taken for.
 */
static struct change write_change(const struct stroke *k, uint64_t a, uint64_t b)
{
	uint64_t mine = a & READS ? 0 : a;

	return (struct change){a, b, told(k, mine) | (is_sole(k, a, b) ? SOLE : 0), all_known(k, a, b), BOTH, STAYS, 0,
		{!is_superseded(k, a), true}};
}

/* One more reader where there are two: it takes the place of the one that has been here the longest time ago. */
static struct change reader_change(const struct stroke *k, uint64_t a, uint64_t b)
{
	bool own = is_own(k->self, a) || is_own(k->self, b);
	bool first = own ? is_own(k->self, a) : time_of(a) < time_of(b);
	uint64_t sole = adds_bytes(k, a, b) ? SOLE : 0;

	if (first)
		return (struct change){a, b, told(k, a) | READS | sole, b, SWAP, STAYS, 0, {!own || has_more(k, a), false}};
	return (struct change){a, b, (a & ~(uint64_t)SOLE) | sole, told(k, b), SWAP, STAYS, 1,
		{false, !own || has_more(k, b)}};
}

static struct change read_change(const struct stroke *k, uint64_t a, uint64_t b)
{
	if (a & READS)
		return reader_change(k, a, b);
	if (is_foreign(k->self, b) && !is_behind(b, a))
		return (struct change){a, b, two(k, a, b), k->self->now | k->bytes | TOLD, SWAP, TO_FIRST, 1, {true, false}};
	if (is_foreign(k->self, a))
		return (struct change){a, b, (a | TOLD) & ~(uint64_t)SOLE, told(k, b), SWAP, STAYS, 1,
			{true, has_more(k, b) || is_foreign(k->self, b)}};
	return (struct change){a, b, a | (a | b ? 0 : SOLE), told(k, b), SWAP, STAYS, 1, {false, has_more(k, b)}};
}

static struct change told_change(const struct stroke *k, uint64_t a, uint64_t b)
{
	return k->write ? write_change(k, a, b) : read_change(k, a, b);
}

/* A read does not conflict with reads. */
static void learn_both(const struct stroke *k, uint64_t a, uint64_t b)
{
	if (k->write || !(a & READS))
		learn(k, a);
	if (k->write)
		learn(k, b);
}

/* Rows. Each granule is looked at again before it changes: the row ends where one has other words. */

static inline bool has(const uint64_t *w, uint64_t a, uint64_t b)
{
	return load(&w[0]) == a && load(&w[1]) == b;
}

/* Places are nearly always what they were: then their memory need not come to this processor. */
static inline void put_place(uint32_t *place, enum moved moved, unsigned at, uint32_t to)
{
	if (moved == TO_FIRST && place[0] != place[1])
		place[0] = place[1];
	else if (moved == TO_SECOND && place[1] != place[0])
		place[1] = place[0];
	if (place[at] != to)
		place[at] = to;
}

/* Long rows: four granules at once, both words of each. */

enum { FOUR = 4, LINE = 64, FETCHED = 8 * LINE / sizeof(uint64_t) };

typedef uint64_t pair __attribute__((vector_size(16), may_alias));

static inline bool have_four(const uint64_t *w, uint64_t a, uint64_t b)
{
	const pair *p = (const pair *)w, x = {a, b};
	pair d = (p[0] ^ x) | (p[1] ^ x) | (p[2] ^ x) | (p[3] ^ x);

	return !(d[0] | d[1]);
}

static __attribute__((noinline)) size_t fours_alike(const struct row *r, uint64_t a, uint64_t b)
{
	size_t i = 0;

	while (r->count - i >= FOUR && have_four(&r->word[2 * i], a, b))
		i += FOUR;
	return i;
}

/* The same places for four, of which one of each is asked for: looked at together. */
static inline __attribute__((always_inline)) void put_four_places(uint32_t *place, unsigned at, uint32_t to)
{
	if (!((place[at] ^ to) | (place[at + 2] ^ to) | (place[at + 4] ^ to) | (place[at + 6] ^ to)))
		return;
#pragma GCC unroll 4
	for (unsigned i = 0; i < 2 * FOUR; i += 2)
		place[at + i] = to;
}

/* For each `at` by itself: then there are registers enough. */
static inline __attribute__((always_inline)) size_t fours_one_at(const struct row *r, const struct change *c,
	unsigned at, uint32_t pc)
{
	uint64_t *w = r->word, a = c->from_a, b = c->from_b, x = at ? c->b : c->a;
	uint32_t *place = r->place;
	size_t left = r->count;

	for (; left >= FOUR && have_four(w, a, b); left -= FOUR, w += 2 * FOUR, place += 2 * FOUR) {
#pragma GCC unroll 4
		for (unsigned i = 0; i < 2 * FOUR; i += 2)
			store(&w[at + i], x);
		put_four_places(place, at, pc);
	}
	return r->count - left;
}

static __attribute__((noinline)) size_t fours_one(const struct row *r, const struct change *c, uint32_t pc)
{
	return c->at ? fours_one_at(r, c, 1, pc) : fours_one_at(r, c, 0, pc);
}

static __attribute__((noinline)) size_t fours_both(const struct row *r, const struct change *c, uint32_t pc)
{
	uint64_t *w = r->word, a = c->from_a, b = c->from_b, to_a = c->a, to_b = c->b;
	uint32_t *place = r->place;
	enum moved moved = c->moved;
	size_t left = r->count;

	for (; left >= FOUR && have_four(w, a, b); left -= FOUR, w += 2 * FOUR, place += 2 * FOUR)
#pragma GCC unroll 4
		for (unsigned i = 0; i < 2 * FOUR; i += 2) {
			put(&w[i], to_a, to_b);
			put_place(&place[i], moved, 0, pc);
		}
	return r->count - left;
}

/* What is changed is copied first: the compiler cannot know that words and places are not part of it. */

static inline size_t row_alike(const struct row *r, uint64_t a, uint64_t b)
{
	size_t i = r->count >= FOUR ? fours_alike(r, a, b) : 0;

	while (i < r->count && has(&r->word[2 * i], a, b))
		i++;
	return i;
}

static inline size_t row_one(const struct row *r, const struct change *c, uint32_t pc)
{
	size_t i = r->count >= FOUR ? fours_one(r, c, pc) : 0, n = r->count;
	uint64_t *w = r->word, a = c->from_a, b = c->from_b, x = c->at ? c->b : c->a;
	uint32_t *place = r->place;
	unsigned at = c->at;

	for (; i < n && has(&w[2 * i], a, b); i++) {
		store(&w[2 * i + at], x);
		put_place(&place[2 * i], STAYS, at, pc);
	}
	return i;
}

static inline size_t row_both(const struct row *r, const struct change *c, uint32_t pc)
{
	size_t i = r->count >= FOUR ? fours_both(r, c, pc) : 0, n = r->count;
	uint64_t *w = r->word, a = c->from_a, b = c->from_b, to_a = c->a, to_b = c->b;
	uint32_t *place = r->place;
	enum moved moved = c->moved;

	for (; i < n && has(&w[2 * i], a, b); i++) {
		put(&w[2 * i], to_a, to_b);
		put_place(&place[2 * i], moved, 0, pc);
	}
	return i;
}

static inline size_t row_swap(const struct row *r, const struct change *c, uint32_t pc)
{
	size_t i = 0, n = r->count;
	uint64_t *w = r->word, a = c->from_a, b = c->from_b, to_a = c->a, to_b = c->b;
	uint32_t *place = r->place;
	enum moved moved = c->moved;
	unsigned at = c->at;

	for (; i < n && has(&w[2 * i], a, b) && swap(&w[2 * i], a, b, to_a, to_b); i++)
		put_place(&place[2 * i], moved, at, pc);
	return i;
}

/* The thread's own word is at c->at; without memory for a note it is changed itself. */
static size_t row_note(const struct row *r, const struct change *c, uint32_t pc)
{
	uint64_t *w = r->word, a = c->from_a, b = c->from_b, x = (c->at ? c->b : c->a) & ~(uint64_t)WORD_FLAGS;
	struct self *s = ring_of(x);
	char *leaf = lately_leaf(s, r->at);
	size_t i = 0;

	if (!leaf)
		return row_one(r, c, pc);
	for (; i < r->count && has(&w[2 * i], a, b); i++)
		lately_note(leaf, r->at + i * GRANULE, x, pc);
	return i;
}

/* The block at `at`, of which all granules have the words and the place of a write, becomes live if they still do. */
static void put_together(char *leaf, uintptr_t at, uint64_t a, uint32_t pc)
{
	uint64_t *w = shadow_words(leaf, at), *of = block_words(leaf, at);
	unsigned i = 0;

	block_places(leaf, at)[0] = pc;
	if (!put_at_once(of, load(&of[0]), load(&of[1]), a, BLOCK_LIVE))
		return;
	while (i < BLOCK_GRANULES && put_at_once(&w[2 * i], a, 0, BLOCK_MARK, 0))
		i++;
	if (i < BLOCK_GRANULES)
		block_freeze(leaf, at);
}

/* Memory that has changed hands by a write: its first `count` granules have the same words now. */
static __attribute__((noinline)) void row_together(const struct row *r, size_t count, const struct change *c, uint32_t pc)
{
	uintptr_t at = (r->at + BLOCK - 1) & ~(uintptr_t)(BLOCK - 1), end = r->at + count * GRANULE;
	char *leaf = shadow_find(r->at);

	for (; at + BLOCK <= end; at += BLOCK)
		if (block_is_due(leaf, at))
			put_together(leaf, at, c->a, pc);
}

static size_t row_written(const struct row *r, const struct change *c, uint32_t pc)
{
	size_t count = row_both(r, c, pc);

	if (count >= BLOCK_GRANULES && !c->b)
		row_together(r, count, c, pc);
	return count;
}

/* A write to live blocks. */
static size_t blocks_written(const struct row *r, const struct change *c, uint32_t pc)
{
	size_t i = 0, n = r->count;
	uint64_t *w = r->word, a = c->from_a, b = c->from_b, to_a = c->a, to_b = c->b;
	uint32_t *place = r->place;
	enum moved moved = c->moved;

	for (; i < n && has(&w[2 * i], a, b) && put_at_once(&w[2 * i], a, b, to_a, to_b); i++)
		put_place(&place[2 * i], moved, 0, pc);
	return i;
}

/* Who would note something needs the granules themselves: the row is another one then. */
static __attribute__((noinline)) size_t blocks_change(const struct row *r, const struct change *c, uint32_t pc)
{
	struct change live = *c;

	live.from_b |= BLOCK_LIVE;
	live.b |= BLOCK_LIVE;
	if (c->how == KEEP)
		return row_alike(r, live.from_a, live.from_b);
	if (c->how == BOTH)
		return blocks_written(r, &live, pc);
	if (c->how != NOTE)
		return row_swap(r, &live, pc);
	block_break(shadow_find(r->at), r->at);
	return 0;
}

/* Of how many, from the first on, the words were these and have changed. */
static size_t row_change(const struct row *r, const struct change *c, uint32_t pc)
{
	if (unlikely(r->each == BLOCK))
		return blocks_change(r, c, pc);
	switch (c->how) {
	case NOTE: return row_note(r, c, pc);
	case ONE: return row_one(r, c, pc);
	case BOTH: return row_written(r, c, pc);
	case SWAP: return row_swap(r, c, pc);
	case KEEP: break;
	}
	return row_alike(r, c->from_a, c->from_b);
}

/* The words of its first. */
static uint64_t row_a(const struct row *r)
{
	return load(&r->word[0]);
}

static uint64_t row_b(const struct row *r)
{
	return load(&r->word[1]) & ~(uint64_t)BLOCK_LIVE;
}

/* What is told of the past has a place: so many granules, or blocks, have the same. One, if a word is not of all bytes. */
static size_t row_of_past(const struct row *r, const struct change *c, const struct pasts *pasts)
{
	size_t i = 1;

	if (!is_full(c->from_a) || !is_full(c->from_b))
		return 1;
	if (!tells_places_apart(pasts))
		return r->count;
	while (i < r->count && r->place[2 * i] == r->place[0] && r->place[2 * i + 1] == r->place[1])
		i++;
	return i;
}

/* The past comes first; returns as row_change does. */
static size_t row_told(const struct stroke *k, const struct row *of, uintptr_t at, struct pasts *pasts)
{
	struct row r = *of;
	struct change c = told_change(k, row_a(&r), row_b(&r));
	uint64_t a = c.past[0] ? c.from_a : 0, b = c.past[1] ? c.from_b : 0;
	uint32_t was[2] = {r.place[0], r.place[1]}, granules;
	bool news = is_news(a) || is_news(b);

	if (news)
		r.count = row_of_past(&r, &c, pasts);
	r.count = row_change(&r, &c, k->place);
	if (r.count)
		learn_both(k, c.from_a, c.from_b);
	granules = (uint32_t)(r.count * (r.each / GRANULE));
	if (r.count && news)
		past_add_both(k->self, pasts, &(struct past){a, at, was[0], granules, !(c.from_a & READS)},
			&(struct past){b, at, was[1], granules, false});
	return r.count;
}

/* Accesses. */

static char *leaf_at(uintptr_t at)
{
	char *leaf = shadow_find(at);

	return leaf ? leaf : shadow_leaf(at);
}

/*
 * If two threads only read at the first: it and those behind it are settled, as long as they come out alike. Returns how
 * many that are; otherwise all. To settle more would be to do it again for each row of which they are the end.
 */
static size_t row_settle(const struct row *r)
{
	size_t i = 0;

	if (!(load(&r->word[0]) & READS))
		return r->count;
	do
		settle(&r->word[2 * i], &r->place[2 * i], r->at + i * GRANULE);
	while (has(&r->word[2 * i], load(&r->word[0]), load(&r->word[1])) && ++i < r->count);
	return i ? i : 1;
}

/* Granules of which the first is in a block. */
static void row_take_out(char *leaf, const struct row *r)
{
	size_t most = BLOCK_GRANULES - (r->at & (BLOCK - 1)) / GRANULE;

	for (size_t i = 0; i < r->count && i < most && load(&r->word[2 * i]) == BLOCK_MARK; i++)
		take_out(leaf, r->at + i * GRANULE);
}

/*
 * Each will be changed one after the other, and their lines of memory are another processor's: they come together. By the
 * instruction itself, since the compiler takes a function that does nothing else for one that does nothing.
 */
static void row_fetch(const struct row *r)
{
#if defined __x86_64__
	for (size_t i = 0; i < 2 * r->count && i < FETCHED; i += LINE / sizeof *r->word)
		__asm__ volatile("prefetchw %0" : : "m"(r->word[i]));
#else
	(void)r;
#endif
}

/* Granules in [at, end) of a leaf, or blocks if they are live. Their words can be looked at. */
static struct row row_between(char *leaf, uintptr_t at, uintptr_t end)
{
	struct row r = {shadow_words(leaf, at), shadow_places(leaf, at), (end - at) / GRANULE, at, GRANULE};

	if (end - at >= BLOCK && !(at & (BLOCK - 1)) && block_is_live(leaf, at)) {
		r = (struct row){block_words(leaf, at), block_places(leaf, at), (end - at) / BLOCK, at, BLOCK};
		row_fetch(&r);
		return r;
	}
	if (unlikely(load(&r.word[0]) == BLOCK_MARK))
		row_take_out(leaf, &r);
	r.count = row_settle(&r);
	return r;
}

/* From the granule at `at` on; one that the access has a part of is a row by itself. None: it cannot be filtered. */
static struct row row_at(struct stroke *k, uintptr_t at, uintptr_t from, uintptr_t to)
{
	uintptr_t end = (at | (LEAF_MEMORY - 1)) + 1;
	char *leaf = leaf_at(at);

	k->bytes = bytes_in(at, from, to);
	if (!leaf)
		return (struct row){0};
	if (k->bytes != WORD_BYTES)
		end = at + GRANULE;
	else if (end > to)
		end = to;
	return row_between(leaf, at, end);
}

/* A row of memory that was never touched ends with its window. What came before it says whether more will follow. */
static void row_first(struct row *r)
{
	uintptr_t at = r->at;
	size_t most = (WINDOW - (at & (WINDOW - 1))) / GRANULE;

	if (!(at & (WINDOW - 1)) && at & (LEAF_MEMORY - 1) && (load(&r->word[-2]) | load(&r->word[-1])))
		shadow_populate(at);
	if (r->count > most)
		r->count = most;
}

/* Silent as far as that goes: the first granule that is to be told, or the end. */
static uintptr_t silent_until(struct stroke *k, uintptr_t at, uintptr_t from, uintptr_t to)
{
	while (at < to) {
		struct row r = row_at(k, at, from, to);
		uint64_t a = r.count ? row_a(&r) : 0, b = r.count ? row_b(&r) : 0;
		struct change c;

		if (!r.count || (!silent_change(k, a, b, &c) && !(k->known && taken_change(k, a, b, &c))))
			break;
		if (!(a | b) && r.each == GRANULE)
			row_first(&r);
		at += row_change(&r, &c, k->place) * r.each;
	}
	return at;
}

/*
 * Of granules, or blocks, from the first on that have these words and come from one place: how many there are. Theirs is a
 * write, which is told.
 */
static size_t row_write_told(const struct row *r, uint64_t a, uint64_t b, uint32_t place)
{
	uint64_t second = r->each == BLOCK ? b | BLOCK_LIVE : b;
	size_t i = 0;

	while (i < r->count && r->place[2 * i] == place && swap(&r->word[2 * i], a, second, a | TOLD, second))
		i++;
	return i;
}

static uint64_t first_word(char *leaf, uintptr_t at)
{
	uint64_t a = load(shadow_words(leaf, at));

	return a == BLOCK_MARK ? load(block_words(leaf, at)) : a;
}

/*
 * A read of what another has written and a third one has read, both of which nobody has heard of. Of the write the thread
 * knows; but it is in the way of two readers, who would not tell it. So it is told, with that of what lies behind. The row is
 * what the access finds first. False: it is not that.
 */
static bool write_told(const struct stroke *k, const struct row *of)
{
	uintptr_t at = of->at, leaf_end = (at | (LEAF_MEMORY - 1)) + 1, end = leaf_end - at > AHEAD ? at + AHEAD : leaf_end;
	uint64_t a = row_a(of), b = row_b(of);
	struct past past = {a, at, of->place[0], 0, true};
	char *leaf = shadow_find(at);
	size_t n;

	if (k->write || a & READS || !is_news(a) || !is_known(k->self, a) || !is_foreign(k->self, b))
		return false;
	if (!is_full(a))
		end = at + GRANULE;
	do {
		struct row r = row_between(leaf, at, end);

		n = row_write_told(&r, a, b, past.place);
		past.count += (uint32_t)(n * r.each / GRANULE);
		at += n * r.each;
	} while (n && at < end && first_word(leaf, at) == a);
	past_tell(k->self, &past);
	return past.count;
}

/* Whether nothing is to be learned from it. */
static bool is_all_known(struct stroke *k, uintptr_t at, uintptr_t from, uintptr_t to)
{
	while (at < to) {
		struct row r = row_at(k, at, from, to);
		uint64_t a = r.count ? row_a(&r) : 0, b = r.count ? row_b(&r) : 0;

		if (!r.count)
			return false;
		if (may_take_over(k, a, b) || may_stay_silent(k, a, b))
			at += row_change(&r, &(struct change){a, b, a, b, .how = KEEP}, 0) * r.each;
		else if (!write_told(k, &r))
			return false;
	}
	return true;
}

/* Where there is no shadow, and where an atomic was, there is nothing to note. */
static void all_told(struct stroke *k, uintptr_t from, uintptr_t to, struct pasts *pasts)
{
	for (uintptr_t at = from & ~(uintptr_t)(GRANULE - 1); at < to;) {
		struct row r = row_at(k, at, from, to);

		if (!r.count || load(&r.word[0]) == PRECISE)
			at += GRANULE;
		else
			at += row_told(k, &r, at, pasts) * r.each;
	}
}

/* An access that is told: [from, to). If all its granules are alike, they are the row. */
struct telling {
	uintptr_t from, to;
	void *pc;
	struct row row;
};

/*
 * Of both streams the full one has it apart, if it is known. A signal handler may have told the function that it was inside
 * of, or brought along its own.
 */
static void put_access(const struct stroke *k, const struct telling *l, unsigned how)
{
	struct self *s = k->self;
	uint64_t stream = how & ACCESS_KNOWN && s->mode & MODE_BOTH ? STREAM_FILTERED << KIND_BITS : 0;
	uint64_t second = entry_second((uintptr_t)l->pc, self_ticks(s)), bytes = l->to - l->from;

	if (how & ACCESS_BROUGHT && (s->told >= s->open || !frames_are_brought(s)))
		how &= ~(unsigned)ACCESS_BROUGHT;
	if (bytes <= 16)
		self_put(s, entry_first((k->write ? ENTRY_WRITE : ENTRY_READ) | stream, (unsigned)bytes | how, l->from), second);
	else
		self_put_sized(s, entry_first((k->write ? ENTRY_WRITE_RANGE : ENTRY_READ_RANGE) | stream, how, l->from), second,
			bytes);
}

/* Later than everything silent before it, which has not seen what is learned by it. */
static void tell(struct stroke *k, const struct telling *l)
{
	struct self *s = k->self;
	struct pasts pasts = {0};
	unsigned brought = frames_tell_loud(s) ? ACCESS_BROUGHT : 0;
	size_t done;

	self_tick(s);
	done = l->row.count ? row_told(k, &l->row, l->from & ~(uintptr_t)(GRANULE - 1), &pasts) : 0;
	if (done < l->row.count || !done)
		all_told(k, l->from + done * GRANULE, l->to, &pasts);
	pasts_tell(s, &pasts);
	s->fresh = 0;
	put_access(k, l, brought);
}

/*
 * Whether nothing is to be learned from it, and so much is known of its place that this goes without saying. Otherwise it is
 * told: of a block that is split, checks name all memory that they hear of.
 */
static bool goes_without_saying(const struct stroke *k)
{
	struct self *s = k->self;
	uint8_t *n = &s->usual[k->place % USUAL];

	if (s->familiar >= FAMILIAR || *n >= USUALLY)
		return true;
	++*n;
	s->familiar++;
	return false;
}

/* What is noted as a read since the thread has synchronised need not be told again before a write that is noted. */

static struct noted noted_of(const struct self *s, const struct telling *l)
{
	return (struct noted){(uint64_t)l->from << 8 | (l->to - l->from), s->synced};
}

static struct noted *noted_at(struct self *s, const struct telling *l)
{
	return &s->noted[l->from / GRANULE % NOTED];
}

static bool is_noted(struct self *s, const struct telling *l)
{
	struct noted n = noted_of(s, l), *at = noted_at(s, l);

	return at->what == n.what && at->synced == n.synced;
}

/*
 * Of a write that is noted: what the thread has read there since it synchronised, which was silent. Whether the section has
 * looked before it writes decides what the write is taken for.
 */
static void tell_own_reads(const struct stroke *k, const struct telling *l)
{
	struct self *s = k->self;
	struct pasts pasts = {0};

	for (uintptr_t at = l->from & ~(uintptr_t)(GRANULE - 1); at < l->to; at += GRANULE) {
		char *leaf = shadow_find(at);
		uint64_t r = leaf ? load(&shadow_words(leaf, at)[1]) : 0;

		if (is_own(s, r) && time_of(r) >= s->synced)
			past_add_both(s, &pasts, &(struct past){.write = true},
				&(struct past){r, at, shadow_places(leaf, at)[1], 1, false});
	}
	pasts_tell(s, &pasts);
}

/* It was silent: the thread has the memory by now. */
static void note(const struct stroke *k, const struct telling *l)
{
	struct self *s = k->self;
	unsigned brought;

	if (s->familiar >= FAMILIAR)
		return;
	s->familiar++;
	brought = frames_tell_loud(s) ? ACCESS_BROUGHT : 0;
	if (l->to - l->from <= 16 && !k->write)
		*noted_at(s, l) = noted_of(s, l);
	else if (l->to - l->from <= 16 && !is_noted(s, l))
		tell_own_reads(k, l);
	put_access(k, l, ACCESS_KNOWN | brought);
}

static struct stroke stroke_of(struct self *s, bool write, const void *pc)
{
	return (struct stroke){s, 0, write, false, (uint32_t)(uintptr_t)pc};
}

/* Compiled as one: what packs and parses comes here for each access that is not aligned. */
__attribute__((flatten)) bool filter_range(struct self *s, uintptr_t address, size_t size, bool write, void *pc)
{
	struct stroke k = stroke_of(s, write, pc);
	uintptr_t at = address & ~(uintptr_t)(GRANULE - 1), to = address + size;

	if (!s->fresh) {
		at = silent_until(&k, at, address, to);
		if (at >= to)
			return false;
		k.known = is_all_known(&k, at, address, to);
	}
	if (k.known && goes_without_saying(&k) && silent_until(&k, at, address, to) >= to) {
		note(&k, &(struct telling){address, to, pc, {0}});
		return false;
	}
	tell(&k, &(struct telling){address, to, pc, {0}});
	return true;
}

/* The granules of an access of 1, 2, 4, 8 or 16 bytes. False: it is not plain that they are alike. */
static inline bool row_of(uintptr_t address, size_t size, struct row *r)
{
	char *leaf = shadow_find(address);

	if (!leaf || address & (size - 1))
		return false;
	r->word = shadow_words(leaf, address);
	r->place = shadow_places(leaf, address);
	r->count = size < GRANULE ? 1 : size / GRANULE;
	r->at = address & ~(uintptr_t)(GRANULE - 1);
	r->each = GRANULE;
	if (unlikely(load(&r->word[0]) == BLOCK_MARK))
		row_take_out(leaf, r);
	if (row_settle(r) < r->count)
		return false;
	for (size_t i = 1; i < r->count; i++)
		if (!has(&r->word[2 * i], load(&r->word[0]), load(&r->word[1])))
			return false;
	return true;
}

/* Compiled as one: memory that changes hands comes here for each of its accesses. */
__attribute__((flatten)) bool filter_access(struct self *s, uintptr_t address, size_t size, bool write, void *pc)
{
	struct stroke k = stroke_of(s, write, pc);
	struct telling l = {.from = address, .to = address + size, .pc = pc};
	struct change c;
	uint64_t a, b;

	if (unlikely(s->fresh || !row_of(address, size, &l.row)))
		return filter_range(s, address, size, write, pc);
	a = load(&l.row.word[0]);
	b = load(&l.row.word[1]);
	if (unlikely(!(a | b)))
		row_first(&l.row);
	k.bytes = bytes_of(address, size);
	if (silent_change(&k, a, b, &c) || ((k.known = taken_change(&k, a, b, &c)) && goes_without_saying(&k))) {
		if (row_change(&l.row, &c, k.place) < l.row.count)
			return filter_range(s, address, size, write, pc);
		filter_mark(s, address, size, write);
		if (k.known)
			note(&k, &l);
		return false;
	}
	if (unlikely(a == PRECISE))
		l.row.count = 0;
	else if (!k.known && write_told(&k, &l.row))
		return filter_range(s, address, size, write, pc);
	tell(&k, &l);
	if (a != PRECISE)
		filter_mark(s, address, size, write);
	return true;
}

static void make_precise(struct self *s, char *leaf, uintptr_t at, struct pasts *pasts)
{
	uint64_t *w = shadow_words(leaf, at), a, b;
	uint32_t *place = shadow_places(leaf, at);
	uint32_t was[2];

	do {
		if (load(&w[0]) == BLOCK_MARK)
			take_out(leaf, at);
		settle(w, place, at);
		was[0] = place[0];
		was[1] = place[1];
		a = load(&w[0]);
		b = load(&w[1]);
		if (a == PRECISE)
			return;
	} while (!swap(w, a, b, PRECISE, 0));
	past_add_both(s, pasts, &(struct past){a, at, was[0], 1, !(a & READS)}, &(struct past){b, at, was[1], 1, false});
}

void filter_atomic(struct self *s, uintptr_t address, size_t size)
{
	struct pasts pasts = {0};

	if (!(s->mode & MODE_FILTER))
		return;
	frames_tell(s);
	for (uintptr_t at = address & ~(uintptr_t)(GRANULE - 1); at < address + size; at += GRANULE) {
		char *leaf = leaf_at(at);

		if (leaf)
			make_precise(s, leaf, at, &pasts);
	}
	pasts_tell(s, &pasts);
}
