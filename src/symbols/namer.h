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

struct symbols;

struct namer {
	struct arena *arena;
	struct tables *tables;
	struct symbols *symbols;
	size_t modules; /* of the tables' that symbols know */
	struct map sites, codes, variables;
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
 * The variable at the address, as an id of TABLE_OBJECT: the elements of an array go by one name, "slot[].key", since a
 * defect in one is a defect in all. 0 if it has none: heap, stacks.
 */
uint32_t namer_variable(struct namer *n, uint64_t address, uint64_t size);

#endif
