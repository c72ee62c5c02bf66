/* SPDX-License-Identifier: MIT */
/*
 * The bitcode of a program that was built with --symbolic: its units, functions, blocks and instructions, by the
 * numbers that the walk uses (event/walk.h), and what is known of its variables from its symbols.
 *
 * Instructions are numbered over a unit in order of functions, blocks and instructions, from 1. A block's successors
 * are those of its last instruction, in its order, so a branch is (unit, ordinal of that instruction, number of a
 * successor). Of each block the immediate post-dominator is known: where all ways from it to a return meet again
 * (postdom.h).
 *
 * A program is trusted no more than its walk: lengths are checked before LLVM sees anything. What LLVM makes of a
 * module that was forged is LLVM's; whoever uses this runs in a process of its own.
 */
#ifndef FISSION_SYMBOLIC_UNITS_H
#define FISSION_SYMBOLIC_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

#include "base/arena.h"
#include "base/intern.h"
#include "base/map.h"

struct fault;

struct unit_block {
	LLVMBasicBlockRef ref;
	uint32_t first, count; /* its instructions */
	const uint32_t *to;    /* its successors, numbers of blocks of its function */
	uint32_t tos;
	bool ends;             /* ways end here: a return, or where a loop without an end begins again */
	uint32_t join;         /* its immediate post-dominator; POSTDOM_EXIT: the function's end; POSTDOM_NONE: never ends */
};

struct unit_function {
	struct unit *unit;
	LLVMValueRef ref;
	const char *name;
	uint32_t first, count; /* its instructions */
	struct unit_block *block;
	uint32_t blocks;
	uint32_t parameters;
	bool wraps;            /* it does little but take or give back a lock */
	struct frame *spare;   /* for whoever follows its activations */
};

struct unit_instruction {
	LLVMValueRef ref;
	uint32_t function, block;
};

struct unit {
	uint32_t number;
	uint64_t hash;
	LLVMModuleRef module;
	LLVMTargetDataRef layout;
	struct unit_instruction *instruction; /* by ordinal, from 1 */
	uint32_t instructions;
	struct unit_function *function;
	uint32_t functions;
	struct map by_value; /* LLVMValueRef of an instruction, or of a function with a body, to its ordinal or number + 1 */
};

struct units {
	struct arena *arena;
	struct unit *at;
	size_t count;
	struct intern names;
	struct map by_name;    /* id of a name to index + 1 in `external`: functions with a body that other units can call */
	struct unit_function **external;
	size_t externals, external_room;
	struct map symbols;    /* id of a name to index + 1 in `symbol`; names that mean more than one thing have none */
	struct unit_symbol *symbol;
	size_t symbols_count, symbol_room;
	uint64_t data, data_end; /* memory that the program's files give values to, before it is moved to its place */
	uint64_t base;         /* how far the program was moved; known once a function's address is */
	bool based;
};

struct unit_symbol {
	uint64_t address, size; /* before it was moved */
	uint32_t name;
	bool twice;
};

/* An instruction of the program. Ordinal 0: none. */
struct place {
	uint32_t unit, ordinal;
};

static inline uint64_t place_key(struct place p)
{
	return (uint64_t)p.unit << 32 | p.ordinal;
}

/* False with a fault if it is no program, was not built so, or its bitcode cannot be read. */
bool units_open(struct units *us, struct arena *a, const char *path, struct fault *fault);

/* The unit with that hash, or NULL. */
struct unit *units_find(const struct units *us, uint64_t hash);

/* The function that an instruction is in, its block there, and the instruction; NULL for an ordinal that is none. */
struct unit_function *unit_function_at(const struct unit *u, uint32_t ordinal);
struct unit_block *unit_block_at(const struct unit *u, uint32_t ordinal);
LLVMValueRef unit_value(const struct unit *u, uint32_t ordinal);

/* The ordinal of an instruction of the unit; 0 if it is none. */
uint32_t unit_ordinal(const struct unit *u, LLVMValueRef instruction);

/* The body of a function that is named in a unit, in whatever unit it is; NULL if it has none. */
struct unit_function *units_body(const struct units *us, const struct unit *u, LLVMValueRef function);

/* What a call calls, without casts around it. */
LLVMValueRef unit_called(LLVMValueRef call);

/* A function of that name was entered at that address: now it is known where the program lies. */
void units_place(struct units *us, const struct unit_function *f, uint64_t address);

/* The address of a variable or function; false if that is not known. */
bool units_address(const struct units *us, LLVMValueRef global, uint64_t *address);

/* The name of the variable that an address is in, and how far into it; NULL if there is none. In the arena. */
const char *units_symbol_at(const struct units *us, uint64_t address);

/* Whether the address is in the memory of the program's own variables. */
bool units_has_data(const struct units *us, uint64_t address);

/* Where in the source an instruction is, as FILE:LINE; "?" if that is not known. In the arena. */
const char *units_where(const struct units *us, struct place p);

#endif
