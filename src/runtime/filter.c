/* SPDX-License-Identifier: MIT */
#include "filter.h"

#include "runtime/frames.h"

/* One access to one granule, or to a part of it. */
struct stroke {
	struct self *self;
	uint64_t bytes; /* which, in their place in a word */
	bool write;
	bool known; /* there is nothing to be learned from it */
	uint32_t place;
};

struct words {
	uint64_t a, b;
};

/* Accesses of the past, alike and side by side: told as one. */
struct past {
	uint64_t word;
	uintptr_t address;
	uint32_t place, count;
	bool write;
};

/* A word of each kind, a and b, of the granules so far. */
struct pasts {
	struct past of[2];
};

/* Words. */

static bool is_none(uint64_t w)
{
	return !(w >> NOW_SHIFT);
}

static uint64_t time_of(uint64_t w)
{
	return w >> NOW_SHIFT & (((uint64_t)1 << TIME_BITS) - 1);
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

/* Silence. */

/* Whether the words, which are the thread's own or none, speak of these bytes too. */
static bool speaks_of(uint64_t a, uint64_t b, uint64_t bytes)
{
	return a & SOLE || !(a | b) || is_within(bytes, a | b);
}

static bool may_write_silently(const struct stroke *k, uint64_t a, uint64_t b)
{
	return a != PRECISE && !(a & READS) && !is_foreign(k->self, a) && !is_foreign(k->self, b) &&
	       speaks_of(a, a, k->bytes);
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

/* The first read: another thread may be reading as well. */
static bool read_first(const struct stroke *k, uint64_t *w, uint32_t *place, uint64_t a, uint64_t b)
{
	place[1] = k->place;
	return swap(w, a, b, a | b ? a : SOLE, k->self->now | k->bytes);
}

/* False if the granule has changed in the meantime: look again. */
static bool note_silently(const struct stroke *k, uint64_t *w, uint32_t *place)
{
	uint64_t a = load(&w[0]), b = load(&w[1]);
	unsigned i = !k->write;

	if (!may_stay_silent(k, a, b))
		return false;
	if (!k->write && is_now(k, a))
		return true;
	if (a & READS)
		i = !reads_again(k, a);
	else if (!k->write && is_none(b))
		return read_first(k, w, place, a, b);
	place[i] = k->place;
	store(&w[i], renewed(k, i ? b : a) | (i ? 0 : a & (READS | SOLE)) | (a | b || i ? 0 : SOLE));
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
	uint64_t since = ring_of(w)->own;

	if (!is_foreign(k->self, w) || !(w & k->bytes) || w < since)
		return;
	if (n->since != since || w > n->word)
		*n = (struct heard){since, w};
}

/*
 * Whether the access of another thread is not news: this one has told of an access that came after a later one of the
 * same thread. That must have synchronised since, or they race for certain and both are told.
 */
static bool is_old_news(const struct self *s, uint64_t w)
{
	const struct heard *n = heard_of((struct self *)s, w);

	return w >= n->since && w <= (n->word | WORD_BYTES | WORD_FLAGS) &&
	       __atomic_load_n(&ring_of(w)->synced, __ATOMIC_RELAXED) > time_of(w);
}

static bool is_known(const struct self *s, uint64_t w)
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

/* Another's word that goes must not speak of more. */
static bool may_go(const struct stroke *k, uint64_t w)
{
	return is_own(k->self, w) || (is_within(w & WORD_BYTES, k->bytes) && is_known(k->self, w));
}

/* A read makes two readers of what one has read, if the write is told; otherwise that stays and the reader goes. */
static bool makes_two(const struct stroke *k, uint64_t a, uint64_t b)
{
	return is_foreign(k->self, b) && (is_none(a) || a & TOLD);
}

static bool may_take_over(const struct stroke *k, uint64_t a, uint64_t b)
{
	if (a == PRECISE || !knows_write(k, a, b))
		return false;
	if (k->write)
		return may_go(k, a) && may_go(k, b);
	return !(a & READS) && !is_own(k->self, b) && is_known(k->self, a) && (makes_two(k, a, b) || may_go(k, b));
}

static bool take_to_read(const struct stroke *k, uint64_t *w, uint32_t *place, struct words o)
{
	uint64_t now = k->self->now | k->bytes;
	uint32_t before = place[1];

	place[1] = k->place;
	if (!makes_two(k, o.a, o.b))
		return swap(w, o.a, o.b, is_own(k->self, o.a) && is_none(o.b) ? o.a : o.a & ~(uint64_t)SOLE, now);
	place[0] = before;
	return swap(w, o.a, o.b, o.b | READS | SOLE, now);
}

/* One's own read before it stays: whether the section has looked again decides what the write is taken for. */
static void take_to_write(const struct stroke *k, uint64_t *w, uint32_t *place, struct words o)
{
	uint64_t read = is_own(k->self, o.b) ? o.b : 0;
	bool writes = is_own(k->self, o.a) && !(o.a & READS);

	if (o.a & READS && is_own(k->self, o.a)) {
		read = o.a & ~(uint64_t)(READS | SOLE);
		place[1] = place[0];
	}
	place[0] = k->place;
	put(w, writes ? renewed(k, o.a) : k->self->now | k->bytes, read);
}

/* False if the granule has changed in the meantime, or has to be told. */
static bool take_over(const struct stroke *k, uint64_t *w, uint32_t *place)
{
	struct words o = {load(&w[0]), load(&w[1])};

	if (!may_take_over(k, o.a, o.b))
		return false;
	if (!k->write)
		return take_to_read(k, w, place, o);
	take_to_write(k, w, place, o);
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
}

static bool goes_on(const struct past *p, const struct past *next)
{
	return p->count && !((p->word ^ next->word) >> NOW_SHIFT) && p->place == next->place && p->write == next->write &&
	       p->word & next->word & WORD_BYTES && is_same_bytes(p->word, WORD_BYTES) &&
	       is_same_bytes(next->word, WORD_BYTES) && p->address + p->count * GRANULE == next->address;
}

static void past_add(struct self *s, struct pasts *all, unsigned i, struct past next)
{
	struct past *p = &all->of[i];

	if (is_none(next.word) || next.word & TOLD)
		return;
	if (goes_on(p, &next)) {
		p->count++;
		return;
	}
	if (p->count)
		pasts_tell(s, all);
	*p = next;
	p->count = 1;
}

/* In their order, which times do not say where a write follows a read at once. */
static void past_add_both(struct self *s, struct pasts *all, struct past a, struct past b)
{
	bool behind = a.write && is_behind(b.word, a.word);

	past_add(s, all, behind, a);
	past_add(s, all, !behind, b);
}

/* What a told access makes of the words, and which of them have to be told first. */
struct change {
	uint64_t a, b;
	bool past[2];
	bool moved; /* the place of b becomes that of a */
};

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

	return (struct change){
		.a = told(k, mine) | (is_sole(k, a, b) ? SOLE : 0),
		.past = {!is_superseded(k, a), true},
	};
}

/* One more reader where there are two: it takes the place of the one that has been here the longest time ago. */
static struct change reader_change(const struct stroke *k, uint64_t a, uint64_t b)
{
	bool own = is_own(k->self, a) || is_own(k->self, b);
	bool first = own ? is_own(k->self, a) : time_of(a) < time_of(b);

	if (first)
		return (struct change){told(k, a) | READS | (own ? a & SOLE : 0), b, {!own || has_more(k, a), false}, false};
	return (struct change){own ? a : a & ~(uint64_t)SOLE, told(k, b), {false, !own || has_more(k, b)}, false};
}

static struct change read_change(const struct stroke *k, uint64_t a, uint64_t b)
{
	if (a & READS)
		return reader_change(k, a, b);
	if (is_foreign(k->self, b) && !is_behind(b, a))
		return (struct change){b | READS | SOLE, k->self->now | k->bytes | TOLD, {true, false}, true};
	if (is_foreign(k->self, a))
		return (struct change){(a | TOLD) & ~(uint64_t)SOLE, told(k, b),
			{true, has_more(k, b) || is_foreign(k->self, b)}, false};
	return (struct change){a | (a | b ? 0 : SOLE), told(k, b), {false, has_more(k, b)}, false};
}

/* A word of all bytes, or none. */
static bool is_full(uint64_t w)
{
	return is_none(w) || is_same_bytes(w, WORD_BYTES);
}

/* A read does not conflict with reads. */
static void learn_both(const struct stroke *k, uint64_t a, uint64_t b)
{
	if (k->write || !(a & READS))
		learn(k, a);
	if (k->write)
		learn(k, b);
}

/* The last granule of a range: one that looks the same becomes the same. */
struct alike {
	uint64_t a, b;
	struct change to;
	uint32_t was[2];
	bool on;
};

static struct change told_change(const struct stroke *k, uint64_t a, uint64_t b)
{
	return k->write ? write_change(k, a, b) : read_change(k, a, b);
}

/* False if the granule has changed in the meantime. */
static bool become_told(const struct stroke *k, uint64_t *w, uint32_t *place, const struct alike *m)
{
	if (k->write)
		put(w, m->to.a, m->to.b);
	else if (!swap(w, m->a, m->b, m->to.a, m->to.b))
		return false;
	if (m->to.moved)
		place[0] = m->was[1];
	place[!k->write && m->to.b != m->b] = k->place;
	return true;
}

/* What goes on is as long as the others by one granule. */
static void pasts_go_on(struct pasts *pasts, uintptr_t address)
{
	for (unsigned i = 0; i < 2; i++)
		if (pasts->of[i].address + pasts->of[i].count * GRANULE == address)
			pasts->of[i].count++;
}

static bool told_alike(const struct stroke *k, uint64_t *w, uint32_t *place, const struct alike *m)
{
	return m->on && k->bytes == WORD_BYTES && load(&w[0]) == m->a && load(&w[1]) == m->b && place[0] == m->was[0] &&
	       place[1] == m->was[1] && become_told(k, w, place, m);
}

static struct alike note_told(const struct stroke *k, uint64_t *w, uint32_t *place, uintptr_t address,
	struct pasts *pasts)
{
	struct alike m;

	do {
		m = (struct alike){.a = load(&w[0]), .b = load(&w[1]), .was = {place[0], place[1]}};
		if (m.a == PRECISE)
			return m;
		m.to = told_change(k, m.a, m.b);
	} while (!become_told(k, w, place, &m));
	learn_both(k, m.a, m.b);
	past_add_both(k->self, pasts, (struct past){m.to.past[0] ? m.a : 0, address, m.was[0], 0, !(m.a & READS)},
		(struct past){m.to.past[1] ? m.b : 0, address, m.was[1], 0, false});
	m.on = k->bytes == WORD_BYTES && is_full(m.a) && is_full(m.b);
	return m;
}

/* Accesses. */

/* Those bytes of [from, to) that are in the granule at `at`. */
static uint64_t bytes_in(uintptr_t at, uintptr_t from, uintptr_t to)
{
	unsigned first = from > at ? (unsigned)(from - at) : 0;
	unsigned last = to < at + GRANULE ? (unsigned)(to - at) : GRANULE;

	return ((uint64_t)((1 << last) - 1) & ~(uint64_t)((1 << first) - 1)) << 4;
}

static char *leaf_at(uintptr_t at)
{
	char *leaf = shadow_find(at);

	return leaf ? leaf : shadow_leaf(at);
}

/* One granule: whether it was done. Otherwise it has to be told. */
static bool granule_silent(const struct stroke *k, uint64_t *w, uint32_t *place)
{
	while (may_stay_silent(k, load(&w[0]), load(&w[1])))
		if (note_silently(k, w, place))
			return true;
	return false;
}

static bool granule_knowing(const struct stroke *k, uint64_t *w, uint32_t *place)
{
	while (may_take_over(k, load(&w[0]), load(&w[1])))
		if (take_over(k, w, place))
			return true;
	return granule_silent(k, w, place);
}

/* Where only the thread itself can be at a word that changes, and no place moves. */
static bool is_plain_change(const struct stroke *k, struct words from)
{
	return k->bytes == WORD_BYTES && (k->write ? !(from.a & READS) : is_own(k->self, from.a & READS ? from.a : from.b));
}

static bool silent_alike(const struct stroke *k, uint64_t *w, uint32_t *place, const struct alike *m)
{
	if (!m->on || k->bytes != WORD_BYTES || load(&w[0]) != m->a || load(&w[1]) != m->b)
		return false;
	if (m->to.a != m->a) {
		place[0] = k->place;
		store(&w[0], m->to.a);
	}
	if (m->to.b != m->b) {
		place[1] = k->place;
		store(&w[1], m->to.b);
	}
	return true;
}

static bool note_silent(const struct stroke *k, uint64_t *w, uint32_t *place, struct alike *m)
{
	struct words from = {load(&w[0]), load(&w[1])};

	if (!(k->known ? granule_knowing : granule_silent)(k, w, place))
		return false;
	*m = (struct alike){.a = from.a, .b = from.b, .to = {.a = load(&w[0]), .b = load(&w[1])},
		.on = is_plain_change(k, from)};
	return true;
}

static bool all_silent(struct stroke k, uintptr_t from, uintptr_t to)
{
	struct alike m = {.on = false};

	for (uintptr_t at = from & ~(uintptr_t)(GRANULE - 1); at < to; at += GRANULE) {
		char *leaf = leaf_at(at);

		k.bytes = bytes_in(at, from, to);
		if (!leaf || (!silent_alike(&k, shadow_words(leaf, at), shadow_places(leaf, at), &m) &&
				!note_silent(&k, shadow_words(leaf, at), shadow_places(leaf, at), &m)))
			return false;
	}
	return true;
}

static bool is_granule_known(const struct stroke *k, struct words of)
{
	return may_take_over(k, of.a, of.b) || may_stay_silent(k, of.a, of.b);
}

/* Whether nothing is to be learned from it. */
static bool is_all_known(struct stroke k, uintptr_t from, uintptr_t to)
{
	struct words last = {0};
	uint64_t bytes = 0;

	for (uintptr_t at = from & ~(uintptr_t)(GRANULE - 1); at < to; at += GRANULE, bytes = k.bytes) {
		char *leaf = leaf_at(at);
		const uint64_t *w = leaf ? shadow_words(leaf, at) : NULL;

		k.bytes = bytes_in(at, from, to);
		if (w && k.bytes == bytes && load(&w[0]) == last.a && load(&w[1]) == last.b)
			continue;
		last = w ? (struct words){load(&w[0]), load(&w[1])} : last;
		if (!w || !is_granule_known(&k, last))
			return false;
	}
	return true;
}

static void all_told(struct stroke k, uintptr_t from, uintptr_t to)
{
	struct pasts pasts = {0};
	struct alike m = {.on = false};

	for (uintptr_t at = from & ~(uintptr_t)(GRANULE - 1); at < to; at += GRANULE) {
		char *leaf = leaf_at(at);

		k.bytes = bytes_in(at, from, to);
		if (leaf && told_alike(&k, shadow_words(leaf, at), shadow_places(leaf, at), &m))
			pasts_go_on(&pasts, at);
		else if (leaf)
			m = note_told(&k, shadow_words(leaf, at), shadow_places(leaf, at), at, &pasts);
	}
	pasts_tell(k.self, &pasts);
}

/* Later than everything silent before it, if there is something to be learned: that has not seen it. */
static void tell(struct stroke k, uintptr_t from, uintptr_t to, void *pc)
{
	struct self *s = k.self;

	frames_tell_loud(s);
	if (!k.known)
		self_tick(s);
	all_told(k, from, to);
	s->fresh = 0;
	if (to - from <= 16)
		self_put(s, entry_first(k.write ? ENTRY_WRITE : ENTRY_READ, (unsigned)(to - from), from),
			entry_second((uintptr_t)pc, self_ticks(s)));
	else
		self_put_sized(s, entry_first(k.write ? ENTRY_WRITE_RANGE : ENTRY_READ_RANGE, 0, from),
			entry_second((uintptr_t)pc, self_ticks(s)), to - from);
}

bool filter_access(struct self *s, uintptr_t address, size_t size, bool write, void *pc)
{
	struct stroke k = {s, 0, write, false, (uint32_t)(uintptr_t)pc};

	if (!s->fresh && all_silent(k, address, address + size))
		return false;
	k.known = !s->fresh && is_all_known(k, address, address + size);
	if (k.known && s->familiar >= FAMILIAR && all_silent(k, address, address + size))
		return false;
	s->familiar += k.known;
	tell(k, address, address + size, pc);
	return true;
}

bool filter_range(struct self *s, uintptr_t address, size_t size, bool write, void *pc)
{
	return filter_access(s, address, size, write, pc);
}

static void make_precise(struct self *s, uint64_t *w, uint32_t *place, uintptr_t at, struct pasts *pasts)
{
	uint64_t a, b;
	uint32_t was[2] = {place[0], place[1]};

	do {
		a = load(&w[0]);
		b = load(&w[1]);
		if (a == PRECISE)
			return;
	} while (!swap(w, a, b, PRECISE, 0));
	past_add_both(s, pasts, (struct past){a, at, was[0], 0, !(a & READS)}, (struct past){b, at, was[1], 0, false});
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
			make_precise(s, shadow_words(leaf, at), shadow_places(leaf, at), at, &pasts);
	}
	pasts_tell(s, &pasts);
}
