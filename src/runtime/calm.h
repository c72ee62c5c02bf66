/* SPDX-License-Identifier: MIT */
/*
 * Functions that never synchronise, where only locks are wanted (MODE_LOCKS), or accesses are filtered (MODE_FILTER): of
 * those nobody will ever hear, and what they tell the library, by the hooks of their entry and their exits, is half of what a
 * run of locks costs. So a function that was entered, or with the filter left, CALM times and never was around a
 * synchronisation has these calls taken out of its code (mute.h).
 *
 * States, by a function's place, in frames_calm: so many activations; MUTED; WOKEN, after that; or LOUD. The last two are
 * for ever. Of locks alone LOUD is what was told, or whose calls cannot be taken out; what may be told becomes loud before.
 * With the filter it is what was around a synchronisation when it was left; until then its activations are told as well, if
 * there is something to be told inside of them: while one that was told is open, its function is not muted. So no function is
 * both told and muted.
 *
 * Back again. What synchronises has a place in the code, and each function that is told has the place that it was
 * called from. If such a place lies in a muted function, that one gets its calls back and is woken. Of a chain of muted
 * functions the innermost comes back with the first synchronisation, its caller with the next, and so on. What is lost
 * is this: of the one activation in which a muted function synchronises for the first time, all counts as its
 * caller's. Which places are in no muted function is remembered, until another function is muted.
 *
 * A muted function is what lies between its entry and the next one of any function. One with parts elsewhere, which it
 * jumps to, is not muted, unless they are what an exception does on its way; that is not seen, nor are handlers. A
 * place in a module that has no muted functions is a library's, or the system's that calls a signal handler, on behalf
 * of somebody: who that is, is looked for on the stack, up to the next function that is known. That is done now and
 * then, since it takes longer.
 *
 * Exits. An activation that was open when its function was muted has a frame and no exit: frames of muted functions
 * are not told, nor are those that were left from before a function was woken; the next one at their place clears them, or
 * the exit of one around them (frames_leave). One that was open when the calls came back has an exit and no frame: a call of
 * the exit hook is then known by its frame pointer, and a jump to it by who it returns to.
 *
 * Cost: a look at a table for each function that is told and each synchronisation; once a function, some microseconds.
 */
#ifndef FISSION_RUNTIME_CALM_H
#define FISSION_RUNTIME_CALM_H

#include "runtime/self.h"

enum { KNOWN_BITS = 12 };

/* Functions may be muted: set before the first hook. */
extern bool calm_wanted __attribute__((visibility("hidden")));
/* Some function has got its calls back. */
extern bool calm_has_returned __attribute__((visibility("hidden")));

/* Places in no muted function, with the generation in which that was so, in the upper bits. */
extern uint64_t calm_known[1 << KNOWN_BITS] __attribute__((visibility("hidden")));
extern uint64_t calm_generation __attribute__((visibility("hidden")));

/*
 * Of locks alone a function that is not loud is entered; with the filter, one that is counted as muted. True: it is muted
 * now, and needs no frame.
 */
bool calm_enter(uint64_t pc);
bool calm_mutes(uint64_t pc);

/*
 * Of locks alone an activation is to be told, and so its function is loud; false: it must not be, for it may be over. `sure`:
 * it was entered since its function was woken.
 */
bool calm_wakes(uint64_t pc, bool sure);

/* With the filter one is about to be told; false: its function is muted, and it must not be. And it was left. */
bool calm_tells(uint64_t pc);
void calm_told(uint64_t pc);

/* One was left, which did or did not synchronise: what that says of its function, which may be muted now. */
void calm_learn(uint64_t pc, bool synchronised);

/* In the child of a fork, where nothing is open. */
void calm_forked(void);

/* Whether an exit that returns to `pc` is for certain not that of the function that `pc` is in. */
bool calm_is_other_exit(const void *pc);

void calm_look_slowly(uint64_t pc, uint64_t from, uint64_t to) __attribute__((noinline));

static inline uint64_t *calm_known_at(uint64_t pc)
{
	return &calm_known[pc * 0x9e3779b97f4a7c15u >> (64 - KNOWN_BITS)];
}

/* There is a synchronisation at the place, or around it. The next function that is known has its frame at `to`. */
static inline void calm_look(uint64_t pc, uint64_t from, uint64_t to)
{
	if (unlikely(*calm_known_at(pc) != (pc | __atomic_load_n(&calm_generation, __ATOMIC_RELAXED))))
		calm_look_slowly(pc, from, to);
}

#endif
