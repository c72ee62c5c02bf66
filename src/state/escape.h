/* SPDX-License-Identifier: MIT */
/*
 * Which memory only its allocating thread can reach so far: dynamic escape analysis (Wang and Stoller, IEEE TSE
 * 2006, section 3), for C.
 *
 * An allocation starts unescaped and belongs to its line. It escapes, for good, when
 *   - a pointer to it (a written value inside of it) is stored into memory that has escaped;
 *   - its thread writes something of unknown value, large enough to be a pointer, into memory that has escaped: then
 *     all of the line's memory does, since it may be a pointer to any of it;
 *   - its thread forks, since a trace does not say what the new thread was given: again all of the line's memory. Also
 *     what a former thread of the new thread's line had, which its joiner may know;
 *   - another line touches, frees or stores a pointer to it, or it is given out again or freed in the middle;
 *   - memory escapes that holds a pointer to it, or that holds something unknown.
 * Memory that was never allocated in the trace has escaped from the start, and so has what goes by a name.
 *
 * What can hold a pointer: a write of eight bytes, or whose size is not given. It is known if it has a value; without
 * one, or of more bytes, or a read-modify-write (whose value may be the old one), it is not. A write of less than eight
 * bytes holds none: that a pointer is put together from parts, or hidden (as an offset, or as an address outside of
 * what it leads to), is not seen. A free right before an alloc by the same thread may be one realloc: what the old
 * memory held, the new memory then may hold.
 *
 * Representation: the unescaped allocations, which never overlap, as a treap by address, and as a list a line.
 * Pointers stored in them are found by address and hang on their allocation. Invariant: every allocation in the treap
 * is in exactly one line's list, and none overlap.
 * Cost: nothing while no memory is unescaped; a comparison for a read of what has a name; two where the line's last
 * answer (an allocation, or a stretch without any) still holds; otherwise logarithmic in the unescaped allocations.
 * Escaping costs once an allocation. Memory: a record an unescaped allocation and an address that held a pointer.
 */
#ifndef FISSION_STATE_ESCAPE_H
#define FISSION_STATE_ESCAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/seg.h"
#include "event/event.h"

struct arena;

struct escape {
	struct arena *arena;
	struct seg allocation; /* struct allocation by number, from 1 */
	struct seg pointer;    /* struct pointer by number, from 1 */
	struct seg line;       /* struct escape_line */
	struct map by_address; /* where a pointer was stored to its number */
	uint32_t allocations, pointers, spare_allocation, spare_pointer;
	uint32_t root;     /* of the treap, 0 for none */
	uint64_t changes;  /* of the treap */
	uint32_t *pending; /* allocations that have escaped, whose pointers have yet to */
	size_t pending_count, pending_capacity;
};

void escape_init(struct escape *s, struct arena *a);

void escape_alloc(struct escape *s, const struct event *e);
void escape_free(struct escape *s, const struct event *e);

/* e forks a thread onto the line. */
void escape_fork(struct escape *s, const struct event *e, uint32_t line);

/* Slow path of escape_access. */
bool escape_access_slowly(struct escape *s, const struct event *e);

/* An access, whose object is still an address or name: whether the memory has not escaped, behind the access too. */
static inline bool escape_access(struct escape *s, const struct event *e)
{
	if (__builtin_expect(!s->root, 1) || (!(e->flags & EVENT_ADDRESSED) && event_is_read(e->kind)))
		return false;
	return escape_access_slowly(s, e);
}

#endif
