/* SPDX-License-Identifier: MIT */
#include "self.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/calm.h"
#include "runtime/environment.h"
#include "runtime/frames.h"
#include "runtime/gate.h"
#include "runtime/lately.h"
#include "runtime/loops.h"
#include "runtime/marks.h"
#include "runtime/modules.h"
#include "runtime/mute.h"
#include "runtime/os.h"
#include "runtime/quiet.h"
#include "runtime/shadow.h"
#include "runtime/stack.h"
#include "runtime/stripes.h"
#include "runtime/threads.h"
#include "runtime/trail.h"
#include "runtime/walk.h"
#include "runtime/wrap_process.h"

enum {
	MAP_LEAST = CHANNEL_PAGE + 4 * RING_SPAN, /* less of the channel is not worth mapping */
	STDERR = 2,
	WAIT_MS = 20,
};

__thread struct self *self_ring __attribute__((tls_model("initial-exec")));
__thread struct self_hooks self_hooks __attribute__((tls_model("initial-exec"))) =
	{.marks = &lately_nothing.head};
static __thread bool busy __attribute__((tls_model("initial-exec")));  /* starting: hooks from inside do nothing */
static __thread bool ended __attribute__((tls_model("initial-exec"))); /* finished: likewise */

static __thread unsigned pauses __attribute__((tls_model("initial-exec")));
static __thread struct self *paused __attribute__((tls_model("initial-exec"))); /* self_ring before that */

struct channel *channel;
bool self_off, self_blind;

static uint32_t rings_mapped;
static uint32_t process; /* number of this one */
static uint64_t stderr_file; /* what standard error was */
static uint32_t starting; /* 0: not yet, 1: someone is at it, 2: done */

void self_look_at_hooks(void)
{
	struct self *s = self_ring;
	bool timed = s && (s->mode == MODE_FILTER || s->mode == MODE_LOCKS);

	self_hooks.filtered = timed && s->lately ? s : NULL;
	self_hooks.timed = timed && s->frames && !s->fresh ? s : NULL;
	self_hooks.recorded = s && !s->mode ? s : NULL;
	self_hooks.trail = s && !s->mode && s->trails ? s : NULL;
	self_hooks.marks = self_hooks.filtered && s->marks ? s->marks : &lately_nothing.head;
}

/* The calling thread is that one from here on. */
static void become(struct self *s)
{
	self_ring = s;
	self_look_at_hooks();
}

/* The channel. */

/* As much of it as the address space allows, of which the program needs the most: `ulimit -v` may be low. */
static struct channel *map_channel(int fd, size_t bytes)
{
	uint64_t allowed = os_space() / 4;

	if (bytes > allowed)
		bytes = allowed < MAP_LEAST ? MAP_LEAST : allowed;
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

/* The stack as the program was started with it: its arguments, and behind them its environment. */
extern void *__libc_stack_end __attribute__((weak));

/* Functions of .preinit_array run before libc has its environment. */
const char *self_variable(const char *name)
{
	char **e = environ;
	long *arguments = &__libc_stack_end ? __libc_stack_end : NULL;

	if (!e && arguments)
		e = (char **)(arguments + 1 + arguments[0] + 1);
	for (; e && *e; e++) {
		size_t n = 0;

		while (name[n] && (*e)[n] == name[n])
			n++;
		if (!name[n] && (*e)[n] == '=')
			return *e + n + 1;
	}
	return NULL;
}

static uint32_t process_number(void)
{
	return __atomic_add_fetch(&channel->processes, 1, __ATOMIC_RELAXED);
}

static void attach(void)
{
	const char *path = self_variable(CHANNEL_VARIABLE);

	channel = path ? open_channel(path) : NULL;
	if (!channel || !is_heard()) {
		self_off = self_blind = true;
		mute_wanted = MUTE_CAN;
		return;
	}
	self_blind = mute_wanted = channel->mode & MODE_LOCKS;
	calm_wanted = MUTE_CAN && (channel->mode == MODE_LOCKS || channel->mode == MODE_FILTER);
	process = process_number();
	process_start(path);
	if (channel->mode & MODE_STOCK && self_variable("LD_PRELOAD"))
		environment_keep_preload(self_variable("LD_PRELOAD"));
	quiet_on = channel->mode & MODE_QUIET;
	stderr_file = os_file(STDERR);
	if (channel->mode & MODE_FILTER)
		shadow_start();
}

/*
 * Values. A ring whose accesses have values has no limit to stay below: every entry comes to the slow path, and the
 * quick one is what it is without them. An access has one more slot behind it. What is read is there at once; what is
 * written only when the thread comes by again, so that slot stays empty until then and the collector waits for it. In a
 * controlled run what was there before is told as well: nobody else has written it meanwhile.
 */

static __thread struct {
	uint64_t at;      /* the slot */
	uintptr_t address; /* of what was written; 0: nothing is open */
	unsigned size;
} written __attribute__((tls_model("initial-exec")));

static bool with_values(void)
{
	return channel->mode & MODE_VALUES;
}

static uint64_t value_at(uintptr_t address, unsigned size)
{
	const void *at = (const void *)address;
	uint64_t value = 0;

	/* Sizes that the compiler knows: a call of memcpy would be one of the program's. */
	switch (size) {
	case 1: __builtin_memcpy(&value, at, 1); break;
	case 2: __builtin_memcpy(&value, at, 2); break;
	case 4: __builtin_memcpy(&value, at, 4); break;
	case 8: __builtin_memcpy(&value, at, 8); break;
	}
	return value;
}

static void value_write(struct self *s, uint64_t at, uint64_t first)
{
	slot_write(s, at, first, value_at(first >> 16, first >> 8 & 255));
}

/* A slot more behind the last entry. */
static bool slot_add(struct self *s, uint64_t *at)
{
	*at = self_reserve(s, 1);
	return *at + SLOT <= s->room || self_full(s, at, 1);
}

/* The thread has come by: what it has written is in memory. */
static void settle(struct self *s)
{
	uintptr_t address = written.address;

	if (!address)
		return;
	written.address = 0;
	value_write(s, written.at, entry_first(ENTRY_VALUE, written.size, address));
}

static void value_of(struct self *s, uint64_t first)
{
	unsigned kind = first & 255, size = first >> 8 & 255;
	bool reads = kind == ENTRY_READ || kind == ENTRY_READ_VOLATILE;
	uint64_t at;

	if (kind < ENTRY_READ || kind > ENTRY_WRITE_VOLATILE || size > 8 || !slot_add(s, &at))
		return;
	if (!reads && channel->mode & MODE_GATE) {
		value_write(s, at, entry_first(ENTRY_WAS, size, first >> 16));
		if (!slot_add(s, &at))
			return;
	}
	if (reads) {
		value_write(s, at, entry_first(ENTRY_VALUE, size, first >> 16));
	} else {
		written.at = at;
		written.size = size;
		written.address = first >> 16;
	}
}

/* Rings. */

static bool claim(struct self *s)
{
	uint32_t state = RING_FREE;

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

/*
 * Where frames of the program lie below: libc would tell, but asks the program's allocator. A new thread calls from the
 * first frame that is ours, so the next page boundary above is good enough.
 */
static __attribute__((noinline)) uint64_t stack_end(void)
{
	if (os_tid() == os_pid() && &__libc_stack_end)
		return (uint64_t)__libc_stack_end;
	return ((uint64_t)__builtin_frame_address(0) | (CHANNEL_PAGE - 1)) + 1;
}

static uint32_t ring_number(const struct self *s)
{
	return (uint32_t)((uint64_t)((const char *)s - (const char *)channel_ring(channel, 0)) / RING_SPAN);
}

static void ring_begin(struct self *s, uint32_t number, uint64_t stack)
{
	s->process = process;
	s->thread = number;
	s->tid = (int32_t)os_tid();
	__atomic_store_n(&s->pid, (int32_t)os_pid(), __ATOMIC_RELEASE);
	s->dropped = 0;
	s->stack = stack;
	s->head = __atomic_load_n(&s->tail, __ATOMIC_ACQUIRE);
	s->room = s->head + RING_BYTES / 4;
	loops_reset(s);
	trail_begin(s);
	self_set_limit(s);
	s->mended = s->head;
	s->mode = channel->mode | (channel->mode & MODE_FILTER && !shadow_leaves ? MODE_BARE : 0);
	s->leaves = shadow_leaves;
	s->lately = channel->mode & MODE_FILTER && shadow_leaves ? lately_begin(ring_number(s)) : NULL;
	s->marks = s->lately ? lately_marks_begin(ring_number(s)) : NULL;
	s->notes = s->lately;
	s->held = 0;
	s->look = LOOK_FIRST;
	self_set_now(s, (uint64_t)ring_number(s) << RING_SHIFT);
	s->open = s->told = 0;
	self_set_synced(s, 0);
	s->locked = s->making = 0;
	for (unsigned i = 0; i < HEARD; i++)
		s->heard[i] = (struct heard){UINT64_MAX, 0, 0};
	for (unsigned i = 0; i < USUAL; i++)
		s->usual[i] = 0;
	for (unsigned i = 0; i < NOTED; i++)
		s->noted[i] = (struct noted){0};
	s->fresh = 1;
	if (s->mode & MODE_TIMED)
		frames_begin(s);
	s->shadow = NULL;
	if (s->mode & MODE_STOCK)
		stack_begin(s);
	self_sync(s, (struct sync){.kind = ENTRY_START, .argument = s->stack});
	s->own = s->since = s->now;
	s->reach = (((s->now >> RING_SHIFT) + 1) << RING_SHIFT) - 1 - s->own;
}

static void begin(struct self *s, uint32_t number, uint64_t stack)
{
	if (s)
		ring_begin(s, number, stack);
	become(s);
	ended = !s;
}

void self_begin(uint32_t number)
{
	busy = true;
	begin(claim_any(), number, stack_end());
	busy = false;
}

struct self *self_start(void)
{
	uint32_t fresh = 0;

	if (busy || ended || self_off || pauses)
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
	if (self_ring)
		threads_adopt(self_ring->thread);
	if (self_ring && fresh == 0) {
		modules_tell(self_ring);
		gate_start();
	} else {
		gate_adopted();
	}
	return self_ring;
}

uint32_t self_number(void)
{
	return channel ? __atomic_add_fetch(&channel->threads, 1, __ATOMIC_RELAXED) : 0;
}

static void leave(struct self *s)
{
	become(NULL);
	ended = true;
	stack_over(s);
	if (quiet_on)
		quiet_over();
	if (s->mode & MODE_TIMED)
		frames_end(s);
	__atomic_store_n(&s->state, RING_LEFT, __ATOMIC_RELEASE);
	os_futex_wake(&channel->bell);
}

/* A thread that ends while it is paused is one that ends. */
void self_finish(void)
{
	struct self *s = self_ring ? self_ring : paused;

	become(s);
	paused = NULL;
	pauses = 0;

	if (!s)
		return;
	self_mend(s);
	self_sync(s, (struct sync){.kind = ENTRY_FINISH});
	leave(s);
}

struct self *self_switch(struct self *to)
{
	struct self *from = self_ring;

	if (from) {
		settle(from);
		loops_end(from);
	}
	become(to);
	return from;
}

void self_pause(void)
{
	if (pauses++)
		return;
	paused = self_switch(NULL);
}

/* One too many is the program's mistake, and nothing. */
void self_resume(void)
{
	if (!pauses || --pauses)
		return;
	become(self_off ? NULL : paused);
	paused = NULL;
}

/* Its frames lie on a stack of which nothing is known. */
struct self *self_made(uint32_t number)
{
	struct self *before = self_switch(NULL), *made;
	bool was_ended = ended;

	self_begin(number);
	made = self_switch(before);
	ended = was_ended;
	if (made)
		made->stack = 0;
	return made;
}

void self_unmade(struct self *s)
{
	struct self *before = self_switch(s);
	bool was_ended = ended;

	self_finish();
	become(before == s ? NULL : before);
	ended = was_ended;
}

/* Forks. The child's ring is claimed by its parent, so that the collector knows that somebody is to come. */

struct heir self_heir(void)
{
	struct heir h = {0};

	if (!self_ring)
		return h;
	h.number = self_number();
	h.process = process_number();
	h.ring = claim_any();
	return h;
}

/* The parent's ring is still mapped, and not ours any more. */
void self_forked(struct heir h)
{
	uint64_t stack = self_ring ? self_ring->stack : stack_end();

	pauses = 0;
	paused = NULL;
	written.address = 0;
	become(NULL);
	stripes_forked();
	marks_forked();
	mute_forked();
	calm_forked();
	/* Whoever else was at it, is not here. */
	if (__atomic_load_n(&starting, __ATOMIC_RELAXED) == 1)
		__atomic_store_n(&starting, 0, __ATOMIC_RELAXED);
	if (!channel || self_off)
		return;
	process = h.process ? h.process : process_number();
	if (!h.number)
		return;
	shadow_forked();
	lately_forked();
	busy = true;
	begin(h.ring, h.number, stack);
	if (self_ring)
		modules_retell(self_ring);
	busy = false;
}

void self_settled(struct heir h, int pid)
{
	int32_t nobody = 0;

	if (h.ring && pid < 0)
		__atomic_store_n(&h.ring->state, RING_LEFT, __ATOMIC_RELEASE);
	/* The child says it too; but may be killed before it does. */
	if (h.ring && pid > 0)
		__atomic_compare_exchange_n(&h.ring->pid, &nobody, pid, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
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
static void wait_for_move(struct self *s, const uint64_t *of, uint64_t tail, uint32_t *waited)
{
	uint32_t bell = __atomic_load_n(&s->tail_bell, __ATOMIC_ACQUIRE);

	__atomic_store_n(waited, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(of, __ATOMIC_SEQ_CST) == tail)
		os_futex_wait(&s->tail_bell, bell, WAIT_MS);
	__atomic_store_n(waited, 0, __ATOMIC_RELAXED);
}

/*
 * Nobody reads any more: this process records no further. A collector that has closed its end has said what it had to
 * say; for one that was killed the library says it, once, and only where the program's standard error still is what it
 * was at the start: another file may have taken its number since.
 */
static bool give_up(struct self *s)
{
	static const char words[] = "fission: the collector is gone; the program runs on and is not recorded\n";

	s->dropped++;
	become(NULL);
	self_blind = true;
	if (!__atomic_exchange_n(&self_off, true, __ATOMIC_ACQ_REL) && !channel->closed && os_file(STDERR) == stderr_file)
		os_write(STDERR, words, sizeof words - 1);
	return false;
}

bool self_is_heard(struct self *s)
{
	return is_heard() || give_up(s);
}

/* What the consumer has read for certain. */
static uint64_t consumed(const struct self *s)
{
	uint64_t tail = __atomic_load_n(&s->tail, __ATOMIC_ACQUIRE), taken = __atomic_load_n(&s->taken, __ATOMIC_ACQUIRE);

	return tail > taken ? tail : taken;
}

/* Reserved and not written. Zero because it was consumed is something else: then `taken` is beyond it by now. */
static bool is_hole(struct self *s, uint64_t at)
{
	return !__atomic_load_n(&ring_slot(s, at)->word[0], __ATOMIC_ACQUIRE) && consumed(s) <= at;
}

/*
 * Whether the consumer stands before a slot that only the caller could write, and cannot: a hook that this signal
 * handler has interrupted. Waiting for it would be for ever.
 */
static bool waits_for_itself(struct self *s, uint64_t to)
{
	uint64_t at = consumed(s);

	return to > at + RING_BYTES && is_hole(s, at);
}

/* False: nobody reads, or nobody ever will read so far. */
static bool wait_until(struct self *s, uint64_t to)
{
	uint64_t tail = __atomic_load_n(&s->tail, __ATOMIC_ACQUIRE);

	for (; to > tail + RING_BYTES; tail = __atomic_load_n(&s->tail, __ATOMIC_ACQUIRE)) {
		if (!is_heard())
			return give_up(s);
		if (waits_for_itself(s, to)) {
			self_lost();
			return false;
		}
		wake_collector();
		wait_for_move(s, &s->tail, tail, &s->tail_waited);
	}
	return true;
}

/* A loop that a signal handler has begun meanwhile is seen now, or the handler sets the limit behind us. */
void self_set_limit(struct self *s)
{
	s->limit = with_values() || s->trails ? 0 : s->room;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (s->loop.at || s->loop.making)
		s->limit = 0;
}

/* The next look comes a quarter of the ring from here, so that the collector is woken in time. */
static void look_again(struct self *s, uint64_t to)
{
	uint64_t most = __atomic_load_n(&s->tail, __ATOMIC_ACQUIRE) + RING_BYTES;
	uint64_t quarter = (to + RING_BYTES / 4) & ~(uint64_t)(RING_BYTES / 4 - 1);

	s->room = quarter < most ? quarter : most;
	self_set_limit(s);
	loops_forgive(s);
	wake_collector();
}

/* False if a signal handler has reserved more behind it meanwhile. */
static bool unreserve(struct self *s, uint64_t at, uint64_t to)
{
	return __atomic_compare_exchange_n(&s->head, &to, at, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/*
 * Who waits, holds no slots: a signal handler that comes up meanwhile waits for room as well, and must find an end to
 * the ring that is not a hole.
 */
bool self_wait(struct self *s, uint64_t *at, uint64_t n)
{
	while (*at + n * SLOT > __atomic_load_n(&s->tail, __ATOMIC_ACQUIRE) + RING_BYTES) {
		bool kept = !unreserve(s, *at, *at + n * SLOT);

		if (!wait_until(s, (kept ? *at : s->head) + n * SLOT))
			return false;
		if (!kept)
			*at = self_reserve(s, n);
	}
	look_again(s, *at + n * SLOT);
	return true;
}

/* Slots that were reserved too early. */
static void give_back(struct self *s, uint64_t at, uint64_t n)
{
	if (unreserve(s, at, at + n * SLOT) || !wait_until(s, at + n * SLOT))
		return;
	for (uint64_t i = 0; i < n; i++)
		slot_write(s, at + i * SLOT, entry_first(ENTRY_NOTHING, 0, 0), 0);
}

/* What is in the trail comes first. False: it cannot be told, and there are no slots any more. */
static bool trail_first(struct self *s, uint64_t *at, uint64_t n)
{
	while (trail_has_more(s)) {
		give_back(s, *at, n);
		if (!trail_tell(s))
			return false;
		*at = self_reserve(s, n);
	}
	return true;
}

bool self_full(struct self *s, uint64_t *at, uint64_t n)
{
	if (!s->limit) {
		settle(s);
		loops_end(s);
		if (!trail_first(s, at, n))
			return false;
		self_set_limit(s);
		if (*at + n * SLOT <= s->room)
			return true;
	}
	return self_wait(s, at, n);
}

/* The trail's consumer stands behind the slots', which may wait for the caller. */
bool self_trail_room(struct self *s, uint64_t to)
{
	uint64_t tail = __atomic_load_n(&s->trail_tail, __ATOMIC_ACQUIRE);

	for (; to - tail > TRAIL_BYTES; tail = __atomic_load_n(&s->trail_tail, __ATOMIC_ACQUIRE)) {
		uint64_t at = consumed(s);

		if (!is_heard())
			return give_up(s);
		if (at < s->head && is_hole(s, at))
			return false;
		wake_collector();
		wait_for_move(s, &s->trail_tail, tail, &s->trail_waited);
	}
	wake_collector();
	return true;
}

void self_put_slow(struct self *s, uint64_t at, uint64_t first, uint64_t second)
{
	if (!self_full(s, &at, 1))
		return;
	slot_write(s, at, first, second);
	if (with_values())
		value_of(s, first);
}

void self_room_slow(struct self *s)
{
	uint64_t to = s->head + 4 * SLOT;

	settle(s);
	loops_end(s);
	trail_tell(s);
	if (s->trails && s->head + 4 * SLOT <= s->room)
		return;
	if (wait_until(s, to))
		look_again(s, to);
}

/* Entries of several slots. */

static bool reserve(struct self *s, uint64_t n, uint64_t *at)
{
	*at = self_reserve(s, n);
	return likely(*at + n * SLOT <= s->limit) || self_full(s, at, n);
}

bool self_slots(struct self *s, uint64_t n, uint64_t *at)
{
	return reserve(s, n, at);
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

/* Every ticket must be used. */
static uint64_t take_ticket(void)
{
	return __atomic_add_fetch(&channel->ticket, 1, __ATOMIC_SEQ_CST);
}

/* What the collector forgets with this entry, the shadow does. */
static inline void sync_write(struct self *s, uint64_t at, const struct sync *y, uint64_t ticket)
{
	if (y->kind == ENTRY_ALLOC && s->mode & MODE_FILTER)
		shadow_forget(y->object, y->argument);
	if (y->kind == ENTRY_ALLOC && s->mode & MODE_GATE)
		gate_forget(y->object, y->argument);
	if (walk_on)
		walk_event(y);
	slot_write(s, at + SLOT, entry_first(ENTRY_TICKET, y->behind, ticket), y->argument);
	slot_write(s, at, entry_first(y->kind, y->small, (uintptr_t)y->object),
		entry_second(marks_original((uintptr_t)y->pc), y->extra));
}

/* What has a ticket and orders nothing between threads. */
static bool is_alone(enum entry_kind kind)
{
	return kind == ENTRY_ALLOC || kind == ENTRY_FREE || kind == ENTRY_TICK;
}

/* The time after the entry with that ticket; one that was taken earlier changes nothing. */
static inline void advance(struct self *s, enum entry_kind kind, uint64_t ticket)
{
	uint64_t time = (ticket << TICK_BITS | 1) & (((uint64_t)1 << TIME_BITS) - 1);

	if (time > self_time(s))
		self_set_now(s, s->now >> RING_SHIFT << RING_SHIFT | time << NOW_SHIFT);
	else
		self_look_anew(s); /* memory may have begun a new life */
	if (is_alone(kind))
		return;
	self_set_synced(s, self_time(s));
	s->familiar = 0;
}

void self_tick_over(struct self *s)
{
	self_sync(s, (struct sync){.kind = ENTRY_TICK});
}

/* A function without a time of its own gets one. False: there is none; or a signal handler has told of it meanwhile. */
static inline bool bring_calm(struct self *s, struct frame *f)
{
	if (self_ticks(s) == TICK_MOST)
		return false;
	calm_look(f->from, f->place, f[-1].place);
	self_tick(s);
	f->time = self_time(s) | FRAME_CALM | FRAME_BROUGHT | (f->time & FRAME_SURE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (likely(frames_last_untold(s) == f))
		return true;
	f->time &= ~(FRAME_CALM | FRAME_BROUGHT);
	return false;
}

/*
 * The function is brought along by its first acquire. False: it has to be told. Of its time the ticks are enough: whatever
 * takes a ticket tells of functions that have times, and with the filter they have had theirs since they were entered.
 */
static inline bool bring(struct self *s, struct frame *f, struct sync *y)
{
	uint64_t behind = (uintptr_t)y->pc - f->pc;
	uint32_t depth = frames_depth(s, f->place);

	if (f->time & FRAME_BROUGHT || behind >> BEHIND_BITS || !frames_is_loud(f))
		return false;
	if (f->time & FRAME_CALM && (s->mode & MODE_FILTER || !bring_calm(s, f)))
		return false;
	if (s->mode & MODE_FILTER && calm_wanted)
		calm_look(f->from, f->place, f[-1].place);
	y->small = depth;
	y->extra = depth >> 8;
	y->behind = behind & 255;
	y->argument = f->from | (f->time & TICK_MOST) << ADDRESS_BITS | behind >> 8 << (ADDRESS_BITS + TICK_BITS);
	return true;
}

/* Whether nothing is to be told before the lock. */
static inline bool is_brought(struct self *s, struct sync *y)
{
	struct frame *f = frames_last_untold(s);

	if (!f)
		return false;
	if (y->kind == ENTRY_ACQUIRE)
		return bring(s, f, y);
	y->small = (f->time & FRAME_BROUGHT) != 0;
	return y->small;
}

/* Whether a function that was brought along may hold it. */
static inline bool is_of_lock(enum entry_kind kind)
{
	return kind == ENTRY_ACQUIRE || kind == ENTRY_RELEASE || kind == ENTRY_NOTIFY || kind == ENTRY_NOTIFY_ALL;
}

static inline bool may_be_brought(const struct self *s, enum entry_kind kind)
{
	return is_of_lock(kind) && (s->mode & MODE_FILTER || s->mode == MODE_LOCKS);
}

/* Somebody around the entry may have no frame, who should. What is said of it lies on the stack, below all of them. */
static inline void look_around(const struct self *s, const struct sync *y)
{
	if (calm_wanted && !is_alone(y->kind) && s->frames && y->pc)
		calm_look((uintptr_t)y->pc, (uintptr_t)y, s->frames[(int64_t)s->open - 1].place);
}

/* The functions that the entry to come is inside of. Returns whether one of them was brought along. */
static inline bool tell_calls(struct self *s, enum entry_kind kind)
{
	if (unlikely(s->shadow))
		stack_look(s);
	if (is_alone(kind) && s->mode & MODE_FILTER)
		return frames_tell_loud(s);
	frames_tell(s);
	return false;
}

/* Whether no ticket was taken since. */
static inline bool may_unlock(const struct self *s)
{
	return self_time(s) >> TICK_BITS == s->locked_at && self_ticks(s) <= TICK_MOST - 2;
}

/*
 * A release whose acquire has the thread's last ticket; see channel.h. The slot comes first: if a signal handler has
 * taken a ticket before that, it is seen now, and what comes up later stands behind. False: it must have a ticket.
 */
static bool unlock(struct self *s, const struct sync *y)
{
	uint64_t at;

	if (!may_unlock(s)) {
		s->locked = 0;
		return false;
	}
	if (!reserve(s, 1, &at))
		return true;
	if (unlikely(!may_unlock(s))) {
		slot_write(s, at, entry_first(ENTRY_NOTHING, 0, 0), 0);
		return false;
	}
	s->locked = 0;
	self_tick(s);
	slot_write(s, at, entry_first(ENTRY_UNLOCK, y->small, (uintptr_t)y->object),
		entry_second((uintptr_t)y->pc, self_ticks(s)));
	self_tick(s);
	self_set_synced(s, self_time(s));
	s->familiar = 0;
	return true;
}

/* The next release of it may do without a ticket. */
static void locked(struct self *s, const struct sync *y, uint64_t ticket)
{
	if (!(s->mode & MODE_TIMED) || s->mode & MODE_STOCK)
		return;
	s->locked = (uintptr_t)y->object;
	s->locked_at = ticket;
}

/* From here to the end of an entry with a ticket. Returns whether another one has been interrupted. */
static inline bool make(struct self *s)
{
	bool inside = s->making;

	s->making = true;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return inside;
}

static inline void made(struct self *s, bool inside)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	s->making = inside;
}

/*
 * There are slots: what comes from here on is behind them. A signal handler that came before that has told of the
 * function that was to be brought along. One that comes before the mark, with the filter, tells of it too: then the mark is
 * taken back. What it does inside must not have the mark any earlier, or it would be taken for another function's.
 */
static inline void brought_along(struct self *s, struct sync *y)
{
	struct frame *f = frames_last_untold(s);

	if (unlikely(!f)) {
		y->argument = y->small = y->extra = y->behind = 0;
		return;
	}
	f->time |= FRAME_CALM | FRAME_BROUGHT;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (unlikely(frames_last_untold(s) != f))
		f->time &= ~(FRAME_CALM | FRAME_BROUGHT);
}

/* How many locks the thread has, for which it is enough to be right most of the time. */
static inline void hold(struct self *s, enum entry_kind kind)
{
	if (kind == ENTRY_ACQUIRE || kind == ENTRY_ACQUIRE_SHARED || kind == ENTRY_WOKEN)
		s->held++;
	else if (s->held && (kind == ENTRY_RELEASE || kind == ENTRY_RELEASE_SHARED || kind == ENTRY_WAIT))
		s->held--;
	else
		return;
	s->notes = s->held ? NULL : s->lately;
	if (s->marks && s->held <= 1)
		lately_narrow(s->marks, s->held);
}

/*
 * The slots come first: whoever dies between ticket and entry leaves slots that are reserved and zero, which is how
 * the collector knows that the ticket may still come or never will.
 */
uint64_t self_tell(struct self *s, struct sync *y)
{
	bool brought = may_be_brought(s, y->kind) && is_brought(s, y), inside;
	uint64_t at, ticket = 0;

	look_around(s, y);
	if (s->lately)
		hold(s, y->kind);
	if (!brought && tell_calls(s, y->kind))
		y->small = 1;
	if (y->kind == ENTRY_RELEASE && s->locked == (uintptr_t)y->object && s->locked && unlock(s, y))
		return 0;
	inside = make(s);
	if (reserve(s, 2, &at)) {
		if (brought && y->kind == ENTRY_ACQUIRE)
			brought_along(s, y);
		ticket = take_ticket();
		sync_write(s, at, y, ticket);
		advance(s, y->kind, ticket);
	}
	if (s->trails)
		trail_after(s, y);
	made(s, inside);
	if (y->kind == ENTRY_ACQUIRE && ticket && !inside)
		locked(s, y, ticket);
	return ticket;
}

struct early self_early(struct self *s)
{
	struct early e = {0};

	tell_calls(s, ENTRY_NONE);
	e.inside = make(s);
	if (reserve(s, 2, &e.at))
		e.ticket = take_ticket();
	else
		made(s, e.inside);
	return e;
}

void self_late(struct self *s, struct early e, struct sync y)
{
	if (!e.ticket)
		return;
	sync_write(s, e.at, &y, e.ticket);
	advance(s, y.kind, e.ticket);
	if (s->trails)
		trail_after(s, &y);
	made(s, e.inside);
	look_around(s, &y);
}

/* Holes. */

static uint8_t kind_at(struct self *s, uint64_t at)
{
	return (uint8_t)__atomic_load_n(&ring_slot(s, at)->word[0], __ATOMIC_ACQUIRE);
}

static bool is_part(uint8_t kind)
{
	return kind == ENTRY_PART || (kind & ((1 << KIND_BITS) - 1)) == ENTRY_ROUND;
}

/*
 * The entry that the slot begins may have its later slots already. A ticket must not be lost; parts of a text or a loop
 * stand for nothing without their first slot, and are made so before the consumer can see them.
 */
static void fill(struct self *s, uint64_t at, uint64_t head)
{
	bool ticket = at + SLOT < head && kind_at(s, at + SLOT) == ENTRY_TICKET;

	for (uint64_t next = at + SLOT; next < head && is_part(kind_at(s, next)); next += SLOT)
		slot_write(s, next, entry_first(ENTRY_NOTHING, 0, 0), 0);
	slot_write(s, at, entry_first(ticket ? ENTRY_TICK : ENTRY_NOTHING, 0, 0), 0);
}

void self_mend(struct self *s)
{
	uint64_t most = __atomic_load_n(&s->tail, __ATOMIC_ACQUIRE) + RING_BYTES, at = consumed(s);

	settle(s);
	loops_mend(s);
	trail_mend(s);
	s->making = false;
	/* Slots that were never there for lack of room. */
	if (s->head > most)
		s->head = most;
	for (at = at > s->mended ? at : s->mended; at < s->head; at += SLOT)
		if (is_hole(s, at))
			fill(s, at, s->head);
	s->mended = s->head;
}

/* Byte by byte: a memcpy of a size that is not known would be a call of the wrapped one. */
static uint64_t part_of(const char *text, size_t n)
{
	uint64_t part = 0;

	for (size_t i = 0; i < n && i < 8; i++)
		part |= (uint64_t)(unsigned char)text[i] << 8 * i;
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
