/* SPDX-License-Identifier: MIT */
/* Types of DWARF: from an offset in a variable to the name of the member or element there. */
#ifndef FISSION_SYMBOLS_MEMBERS_H
#define FISSION_SYMBOLS_MEMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include <elfutils/libdw.h>

struct str;

struct extent {
	uint64_t offset, size; /* in bytes */
};

/* Goes to the next sibling; false behind the last, and where a damaged file would lead backwards. */
bool die_next(Dwarf_Die *die);

/* The bytes from a unit's DIE to the end of the unit: more DIEs cannot be in it. */
uint64_t die_bytes(Dwarf_Die *unit);

/* The type of a variable, member or array, without typedefs, const and the like. False if it has none. */
bool type_of(Dwarf_Die *die, Dwarf_Die *type);

/* The size of the type in bytes, 0 if it is not known. */
uint64_t type_size(Dwarf_Die *type);

/* Appends the path to the part of the type that the extent touches: ".slot[3].balance". See variables_find. */
void members_name(struct str *s, Dwarf_Die type, struct extent access);

#endif
