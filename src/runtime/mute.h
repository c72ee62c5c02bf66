/* SPDX-License-Identifier: MIT */
/*
 * Where only locks are wanted, a call of an access hook is good for nothing: when it is met it is taken out of the
 * code. Without that the calls alone make a program three times slower. In a program that runs by itself so are those of
 * entries and exits. calm.h takes out other calls, and puts them back.
 *
 * Only the call's first byte changes: with the other four it is then a comparison of a register with a number, of
 * which nothing comes but flags, and those are nobody's across a call. A thread that is there sees the one or the
 * other. What is taken for a call is one for certain: its target is the hook, or an entry of the module's own table of
 * procedures, whose slot has the hook. What does not look like that stays as it is, and so does everything if the
 * system does not let us write: then it is as slow as without.
 *
 * One thread at a time, and nobody waits: who finds another at it comes by again.
 */
#ifndef FISSION_RUNTIME_MUTE_H
#define FISSION_RUNTIME_MUTE_H

#include <stdbool.h>
#include <stdint.h>

#if defined __x86_64__
enum { MUTE_CAN = true };
#else
enum { MUTE_CAN = false };
#endif

enum {
	CALL_BYTES = 5,
	CALL_CODE = 0xe8,
	JUMP_CODE = 0xe9,
	TEST_CODE = 0xa9, /* of eax with four bytes */
	RETURN_CODE = 0xc3,
	LOOK_CODE = 0x4c, /* of what a look in front of a call begins with */
};

/* Calls may be taken out: set before the first of them, and reset when too many could not be. */
extern bool mute_wanted __attribute__((visibility("hidden")));

/* The child of a fork cannot know what code another thread of its parent was about to change: it changes no functions. */
extern bool mute_torn __attribute__((visibility("hidden")));

/* The call of `hook` that returns to `pc`. */
void mute(void *pc, void (*hook)(void *)) __attribute__((noinline));

/* The same of the hook that ends a function, who may have jumped there: then there is none. */
void mute_exit(void *pc, void (*hook)(void *)) __attribute__((noinline));

/* For calm.h and sites.h. */

/*
 * Whether that is a look in front of a call, as driver/fission/hooks.h has it: known by all its bytes, and by what it loads,
 * where this thread's hooks are. There must be so much memory.
 */
bool mute_is_look(const uint8_t *at);

/* Where this thread's hooks are from the place that all threads have their own of. */
int64_t mute_hooks_offset(void);

/* False: another thread is at it. */
bool mute_begin(void);
void mute_end(void);
/* In the child of a fork: whoever else was at it, is not here. */
void mute_forked(void);

/* Where the call or jump goes, of which these are the bytes. */
const uint8_t *mute_target(const uint8_t *at);
/* What an entry of a table of procedures jumps to, by its slot; NULL: it is none. */
const uintptr_t *mute_slot(const uint8_t *entry);

/* Between them the code of the range can be written. False: it cannot. */
bool mute_open(uint8_t *from, const uint8_t *to);
void mute_close(uint8_t *from, const uint8_t *to);
/* The call, or the jump that ends a function: a hook that is jumped to would have returned. */
void mute_take_out(uint8_t *at);
void mute_put_back(uint8_t *at);

#endif
