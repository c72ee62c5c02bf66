/* SPDX-License-Identifier: MIT */
/*
 * The calling thread's open functions, in the modes that have times: entered silently, and told to the collector when
 * something inside of them is. Most calls are over before that, and are never told.
 *
 * Representation: an array a thread, oldest first; s->told of them are known. Invariant: frames lie deeper and deeper
 * in the stack, and times grow. A frame that is not deeper than a new one has been left without an exit.
 * Cost: a call and its exit are four stores. Failure: without memory, or beyond FRAMES_MOST, calls are not told.
 */
#ifndef FISSION_RUNTIME_FRAMES_H
#define FISSION_RUNTIME_FRAMES_H

#include "runtime/self.h"

enum { FRAMES_MOST = 1 << 18 };

struct frame {
	uint64_t time;  /* of its entry */
	uint64_t place; /* its address */
	uint64_t from, pc;
};

void frames_begin(struct self *s);
void frames_end(struct self *s);

/* Slow paths. frames_cut: but for so many, all are left. */
void frames_tell_all(struct self *s) __attribute__((noinline));
void frames_unwind(struct self *s, uint64_t place, void *pc) __attribute__((noinline));
void frames_cut(struct self *s, uint32_t to) __attribute__((noinline));
void frames_leave(struct self *s, uint64_t place, uint64_t gone, void *pc) __attribute__((noinline));

/* Tells what is open and not told: before every entry that the collector is to see inside of it. */
static inline void frames_tell(struct self *s)
{
	if (s->told < s->open)
		frames_tell_all(s);
}

/* The same, and that the next entry, which has no place for a time, comes after all that was. */
void frames_mark(struct self *s);

/* A function is entered whose frame is at `place`. */
static inline void frames_enter(struct self *s, uint64_t place, uint64_t from, void *pc)
{
	uint32_t n;

	self_tick(s);
	if (unlikely(s->open && s->frames[s->open - 1].place <= place))
		frames_unwind(s, place + 1, pc);
	n = s->open;
	if (unlikely(n == FRAMES_MOST || !s->frames))
		return;
	s->frames[n] = (struct frame){self_time(s), place, from, (uint64_t)pc};
	s->open = n + 1;
}

/*
 * A function is left. Its frame is at `place`; or, if it had taken that down already and came by a jump, `place` is its
 * caller's and its own was at `gone`.
 */
static inline void frames_exit(struct self *s, uint64_t place, uint64_t gone, void *pc)
{
	uint32_t n = s->open;
	uint64_t top = n ? s->frames[n - 1].place : 0;

	if (likely(n > s->told && (top == place || top == gone)))
		s->open = n - 1;
	else
		frames_leave(s, place, gone, pc);
}

#endif
