/* SPDX-License-Identifier: MIT */
/* Signal handlers: whether a jump leaves one, and where they run. */
#ifndef FISSION_RUNTIME_WRAP_SIGNAL_H
#define FISSION_RUNTIME_WRAP_SIGNAL_H

#include <stdbool.h>
#include <stdint.h>

/* Whether a jump from the stack pointer `from` to `to` leaves a signal handler that was installed through libc. */
bool signal_is_left(uintptr_t from, uintptr_t to);

/* Whether the thread runs on a stack that it has for handlers only, on which the one place is and the other is not. */
bool signal_is_apart(uintptr_t place, uintptr_t other);

/* Whether the program has installed any handler. */
bool signal_is_handled(void);

#endif
