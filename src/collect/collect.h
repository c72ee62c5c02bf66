/* SPDX-License-Identifier: MIT */
/*
 * A program from its start to its end: what `run` and `record` share. Starts it, takes its entries as they come and
 * hands on events; the program is slowed down by whoever takes them, and loses none.
 *
 * Signals that would end the tool are passed to the program, unless they came from the terminal, which has sent them
 * to both; so is SIGTERM when the time is over, and SIGKILL five seconds after that. What was seen until then is handed
 * on. The collector stays until the last process that has a ring is gone; after such a signal, until the program is.
 */
#ifndef FISSION_COLLECT_COLLECT_H
#define FISSION_COLLECT_COLLECT_H

#include <stdint.h>

#include "base/fail.h"
#include "event/event.h"
#include "event/tables.h"

struct brief_loop;
struct briefs;
struct namer;
struct order;
struct policy;

struct bin_columns;

struct collect_setup {
	char *const *argv;
	const char *path;    /* of the program's file; NULL: as argv[0] says */
	const char *preload; /* the library in front of all others; NULL: the program has it already */
	char *const *env;    /* variables on top of its own, NULL at the end; NULL: none */
	const int *streams;  /* the program's standard ones, three descriptors; NULL: ours */
	unsigned mode;       /* enum channel_mode */
	bool lazy;           /* MODE_LOCKS: a function with one acquire need not be entered; see check/run.h */
	struct namer *namer; /* of the tables that the events refer to */
	const struct policy *policy; /* may name lock functions; NULL: none */
	double seconds;      /* end the program after so long; 0: never */
	const bool *halt;    /* end the program when this has become true, by whoever takes the events; NULL: never */
	void (*loop)(void *to, const struct brief_loop *l); /* accesses that come again and again, likewise; with `briefs` */
	void *to;
	void (*event)(void *to, struct event *e);
	void (*briefs)(void *to, const struct briefs *b); /* accesses and calls in rows, where that is possible; NULL: never */
	bool (*columns)(void *to, thread_id thread, struct bin_columns *c); /* with `briefs`, if there are such; or NULL */
	void (*columns_end)(void *to, const struct bin_columns *c);
	void (*trail)(void *to, thread_id thread, const unsigned char *bytes, size_t n); /* of no mode, see event/trail.h; or NULL */
	struct event_room *room; /* MODE_TIMED: events are made there, and `event` has none; NULL: `event` has them */
	bool late;               /* MODE_FILTER: accesses of the past are wanted; see check/run.h */
	const struct collect_setup *full;           /* MODE_BOTH: who takes the full stream: to, event, namer */
	const struct order *order; /* a controlled run (the mode is MODE_GATE and MODE_VALUES then): see sched/order.h */
	double patience;           /* of it: end the program when no step was made for so many seconds; 0: ten */
};

/* How a controlled run went. */
struct gated {
	bool started;         /* the program has come as far as the gate; it was not built with fission-cc otherwise */
	uint64_t steps, switches;
	bool diverged;        /* the order could not be followed */
	uint64_t diverged_at; /* at which step of the run */
	uint32_t done;        /* steps of the order that were done */
	bool finished;        /* all were */
	bool deadlock;        /* nobody could go on, and the gate has ended the program */
	bool stuck;           /* no step was made for too long, and the collector has */
	const char *text;     /* deadlock, stuck: who waits for what, a line a thread; otherwise NULL */
	uint64_t outside;     /* threads that ran without control */
	uint64_t real;        /* operations on objects of several processes, done without control */
	struct order *executed; /* what was done, as an order for the strategy `replay`; NULL: nothing was */
};

/* What happened. */
struct collected {
	int status;        /* as a shell would show it */
	uint64_t entries;  /* taken from the rings */
	uint64_t events;   /* handed on */
	uint64_t pasts;    /* accesses of the past, beside them */
	uint64_t full_events; /* MODE_BOTH: of the full stream */
	uint64_t lost;     /* entries that never reached a ring */
	uint64_t unringed; /* threads of which nothing is known, since too many were alive */
	uint64_t given_up; /* tickets that never came; not those that threads had in hand when their process ended */
	uint64_t late;     /* tickets that came, but not in time for their place */
	uint64_t skipped;  /* entries that a signal handler has cut short */
	uint64_t unknown;  /* entries that made no sense */
	uint64_t quiet;    /* sections of places that are known well, which were not told */
	uint64_t lockless; /* calls of declared lock functions that did nothing with a lock */
	uint64_t unheard;  /* functions of signal handlers inside a wait */
	uint32_t threads, processes;
	bool timed_out;
	bool halted;
	struct gated gate; /* with an order */
	bool cut;          /* there was more than times have room for: what came then is not handed on */
};

/* False with a fault if the program could not be started. */
bool collect(const struct collect_setup *setup, struct arena *a, struct collected *c, struct fault *fault);

#endif
