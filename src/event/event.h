/* SPDX-License-Identifier: MIT */
/*
 * One step of one thread.
 *
 * The same struct is what readers produce, what writers take and what checks see. `object` is an id of the table
 * that events.def names for the kind, or, with EVENT_ADDRESSED, the address itself. Ids count from 1; 0 is none.
 */
#ifndef FISSION_EVENT_EVENT_H
#define FISSION_EVENT_EVENT_H

#include <stdbool.h>
#include <stdint.h>

typedef uint32_t thread_id;
typedef uint32_t site_id;
typedef uint32_t stack_id;
typedef uint32_t code_id;
typedef uint32_t sync_id;

enum event_kind {
	EVENT_NONE,
#define EVENT(kind, text, word, shape, names) EVENT_##kind,
#include "event/events.def"
#undef EVENT
	EVENT_KINDS
};

enum event_shape { SHAPE_ACCESS, SHAPE_ONE, /* plain ones first */ SHAPE_TWO, SHAPE_COUNT, SHAPE_ATOMIC, SHAPE_ORDER, SHAPE_LABEL };

/* Memory orders of atomic operations, weakest first. */
enum event_order {
	ORDER_NONE,
	ORDER_RELAXED,
	ORDER_CONSUME,
	ORDER_ACQUIRE,
	ORDER_RELEASE,
	ORDER_ACQ_REL,
	ORDER_SEQ_CST,
	ORDERS
};

enum event_flag {
	EVENT_SIZED = 1,     /* `size` was given */
	EVENT_VALUED = 2,    /* `value` is known */
	EVENT_UNSIGNED = 4,  /* `value` is above INT64_MAX, to be shown as an unsigned number */
	EVENT_ADDRESSED = 8, /* `object` is an address, not the id of a name */
	EVENT_WAITED = 16,   /* an acquire that ends a condition wait; set by check/run.c, never in a trace */
	EVENT_KNOWN = 16,    /* the same bit of an access: no check learns anything from it; of live runs: see check/run.h */
	EVENT_PAST = 64,     /* an access that is told late, by `seq`; of live runs, never in a trace: see check/run.h */
	EVENT_WAS = 128,     /* `was` is known; of controlled runs, never in a trace */
	EVENT_PRIVATE = 32,  /* an access to memory that has not escaped from its thread; likewise */
};

/* What the policy tells checks to take for granted about an event; set by check/scope.c, never in a trace. */
enum event_assumed {
	ASSUMED_MOVER = 1,   /* it commutes with whatever other threads do */
	ASSUMED_STEP = 2,    /* it stands for all of a function that is taken to be atomic */
	ASSUMED_GUARDED = 4, /* it does not race */
};

struct event {
	uint8_t kind;  /* enum event_kind */
	uint8_t order; /* enum event_order, for atomics */
	uint8_t flags; /* enum event_flag */
	uint8_t assumed; /* enum event_assumed */
	thread_id thread;
	uint64_t object;
	union {
		uint64_t value; /* accesses: the value read or written, with EVENT_VALUED; without, in a live run: see run.h */
		uint64_t count; /* barrier: its parties; alloc: the bytes */
		uint64_t mutex; /* wait: the id of the mutex */
	};
	uint32_t size; /* accesses: bytes, with EVENT_SIZED */
	site_id site;
	stack_id stack; /* the call stack, where the trace gives one or enter/exit tell it */
	uint32_t line;  /* the checks' dense number for the thread, set by check/run.c */
	uint64_t seq; /* the event's number in its trace, from 1 */
	uint64_t was; /* writes: what was there before, with EVENT_WAS */
	uint64_t pc;  /* recordings: where the call of its hook or wrapper returns to, with the process above; not in text */
};

/* Where events are made, one behind the other. Whoever makes them moves `next`, and says so when it has come to `end`. */
struct event_room {
	struct event *next, *end;
	void *to;
	void (*full)(void *to); /* takes what is there, and moves `next` back */
};

/* The largest access: more is taken for a mistake in the trace. */
enum { EVENT_SIZE_MOST = 1 << 24 };

struct event_info {
	const char *text; /* in text traces */
	const char *word; /* in reports */
	uint8_t shape; /* enum event_shape */
	uint8_t table; /* enum table_class */
};

extern const struct event_info event_info[EVENT_KINDS];
extern const char *const event_order_text[ORDERS];

_Static_assert((int)EVENT_KINDS <= 64, "sets of kinds are words");

static inline bool event_is_access(uint8_t kind)
{
	const uint64_t accesses = (uint64_t)1 << EVENT_READ | (uint64_t)1 << EVENT_WRITE | (uint64_t)1 << EVENT_ATOMIC_LOAD |
		(uint64_t)1 << EVENT_ATOMIC_STORE | (uint64_t)1 << EVENT_ATOMIC_RMW;

	return accesses >> (kind & 63) & 1;
}

/* What the program says about itself; nothing that it does. */
static inline bool event_is_declaration(uint8_t kind)
{
	return kind >= EVENT_ASSUME_ATOMIC && kind <= EVENT_NO_WARN;
}

/* An access that only reads. */
static inline bool event_is_read(uint8_t kind)
{
	return kind == EVENT_READ || kind == EVENT_ATOMIC_LOAD;
}

/* Whether both say the same: everything but `seq` and `pc`. */
bool event_equal(const struct event *a, const struct event *b);

#endif
