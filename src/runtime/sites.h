/* SPDX-License-Identifier: MIT */
/*
 * The calls of access hooks in code that gcc has compiled for us, each with a look in front of it (driver/fission/hooks.h),
 * of which most are good for nothing if the filter is not wanted: then no look ever finds anything; and if nobody looks at
 * accesses, as in a program that runs by itself, the calls find nothing either. So a module that comes to the library for
 * the first time, which is before any other code of it runs, gets them taken out: empty instructions are in their place.
 *
 * Where the filter is wanted looks stay, and become an instruction shorter: they ask for the thread's marks where these are
 * from the thread's own place, which is known when the module is there.
 *
 * They are looked for in all of its code, and known by their bytes: mute_is_look. Where the system does not let us write,
 * and where there are other threads already, all stays as it is; mute.h has another way then.
 *
 * Where everything is recorded, and trails are wanted (trail.h), a look becomes the number of its access: the place's in all
 * trails of the process, for good. With it the hook is entered behind what it would look for it with.
 *
 * Cost: a few milliseconds for ten megabytes of code, of which the pages with looks are the process's own from then on.
 */
#ifndef FISSION_RUNTIME_SITES_H
#define FISSION_RUNTIME_SITES_H

#include <stdbool.h>
#include <stdint.h>

/* Of the module that has code at the place. */
void sites_adapt(const void *pc);

/* A module's. */
struct sites_code {
	uint8_t *from, *to;
};

/* Gives the look, which can be written, a number: its hook must be in the same code. False: it cannot have one. */
bool sites_give_number(uint8_t *look, const struct sites_code *c);

/* The number of the access that returns to the place, 0: it has none. */
uint32_t sites_number(const void *pc);

#endif
