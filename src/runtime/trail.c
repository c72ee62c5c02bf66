/* SPDX-License-Identifier: MIT */
#include "trail.h"

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
	return by >> 2 & (TRAIL_SITES - 1);
}

static void fence(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static void forget(struct self *s)
{
	for (uint32_t i = 0; i < s->sites && i < TRAIL_SITES; i++) {
		struct trail_site *p = site_at(s, known(s)[i] & (TRAIL_SITES - 1));

		*(volatile uint64_t *)&p->pc = 0;
		p->token = 0;
	}
	s->sites = 0;
}

/* The consumer has taken all of who had it before. */
void trail_begin(struct self *s)
{
	s->trails = channel->trails && !channel->mode;
	s->trail_at = s->trail_told = __atomic_load_n(&s->trail_tail, __ATOMIC_ACQUIRE);
	s->trail_limit = 0;
	s->trail_busy = s->trail_stale = 0;
	for (unsigned i = 0; i < 3; i++)
		s->ignored[i] = 0;
	forget(s);
}

/* Written before it counts as told: a handler that comes up in between tells it again. */
void trail_tell(struct self *s)
{
	while (trail_has_more(s)) {
		uint64_t to = s->trail_at, at = self_reserve(s, 1);

		if (at + SLOT > s->room && !self_wait(s, &at, 1))
			return;
		slot_write(s, at, entry_first(ENTRY_TRAIL, 0, to), 0);
		s->trail_told = to;
		fence();
	}
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

static uint64_t part_end(uint64_t at)
{
	return (at / TRAIL_PART + 1) * TRAIL_PART;
}

/* The rest of a part is filled up with nothing. */
static void next_part(struct self *s)
{
	uint64_t end = part_end(s->trail_at);

	for (uint64_t at = s->trail_at; at < end; at += 2)
		*(volatile uint16_t *)ring_trail(s, at) = 0;
	s->trail_at = end;
	trail_tell(s);
}

static bool has_room(struct self *s)
{
	if (s->trail_at < s->trail_limit)
		return true;
	if (s->trail_at + TRAIL_LONGEST >= part_end(s->trail_at))
		next_part(s);
	if (!self_trail_room(s, part_end(s->trail_at)))
		return false;
	s->trail_limit = part_end(s->trail_at) - TRAIL_LONGEST;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&s->trail_stale, __ATOMIC_RELAXED))
		s->trail_limit = 0;
	return true;
}

void trail_code_changes(uint32_t process)
{
	uint32_t n = __atomic_load_n(&channel->rings, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < n; i++) {
		struct self *s = channel_ring(channel, i);

		if (__atomic_load_n(&s->state, __ATOMIC_ACQUIRE) != RING_USED || s->process != process || !s->trails)
			continue;
		__atomic_store_n(&s->trail_stale, 1, __ATOMIC_SEQ_CST);
		__atomic_store_n(&s->trail_limit, 0, __ATOMIC_SEQ_CST);
	}
}

/* Hooks. */

/* False: it must be put. */
static bool hook_begin(struct self *s)
{
	if (!channel->trails && s == self_ring)
		trail_off(s);
	if (!s->trails || s->trail_busy)
		return false;
	s->trail_busy = TRAIL_HOOK;
	fence();
	if (__atomic_exchange_n(&s->trail_stale, 0, __ATOMIC_ACQ_REL)) {
		forget(s);
		s->trail_limit = 0;
	}
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

static unsigned size_code(uint32_t what)
{
	return what >> 8 ? (unsigned)__builtin_ctz(what >> 8) : 0;
}

static bool define(struct self *s, uint64_t index, const struct trail_site *is, uint64_t key)
{
	struct trail_site *p = site_at(s, index);

	if (!may_define())
		return false;
	self_put(s, entry_first(ENTRY_DEFINE, (is->what & 7) | size_code(is->what) << 3, is->pc),
		entry_second(key, (unsigned)index + 1));
	if (!self_ring || !s->trails)
		return false; /* nobody reads any more */
	if (!p->token && s->sites < TRAIL_SITES)
		known(s)[s->sites++] = (uint16_t)index;
	*p = *is;
	p->token = (uint32_t)index + 1;
	return true;
}

static void write16(struct self *s, uint64_t behind, uint16_t x)
{
	__builtin_memcpy(ring_trail(s, s->trail_at) + behind, &x, sizeof x);
}

static void write32(struct self *s, uint64_t behind, uint32_t x)
{
	__builtin_memcpy(ring_trail(s, s->trail_at) + behind, &x, sizeof x);
}

/* Behind what was written. */
static void move(struct self *s, uint64_t n)
{
	fence();
	*(volatile uint64_t *)&s->trail_at += n;
}

static void write_access(struct self *s, struct trail_site *p, uint64_t address)
{
	if (address == p->next) {
		write16(s, 0, (uint16_t)p->token);
		p->next += p->stride;
		move(s, 2);
		return;
	}
	write16(s, 0, (uint16_t)(p->token | TRAIL_MISS));
	write32(s, 2, (uint32_t)address);
	write16(s, 6, (uint16_t)(address >> 32));
	p->stride = address - (p->next - p->stride);
	p->next = address + p->stride;
	move(s, TRAIL_ACCESS);
}

static void write_call(struct self *s, struct trail_site *p, uint64_t depth)
{
	if (depth == p->stride) {
		write16(s, 0, (uint16_t)p->token);
		move(s, 2);
		return;
	}
	write16(s, 0, (uint16_t)(p->token | TRAIL_MISS));
	write32(s, 2, (uint32_t)depth);
	p->stride = depth;
	move(s, TRAIL_CALL);
}

/* An access that is put: whether a lock is tried is known after the first that is not of that. */
static void put_one(struct self *s, uintptr_t address)
{
	bool of_stack = s->stack - address <= STACK_MOST;

	if (s->trail_busy & (TRAIL_TRIES | TRAIL_COMPARES) && !(s->trail_busy & TRAIL_COMPARES && of_stack))
		s->trail_busy &= (uint8_t)~(TRAIL_TRIES | TRAIL_COMPARES);
}

bool trail_access(struct self *s, uint32_t what, uintptr_t address, void *pc)
{
	uint64_t index = index_of((uintptr_t)pc);
	struct trail_site *p = site_at(s, index);
	struct trail_site is = {.pc = (uintptr_t)pc, .what = what};
	bool done;

	if (!hook_begin(s)) {
		put_one(s, address);
		return false;
	}
	done = ((p->pc == is.pc && p->what == what) || define(s, index, &is, 0)) && has_room(s);
	if (done)
		write_access(s, p, address);
	hook_end(s);
	return done;
}

bool trail_call(struct self *s, bool enters, uintptr_t frame, uintptr_t from, void *pc)
{
	uint64_t key = enters ? from : frame - from, depth = s->stack - frame, index = index_of((uintptr_t)pc + key);
	struct trail_site *p = site_at(s, index);
	struct trail_site is = {.pc = (uintptr_t)pc, .next = key, .stride = UINT64_MAX, .what = enters ? TRAIL_ENTRY : TRAIL_LEAVE};
	bool done;

	if (depth >= TRAIL_DEPTHS || !hook_begin(s))
		return false;
	done = ((p->pc == is.pc && p->what == is.what && p->next == key) || define(s, index, &is, key)) && has_room(s);
	if (done)
		write_call(s, p, depth);
	hook_end(s);
	return done;
}

void trail_mend(struct self *s)
{
	if (!(s->trail_busy & TRAIL_HOOK))
		return;
	forget(s);
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
