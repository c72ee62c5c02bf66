/* SPDX-License-Identifier: MIT */
/*
 * What a name in the source means at a place: the functions of one file by where they stand, and the types of the
 * variables and members that can be named in them.
 *
 * Representation: an array of functions, sorted by file and line, made in one walk over all units; a template has as
 * many as it has instances. A name with two meanings has none here: whoever asks wants to be right or to know nothing.
 */
#ifndef FISSION_SYMBOLS_SCOPES_H
#define FISSION_SYMBOLS_SCOPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "base/intern.h"
#include "base/map.h"

struct arena;

struct function {
	uint32_t file; /* of scopes.spelt */
	int line;
	Dwarf_Die die;
};

struct scopes {
	struct arena *arena;
	struct intern spelt; /* source files as places spell them */
	struct text *path;   /* by file: where it is; empty if two files are spelt the same */
	size_t path_capacity;
	struct map file_ids; /* where libdw keeps a file's name, to its number */
	struct function *at;
	size_t count, capacity;
};

void scopes_load(struct scopes *s, struct arena *a, Dwarf *dwarf);

/*
 * The functions that begin last before the line; several only if they are instances of one, at the same line. NULL if
 * there are none.
 */
struct function *scopes_find(const struct scopes *s, struct text file, uint64_t line, size_t *count);

/* The same by its name, as demangle_function gives it; NULL also if there are several at different places. */
struct function *scopes_named(const struct scopes *s, struct text name, size_t *count);

/* The type of the variable of that name in the function, or else in its unit. False if there is none or more. */
bool scope_variable(struct function *f, struct text name, Dwarf_Die *type);

/* The type of a member, also of one in an anonymous member or a base class. */
bool scope_member(Dwarf_Die *type, struct text name, Dwarf_Die *member);

/* The struct, class, union or simple type of that name in the function's unit, or the aggregate that it is a typedef of. */
bool scope_type(struct function *f, struct text name, Dwarf_Die *type);

#endif
