/* SPDX-License-Identifier: MIT */
/*
 * What a controlled run is to do: a strategy, its seed, and the steps that it is to follow. The seam between whoever
 * makes plans (predict, chase, replay files), the strategies, and the gate inside the program.
 *
 * A step is (thread, place, how many times), never an address: threads count by creation, from 1, a place is a module
 * and an offset in it, and the occurrence counts that thread's operations of that kind at that place, from 1. So an
 * order holds for every run of the same build, wherever it is loaded.
 *
 * An order is one block of memory without pointers, so that it can be handed to the program under test as it is:
 * struct order, then its modules, then its steps. order_check() says whether such a block makes sense; nobody uses
 * one that it was not asked about.
 */
#ifndef FISSION_SCHED_ORDER_H
#define FISSION_SCHED_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ORDER_VERSION = 1, ORDER_NAME = 64, ORDER_BUILD_ID = 48, ORDER_DEPTH_MOST = 32 };

#define ORDER_MAGIC 0x726472306e737366u

/* What a thread is about to do: enum event_kind of event/event.h, as far as it says, and beyond it: */
enum order_kind {
	ORDER_START = 64, /* its first step */
	ORDER_FINISH,     /* its last one */
	ORDER_WOKEN,      /* the second half of a wait: it has the mutex again */
	ORDER_DEPART,     /* the second half of a barrier */
	ORDER_ONCE,       /* pthread_once and its kin */
	ORDER_YIELD,      /* it sleeps, or yields */
	ORDER_INPUT,      /* input or output, or another call in which the system may keep it waiting */
	ORDER_KINDS,
};

enum { ORDER_NO_MODULE = UINT32_MAX }; /* the place is not known; the offset is 0 then */

struct order_step {
	uint32_t thread;
	uint32_t kind;
	uint32_t module; /* index of the order's modules, or ORDER_NO_MODULE */
	uint32_t occurrence; /* 0, in a replay alone: any */
	uint64_t offset; /* of the return address of the hook or wrapper's call, in the module */
	uint64_t saw;    /* of a replay: what it read, with ORDER_SAW; otherwise 0 */
	uint32_t flags;  /* enum order_flag */
	uint32_t run;    /* of a replay: so many of the thread's steps, this one the last, before another thread goes on */
};

enum order_flag {
	ORDER_SAW = 1,
	ORDER_CULPRIT = 2, /* the step that splits the block: where a debugger is to stop before */
	ORDER_EXPIRES = 4, /* a timed wait that ends by its time */
};

struct order_module {
	char name[ORDER_NAME];         /* the file's own name, without directories */
	char build_id[ORDER_BUILD_ID]; /* hexadecimal digits, perhaps none */
};

struct order {
	uint64_t magic;
	uint32_t version;
	char strategy[20]; /* the name of a struct strategy */
	uint64_t seed;
	uint64_t budget;   /* steps after which the run is let go freely; 0: none */
	uint32_t depth;    /* pct: how many changes of priority, at most ORDER_DEPTH_MOST; 0: three */
	uint32_t stop;     /* stop (SIGTRAP) before the step with ORDER_CULPRIT: for a debugger */
	uint32_t modules, steps;
};

static inline size_t order_bytes(const struct order *o)
{
	return sizeof *o + (size_t)o->modules * sizeof(struct order_module) + (size_t)o->steps * sizeof(struct order_step);
}

static inline const struct order_module *order_module(const struct order *o, uint32_t i)
{
	return (const struct order_module *)(o + 1) + i;
}

static inline const struct order_step *order_step(const struct order *o, uint32_t i)
{
	return (const struct order_step *)(order_module(o, o->modules)) + i;
}

/* NULL if the block of that many bytes is an order, otherwise what is wrong with it. */
const char *order_check(const void *block, size_t bytes);

#endif
