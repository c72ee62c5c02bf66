/* SPDX-License-Identifier: MIT */
/*
 * The calls of access hooks in code that gcc has compiled for us, each with a look in front of it (driver/fission/hooks.h),
 * of which most are good for nothing if the filter is not wanted: then no look ever finds anything; and if nobody looks at
 * accesses, as in a program that runs by itself, the calls find nothing either. So a module that comes to the library for
 * the first time, which is before any other code of it runs, gets them taken out: empty instructions are in their place.
 *
 * What is taken for a look is one for certain: see mute_is_look. Where the system does not let us write, and where there
 * are other threads already, all stays as it is; mute.h has another way then.
 */
#ifndef FISSION_RUNTIME_SITES_H
#define FISSION_RUNTIME_SITES_H

#include <stdint.h>

/* Called by a constructor of every file of a module, with all its looks: each is so far from its element. */
__attribute__((visibility("default"))) void __fission_adapt(const int32_t *from, const int32_t *to);

#endif
