/* SPDX-License-Identifier: MIT */
/*
 * From addresses of a recorded program to names: of functions, of places in the source, of variables.
 *
 * Whoever asks does so once an address and keeps the answer. A file is opened when something in it is asked for first,
 * and what is known of it is then kept sorted, so that an answer costs a few binary searches. Texts are owned by the
 * arena and stay good after symbols_close.
 *
 * Names are for people: those of different variables may be equal (static ones of two functions, files or threads), and
 * those of overlapping accesses may differ. Same or not is for addresses to say.
 *
 * Nothing here fails. A file that is missing, stripped, damaged, or not the one that ran is less to say: first its
 * dynamic symbols, then "libbank.so+0x1234".
 */
#ifndef FISSION_SYMBOLS_SYMBOLS_H
#define FISSION_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/intern.h"

struct allocation;
struct allocation_at;
struct arena;
struct inlined;
struct symbols;

/* A program or a library as it was loaded. */
struct symbols_module {
	const char *path;     /* as the tool can open it; one without a slash, as linux-vdso.so.1, is not a file */
	const char *build_id; /* hexadecimal digits; NULL or "": not known, the file is taken as it is */
	uint64_t bias;        /* what is added to the addresses in the file */
	uint64_t start, end;  /* the addresses that it takes */
	bool is_program;      /* not a library */
};

/* Without modules. */
struct symbols *symbols_new(struct arena *a);

/* Closes the files. */
void symbols_close(struct symbols *s);

/* Where separate debug files are; /usr/lib/debug unless said otherwise, before the first question. */
void symbols_debug_root(struct symbols *s, const char *path);

/*
 * From now on the module is what lies at its addresses, whatever lay there before. The texts are copied. Returns its
 * number; they count up from 0.
 */
uint32_t symbols_add(struct symbols *s, struct symbols_module m);

/* What is wrong with the file of a module, in a sentence that begins with its path; empty if nothing is. */
struct text symbols_complaint(struct symbols *s, uint32_t module);

/* The function that holds the address, without parameters; "libbank.so+0x1234", by where it begins, if it has no name. */
struct text symbols_function(struct symbols *s, uint64_t pc);

/*
 * "src/bank.c:12", spelt as source_path.h says; "libbank.so+0x1234" if no line is known. Of a return address, whoever
 * asks subtracts 1: the call is the instruction before.
 */
struct text symbols_place(struct symbols *s, uint64_t pc);

/*
 * The functions that were inlined where the address is, the innermost first, each with the place of its call; the
 * outermost is called by symbols_function(pc). `to` has room for INLINED_MOST, see inlines.h. Returns how many.
 */
size_t symbols_inlined(struct symbols *s, uint64_t pc, struct inlined *to);

/*
 * "balance", "accounts[2].balance"; "table+16" where only symbols are known, "bank+0x4010 (.bss)" where not even they
 * are; empty if the file has nothing there that can be written.
 */
struct text symbols_variable(struct symbols *s, uint64_t address, uint64_t size);

/*
 * What the memory is that was made at a place, by the program or one of its own libraries. See allocation.h, whose
 * allocation_name tells the parts of it. False if nothing is known.
 */
bool symbols_allocation(struct symbols *s, const struct allocation_at *at, struct allocation *to);

/* Whether the function at the address can be called from other files: its symbol is global or weak. */
bool symbols_is_exported(struct symbols *s, uint64_t pc);

/* Whether the code at the address is a library of the system's and not the project's. Unknown addresses are not. */
bool symbols_is_foreign(struct symbols *s, uint64_t pc);

/* Where a section of the module was loaded. False if it has none of that name. */
bool symbols_section(struct symbols *s, uint32_t module, const char *name, uint64_t *start, uint64_t *end);

#endif
