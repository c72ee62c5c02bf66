/* SPDX-License-Identifier: MIT */
/*
 * Where only locks are wanted, a call of an access hook is good for nothing: when it is met it is taken out of the
 * code. Without that the calls alone make a program three times slower.
 *
 * The call's first two bytes become a jump over the rest, by one store; a thread that is there sees the one or the
 * other. What is taken for a call is one for certain: its target is the hook, or an entry of the module's own table of
 * procedures, whose slot has the hook. What does not look like that, or lies across lines of the cache, stays as it is, and so does
 * everything if the system does not let us write: then it is as slow as without.
 *
 * One thread at a time, and nobody waits: who finds another at it comes by again.
 */
#ifndef FISSION_RUNTIME_MUTE_H
#define FISSION_RUNTIME_MUTE_H

#include <stdbool.h>

/* Calls may be taken out: set before the first of them, and reset when too many could not be. */
extern bool mute_wanted __attribute__((visibility("hidden")));

/* The call of `hook` that returns to `pc`. */
void mute(void *pc, void (*hook)(void *)) __attribute__((noinline));

#endif
