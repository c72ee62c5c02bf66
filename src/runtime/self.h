/* SPDX-License-Identifier: MIT */
/*
 * The library's own record of the calling thread, and how an entry gets into its ring.
 *
 * `self` is NULL until the thread has a ring, while the library itself is at work that may call wrapped functions,
 * after the thread has ended, and for ever if there is no collector. Every hook and wrapper starts by asking for it:
 * without one, nothing is recorded and the program's call goes through.
 *
 * Starting is lazy: instrumented code may run before any constructor of ours.
 */
#ifndef FISSION_RUNTIME_SELF_H
#define FISSION_RUNTIME_SELF_H

#include <stddef.h>

#include "runtime/channel.h"

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

extern __thread struct self *self_ring __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* What the hooks ask for first, in programs too. */
struct self_hooks {
	struct self *filtered; /* the same in MODE_FILTER and nothing else */
	struct self *timed;    /* in that or in MODE_LOCKS, if it has frames, and has told something */
	struct self *recorded; /* in no mode at all: everything is told, without values */
	struct marks_head *marks; /* of the first, or one that is empty; never NULL */
	struct self *trail;    /* the same as recorded, if it has a trail */
};

extern __thread struct self_hooks self_hooks __asm__("__fission_hooks_6")
	__attribute__((tls_model("initial-exec"), visibility("default")));

extern struct channel *channel __attribute__((visibility("hidden")));
extern bool self_off __attribute__((visibility("hidden"))); /* nothing will ever be recorded in this process */
extern bool self_blind __attribute__((visibility("hidden"))); /* no accesses will: nobody looks at them */

/* Sets self_hooks anew, when what they depend on may have changed. */
void self_look_at_hooks(void);

/* The slow half of self(): finds the channel and a ring. NULL if there are none. */
struct self *self_start(void);

static inline struct self *self(void)
{
	struct self *s = self_ring;

	if (unlikely(!s) && !self_off)
		s = self_start();
	return s;
}

/*
 * Room for the n slots that were reserved at *at: waits for the collector; they may be others then. False: there is
 * none, and nothing is reserved.
 */
bool self_full(struct self *s, uint64_t *at, uint64_t n);

/* The same where the trail does not matter: see trail.h. */
bool self_wait(struct self *s, uint64_t *at, uint64_t n);

/* Whether anybody reads; if not, nothing more is recorded. */
bool self_is_heard(struct self *s);

/* Waits until the trail may be written up to there. False: nobody reads, or nobody ever will read so far. */
bool self_trail_room(struct self *s, uint64_t to);

/* Reserves n slots and returns the place of the first. One instruction: see channel.h. */
static inline uint64_t self_reserve(struct self *s, uint64_t n)
{
	uint64_t at = n * SLOT;

#if defined __x86_64__
	__asm__ volatile("xaddq %0, %1" : "+r"(at), "+m"(s->head) : : "cc");
#else
	at = __atomic_fetch_add(&s->head, at, __ATOMIC_RELAXED);
#endif
	return at;
}

static inline void slot_write(struct self *s, uint64_t at, uint64_t first, uint64_t second)
{
	struct slot *slot = ring_slot(s, at);

	slot->word[1] = second;
	__atomic_store_n(&slot->word[0], first, __ATOMIC_RELEASE);
}

/* The kind with, in the bits above it, who is to hear of it. */
static inline uint64_t entry_first(unsigned kind, unsigned small, uintptr_t address)
{
	return (uint64_t)address << 16 | (uint64_t)(small & 255) << 8 | (uint64_t)kind;
}

static inline uint64_t entry_second(uintptr_t pc, unsigned extra)
{
	return ((uint64_t)pc & ((1ull << ADDRESS_BITS) - 1)) | (uint64_t)extra << ADDRESS_BITS;
}

/* Reserves n slots; waits for room if there is none. False: nobody reads any more. */
bool self_slots(struct self *s, uint64_t n, uint64_t *at);

/* How far the ring may be filled without a look, if at all. */
void self_set_limit(struct self *s);

/* Out of line, so that the hot path has no frame. */
void self_put_slow(struct self *s, uint64_t at, uint64_t first, uint64_t second) __attribute__((noinline));

/* Waits until there is room for a few slots: for entries that are made under a lock of ours. */
void self_room_slow(struct self *s) __attribute__((noinline));

static inline void self_room(struct self *s)
{
	if (unlikely(s->head + 4 * SLOT > s->limit))
		self_room_slow(s);
}

/* An entry of one slot. */
static inline void self_put(struct self *s, uint64_t first, uint64_t second)
{
	uint64_t at = self_reserve(s, 1);

	if (unlikely(at >= s->limit))
		self_put_slow(s, at, first, second);
	else
		slot_write(s, at, first, second);
}

/* An entry of two slots, of which the second is SIZE. */
void self_put_sized(struct self *s, uint64_t first, uint64_t second, uint64_t size);

/* Time; see channel.h. */

enum { STAMP_BYTES = 0xf0, NOW_SHIFT = 8, RING_SHIFT = NOW_SHIFT + TIME_BITS };

#define FRAME_CALM ((uint64_t)1 << 63) /* of the time of a frame: see frames.h */
#define TICK_MOST (((uint64_t)1 << TICK_BITS) - 1)

static inline uint64_t self_time(const struct self *s)
{
	return s->now >> NOW_SHIFT & (((uint64_t)1 << TIME_BITS) - 1);
}

static inline unsigned self_ticks(const struct self *s)
{
	return (unsigned)(s->now >> NOW_SHIFT & TICK_MOST);
}

/* Slow path of self_tick: there are no ticks left. */
void self_tick_over(struct self *s) __attribute__((noinline));

/* A look is the time between two changes of the thread's time: see lately.h. */
#define LOOK_WRITTEN ((uint64_t)1 << 63)
#define LOOK_STEP ((uint64_t)1 << 47)
#define LOOK_MORE ((uint64_t)0xff0)
#define LOOK_MORE_STEP ((uint64_t)0x10)
#define LOOK_FIRST (LOOK_WRITTEN | LOOK_STEP)

/* Slow path of self_look_anew. */
void self_look_over(struct self *s) __attribute__((noinline));

static inline void self_look_anew(struct self *s)
{
	s->look += LOOK_STEP;
	if (unlikely(!(s->look & LOOK_WRITTEN)))
		self_look_over(s);
	if (s->marks)
		s->marks->look = s->look;
}

static inline void self_set_now(struct self *s, uint64_t now)
{
	self_look_anew(s);
	s->now = now;
	s->stamp = now | STAMP_BYTES;
	s->entered = self_time(s) | FRAME_CALM;
}

static inline void self_set_synced(struct self *s, uint64_t time)
{
	__atomic_store_n(&s->synced, time, __ATOMIC_RELAXED);
	s->calm_since = time | FRAME_CALM;
}

/* What comes now is later than what was. */
static inline void self_tick(struct self *s)
{
	self_set_now(s, s->now + ((uint64_t)1 << NOW_SHIFT));
	if (unlikely(!(s->now >> NOW_SHIFT & TICK_MOST)))
		self_tick_over(s);
}

/* What a synchronisation entry says. */
struct sync {
	enum entry_kind kind;
	unsigned small, extra;
	unsigned behind; /* MODE_TIMED: see channel.h */
	const void *object;
	void *pc;
	uint64_t argument;
};

/*
 * A synchronisation entry with the next ticket. Called after an acquire has succeeded, before a release happens.
 * Returns the ticket, 0 if it has none. self_tell() is for those who are in a hurry: a struct that is handed over as a
 * whole has to wait for its parts. It may change *y.
 */
uint64_t self_tell(struct self *s, struct sync *y);

static inline uint64_t self_sync(struct self *s, struct sync y)
{
	return self_tell(s, &y);
}

/*
 * The same for an operation within which entries of its own come up (an allocator that locks, handlers of fork): slots
 * and ticket are taken before it and written after it, so that tickets ascend in the ring. Until then the consumer
 * stands before the slots. Each self_early() is followed by self_late().
 */
struct early {
	uint64_t at, ticket; /* ticket 0: there was no room */
	bool inside;         /* of another entry in the making */
};

struct early self_early(struct self *s);
void self_late(struct self *s, struct early e, struct sync y);

/*
 * The hooks and wrappers that the thread is in are left for ever, as by a longjmp out of a signal handler that has
 * interrupted them: fills the slots that they have reserved and will not write. Cost: a look at each slot since the
 * last time that the consumer has not taken.
 */
void self_mend(struct self *s);

/* An entry with a text after it. */
void self_text(struct self *s, enum entry_kind kind, const void *address, void *pc, const char *text);

/* Threads. A new thread's number is taken by its maker, so that both can speak of it. */
uint32_t self_number(void);
/* The calling thread begins, under that number. */
void self_begin(uint32_t number);
/* It ends: nothing of it is recorded from here on. */
void self_finish(void);

/* A process that is about to be forked, with its first thread; `ring` may be NULL. */
struct heir {
	struct self *ring;
	uint32_t process, number;
};

struct heir self_heir(void);
/* The calling thread is it. */
void self_forked(struct heir h);
/* In the parent: it was forked as `pid`; or, if pid is negative, was not. */
void self_settled(struct heir h, int pid);

/* From here on nothing of the calling thread is recorded, until as many resumes have come. */
void self_pause(void);
void self_resume(void);

/* Threads that are fibers: begun by another, which goes on as itself; ended likewise. NULL: there is no ring. */
struct self *self_made(uint32_t number);
void self_unmade(struct self *s);
/* From here on the calling thread is that one. Returns who it was. */
struct self *self_switch(struct self *to);

/* A variable of the environment, or NULL; also before libc has it. */
const char *self_variable(const char *name);

/* Counts a loss that has no other place. */
void self_lost(void);

#endif
