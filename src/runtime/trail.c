/* SPDX-License-Identifier: MIT */
#include "trail.h"

#include "runtime/sites.h"

enum { STACK_MOST = 1 << 23 }; /* as in collect/translate.c */

static struct trail_site *site_at(struct self *s, uint64_t index)
{
	return (struct trail_site *)((char *)s + SITES_AT) + index;
}

static uint16_t *known(struct self *s)
{
	return (uint16_t *)((char *)s + KNOWN_AT);
}

/* As the hooks have it. */
static uint64_t index_of(uint64_t by)
{
	return TRAIL_NUMBERED | (by >> 2 & (TRAIL_SITES - TRAIL_NUMBERED - 1));
}

/* Where else it may be, if another has its place: two that take turns must not be defined again and again. */
static uint64_t index_aside(uint64_t by)
{
	return index_of((uint32_t)by * TRAIL_MIX >> TRAIL_MIX_SHIFT);
}

static void fence(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/*
 * By whoever likes: a place that is not known is defined again. Not so one with a number that comes as expected: no other
 * code ever gets that.
 */
static void forget(struct self *s)
{
	for (uint32_t i = 0; i < s->sites && i < TRAIL_SITES; i++)
		__atomic_store_n(&site_at(s, known(s)[i] & (TRAIL_SITES - 1))->pc, 0, __ATOMIC_RELAXED);
}

/* And nothing is expected: behind each comes the first, which is nobody's. */
static void forget_all(struct self *s)
{
	forget(s);
	for (uint32_t i = 0; i < s->sites && i < TRAIL_SITES; i++)
		site_at(s, known(s)[i] & (TRAIL_SITES - 1))->behind = 0;
	site_at(s, 0)->behind = 0;
}

static void forget_for_good(struct self *s)
{
	forget_all(s);
	for (uint32_t i = 0; i < s->sites && i < TRAIL_SITES; i++)
		site_at(s, known(s)[i] & (TRAIL_SITES - 1))->token = 0;
	s->sites = s->trail_last = 0;
}

/* The consumer has taken all of who had it before. */
void trail_begin(struct self *s)
{
	uint64_t tail = __atomic_load_n(&s->trail_tail, __ATOMIC_ACQUIRE);

	s->trails = channel->trails && !channel->mode;
	s->trail_lap = (uint32_t)(tail / TRAIL_BYTES);
	s->trail_at = s->trail_told = TRAIL_AT + tail % TRAIL_BYTES;
	s->trail_told_bytes = tail;
	s->trail_limit = 0;
	s->trail_depth = 0;
	s->trail_busy = 0;
	for (unsigned i = 0; i < 3; i++)
		s->ignored[i] = 0;
	forget_for_good(s);
}

/* Positions. */

static uint32_t at_of(const struct self *s)
{
	return (uint32_t)s->trail_at;
}

/* Behind what was written; of what was counted nothing is left to be said. By one instruction. */
static void move(struct self *s, uint32_t n)
{
	fence();
	*(volatile uint64_t *)&s->trail_at = at_of(s) + n;
	fence();
}

static uint32_t part_end(uint32_t at)
{
	return TRAIL_AT + ((at - TRAIL_AT) / TRAIL_PART + 1) * TRAIL_PART;
}

static void write16(struct self *s, uint32_t behind, uint16_t x)
{
	__builtin_memcpy((char *)s + at_of(s) + behind, &x, sizeof x);
}

static void write32(struct self *s, uint32_t behind, uint32_t x)
{
	__builtin_memcpy((char *)s + at_of(s) + behind, &x, sizeof x);
}

/* What was counted since. Returns the bytes that were written, behind which the position is to move. */
static uint32_t write_count(struct self *s)
{
	uint32_t n = trail_counted(s->trail_at);

	if (!n)
		return 0;
	write16(s, 0, (uint16_t)(n << TRAIL_TOKEN_BITS | TRAIL_COUNTED));
	return 2;
}

/* The same at once; not where a hook was interrupted, nor where its part has no room: some of it is left. */
static void flush(struct self *s)
{
	if (s->trail_busy & TRAIL_HOOK || !s->trail_limit || at_of(s) + 2 >= s->trail_limit + TRAIL_LONGEST)
		return;
	s->trail_busy |= TRAIL_HOOK;
	fence();
	move(s, write_count(s));
	s->trail_busy &= (uint8_t)~TRAIL_HOOK;
}

/* How far the trail has come. */
struct stand {
	uint64_t at, bytes;
};

/* Both of one moment: a handler that comes up in between may write. */
static struct stand stand_of(const struct self *s)
{
	struct stand now;

	do {
		now.at = *(const volatile uint64_t *)&s->trail_at;
		now.bytes = trail_position(s, now.at);
		fence();
	} while (now.at != *(const volatile uint64_t *)&s->trail_at);
	return now;
}

/* Written before it counts as told: a handler that comes up in between tells it again. */
bool trail_tell(struct self *s)
{
	while (trail_has_more(s)) {
		uint64_t at = self_reserve(s, 1);
		struct stand now;

		if (at + SLOT > s->room && !self_wait(s, &at, 1))
			return false;
		flush(s);
		now = stand_of(s);
		slot_write(s, at, entry_first(ENTRY_TRAIL, 0, now.bytes), trail_counted(now.at));
		s->trail_told_bytes = now.bytes;
		s->trail_told = now.at;
		fence();
	}
	return true;
}

void trail_off(struct self *s)
{
	if (!s->trails)
		return;
	trail_tell(s);
	s->trails = 0;
	self_set_limit(s);
	self_look_at_hooks();
}

/* Room. */

/*
 * The rest of a part is filled up with nothing. What stands there is told before the position goes back to the start:
 * whoever looks at it just then sees less than that.
 */
static void next_part(struct self *s)
{
	uint32_t n = part_end(at_of(s)) - at_of(s), done = write_count(s);

	for (uint32_t i = done; i < n; i += 2)
		write16(s, i, 0);
	s->trail_limit = 0;
	move(s, n);
	trail_tell(s);
}

/* Back to the start. */
static void next_lap(struct self *s)
{
	*(volatile uint64_t *)&s->trail_at -= TRAIL_BYTES;
	fence();
	s->trail_lap++;
}

/* Once it has gone on to the next part, it does so no more until that is free. */
static bool has_room(struct self *s)
{
	uint32_t end;

	if (at_of(s) < s->trail_limit)
		return true;
	if (at_of(s) + TRAIL_LONGEST >= part_end(at_of(s)))
		next_part(s);
	if (at_of(s) == TRAIL_AT + TRAIL_BYTES)
		next_lap(s);
	end = part_end(at_of(s));
	if (!self_trail_room(s, (uint64_t)s->trail_lap * TRAIL_BYTES + end - TRAIL_AT))
		return false;
	s->trail_limit = end - TRAIL_LONGEST;
	return true;
}

void trail_code_changes(uint32_t process)
{
	uint32_t n = __atomic_load_n(&channel->rings, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < n; i++) {
		struct self *s = channel_ring(channel, i);

		if (__atomic_load_n(&s->state, __ATOMIC_ACQUIRE) == RING_USED && s->process == process && s->trails)
			forget(s);
	}
}

/* Hooks. */

/* False: it must be put. */
static inline bool hook_begin(struct self *s)
{
	if (!channel->trails && s == self_ring)
		trail_off(s);
	if (!s->trails || s->trail_busy)
		return false;
	/* Who only counts would never learn that nobody listens. */
	if (trail_counted(s->trail_at) >= TRAIL_COUNT_MOST && !self_is_heard(s))
		return false;
	s->trail_busy = TRAIL_HOOK;
	fence();
	return true;
}

static void hook_end(struct self *s)
{
	fence();
	s->trail_busy &= (uint8_t)~TRAIL_HOOK;
}

/* Whether the collector knows all code, and has nothing against trails. */
static bool may_define(void)
{
	return __atomic_load_n(&channel->modules, __ATOMIC_ACQUIRE) ==
	       __atomic_load_n(&channel->modules_plain, __ATOMIC_ACQUIRE);
}

static bool is_access(uint8_t what)
{
	return (what & 7) < TRAIL_ENTRY;
}

/* In this order: whoever leaves in the middle leaves no place that forget() does not find, nor one that is half there. */
static void site_set(struct self *s, uint64_t index, const struct trail_site *is)
{
	struct trail_site *p = site_at(s, index);

	*(volatile uint64_t *)&p->pc = 0;
	if (!p->token) {
		if (s->sites == TRAIL_SITES)
			return;
		*(volatile uint16_t *)&known(s)[s->sites] = (uint16_t)index;
		fence();
		s->sites++;
	}
	fence();
	p->token = (uint16_t)((index + 1) << TRAIL_TOKEN_BITS);
	p->next = is->next;
	p->stride = is->stride;
	p->what = is->what;
	p->behind = 0;
	if (!is_access(is->what))
		s->trail_depth = 0;
	fence();
	*(volatile uint64_t *)&p->pc = is->pc;
}

/* Whether it is that. */
static bool is_there(const struct trail_site *p, const struct trail_site *is)
{
	return p->pc == is->pc && p->what == is->what && (is_access(is->what) || p->next == is->next);
}

/* Where it is, or where it is to be. */
static struct trail_site *find(struct self *s, uint64_t by, const struct trail_site *is)
{
	struct trail_site *first = site_at(s, index_of(by)), *second = site_at(s, index_aside(by));

	if (is_there(first, is) || is_there(second, is))
		return is_there(first, is) ? first : second;
	return first->pc ? second : first;
}

/* Who copies reads and writes at one place. Ranges have no numbers: the code, which is far away, is asked last. */
static inline struct trail_site *find_access(struct self *s, const struct trail_site *is)
{
	uint64_t by = is->pc + ((uint64_t)is->what << TRAIL_WHAT_SHIFT);
	struct trail_site *first = site_at(s, index_of(by));
	uint32_t number;

	if (is_there(first, is))
		return first;
	number = sites_number((const void *)is->pc);
	return number ? site_at(s, number) : find(s, by, is);
}

static bool define(struct self *s, struct trail_site *p, const struct trail_site *is, uint64_t key)
{
	uint64_t index = (uint64_t)(p - site_at(s, 0));

	if (!may_define() || index + 1 >= TRAIL_PLACES)
		return false;
	self_put(s, entry_first(ENTRY_DEFINE, is->what, is->pc), entry_second(key, (unsigned)index + 1));
	if (!self_ring || !s->trails)
		return false; /* nobody reads any more */
	site_set(s, index, is);
	return p->pc == is->pc;
}

static uint32_t offset_of(struct self *s, const struct trail_site *p)
{
	return (uint32_t)(p - site_at(s, 0)) * SITE;
}

static struct trail_site *last_of(struct self *s)
{
	return site_at(s, s->trail_last / SITE & (TRAIL_SITES - 1));
}

/* What was counted is written, and the place comes behind the last. Returns the bytes that were written. */
static uint32_t come_by(struct self *s, const struct trail_site *p)
{
	uint32_t n = write_count(s);

	last_of(s)->behind = offset_of(s, p);
	s->trail_last = offset_of(s, p);
	return n;
}

/* The place does what is expected of it. */
static void write_expected(struct self *s, const struct trail_site *p)
{
	if (last_of(s)->behind == offset_of(s, p) && trail_counted(s->trail_at) < TRAIL_COUNT_MOST) {
		*(volatile uint64_t *)&s->trail_at += (uint64_t)1 << 32;
		s->trail_last = offset_of(s, p);
	} else {
		uint32_t n = come_by(s, p);

		write16(s, n, p->token);
		move(s, n + 2);
	}
}

/* It comes as expected, and does something else. False: that cannot be said so. */
static inline bool write_slip(struct self *s, const struct trail_site *p, uint64_t further)
{
	uint32_t n = trail_counted(s->trail_at);

	if (last_of(s)->behind != offset_of(s, p) || n > TRAIL_SLIP_COUNT || further + TRAIL_SLIP_MOST >= 2 * TRAIL_SLIP_MOST)
		return false;
	s->trail_last = offset_of(s, p);
	write32(s, 0, (uint32_t)further << 8 | n << TRAIL_TOKEN_BITS | TRAIL_SLIPPED);
	move(s, 4);
	return true;
}

static void write_access(struct self *s, struct trail_site *p, uint64_t address)
{
	uint64_t further = address - (p->next - p->stride);

	if (address == p->next) {
		write_expected(s, p);
	} else if (!write_slip(s, p, further)) {
		uint32_t n = come_by(s, p);
		bool near = further + TRAIL_MISS_MOST < 2 * (uint64_t)TRAIL_MISS_MOST;

		write16(s, n, p->token | TRAIL_MISS);
		write32(s, n + 2, near ? (uint32_t)further : (uint32_t)INT32_MIN);
		if (!near) {
			write32(s, n + 6, (uint32_t)address);
			write16(s, n + 10, (uint16_t)(address >> 32));
		}
		move(s, n + (near ? 6 : 12));
	}
	p->stride = address == p->next ? p->stride : further;
	p->next = address + p->stride;
}

static void write_call(struct self *s, struct trail_site *p, uint64_t depth)
{
	uint64_t deeper = depth - s->trail_depth;

	if (deeper == p->stride) {
		write_expected(s, p);
	} else if (!write_slip(s, p, deeper - p->stride)) {
		uint32_t n = come_by(s, p);

		write16(s, n, p->token | TRAIL_MISS);
		write32(s, n + 2, (uint32_t)deeper);
		move(s, n + 6);
	}
	p->stride = deeper;
	s->trail_depth = depth;
}

/* An access that is put: whether a lock is tried is known after the first that is not of that. */
static void put_one(struct self *s, uintptr_t address)
{
	bool of_stack = s->stack - address <= STACK_MOST;

	if (s->trail_busy & (TRAIL_TRIES | TRAIL_COMPARES) && !(s->trail_busy & TRAIL_COMPARES && of_stack))
		s->trail_busy &= (uint8_t)~(TRAIL_TRIES | TRAIL_COMPARES);
}

bool trail_access(struct self *s, uint8_t what, uintptr_t address, void *pc)
{
	struct trail_site is = {.pc = (uintptr_t)pc, .what = what};
	struct trail_site *p;
	bool done;

	if (!hook_begin(s)) {
		put_one(s, address);
		return false;
	}
	p = find_access(s, &is);
	done = (is_there(p, &is) || define(s, p, &is, 0)) && has_room(s);
	if (done)
		write_access(s, p, address);
	hook_end(s);
	return done;
}

bool trail_call(struct self *s, bool enters, uintptr_t frame, uintptr_t from, void *pc)
{
	uint64_t key = enters ? from : frame - from, depth = s->stack - frame;
	struct trail_site is = {.pc = (uintptr_t)pc, .next = key, .stride = TRAIL_NO_STRIDE, .what = enters ? TRAIL_ENTRY : TRAIL_LEAVE};
	struct trail_site *p;
	bool done;

	if (depth >= TRAIL_DEPTHS || !hook_begin(s))
		return false;
	p = find(s, is.pc + key, &is);
	done = (is_there(p, &is) || define(s, p, &is, key)) && has_room(s);
	if (done)
		write_call(s, p, depth);
	hook_end(s);
	return done;
}

void trail_mend(struct self *s)
{
	if (!(s->trail_busy & TRAIL_HOOK))
		return;
	if (trail_position(s, s->trail_at) < s->trail_told_bytes)
		s->trail_lap++; /* the position went back, and this did not go on */
	forget_all(s);
	s->trail_last = 0; /* what was counted may have come by already, and be the last to readers */
	hook_end(s);
}

/* What comes next. */

static bool is_atomic(enum entry_kind kind)
{
	return kind == ENTRY_ATOMIC_LOAD || kind == ENTRY_ATOMIC_STORE || kind == ENTRY_ATOMIC_RMW;
}

void trail_after(struct self *s, const struct sync *y)
{
	const unsigned failed = ATOMIC_COMPARES | ATOMIC_SAME;

	if (is_atomic(y->kind))
		s->trail_busy |= TRAIL_TRIES | ((y->extra & failed) == failed ? TRAIL_COMPARES : 0);
	else if (y->kind == ENTRY_WAIT || y->kind == ENTRY_ARRIVE)
		s->trail_busy |= TRAIL_WAITS;
	else if (y->kind == ENTRY_WOKEN || y->kind == ENTRY_DEPART)
		trail_jumped(s);
}

void trail_jumped(struct self *s)
{
	s->trail_busy = (uint8_t)((s->trail_busy & ~TRAIL_WAITS) | TRAIL_TRIES);
}

void trail_ignore(struct self *s, unsigned what)
{
	bool any = false;

	for (unsigned i = 0; i < 3; i++) {
		if (what >> i & 1)
			s->ignored[i] += what & IGNORE_BEGIN ? 1u : s->ignored[i] ? -1u : 0u;
		any |= s->ignored[i] != 0;
	}
	s->trail_busy = (uint8_t)((s->trail_busy & ~TRAIL_IGNORED) | (any ? TRAIL_IGNORED : 0));
}
