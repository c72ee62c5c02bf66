/* SPDX-License-Identifier: MIT */
/*
 * The calling thread's open functions, in the modes that have times: entered silently, and told to the collector when
 * something inside of them is. Most calls are over before that, and are never told.
 *
 * Representation: an array a thread, oldest first, and before the first one that is around all; s->told of them are
 * known or calm. Invariant: frames lie deeper and deeper in the stack, and times grow. A frame that is not deeper than a
 * new one has been left without an exit.
 * Cost: a call is five stores, its exit two. Failure: without memory, or beyond FRAMES_MOST, calls are not told.
 *
 * Signal handlers come between any two instructions, enter functions, leave them, and tell of all that is open. So a
 * frame is written before it is open, its time first; whoever leaves one clears its time. A frame that a handler has
 * written over meanwhile, and left, is dead: it has no time, and is never told. The quick exit leaves one first, and then
 * sees whether it was told; a handler in between sees that more is told than open, and puts it back.
 *
 * Calm functions. An activation is split by what comes between two of its accesses; in a program without data races
 * that takes a release and an acquire inside of it. So one that does not synchronise is never named, and need not be
 * known: it is entered without a tick, which leaves what the shadow has of its thread's accesses true, and accesses in
 * it do not tell of it, nor of one around it that was brought along. That a function does not synchronise is foreseen,
 * from CALM activations of it without; then it loses its hooks, if that can be (calm.h). Where it does synchronise all the
 * same, it is told from then on. What is lost is this: of that one activation what came before, or all, is taken for its
 * caller's. That is an edge less, never one too many. Of locks alone all functions are entered without a tick, and their
 * hooks go by how often they are entered.
 */
#ifndef FISSION_RUNTIME_FRAMES_H
#define FISSION_RUNTIME_FRAMES_H

#include "runtime/self.h"

enum {
	FRAMES_MOST = 1 << 18, CALM_BITS = 16, CALM = 1024, WOKEN = UINT16_MAX - 2, MUTED, LOUD,
	BROUGHT_DEEP = 4, /* calm functions inside of one that was brought along, at most, for it not to be told */
};

/* FRAME_CALM, in a frame's time: not told; it has no time of its own yet, or must not be told at all (calm.h). */

#define FRAME_BROUGHT ((uint64_t)1 << 62) /* as calm, but an acquire has brought it along, with its time: see channel.h */
#define FRAME_COUNTED ((uint64_t)1 << 61) /* told before it was known whether its function is calm: see calm.h */
#define FRAME_SURE ((uint64_t)1 << 60)    /* entered since its function was woken, so that it has an exit: likewise */
#define FRAME_MARKS (FRAME_CALM | FRAME_BROUGHT | FRAME_COUNTED | FRAME_SURE)

/* Activations without synchronisation, by a function's place: up to CALM, or WOKEN, MUTED, LOUD. Two may share one. */
#define CALM_FACTOR 0x9e3779b97f4a7c15u

extern uint16_t frames_calm[1 << CALM_BITS] __attribute__((visibility("hidden")));

struct frame {
	uint64_t time;  /* of its entry, with FRAME_MARKS */
	uint64_t place; /* its address */
	uint64_t from, pc;
};

void frames_begin(struct self *s);
void frames_end(struct self *s);

/*
 * Slow paths. frames_cut: but for so many, all are left. frames_jump: by a jump between stack pointers; whoever jumps
 * down, from a stack for signal handlers, leaves all that is on it.
 */
void frames_tell_all(struct self *s) __attribute__((noinline));
void frames_tell_some(struct self *s) __attribute__((noinline));
void frames_enter_slowly(struct self *s, uint64_t place, uint64_t from, void *pc) __attribute__((noinline));
void frames_unwind(struct self *s, uint64_t place, void *pc) __attribute__((noinline));
void frames_cut(struct self *s, uint32_t to) __attribute__((noinline));
void frames_jump(struct self *s, uint64_t from, uint64_t to) __attribute__((noinline));
void frames_leave(struct self *s, uint64_t place, uint64_t gone, void *pc) __attribute__((noinline));

/* So many are open, and so many told: in one store. */
static inline void frames_set(struct self *s, uint32_t open, uint32_t told)
{
	__atomic_store_n(&s->open_and_told, (uint64_t)told << 32 | open, __ATOMIC_RELAXED);
}

/* One that was told, or passed over, is being left: see frames_exit. If a signal handler has told it meanwhile, it has an exit. */
static inline void frames_left(struct self *s, uint32_t n, uint64_t place, uint64_t gone, void *pc)
{
	if (s->frames[n - 1].time & FRAME_CALM) {
		frames_set(s, n - 1, n - 1);
		s->frames[n - 1].time = 0;
	} else {
		s->open = n;
		frames_leave(s, place, gone, pc);
	}
}

/* How deep the frame at the place lies, in units of DEPTH_UNIT. */
static inline uint32_t frames_depth(const struct self *s, uint64_t place)
{
	uint64_t depth = (s->stack - place) / DEPTH_UNIT;

	return depth < DEPTH_UNKNOWN ? (uint32_t)depth : DEPTH_UNKNOWN;
}

/* The innermost, if it is the only one that was not told, and is not the thread's first function; otherwise NULL. */
static inline struct frame *frames_last_untold(const struct self *s)
{
	return s->told && s->told + 1 == s->open ? &s->frames[s->told] : NULL;
}

/* Tells what is open and not told: before every synchronisation that the collector is to see inside of it. */
static inline void frames_tell(struct self *s)
{
	if (s->told < s->open)
		frames_tell_all(s);
}

/* Whether all that was not told, which is something, is a function that was brought along and calm ones inside of it. */
static inline bool frames_are_brought(const struct self *s)
{
	const struct frame *f = &s->frames[s->told];
	uint32_t inside = s->open - s->told - 1;

	if (!(f->time & FRAME_BROUGHT) || inside > BROUGHT_DEEP)
		return false;
	while (inside && f[inside].time & FRAME_CALM)
		inside--;
	return !inside;
}

/* The same but for calm functions: before everything else. Returns whether that is inside of one brought along. */
static inline bool frames_tell_loud(struct self *s)
{
	if (s->told >= s->open)
		return false;
	if (frames_are_brought(s))
		return true;
	frames_tell_some(s);
	return false;
}

/* The same as frames_tell, and that the next entry, which has no place for a time, comes after all that was. */
void frames_mark(struct self *s);

static inline uint16_t *frames_calm_of(uint64_t pc)
{
	return &frames_calm[pc * CALM_FACTOR >> (64 - CALM_BITS)];
}

/* Whether a signal handler has written over it: what it says is not to be believed. */
static inline bool frames_is_dead(const struct frame *f)
{
	return !(f->time & ~FRAME_MARKS);
}

/* Whether it synchronises, and is entered with an exit. */
static inline bool frames_is_loud(const struct frame *f)
{
	uint16_t calm = *frames_calm_of(f->pc);

	if (unlikely(frames_is_dead(f)))
		return false;
	return calm == LOUD || (calm == WOKEN && f->time & FRAME_SURE);
}

/* Entered without a tick and without being counted. Of locks alone that is what is loud: the others are not entered. */
static inline bool frames_is_usual(const struct self *s, uint64_t pc)
{
	return *frames_calm_of(pc) == (s->mode & MODE_LOCKS ? LOUD : CALM);
}

/* The time first; and it counts when all of it is there. */
static inline void frames_open(struct self *s, uint64_t time, uint64_t place, uint64_t from, void *pc)
{
	uint32_t n = s->open;
	struct frame *f = &s->frames[n];

	f->time = time;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	f->place = place;
	f->from = from;
	f->pc = (uint64_t)pc;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	s->open = n + 1;
}

/*
 * A function is entered whose frame is at `place`, of a thread that has frames. What is usual needs no frame of our own;
 * the rest is jumped to.
 */
static inline void frames_enter(struct self *s, uint64_t place, uint64_t from, void *pc)
{
	uint32_t n = s->open;
	struct frame *f = &s->frames[n];

	if (unlikely(s->told > n || n >= FRAMES_MOST || f[-1].place <= place || !frames_is_usual(s, (uint64_t)pc)))
		frames_enter_slowly(s, place, from, pc);
	else
		frames_open(s, s->entered, place, from, pc);
}

/*
 * A function is left. Its frame is at `place`; or, if it had taken that down already and came by a jump, `place` is its
 * caller's, its own was at `gone`, and `pc` is where it returns to. What else is at `gone` was left by a callee.
 */
static inline void frames_exit(struct self *s, uint64_t place, uint64_t gone, void *pc)
{
	uint32_t n = s->open;
	const struct frame *f = &s->frames[n] - 1;

	if (likely(f->time >= s->calm_since && (f->place == place || (f->place == gone && f->from == (uint64_t)pc)))) {
		s->open = n - 1;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		if (unlikely(s->told >= n))
			frames_left(s, n, place, gone, pc);
		else
			s->frames[n - 1].time = 0;
	} else {
		frames_leave(s, place, gone, pc);
	}
}

#endif
