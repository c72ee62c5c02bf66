/* SPDX-License-Identifier: MIT */
/*
 * fission-rewrite: from the bitcode of a C file to that of the same program that tells what it does. What is added:
 *
 *   hooks     those of -fsanitize=thread, in the same places: accesses, atomics, entries and exits
 *             (rewrite_hooks.c). So record, run and chase see what they see of any other build;
 *   shadows   beside each value the expression that it is of the inputs, and calls that write the walk
 *             (rewrite_shadow.c, rewrite_calls.c). They run only while __fission_walk_on, which is asked before each
 *             piece of it in place, and is all that they cost otherwise.
 *
 * Why both at once: a pass of its own for hooks would put them at the shadows' code too, and where it likes.
 *
 * How shadows are kept. Of each value that may ever be symbolic there is a variable on the stack with the number of its
 * expression; at the end mem2reg makes registers of all of them. So code is added piece by piece, in program order, and
 * no one has to think of phis. The phis of the program itself need two variables: edges write the one, the block
 * copies it to the other, so that phis of a block that read each other read the old values.
 *
 * How code is added. The API cannot split a block. So all of a block but its terminator is moved to new blocks in front
 * of it, one after the other, which take over who comes there; the block itself keeps who it goes to.
 *
 * Shadows of several instructions are put into one piece. A piece ends before each hook, where another thread may take
 * its turn, before each call, and at the end of the block; until then nobody but this thread has changed memory.
 *
 * Ordinals. When the module is prepared (mem2reg, and what else prepare() does) and before anything is added, all its
 * instructions are numbered from 1, in the order of functions, blocks and instructions; and that very module goes into
 * the section WALK_SECTION.
 */
#ifndef FISSION_SYMBOLIC_REWRITE_H
#define FISSION_SYMBOLIC_REWRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>

#include "base/arena.h"
#include "base/map.h"
#include "event/walk.h"

enum rewrite_call {
#define WALK_CALL(NAME, name, result, parameters) CALL_##NAME,
#include "runtime/abi_walk.def"
#undef WALK_CALL
	CALLS
};

/* What is known of a value. */
struct note {
	uint32_t ordinal;      /* of an instruction */
	LLVMValueRef shadow;   /* variable with its expression, NULL: it is never symbolic */
	LLVMValueRef second;   /* of a pair: that of the second value */
	LLVMValueRef incoming; /* of a phi: what the edges write */
};

/* A function that code calls, declared when it is first needed. */
struct callee {
	LLVMTypeRef type;
	LLVMValueRef function;
};

struct rewrite {
	struct arena arena;
	LLVMContextRef context;
	LLVMModuleRef module;
	LLVMBuilderRef at;
	LLVMTargetDataRef layout;
	LLVMTypeRef i1, i8, i32, i64, nothing, address; /* address: i8* */
	LLVMValueRef none;      /* the expression 0 */
	LLVMValueRef on, unit;  /* global variables */
	struct callee calls[CALLS];
	struct map numbers;     /* of notes, by value */
	struct note *notes;
	size_t note_count, note_capacity;
	uint32_t ordinals;
};

/* The function that is being rewritten. */
struct body {
	struct rewrite *r;
	LLVMValueRef function;
	LLVMBasicBlockRef entry, now; /* now: where code goes to */
	LLVMValueRef *pending;        /* instructions whose shadows are yet to be added */
	size_t pending_count, pending_capacity;
	uint32_t ordinal;             /* of its first instruction */
	bool hooked;                  /* accesses are */
	bool framed;                  /* it tells entry and exit */
};

/* Notes live in an array that moves: the pointer is valid until the next call. */
struct note *note_of(struct rewrite *r, LLVMValueRef v);
/* NULL if there is none. */
const struct note *note_find(const struct rewrite *r, LLVMValueRef v);

/* Bits of a value that can have an expression; 0: none of this type can. */
unsigned width_of(LLVMValueRef v);

LLVMValueRef number32(struct rewrite *r, uint32_t n);
LLVMValueRef number64(struct rewrite *r, uint64_t n);

/* A global function by its name and the letters of abi_walk.def; 'p' is an address. */
struct callee declare(struct rewrite *r, const char *name, const char *result, const char *parameters);

/* rewrite_function.c: all of a function. */
void rewrite_function(struct rewrite *r, LLVMValueRef function);
/* The site of the instruction with that ordinal, as code. */
LLVMValueRef site_of(struct body *b, uint32_t ordinal);
LLVMValueRef call_walk(struct body *b, enum rewrite_call which, LLVMValueRef *arguments);
/*
 * Code that only runs while the walk is on; or if the number is not 0. It ends with piece_end() of what was returned.
 */
LLVMBasicBlockRef piece_begin(struct body *b);
LLVMBasicBlockRef piece_if(struct body *b, LLVMValueRef number);
void piece_end(struct body *b, LLVMBasicBlockRef after);
/* The shadows of all instructions so far: within a piece, or as one. */
void shadow_pending(struct body *b);
void flush(struct body *b);

/* rewrite_hooks.c: before accesses, in place of atomics, at entry and exit. */
bool hook_is_needed(LLVMValueRef instruction);
void hook_access(struct body *b, LLVMValueRef instruction);
void hook_entry(struct body *b);
void hook_exit(struct body *b);
bool atomic_is(LLVMValueRef instruction);
void atomic_replace(struct body *b, LLVMValueRef instruction);

/* rewrite_shadow.c: variables of a function's values; code that says what an instruction's is. */
void shadow_declare(struct body *b);
/* It is 0 from here on: said where the value is made, before the piece that may say something else. */
void shadow_none(struct body *b, LLVMValueRef v);
bool shadow_is_needed(const struct body *b, LLVMValueRef instruction);
/* It neither reads nor writes memory; the code of so many of those, which is passed by if all they use is concrete. */
bool shadow_is_computed(LLVMValueRef instruction);
void shadow_group(struct body *b, LLVMValueRef *instructions, size_t n);
void shadow_of(struct body *b, LLVMValueRef instruction);
/* The expression of a value, as code; a value as 64 bits. */
LLVMValueRef expr_of(struct body *b, LLVMValueRef v);
LLVMValueRef word_of(struct body *b, LLVMValueRef v);
void shadow_set(struct body *b, LLVMValueRef v, LLVMValueRef expr);
bool has_shadow(const struct body *b, LLVMValueRef v);
void shadow_load(struct body *b, LLVMValueRef instruction, LLVMValueRef address);
void shadow_store(struct body *b, LLVMValueRef instruction, LLVMValueRef address, LLVMValueRef value);
LLVMValueRef shadow_binary(struct body *b, enum walk_op op, LLVMValueRef left, LLVMValueRef right);
/*
 * Structs of two values, which have an expression each: what calls return in two registers, or tell with an overflow.
 */
bool is_pair(LLVMValueRef v);
LLVMValueRef half_expr(struct body *b, LLVMValueRef pair, unsigned half);
void half_set(struct body *b, LLVMValueRef pair, unsigned half, LLVMValueRef expr);
/* Whether the operation on both, which have 32 bits or less, has a result that does not fit. */
LLVMValueRef shadow_overflows(struct body *b, enum walk_op op, bool is_signed, LLVMValueRef of[2]);

/* rewrite_calls.c: calls and intrinsics. */
void call_rewrite(struct body *b, LLVMValueRef call);
bool call_may_be_symbolic(LLVMValueRef call);
/* Before and behind the instruction that calls. */
void call_before(struct body *b, LLVMValueRef call);
void call_after(struct body *b, LLVMValueRef call);

#endif
