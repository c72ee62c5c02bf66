/* SPDX-License-Identifier: MIT */
/*
 * What transactions did, kept until the end of the run: equal ones once.
 *
 * A record is the sequence of operations of one outermost block, with the blocks inside of it as markers. Operations
 * are numbers: equal (kind, object, place, stack) are one atom. Of the records with the same atoms the first is kept,
 * with the number of each event, and how many there were: the same code, run a million times on the same variables,
 * takes the memory of one.
 *
 * Who asks does not care for the order of accesses between two other operations, nor for how often one is repeated,
 * beyond twice. So of an access only the first two are kept until the next operation of another sort; and of
 * any group of operations that repeats, only the first two rounds, if the group opens what it closes (a loop). What
 * grows beyond RECORD_MOST all the same is cut off there, and says so.
 *
 * Representation: a recording a line, while its block is open: an array of (atom, distance in events from the start),
 * and a small table of the atoms that it had last. Invariant: of records and of atoms no two are equal.
 * Cost: an operation that the table has, a few comparisons; otherwise one look-up. The end of a record: its length.
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
	RECORD_MOST = 1 << 14, /* operations */
	RECORD_PERIOD = 1 << 10, /* of a loop that is noticed */
	RECORD_RECENT = 128,
};

/* Kinds of atoms beside those of events. */
enum { ATOM_OPEN = EVENT_KINDS, ATOM_CLOSE, ATOM_CUT };

struct atom {
	uint64_t object; /* of a close: how many younger ones stay open */
	site_id site;
	stack_id stack;
	uint32_t kind;
	uint32_t flags; /* the owner's */
};

struct item {
	uint32_t atom;
	uint32_t after; /* events since the record's first */
};

struct record {
	const struct item *item;
	uint32_t count;
	bool cut_off;
	thread_id thread;
	uint64_t begin; /* seq of its first event */
	uint64_t times;
};

/* An atom that was recorded last in its slot. */
struct recent {
	struct atom atom;
	uint64_t span; /* in which it was recorded: between two operations that are not accesses */
	uint32_t id;
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
	struct seg atom;   /* struct atom by id, from 1 */
	struct seg record; /* struct record by number, from 1 */
	struct map by_atom, by_content;
	uint32_t atoms, records;
	struct item *room; /* for the next records */
	size_t room_left;
};

void records_init(struct records *s, struct arena *a);

/* Starts a record, with event e as its first. */
void recording_begin(struct records *s, struct recording *r, const struct event *e);

/* Adds an operation of event `seq`. `access`: it need not be kept more than twice. False if there is no room. */
bool recording_add(struct records *s, struct recording *r, const struct atom *a, uint64_t seq, bool access);

/* Ends the record, and keeps it if it is new. */
void recording_end(struct records *s, struct recording *r, bool cut_off);

static inline const struct atom *atom_at(struct records *s, uint32_t id)
{
	return seg_at(&s->atom, id, sizeof(struct atom));
}

static inline const struct record *record_at(struct records *s, uint32_t number)
{
	return seg_at(&s->record, number, sizeof(struct record));
}

#endif
