/* SPDX-License-Identifier: MIT */
/*
 * Follows a walk record by record, and knows at each moment what code that is not taken would find: who is in which
 * function with which values, which locks each thread holds, what memory was last seen to hold, which objects are
 * only their maker's. What the run did to memory is kept, by variable and thread, for whoever pairs it later.
 *
 * A variable is an address in an object: an allocation, by its number and not by where it lies, so that what is freed
 * is forgotten and an address that is used again is another variable; or the memory outside of allocations.
 *
 * Clocks know fork and join alone. What only a lock or a condition has ordered could have been ordered otherwise.
 *
 * Values of an activation are those that the walk tells (arguments, loads, results of calls), those that an access
 * gives away (through v + 8 at address a: v is a - 8), and what follows from them (resolve.h). Nothing in the walk is
 * trusted: a record that fits no code is skipped and counted.
 *
 * Cost: a few look-ups a record; memory for each access that the walk has.
 */
#ifndef FISSION_SYMBOLIC_FOLLOW_H
#define FISSION_SYMBOLIC_FOLLOW_H

#include "base/map.h"
#include "base/seg.h"
#include "event/walk.h"
#include "state/extents.h"
#include "symbolic/holds.h"
#include "symbolic/units.h"

struct frame_value {
	uint64_t value;
	uint32_t of; /* the activation; another one: not known */
};

/* A function that is being run. */
struct frame {
	struct unit_function *function;
	struct frame *below;
	uint32_t activation;
	uint32_t from, to; /* the last edge that was seen taken: blocks */
	bool went;         /* by a branch, and nothing was told since */
	uint32_t next;     /* the instruction behind the last one that was told */
	uint32_t call;     /* the caller's instruction that called it; 0: not known */
	struct frame_value *value; /* of its instructions, then of its arguments */
	void *waiting;     /* for whoever waits that it comes to a join */
};

/* One run of a function, kept. */
struct activation {
	struct unit_function *function;
	uint32_t below; /* who called it; 0: nobody */
};

/* An access of the run. */
struct seen {
	uint64_t key; /* the variable */
	struct place place;
	uint32_t activation;
	uint32_t hold;
	uint32_t cut;   /* how often its thread had waited, forked, joined, or done input or output, before */
	uint32_t clock;
	uint16_t thread;
	bool write;
	bool local;     /* nobody else could know the object yet */
	bool alone;     /* there was no other thread */
};

/* The accesses of one thread to one variable: indices of `seen`, ascending. */
struct strand {
	uint32_t *at;
	size_t count, room;
	struct strand *next;
	uint16_t thread;
};

struct variable {
	uint64_t key;
	struct strand *strands;
	void *known; /* for whoever pairs */
};

struct follow_object {
	uint64_t start, size;
	uint16_t maker;
	bool escaped;
};

struct follow_thread {
	struct frame *top;
	uint32_t hold, cut, clock;
	uint32_t *own; /* objects that it has made and nobody knows of */
	size_t owns, own_room;
	uint32_t *accesses; /* all of its accesses: indices of `seen` */
	size_t access_count, access_room;
	bool met;
};

struct follow_clock {
	uint32_t *at;
	size_t count;
};

struct follow {
	struct arena *arena;
	struct units *units;
	const struct walk_record *record;
	size_t records, now;
	struct map modules; /* number in the walk to that of the unit + 1 */
	struct map nothing; /* empty: what is bound in a scope of the run itself */
	struct seg threads; /* struct follow_thread */
	uint32_t alive;
	struct holds holds;
	uint64_t acquisitions;
	struct seg activations; /* struct activation, by id */
	uint32_t activation_count;
	struct seen *seen;
	size_t seen_count, seen_room;
	struct map by_key;   /* key to index + 1 */
	struct seg variables;
	uint32_t variable_count;
	struct map memory;   /* key to index + 1 in words: what was last there */
	struct seg words;    /* uint64_t */
	uint32_t word_count;
	struct extents extents;
	struct map by_start; /* start of an allocation to its number */
	struct seg objects;  /* struct follow_object */
	uint32_t object_count;
	struct map code;     /* address of a function to index + 1 in entries */
	struct unit_function **entry;
	size_t entries, entry_room;
	struct follow_clock *clock;
	size_t clocks, clock_room;
	uint64_t skipped;    /* records that fit no code */
	bool full;           /* the walk had no more room */
	/* Whoever listens; both may be NULL. */
	void *to;
	void (*branch)(void *to, struct follow *f, uint16_t thread, struct place p);  /* frame->from, ->to is the way taken */
	void (*step)(void *to, struct follow *f, uint16_t thread, uint32_t block);    /* the top frame is in that block */
	void (*left)(void *to, struct follow *f, uint16_t thread, struct frame *frame);
};

/* False with a fault if the file is no walk. */
bool follow_open(struct follow *f, struct arena *a, const char *path, struct fault *fault);

/* Goes through all of it. */
void follow_run(struct follow *f, struct units *us);

/* The unit that a record speaks of, NULL if there is none; knows only modules that came before. */
struct unit *follow_unit(const struct follow *f, const struct walk_record *r);

/* Which successor of its block a branch or switch took; UINT32_MAX if the record fits no such. */
uint32_t follow_edge(const struct unit *u, const struct walk_record *r);

/* The variable at an address, and whether it is in an object that only that thread can know. */
uint64_t follow_key(struct follow *f, uint64_t address, uint16_t thread, bool *local);

/* What is known to be at a variable. */
bool follow_memory(const struct follow *f, uint64_t key, uint64_t *value);

/* The variable of that key, or NULL if the run never touched it. */
struct variable *follow_variable(struct follow *f, uint64_t key);

static inline struct follow_thread *follow_thread(struct follow *f, uint16_t t)
{
	return seg_at(&f->threads, t, sizeof(struct follow_thread));
}

static inline struct activation *follow_activation(struct follow *f, uint32_t id)
{
	return seg_at(&f->activations, id, sizeof(struct activation));
}

/* A number for a call that is only supposed. */
uint32_t follow_suppose(struct follow *f, struct unit_function *function, uint32_t below);

/* Whether all that has the first clock, in that thread, comes before what has the second. */
bool follow_before(const struct follow *f, uint16_t thread, uint32_t clock, uint32_t other);

/* A value of the frame: of the instruction or, behind those, the argument; false if it is not known. */
bool frame_get(const struct frame *frame, uint32_t slot, uint64_t *value);

static inline uint32_t frame_argument(const struct frame *frame, uint32_t number)
{
	return frame->function->count + number;
}

#endif
