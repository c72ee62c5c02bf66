/* SPDX-License-Identifier: MIT */
/*
 * The variables with fixed addresses that the debug information of one file knows, and the names of their parts.
 *
 * Representation: an array sorted by start. Making it is one walk over all units, scopes only: types are looked at when
 * a part of a variable is asked for, and then only along the path to that part.
 * A damaged file can make DIEs point anywhere: siblings must go forward, a walk visits no more DIEs than its unit has
 * bytes, and nesting ends at a fixed depth, so every loop ends.
 */
#ifndef FISSION_SYMBOLS_VARIABLES_H
#define FISSION_SYMBOLS_VARIABLES_H

#include <stdbool.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "base/intern.h"

struct arena;
struct symtab;

struct variable {
	uint64_t start, end;
	Dwarf_Die die;
	const char *symbol; /* of ELF, if there is one for just this */
	struct text name; /* made when it is asked for first */
};

struct variables {
	struct arena *arena;
	struct variable *at;
	size_t count, capacity;
};

/*
 * `data` knows the size of what has a flexible array at its end, and the full name of what gcc gives none because
 * nobody links with it. It must stay.
 */
void variables_load(struct variables *v, struct arena *a, Dwarf *dwarf, const struct symtab *data);

/*
 * The name of what an access of `size` bytes at the address touches: the innermost part that holds all of it; an access
 * that crosses parts goes by the whole if it begins there, and else by the part in which it begins. Bit-fields that
 * share their bytes are named together, "flags.dirty..locked". Members that an implementation has under a reserved name
 * as the whole of a struct (std::atomic, std::array) are left out. Empty if no variable is known there.
 */
struct text variables_find(struct variables *v, uint64_t address, uint64_t size);

#endif
