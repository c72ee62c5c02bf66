/* SPDX-License-Identifier: MIT */
/*
 * Names for what a trace only has addresses of, by the modules that the trace lists. Each answer is kept: it is an id
 * of the trace's tables.
 *
 * The addresses of a trace carry the number of their process above bit 48, those of the modules too, so that two
 * processes never share a name by chance.
 */
#ifndef FISSION_SYMBOLS_NAMER_H
#define FISSION_SYMBOLS_NAMER_H

#include <stdint.h>

#include "base/map.h"
#include "event/tables.h"
#include "symbols/heap.h"

struct inlined;
struct symbols;

/* An address whose place is a site. */
struct namer_pc {
	uint64_t pc;
	uint32_t older; /* of that site */
};

struct namer {
	struct arena *arena;
	struct tables *tables;
	struct symbols *symbols;
	size_t modules; /* of the tables' that symbols know */
	struct map sites, codes, variables;
	struct map site_pcs; /* site to the newest of its `pcs` */
	struct seg pcs;      /* struct namer_pc, from 1 */
	uint32_t pc_count;
	struct heap heap;
	struct map parts; /* of allocations: (where made, bytes, offset, size) to the name, or NONE */
};

/* Sets tables->namer, so that whoever has the tables can ask. */
void namer_init(struct namer *n, struct arena *a, struct tables *t);

/* Closes files; the names stay good. */
void namer_close(struct namer *n);

/* The place of the call or access that returns to pc; 0 for pc 0. */
site_id namer_site(struct namer *n, uint64_t pc);

/* The function that holds what returns to pc. */
code_id namer_code(struct namer *n, uint64_t pc);

/*
 * What a frame of a stack, `code` being at `site`, hides: the functions that were inlined there, the innermost first,
 * each with the place of its call. So the frame is told as [0].function at the site, [1].function at [0].place, ...,
 * and `code` at the last one's place. `to` has room for INLINED_MOST, see inlines.h. Returns how many; 0 where the
 * address is not known, as in a trace that was recorded. To be asked before namer_close.
 */
size_t namer_inlined(struct namer *n, code_id code, site_id site, struct inlined *to);

/* The same of the call or access that returns to pc. */
size_t namer_inlined_at(struct namer *n, uint64_t pc, struct inlined *to);

/*
 * The variable at the address, as an id of TABLE_OBJECT: the elements of an array go by one name, "slot[].key", since a
 * defect in one is a defect in all. 0 if it has none: heap, stacks.
 */
uint32_t namer_variable(struct namer *n, uint64_t address, uint64_t size);

/* Memory has been made, by an event of a trace that has modules; its stack says who called whom for it. */
void namer_alloc(struct namer *n, const struct event *e);

/* Bytes of an allocation. */
struct heap_part {
	struct life life;
	uint64_t address, size;
};

/*
 * The part of an allocation, as an id of TABLE_OBJECT: "account->balance" by the variable that got it, "struct
 * account.balance (bank.c:12)" by its type and place; 0 if neither is known. See allocation.h.
 */
uint32_t namer_part(struct namer *n, const struct heap_part *p);

/*
 * The memory at the address as it was at that time, as an id of TABLE_OBJECT: by namer_part, else "heap@bank.c:12+8" by
 * where it was made, without an offset if it has many; 0 if that is not known either.
 */
uint32_t namer_heap(struct namer *n, uint64_t address, uint64_t size, uint64_t seq);

#endif
