/* SPDX-License-Identifier: MIT */
/*
 * From addresses of code to places in the source, by the line tables of one file.
 *
 * Representation: the address ranges of all units, sorted, made at once from the units' heads (clang writes no index of
 * its own); the line table of a unit is decoded by libdw when something in it is asked for first. An answer costs two
 * binary searches.
 */
#ifndef FISSION_SYMBOLS_PLACES_H
#define FISSION_SYMBOLS_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "base/intern.h"
#include "base/map.h"

struct arena;
struct unit;

struct unit_range {
	uint64_t start, end;
	uint32_t unit;
};

struct places {
	struct arena *arena;
	struct unit *units;
	size_t unit_count, unit_capacity;
	struct unit_range *ranges;
	size_t range_count, range_capacity;
	struct map file_ids;   /* where libdw keeps a file's name, to its index + 1 below */
	struct text *files;    /* as source_path spells them */
	size_t file_count, file_capacity;
};

void places_load(struct places *p, struct arena *a, Dwarf *dwarf);

/*
 * "bank.c:12", owned by the arena; empty if the address is in no line table. Code that the compiler made, of line 0,
 * goes to the line before it, or else to the one behind it.
 */
struct text places_find(struct places *p, uint64_t address);

/* The unit that the address is in; NULL if there is none. */
Dwarf_Die *places_unit(struct places *p, uint64_t address);

#endif
