/* SPDX-License-Identifier: MIT */
/*
 * Takes one events chunk of a binary trace apart; trace_bin.h has the layout.
 *
 * Nothing in the payload is trusted: every id is held against the number of entries that the file has defined so
 * far, and what does not belong to a kind is refused. What is fixed by an event's template is checked when the
 * chunk is opened, the rest where it is decoded. Cost: about 45 instructions an event, 55 with a value.
 */
#ifndef FISSION_EVENT_TRACE_BIN_EVENTS_H
#define FISSION_EVENT_TRACE_BIN_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"
#include "event/tables.h"
#include "event/varint.h"

/* How many entries a file has defined: by table_class, and stacks. */
struct bin_known {
	uint32_t names[TABLE_CLASSES];
	uint32_t stacks;
};

/*
 * Bounds are checked once per step, of up to so many events. That is how far the decoder may read behind a payload
 * that is too short: 9 bytes an event, and a load of 8 bytes.
 */
enum { BIN_STEP = 256, BIN_SLACK = 9 * BIN_STEP + 8 };

/* What is the same for all events of a template, and the object of the latest one. */
struct bin_template {
	uint64_t object;
	uint64_t first, span; /* object must be from first to first + span */
	uint8_t kind, order, flags, unused; /* as in struct event */
	uint32_t size;
	site_id site;
	stack_id stack;
	uint8_t value; /* enum value_rule */
	uint64_t pc;
};

/* A loop of the next chunk, or of this one: see trace_bin.h. */
struct bin_loop {
	uint32_t before, items, count; /* count: the events behind the first round */
};

/* An item of it: how much further it is each time; or how much, each time, in so many bytes each. */
struct bin_item {
	uint64_t stride;
	uint32_t at;    /* the next one, of the differences */
	uint32_t width; /* 0: it has a stride */
};

struct bin_events {
	struct bin_template *template; /* room for BIN_TEMPLATES_MOST */
	uint32_t templates;
	uint64_t *address;             /* by template, for the next chunk; room for BIN_TEMPLATES_MOST */
	uint32_t addresses;            /* 0: there are none */
	struct bin_loop *loop;         /* room for BIN_EVENTS_MOST, and for as many items */
	struct bin_item *items;
	uint32_t loops, strides;       /* of them; for the next chunk before it is opened */
	unsigned char *differences;    /* room for BIN_WAYS_MOST, and a load of 8 bytes */
	size_t difference_bytes;       /* of them */
	uint32_t way_item, way_loop, way_first; /* behind the last way: the item, its loop, and the first item of that */
	bool loops_taken;              /* those that are there belong to the chunk that was opened last */
	uint32_t loop_heads, loop_events; /* that those of the next chunk reach over, and stand for */
	uint32_t looped, stepped;      /* loops that were begun, and their strides */
	uint32_t until;                /* heads to the end of the next one's first round; UINT32_MAX: there is none */
	uint32_t again, item;          /* events of the loop that are still to come, and which of its items is next */
	uint32_t left;                 /* events still to come, without those of loops */
	uint32_t run;                  /* of which by `thread` in a row */
	uint32_t run_done;             /* of the run, those that were taken */
	thread_id thread;
	struct bin_known known;
	struct bytes runs;
	const unsigned char *heads;
	const unsigned char *objects, *objects_end;
	const unsigned char *values, *values_end;
	const char *wrong; /* what cannot be read, in words; NULL while all is well */
};

/*
 * Starts on a payload of n bytes that holds `count` events. The payload, with BIN_SLACK bytes behind it, must stay
 * until the last event was taken. False, with `wrong`, if it is not one.
 */
bool bin_events_open(struct bin_events *d, const unsigned char *payload, size_t n, uint32_t count);

/* Takes a loop of the next chunk. Returns what is wrong with it, or NULL. */
const char *bin_loop_read(struct bin_events *d, struct bytes *b);

/* Takes the way of an item of these loops. Returns likewise. */
const char *bin_way_read(struct bin_events *d, struct bytes *b);

/* Whether there are any more events. */
static inline bool bin_events_any(const struct bin_events *d)
{
	return d->left || d->again;
}

/* Up to `most` events; fewer, with `wrong`, where they cannot be read. `seq` and `line` are 0. */
size_t bin_events_next(struct bin_events *d, struct event *events, size_t most);

#endif
