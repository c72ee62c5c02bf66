/* SPDX-License-Identifier: MIT */
#include "self.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>

#include "runtime/frames.h"
#include "runtime/modules.h"
#include "runtime/os.h"
#include "runtime/shadow.h"

enum {
	MAP_LEAST = 16 << 20, /* less of the channel is not worth mapping */
	WAIT_MS = 20,
};

__thread struct self *self_ring __attribute__((tls_model("initial-exec")));
static __thread bool busy __attribute__((tls_model("initial-exec")));  /* starting: hooks from inside do nothing */
static __thread bool ended __attribute__((tls_model("initial-exec"))); /* finished: likewise */

struct channel *channel;
bool self_off;

static uint32_t rings_mapped;
static uint32_t process; /* number of this one */
static uint32_t starting; /* 0: not yet, 1: someone is at it, 2: done */

/* The channel. */

/* As much of it as the address space allows: `ulimit -v` may be low. */
static struct channel *map_channel(int fd, size_t bytes)
{
	for (; bytes >= MAP_LEAST; bytes /= 2) {
		struct channel *c = os_map(bytes, fd);

		if (c) {
			rings_mapped = (uint32_t)((bytes - CHANNEL_PAGE) / RING_SPAN);
			return c;
		}
	}
	return NULL;
}

static struct channel *open_channel(const char *path)
{
	struct channel *c = NULL;
	int fd = (int)os_open(path, O_RDWR | O_CLOEXEC);
	long bytes;

	if (fd < 0)
		return NULL;
	bytes = os_size(fd);
	if (bytes >= MAP_LEAST)
		c = map_channel(fd, (size_t)bytes);
	os_close(fd);
	if (c && (c->magic != CHANNEL_MAGIC || c->version != CHANNEL_VERSION))
		return NULL;
	return c;
}

/* Whether there is anybody who reads: the kernel marks the word when the collector's thread has ended. */
static bool is_heard(void)
{
	uint32_t word = __atomic_load_n(&channel->alive, __ATOMIC_ACQUIRE);

	return word & FUTEX_TID_MASK && !(word & FUTEX_OWNER_DIED) && !channel->closed;
}

static void attach(void)
{
	const char *path = getenv(CHANNEL_VARIABLE);

	channel = path ? open_channel(path) : NULL;
	if (!channel || !is_heard()) {
		self_off = true;
		return;
	}
	process = __atomic_add_fetch(&channel->processes, 1, __ATOMIC_RELAXED);
	if (channel->mode & MODE_FILTER)
		shadow_start();
}

/* Rings. */

static bool claim(struct self *s)
{
	uint32_t state = RING_FREE;

	/* LEFT again at once would be seen by the collector as a ring to drain: what matters is stored before USED. */
	return __atomic_load_n(&s->state, __ATOMIC_RELAXED) == RING_FREE &&
		__atomic_compare_exchange_n(&s->state, &state, RING_USED, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static struct self *claim_any(void)
{
	for (uint32_t i = 0; i < rings_mapped && i < RINGS_MOST; i++) {
		uint32_t used = __atomic_load_n(&channel->rings, __ATOMIC_ACQUIRE);

		if (!claim(channel_ring(channel, i)))
			continue;
		while (used <= i && !__atomic_compare_exchange_n(&channel->rings, &used, i + 1, false,
				__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			;
		return channel_ring(channel, i);
	}
	__atomic_add_fetch(&channel->unringed, 1, __ATOMIC_RELAXED);
	return NULL;
}

static uint64_t stack_end(void)
{
	pthread_attr_t attr;
	void *low = NULL;
	size_t size = 0;

	if (pthread_getattr_np(pthread_self(), &attr) != 0)
		return 0;
	pthread_attr_getstack(&attr, &low, &size);
	pthread_attr_destroy(&attr);
	return (uint64_t)low + size;
}

static void ring_begin(struct self *s, uint32_t number)
{
	s->process = process;
	s->thread = number;
	s->pid = (int32_t)os_pid();
	s->tid = (int32_t)os_tid();
	s->dropped = 0;
	s->stack = stack_end();
	s->head = __atomic_load_n(&s->tail, __ATOMIC_ACQUIRE);
	s->limit = s->head + RING_BYTES / 4;
	s->mode = channel->mode;
	s->now = (uint64_t)((char *)s - (char *)channel_ring(channel, 0)) / RING_SPAN << RING_SHIFT;
	s->open = s->told = 0;
	s->fresh = 1;
	if (s->mode & MODE_TIMED)
		frames_begin(s);
	self_sync(s, (struct sync){.kind = ENTRY_START, .argument = s->stack});
	s->own = s->now;
}

/* A ring of which nothing will come: the collector has seen nothing of it yet. */
void self_begin(uint32_t number)
{
	struct self *s;

	busy = true;
	s = claim_any();
	if (s)
		ring_begin(s, number);
	self_ring = s;
	ended = !s;
	busy = false;
}

struct self *self_start(void)
{
	uint32_t fresh = 0;

	if (busy || ended || self_off)
		return NULL;
	if (__atomic_compare_exchange_n(&starting, &fresh, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		busy = true;
		attach();
		busy = false;
		__atomic_store_n(&starting, 2, __ATOMIC_RELEASE);
	} else if (__atomic_load_n(&starting, __ATOMIC_ACQUIRE) != 2) {
		return NULL;
	}
	if (self_off)
		return NULL;
	self_begin(self_number());
	if (self_ring && fresh == 0)
		modules_tell(self_ring);
	return self_ring;
}

uint32_t self_number(void)
{
	return channel ? __atomic_add_fetch(&channel->threads, 1, __ATOMIC_RELAXED) : 0;
}

static void leave(struct self *s)
{
	self_ring = NULL;
	ended = true;
	if (s->mode & MODE_TIMED)
		frames_end(s);
	__atomic_store_n(&s->state, RING_LEFT, __ATOMIC_RELEASE);
	os_futex_wake(&channel->bell);
}

void self_finish(void)
{
	struct self *s = self_ring;

	if (!s)
		return;
	self_sync(s, (struct sync){.kind = ENTRY_FINISH});
	leave(s);
}

void self_forked(uint32_t number)
{
	self_ring = NULL;
	if (!channel || self_off)
		return;
	process = __atomic_add_fetch(&channel->processes, 1, __ATOMIC_RELAXED);
	shadow_forked();
	self_begin(number);
	if (self_ring)
		modules_tell(self_ring);
}

void self_lost(void)
{
	if (channel)
		__atomic_add_fetch(&channel->dropped, 1, __ATOMIC_RELAXED);
}

/* A full ring. */

static void wake_collector(void)
{
	if (__atomic_load_n(&channel->asleep, __ATOMIC_ACQUIRE)) {
		__atomic_add_fetch(&channel->bell, 1, __ATOMIC_RELEASE);
		os_futex_wake(&channel->bell);
	}
}

/* Until the consumer has moved on, or is no more. */
static void wait_for_room(struct self *s, uint64_t tail)
{
	uint32_t bell = __atomic_load_n(&s->tail_bell, __ATOMIC_ACQUIRE);

	__atomic_store_n(&s->tail_waited, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&s->tail, __ATOMIC_SEQ_CST) == tail)
		os_futex_wait(&s->tail_bell, bell, WAIT_MS);
	__atomic_store_n(&s->tail_waited, 0, __ATOMIC_RELAXED);
}

/* Nobody reads any more: this process records no further. */
static bool give_up(struct self *s)
{
	s->dropped++;
	self_off = true;
	self_ring = NULL;
	return false;
}

bool self_full(struct self *s, uint64_t to)
{
	uint64_t tail = __atomic_load_n(&s->tail, __ATOMIC_ACQUIRE), quarter;

	wake_collector();
	while (to > tail + RING_BYTES) {
		if (!is_heard())
			return give_up(s);
		wait_for_room(s, tail);
		tail = __atomic_load_n(&s->tail, __ATOMIC_ACQUIRE);
	}
	/* The next look comes a quarter of the ring from here, so that the collector is woken in time. */
	quarter = (to + RING_BYTES / 4) & ~(uint64_t)(RING_BYTES / 4 - 1);
	s->limit = quarter < tail + RING_BYTES ? quarter : tail + RING_BYTES;
	return true;
}

void self_put_slow(struct self *s, uint64_t at, uint64_t first, uint64_t second)
{
	if (self_full(s, at + SLOT))
		slot_write(s, at, first, second);
}

/* Entries of several slots. */

static bool reserve(struct self *s, uint64_t n, uint64_t *at)
{
	*at = self_reserve(s, n);
	return likely(*at + n * SLOT <= s->limit) || self_full(s, *at + n * SLOT);
}

/* The last slot first: when the first is complete, the entry is. */
void self_put_sized(struct self *s, uint64_t first, uint64_t second, uint64_t size)
{
	uint64_t at;

	if (!reserve(s, 2, &at))
		return;
	slot_write(s, at + SLOT, entry_first(ENTRY_SIZE, 0, 0), size);
	slot_write(s, at, first, second);
}

uint64_t self_ticket(void)
{
	return __atomic_add_fetch(&channel->ticket, 1, __ATOMIC_SEQ_CST);
}

static void sync_write(struct self *s, uint64_t at, const struct sync *y, uint64_t ticket)
{
	slot_write(s, at + SLOT, entry_first(ENTRY_TICKET, 0, ticket), y->argument);
	slot_write(s, at, entry_first(y->kind, y->small, (uintptr_t)y->object), entry_second((uintptr_t)y->pc, y->extra));
}

/* The time after the entry with that ticket; one that was taken earlier changes nothing. */
static void advance(struct self *s, uint64_t ticket)
{
	uint64_t time = (ticket << TICK_BITS | 1) & (((uint64_t)1 << TIME_BITS) - 1);

	if (time > self_time(s))
		s->now = s->now >> RING_SHIFT << RING_SHIFT | time << NOW_SHIFT;
}

void self_tick_over(struct self *s)
{
	self_sync(s, (struct sync){.kind = ENTRY_TICK});
}

/*
 * The slots come first: whoever dies between ticket and entry leaves slots that are reserved and zero, which is how
 * the collector knows that the ticket may still come or never will.
 */
uint64_t self_sync(struct self *s, struct sync y)
{
	uint64_t at, ticket;

	frames_tell(s);
	if (!reserve(s, 2, &at))
		return 0;
	ticket = self_ticket();
	sync_write(s, at, &y, ticket);
	advance(s, ticket);
	return ticket;
}

void self_sync_at(struct self *s, struct sync y, uint64_t ticket)
{
	uint64_t at;

	frames_tell(s);
	if (reserve(s, 2, &at))
		sync_write(s, at, &y, ticket);
	advance(s, ticket);
}

static uint64_t part_of(const char *text, size_t n)
{
	uint64_t part = 0;

	__builtin_memcpy(&part, text, n < 8 ? n : 8);
	return part;
}

/* A text is cut so that it always fits into a ring. */
void self_text(struct self *s, enum entry_kind kind, const void *address, void *pc, const char *text)
{
	size_t n = 0, parts;
	uint64_t at;

	while (n < TEXT_MOST && text[n])
		n++;
	parts = (n + 7) / 8;
	if (s->mode & MODE_TIMED)
		frames_mark(s);
	if (!reserve(s, 1 + parts, &at))
		return;
	for (size_t i = 0; i < parts; i++)
		slot_write(s, at + (1 + i) * SLOT, entry_first(ENTRY_PART, 0, 0), part_of(text + i * 8, n - i * 8));
	slot_write(s, at, entry_first(kind, 0, (uintptr_t)address), entry_second((uintptr_t)pc, (unsigned)n));
}
