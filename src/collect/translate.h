/* SPDX-License-Identifier: MIT */
/*
 * Ring entries into events.
 *
 * What an entry says in addresses the event says in ids; calls become balanced; a lock operation that makes no
 * sense is handed on as it is, for whoever judges well-formedness.
 *
 * Whoever takes events in brief (event/brief.h) has accesses and calls in rows, as they stand in the ring: no entry and
 * no event is made of each. That is so while the thread is plain, nobody asks for values or times, and the entry says
 * what nearly all say; for the rest it is as if there were no rows. If the taker has its columns open for them, not even
 * that is made: an entry of a place that is known there goes from its slot into the columns. Where entries have times, an
 * event is made of each, but rows save the way from the merge and back, and so do an acquire and its release that come as
 * one entry.
 *
 * Trails (event/trail.h) are handed on as they are, and notes between them say what places are. Of a thread that has one,
 * calls that are told one by one become notes, too, and the reader makes them nest. Not so where a function is declared
 * to be something: then there are no trails. Functions of a library that is loaded later, and declares the first, are what
 * they are declared to be for threads that begin their calls later.
 *
 * Of a routine that runs once a thread hears once: see wrap_once.c.
 *
 * The stack of open functions is rebuilt from the depth that each call entry carries: a frame that lies as deep as a
 * new one, or deeper, has been left without an exit (longjmp, an exception through C, pthread_exit).
 *
 * Where entries have times (runtime/channel.h), the time is the event's seq: positions are compared within a thread,
 * and across threads they agree with what happens before what. Otherwise seq is left to whoever takes the events.
 */
#ifndef FISSION_COLLECT_TRANSLATE_H
#define FISSION_COLLECT_TRANSLATE_H

#include "collect/inlined.h"
#include "collect/lock_functions.h"
#include "collect/merge.h"
#include "collect/naming.h"
#include "collect/roles.h"
#include "collect/spinlocks.h"
#include "event/brief.h"
#include "event/event.h"

struct bin_columns;

/* Who makes the calls of a thread nest: whoever reads its trail, or the translation itself. */
enum calls_by { BY_NOBODY_YET, BY_TRAIL, BY_TRANSLATION };

struct open_function {
	code_id code;
	uint32_t depth;
	uint32_t blocks; /* that were open before its own */
	uint8_t role;    /* enum role */
	uint64_t from;   /* where it was called */
	uint64_t inlined; /* it has no frame of its own: which inlined call it is; 0: it has one. See inlined.h */
	uint64_t last;    /* the place in it that was seen last */
};

/* A thread that has had a ring, from its start on. */
struct tenant {
	uint64_t since;
	thread_id thread;
};

/* What is known of a ring's thread; first what nearly every entry needs. */
struct track {
	thread_id thread;
	uint32_t process;
	uint64_t above;        /* of addresses: the process, see naming_address() */
	uint64_t ticket, time; /* the thread's last */
	bool stamped;          /* `time` is from a TIME entry, for the next that opens something */
	bool pending;          /* `access` was not handed on yet */
	bool waiting;          /* at a condition or barrier */
	bool brought;          /* a function, by an acquire: see runtime/channel.h */
	bool entered;          /* likewise: it was handed on as any other, and is the last open one */
	uint8_t calls_by;      /* enum calls_by */
	bool plain;            /* accesses and calls mean what they say: nothing is held back, ignored or waited for */
	uint32_t blocks;       /* that are open */
	struct open_function *open;
	size_t count, capacity;
	uint32_t ignored[3]; /* by bit of enum ignore_what: how many times it has begun */
	uint64_t stack; /* where it ends */
	uint64_t range; /* bytes of the next module */
	struct open_function brought_by; /* that function */
	uint64_t begun; /* the position of the last block that was begun */
	uint64_t inner; /* if it was not entered, its code and above it where it was called: see check/run.h */
	uint64_t brought_at, brought_late; /* its time; another that was told since, or 0 */
	struct event access; /* the last one, which a VALUE belongs to */
	struct tenant *tenant; /* oldest first */
	size_t tenants, tenant_capacity;
	struct spin_attempt attempt;
	struct lock_calls calls;
	size_t unasked, asked; /* entries that may stand in rows before rounds are looked for again; how many that was last */
};

/* A stretch of a process's memory that has code. */
struct code_range {
	uint32_t process;
	uint64_t base, size;
};

enum { PLACES = 8192, HALVES = 1024, BROUGHT = 1024, BRIEFS = 512, ROW_LEAST = 16, ROW_PLACES = 1 << 13 };

#define NOT_ASKED UINT32_MAX

/* A place that was asked for lately; a function that was. */
struct place_memo {
	uint64_t pc;
	uint32_t process;
	site_id site;
	code_id code; /* the function that it is in; NOT_ASKED: nobody wanted to know */
};

struct code_memo {
	uint64_t pc;
	uint32_t process;
	code_id code;
	struct role_of of;
};

/* The lower half of a place in the code that was asked for lately, and what is there. */
struct half_memo {
	uint32_t half, process; /* process 0: nothing */
	site_id site;
	code_id code; /* both 0: it cannot be told which place that is */
};

/* A function that was brought along lately, as its acquire says it: see runtime/channel.h. */
struct brought_memo {
	uint64_t pc, said; /* of the acquire: where it is; its argument, but for the time */
	uint32_t process;  /* 0: nothing */
	uint8_t behind, role;
	code_id code;
	uint64_t inner;    /* as in struct track */
};

struct translate {
	struct arena *arena;
	struct naming naming;
	struct seg tracks; /* struct track by ring */
	uint32_t rings;    /* of them: those that were ever begun */
	const struct track *speaks; /* whose entry it is; NULL: nobody has spoken yet */
	uint64_t pc;                /* of that entry, with its process; 0: none */
	struct map once;   /* by thread and run of a routine: it knows of it */
	void *to;
	void (*event)(void *to, struct event *e);
	void (*briefs)(void *to, const struct briefs *b); /* in order with the others; NULL: each to `event` */
	void (*loop)(void *to, const struct brief_loop *l); /* likewise; if there is the one there is the other */
	bool (*columns)(void *to, thread_id thread, struct bin_columns *c); /* likewise, see event/trace_bin_columns.h */
	void (*columns_end)(void *to, const struct bin_columns *c);         /* if there is `columns`: they were opened */
	void (*trail)(void *to, thread_id thread, const unsigned char *bytes, size_t n); /* NULL: there are no trails */
	struct channel *channel; /* with them: it is told which modules are known */
	bool late;               /* accesses of the past are handed on: see EVENT_PAST */
	struct event_room *room; /* where events are made: */
	struct event_room own;   /* unless somebody has a better place, this one, for one that goes to `event` */
	struct event scratch;    /* in it */
	unsigned stream;  /* enum entry_stream: which entries it takes */
	bool timed;       /* entries have times */
	bool lazy;        /* functions that are brought along are not entered: see check/run.h */
	bool stock;       /* functions are all that the stack has: see naming.h */
	struct inlined_calls inlined;
	struct code_range *code;
	size_t code_count, code_capacity;
	bool values;      /* a VALUE may follow each access */
	uint64_t events, pasts; /* that were handed on */
	uint64_t unknown; /* entries that were not understood */
	struct roles roles;
	struct map declared; /* code_id: what it is assumed to be was said */
	struct spinlocks spinlocks;
	struct spin_listener locks; /* how both kinds of home-made locks hand on */
	uint64_t lockless;          /* calls of lock functions in which nothing was seen of a lock */
	uint64_t unheard; /* functions of signal handlers inside a wait */
	struct place_memo place[PLACES]; /* by pc: most accesses come from few places */
	struct code_memo function[PLACES]; /* likewise */
	struct half_memo half[HALVES];     /* by half */
	struct brought_memo brought[BROUGHT]; /* by both places */
	struct brief_place row_place[ROW_PLACES]; /* of rows, by what they are about; pc 0: none */
	struct brief brief[BRIEFS];               /* of the row that is being made */
	const struct brief *row_call[BRIEFS];     /* its calls */
	size_t row_calls;
	uint64_t row_address[BRIEFS];             /* of rounds */
};

/* `policy` may name lock functions, and must stay; NULL: none. */
void translate_init(struct translate *t, struct arena *a, struct namer *namer, const struct policy *policy, void *to,
	void (*event)(void *to, struct event *e));

/* For merge_init, when all that is wanted was set. The translation must stay where it is. */
struct merge_listener translate_listener(struct translate *t);

#endif
