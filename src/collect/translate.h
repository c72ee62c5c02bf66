/* SPDX-License-Identifier: MIT */
/*
 * Ring entries into events.
 *
 * What an entry says in addresses the event says in ids; calls become balanced; a lock operation that makes no
 * sense is handed on as it is, for whoever judges well-formedness.
 *
 * The stack of open functions is rebuilt from the depth that each call entry carries: a frame that lies as deep as a
 * new one, or deeper, has been left without an exit (longjmp, an exception through C, pthread_exit).
 *
 * Where entries have times (runtime/channel.h), the time is the event's seq: positions are compared within a thread,
 * and across threads they agree with what happens before what. Otherwise seq is left to whoever takes the events.
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

/* A thread that has had a ring, from its start on. */
struct tenant {
	uint64_t since;
	thread_id thread;
};

/* What is known of a ring's thread. */
struct track {
	thread_id thread;
	uint32_t process;
	int pid;
	uint64_t stack; /* where it ends */
	struct open_function *open;
	size_t count, capacity;
	uint64_t range; /* bytes of the next module */
	struct event access; /* the last one, which a VALUE belongs to */
	bool pending;        /* it was not handed on yet */
	uint64_t ticket, time; /* the thread's last */
	bool stamped;          /* `time` is from a TIME entry, for the next that opens something */
	struct tenant *tenant; /* oldest first */
	size_t tenants, tenant_capacity;
};

/* A stretch of a process's memory that has code. */
struct code_range {
	uint32_t process;
	uint64_t base, size;
};

struct translate {
	struct arena *arena;
	struct naming naming;
	struct seg tracks; /* struct track by ring */
	void *to;
	void (*event)(void *to, struct event *e);
	void (*past)(void *to, struct event *e); /* an access of the past, told late: see run_past */
	unsigned stream;  /* enum entry_stream: which entries it takes */
	bool timed;       /* entries have times */
	struct known_site {
		uint64_t pc;
		uint32_t process;
		site_id site;
	} *sites; /* the last ones that were asked for, by a hash of the pc */
	struct code_range *code;
	size_t code_count, code_capacity;
	bool values;      /* a VALUE may follow each access */
	uint64_t unknown; /* entries that were not understood */
};

void translate_init(struct translate *t, struct arena *a, struct namer *namer, void *to,
	void (*event)(void *to, struct event *e));

/* For merge_init. */
struct merge_listener translate_listener(struct translate *t);

#endif
