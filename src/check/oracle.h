/* SPDX-License-Identifier: MIT */
/*
 * The judge of all other checks: docs/traces.md, "What orders what", taken word for word on small
 * traces.
 *
 * The check wraps oracle_judge() for the command line; tests ask oracle_judge() directly.
 */
#ifndef FISSION_CHECK_ORACLE_H
#define FISSION_CHECK_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"

struct arena;
struct check;
struct graph;

/* What the judge takes on: nodes (declared blocks, and events outside them) and events. */
enum { ORACLE_NODES_MOST = 64, ORACLE_EVENTS_MOST = 2048 };

enum oracle_order { ORACLE_DATA, ORACLE_FULL, ORACLE_ORDERS };

struct oracle_activation {
	uint64_t begin; /* seq of its enter or begin */
	uint64_t end;	/* seq of its exit or end, or of its thread's last event if the trace ends
			   first */
	thread_id thread;
	code_id code;
	site_id site;
	bool declared;
	bool split[ORACLE_ORDERS];
	bool innermost[ORACLE_ORDERS]; /* it is split, and no activation within it is */
};

struct oracle_verdict {
	bool refused; /* the trace is too large, and nothing else here is set */
	size_t nodes;
	/* The seq of the last event of the shortest prefix that is not serializable; 0: the trace
	 * is. */
	uint64_t first_bad[ORACLE_ORDERS];
	struct oracle_activation *activation; /* in the order of their begins */
	size_t activations;
	const struct graph *graph; /* the judge's own, for oracle_before() */
};

extern const struct check check_oracle;

/*
 * Judges a well-formed trace: events as a reader hands them out, seq ascending. They must stay
 * where they are as long as the verdict is used; what belongs to it goes into the arena.
 */
void oracle_judge(const struct event *events, size_t n, struct arena *a, struct oracle_verdict *v);

/* Whether the event with seq e is before the one with seq f; both are in the trace. */
bool oracle_before(const struct oracle_verdict *v, enum oracle_order order, uint64_t e, uint64_t f);

/* Whether the check, as its start() made it, has had more than it takes on; asked after finish().
 */
bool oracle_refuses(const void *check);

#endif
