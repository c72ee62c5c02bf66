/* SPDX-License-Identifier: MIT */
/*
 * Functions that a compiler has put into others: which of them an address is in, and from where they were called.
 *
 * Nothing is kept: a question walks from the unit down to the address. As in variables.h, a damaged file cannot make a
 * walk endless.
 */
#ifndef FISSION_SYMBOLS_INLINES_H
#define FISSION_SYMBOLS_INLINES_H

#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "base/intern.h"

struct arena;

struct inlined {
	struct text function;
	struct text place; /* of the call, in the function around it; empty: not known */
	uint64_t instance; /* which of the file's inlined calls it is */
};

enum { INLINED_MOST = 16 };

/* Those that hold the address, the innermost first: how many, up to INLINED_MOST of the outer ones. */
size_t inlines_find(struct inlined to[INLINED_MOST], struct arena *a, Dwarf_Die *unit, uint64_t address);

#endif
