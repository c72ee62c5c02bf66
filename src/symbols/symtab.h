/* SPDX-License-Identifier: MIT */
/*
 * The symbols of one ELF file, by address.
 *
 * Representation: an array sorted by start, one symbol an address: the best known of several that stand for the same
 * (global before weak before local, then the fewest underscores in front, then by name, so that the choice does not
 * depend on the linker's order). Symbols may lie within others; `parent` is the nearest one before that reaches over
 * the start, so that finding is a binary search and a few steps.
 * A symbol without a size reaches to the next; one inside a sized symbol is a label and left out.
 */
#ifndef FISSION_SYMBOLS_SYMTAB_H
#define FISSION_SYMBOLS_SYMTAB_H

#include <stdbool.h>
#include <stdint.h>

#include <gelf.h>

#include "base/intern.h"

struct arena;

struct symbol {
	uint64_t start, end;
	const char *raw;  /* as it stands in the file; lives as long as the Elf */
	struct text name; /* for people; made when it is asked for first */
	uint32_t parent;  /* index + 1, or 0 */
	uint8_t binding;  /* STB_* */
	bool sized;
};

struct symtab {
	struct symbol *at;
	size_t count, capacity;
};

enum symtab_kind { SYMTAB_CODE, SYMTAB_DATA };

/* The functions or the variables of the file: of .symtab, or .dynsym if it is stripped; nothing if it has neither. */
void symtab_load(struct symtab *t, struct arena *a, Elf *elf, enum symtab_kind kind);

/* The innermost symbol that holds the address, or NULL. */
struct symbol *symtab_find(const struct symtab *t, uint64_t address);

#endif
