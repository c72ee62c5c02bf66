/* SPDX-License-Identifier: MIT */
/*
 * Which memory only its allocating thread can reach so far: dynamic escape analysis (Wang and Stoller, IEEE TSE
 * 2006, section 3), for C.
 *
 * An allocation escapes when a pointer to it is stored into memory that has escaped, when its thread forks (the trace
 * does not say what the new thread was given), when another thread touches it, and with what it points to. Memory that
 * was never allocated in the trace has escaped from the start, and so has what goes by a name.
 */
#ifndef FISSION_STATE_ESCAPE_H
#define FISSION_STATE_ESCAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "event/event.h"

struct arena;

struct escape {
	struct arena *arena;
};

void escape_init(struct escape *s, struct arena *a);

void escape_alloc(struct escape *s, const struct event *e);
void escape_free(struct escape *s, const struct event *e);
void escape_fork(struct escape *s, const struct event *e);

/* An access, whose object is still an address or name: whether the memory has not escaped, behind the access too. */
bool escape_access(struct escape *s, const struct event *e);

#endif
