/* SPDX-License-Identifier: MIT */
/*
 * Names for what a running program only has addresses of: places, functions, locks. Each is looked up once and is an
 * id of the trace's tables from then on.
 *
 * An address belongs to a process: the ids of two processes differ even where their addresses do not.
 */
#ifndef FISSION_COLLECT_NAMING_H
#define FISSION_COLLECT_NAMING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "event/tables.h"
#include "runtime/channel.h"
#include "symbols/heap.h"

struct namer;

enum { SYNCS_LATELY = 1 << 10 };

/* An object that was asked for lately; id 0: none. */
struct sync_memo {
	uint64_t key;
	sync_id id;
};

struct naming {
	struct arena *arena;
	struct tables *tables;
	struct namer *namer;
	struct map syncs; /* by address and process */
	struct map lives; /* how many objects of a name there were */
	struct heap heap; /* as far as entries were taken apart: whoever has the events may be behind */
	uint64_t allocations;
	struct sync_memo lately[SYNCS_LATELY]; /* of `syncs`, by address */
	site_id caller; /* where the function was called that makes the next object; 0: that does not matter */
};

/* The namer belongs to the tables. */
void naming_init(struct naming *n, struct arena *a, struct namer *namer);

/* The address as the trace has it: with the number of its process. */
static inline uint64_t naming_address(uint32_t process, uint64_t address)
{
	return address | (uint64_t)((process - 1) & 0xffff) << ADDRESS_BITS;
}

/* The program or library at [base, base + size) of a process. */
void naming_module(struct naming *n, uint32_t process, struct module m);

/* The place of the instruction before pc; the function that holds pc. */
site_id naming_site(struct naming *n, uint32_t process, uint64_t pc);
code_id naming_code(struct naming *n, uint32_t process, uint64_t pc);

/* Memory was made by the function, in which objects may lie. */
void naming_memory(struct naming *n, const struct event *alloc, code_id function);

/* Where the object would be among those that were asked for lately. */
static inline struct sync_memo *naming_lately(struct naming *n, uint64_t key)
{
	return &n->lately[(key >> 3 ^ key >> 13) % SYNCS_LATELY];
}

/* Slow path of naming_sync. */
sync_id naming_sync_slowly(struct naming *n, uint64_t key, uint32_t process, uint64_t pc);

/* The lock, condition, barrier or semaphore at the address, first met at `pc`. */
static inline __attribute__((always_inline)) sync_id naming_sync(struct naming *n, uint32_t process, uint64_t address,
	uint64_t pc)
{
	uint64_t key = naming_address(process, address);
	const struct sync_memo *m = naming_lately(n, key);

	return __builtin_expect(m->key == key && m->id, 1) ? m->id : naming_sync_slowly(n, key, process, pc);
}

/* Whether one was met there. */
bool naming_has_sync(struct naming *n, uint32_t process, uint64_t address);

/* The program has a name for the object at the address, if that is one that is met later. */
void naming_call_sync(struct naming *n, uint32_t process, uint64_t address, struct text name);

/* What was there is no more: another object may come to lie there. */
void naming_forget_sync(struct naming *n, uint32_t process, uint64_t address);

/* The thread of that number. */
thread_id naming_thread(struct naming *n, uint32_t process, uint32_t number);

#endif
