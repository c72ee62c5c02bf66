/* SPDX-License-Identifier: MIT */
/*
 * The calling thread's open functions where nobody tells of entries and exits: programs that were not rebuilt
 * (MODE_STOCK). At each synchronisation the stack is looked at, and what has changed since the last look becomes the
 * entries and exits that a program with hooks would have told; frames.h keeps and tells them as ever.
 *
 * Which activation. Function and place of the frame do not tell one call from the next: two calls in a row look the
 * same. So frames that were seen are marked (marks.h), and a look walks (cfi.h) from the innermost frame to the first
 * mark: from there on outwards all is as it was. Marked are frames on the thread's own stack only. Without a mark a frame
 * is taken for the one of the last look if place, function and caller are the same, frame by frame from the outermost:
 *   - on other stacks: coroutines, handlers on an alternate stack;
 *   - outside of a frame that cannot be walked through: code without unwind tables, interrupted by a signal;
 *   - where the processor checks return addresses, and when there are no marks left.
 * Of these a call that is repeated from the same place looks like one.
 *
 * A function that ends by calling another one, as a jump, leaves its mark to it: the function has changed, and so has
 * the activation. Frames of the library itself are not shown, nor what the C library has around main and the start
 * routines of threads.
 *
 * Cost: a look that finds what was there before is a few reads; each new frame is a look into the cache, and a return
 * that the processor does not foresee. Rules are kept by return address, for each thread; those of code that is
 * unloaded are forgotten.
 *
 * A signal handler that comes up inside a look does not look: what it does belongs to the functions that are known.
 */
#ifndef FISSION_RUNTIME_STACK_H
#define FISSION_RUNTIME_STACK_H

#include "runtime/self.h"

/*
 * The calling thread's stack reaches from its end so many bytes down; without a word nothing on it is marked, unless it
 * is that of the process's first thread.
 */
void stack_expect(uint64_t bytes);

void stack_begin(struct self *s);
void stack_over(struct self *s);

/* Before every entry that is inside of functions. */
void stack_look(struct self *s);

/* The calling thread's frames below `target` are about to be left by a jump; UINT64_MAX: nobody knows where to. */
void stack_leave(struct self *s, uint64_t target);

/* Code may be unloaded, or was. */
void stack_code_changes(void);

#endif
