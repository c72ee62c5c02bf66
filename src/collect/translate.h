/* SPDX-License-Identifier: MIT */
/*
 * Ring entries into events.
 *
 * What an entry says in addresses the event says in ids; calls become balanced; a lock operation that makes no
 * sense is handed on as it is, for whoever judges well-formedness.
 *
 * Of a routine that runs once a thread hears once: see wrap_once.c.
 *
 * The stack of open functions is rebuilt from the depth that each call entry carries: a frame that lies as deep as a
 * new one, or deeper, has been left without an exit (longjmp, an exception through C, pthread_exit).
 */
#ifndef FISSION_COLLECT_TRANSLATE_H
#define FISSION_COLLECT_TRANSLATE_H

#include "collect/merge.h"
#include "collect/naming.h"
#include "event/event.h"

struct open_function {
	code_id code;
	uint32_t depth;
};

/* What is known of a ring's thread. */
struct track {
	thread_id thread;
	uint32_t process;
	struct open_function *open;
	size_t count, capacity;
	uint64_t range; /* bytes of the next module */
	struct event access; /* the last one, which a VALUE belongs to */
	bool pending;        /* it was not handed on yet */
	bool waiting;        /* at a condition or barrier */
};

struct translate {
	struct arena *arena;
	struct naming naming;
	struct seg tracks; /* struct track by ring */
	struct map once;   /* by thread and run of a routine: it knows of it */
	void *to;
	void (*event)(void *to, struct event *e);
	bool values;      /* a VALUE may follow each access */
	uint64_t unknown; /* entries that were not understood */
	uint64_t unheard; /* functions of signal handlers inside a wait */
};

void translate_init(struct translate *t, struct arena *a, struct namer *namer, void *to,
	void (*event)(void *to, struct event *e));

/* For merge_init. */
struct merge_listener translate_listener(struct translate *t);

#endif
