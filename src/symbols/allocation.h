/* SPDX-License-Identifier: MIT */
/*
 * What an allocation is of: the variable that gets it, by the text of the statement (statement.h), and the type, by the
 * debug information of the function that the statement is in (scopes.h).
 *
 * A wrong name is worse than none. So the text is looked at only if the source is not younger than the program; the
 * variable must be one of the function's or of its unit's; and the bytes must be those of one or more of what it points
 * to. Where new has called the allocator, its line is not known: then all uses of new in the function are looked at,
 * and only one may be of that size. Where that fails, or instances of a template differ, nothing is said.
 */
#ifndef FISSION_SYMBOLS_ALLOCATION_H
#define FISSION_SYMBOLS_ALLOCATION_H

#include <stdbool.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "base/intern.h"

struct arena;
struct scopes;

/* Where memory was made. */
struct allocation_at {
	struct text file;     /* as a place spells it */
	uint64_t line;        /* 0: somewhere in the function, by new: libstdc++ has called the allocator */
	struct text function; /* that the place is in; empty: not known */
	struct text callee;   /* what is called there and returns it; empty: the allocator */
	uint64_t bytes;
};

struct allocation {
	struct text name;  /* "account", "bank.slots", "struct account" */
	bool is_variable;  /* that gets the pointer; otherwise the name is of the type */
	bool is_array;     /* of more than one */
	bool returned;     /* the function's caller gets it */
	bool typed;        /* the type is known */
	Dwarf_Die type;
	uint64_t element;  /* bytes of the type */
	uint64_t line;     /* of the call */
	struct text file;
	uint64_t cookie;   /* bytes before the first element: C++ keeps the number of some there */
};

/* A source file's text, kept by whoever answers. */
struct source_text {
	const char *at;
	size_t length;
};

/* `read` gives the text of a source file by its path, or NULL; it is handed `self`. */
struct allocation_reader {
	void *self;
	const struct source_text *(*read)(void *self, struct text path);
};

/* False if nothing is known. */
bool allocation_find(struct allocation *to, const struct scopes *s, const struct allocation_at *at,
	struct allocation_reader reader);

/* "account->balance", "bank.slots[].balance", "struct account.balance"; empty if the allocation has no type. */
struct text allocation_name(const struct allocation *x, struct arena *a, uint64_t offset, uint64_t size);

#endif
