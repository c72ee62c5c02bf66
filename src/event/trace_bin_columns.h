/* SPDX-License-Identifier: MIT */
/*
 * The columns of the events chunk that is being gathered, open to whoever makes events in brief (event/brief.h): an event of
 * a place whose template is known goes there at once, and never is anything else. Such a place's note has the chunk in its
 * upper half, and the number of its template in the lower one.
 *
 * They are open for one thread and a row at a time: asked for by trace_bin_columns(), filled by bin_columns_put(), closed by
 * trace_bin_columns_end(). What is put must be what trace_bin_put_briefs() would take.
 */
#ifndef FISSION_EVENT_TRACE_BIN_COLUMNS_H
#define FISSION_EVENT_TRACE_BIN_COLUMNS_H

#include "event/event.h"
#include "event/trace_bin.h"
#include "event/varint.h"
#include "event/wellformed.h"

struct bin_columns {
	unsigned char *head, *object; /* where the next one's go */
	uint64_t *last;               /* by template: the object of its latest event */
	uint32_t chunk;
	size_t room;                  /* events, from the first one on */
	struct wf_calls *calls;       /* of the thread: a call must be fine there, see wf_calls_enter() */
};

/* Of a zigzag difference. Nearly all have less than seven bytes: those that the table of widths has one by one. */
static inline unsigned bin_width_code(uint64_t z)
{
	if (__builtin_expect(z >> 48 != 0, 0))
		return BIN_WIDTHS - 1;
	return ((63u ^ (unsigned)__builtin_clzll(z << 1 | 1)) + 7) / 8;
}

static inline bool bin_columns_know(const struct bin_columns *c, uint64_t note)
{
	return note >> 32 == c->chunk;
}

/* A word is stored where fewer bytes are meant: there is room. */
static inline void bin_columns_put(struct bin_columns *c, uint64_t note, uint64_t object)
{
	uint64_t *last = &c->last[(uint32_t)note], z = zigzag(object - *last);
	unsigned code = bin_width_code(z);

	*last = object;
	store64(c->object, z);
	c->object += code;
	if (__builtin_expect(code == BIN_WIDTHS - 1, 0))
		c->object++; /* eight bytes */
	store16(c->head, (uint16_t)(note << BIN_WIDTH_BITS | code));
	c->head += 2;
}

/* Opens the columns for events of the thread. False: there is no room; put something else first. */
bool trace_bin_columns(struct trace_writer *w, thread_id thread, struct bin_columns *c);

/* Takes over what was put, and returns how many events that were. */
size_t trace_bin_columns_end(struct trace_writer *w, const struct bin_columns *c);

#endif
