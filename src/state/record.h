/* SPDX-License-Identifier: MIT */
/*
 * What transactions did, kept until the end of the run: equal ones once.
 *
 * A record is the sequence of operations of one outermost block, with the blocks inside of it as markers. Of records
 * with the same operations (kind, object, place, stack) the first is kept, with the number of each event, and how many
 * there were: the same code, run a million times on the same variables, takes the memory of one.
 *
 * Who asks does not care for the order of accesses between two other operations, nor for how often one is repeated,
 * beyond twice. So of an access only the first two are kept until the next operation of another sort; and of
 * any group of operations that repeats, only the first rounds (two, mostly), if it closes what it opens (a loop). What
 * grows beyond RECORD_MOST all the same is cut off there, and says so.
 *
 * Representation: kinds, places and stacks that belong together are an op, with a number. A recording, one a line
 * while its block is open, is an array of (op, object, distance in events from the start), and a small table of what
 * it had last. A record is bytes: LEB128 numbers, op and object of each operation, then what only the first of the
 * records like it has, the distances between the events above all.
 * Invariant: of records and of ops no two are equal.
 * Cost: an operation, a few comparisons; the end of a record, its length and a look-up. Memory: some five bytes an
 * operation of each different record.
 */
#ifndef FISSION_STATE_RECORD_H
#define FISSION_STATE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/seg.h"
#include "event/event.h"

enum {
	RECORD_MOST = 1 << 14,   /* operations */
	RECORD_PERIOD = 1 << 10, /* of a loop that is noticed */
	RECORD_RECENT = 128,
	RECORD_OPS = 1 << 10, /* that are found without a look-up */
};

/* Kinds of operations beside those of events. */
enum { RECORD_OPEN = EVENT_KINDS, RECORD_CLOSE, RECORD_CUT };

struct op {
	site_id site;
	stack_id stack;
	uint16_t kind;
	uint16_t flags; /* the owner's */
};

struct item {
	uint32_t op;
	uint32_t object; /* of a close: how many younger ones stay open */
	uint32_t after;  /* events since the record's first */
};

/* A record, read back. */
struct record {
	const struct item *item;
	size_t count;
	bool cut_off;
	thread_id thread;
	uint64_t begin; /* seq of its first event */
	uint64_t times; /* how many there were, at most UINT32_MAX */
};

/* An operation that was recorded last in its slot. */
struct recent {
	uint64_t what; /* op and object */
	uint64_t span; /* in which it was recorded: between two operations that are not accesses */
	uint32_t times; /* in that span */
	uint32_t position;
};

struct recording {
	struct item *item;
	size_t count, capacity;
	uint64_t begin;
	thread_id thread;
	uint64_t span, first_span; /* now, and when the record began */
	size_t period, matched;    /* the last so many items equal those a period before */
	struct recent *recent;
};

struct records {
	struct arena *arena;
	struct seg op;     /* struct op by number, from 1 */
	struct seg record; /* struct kept by number, from 1 */
	struct map by_op, by_content;
	uint32_t ops, records;
	uint32_t *known; /* numbers of ops, by their hash */
	unsigned char *scratch;
	size_t scratch_size;
	unsigned char *room; /* for the next records */
	size_t room_left;
	struct item *item; /* of the record that was read last */
	size_t item_capacity;
};

void records_init(struct records *s, struct arena *a);

/* Starts a record, with event e as its first. */
void recording_begin(struct records *s, struct recording *r, const struct event *e);

/* Adds an operation of event `seq`. False if there is no room. */
bool recording_add(struct records *s, struct recording *r, struct op op, uint32_t object, uint64_t seq);

/* Ends the record, and keeps it if it is new. */
void recording_end(struct records *s, struct recording *r, bool cut_off);

static inline const struct op *op_at(struct records *s, uint32_t op)
{
	return seg_at(&s->op, op, sizeof(struct op));
}

/* A record, from 1 to s->records. Its items are there until the next call. */
struct record record_read(struct records *s, uint32_t number);

#endif
