/* SPDX-License-Identifier: MIT */
/*
 * Calls: arguments' expressions go along, and the result's comes back. Of LLVM's own functions, those that copy memory
 * become calls of libc's, which are seen; some have an expression; the others make their arguments concrete.
 */
#include "rewrite.h"

#include <stdio.h>
#include <string.h>

static const char *callee_name(LLVMValueRef call)
{
	LLVMValueRef callee = LLVMGetCalledValue(call);

	return LLVMIsAFunction(callee) ? LLVMGetValueName(callee) : "";
}

static bool starts(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

static bool is_intrinsic(LLVMValueRef call)
{
	return starts(callee_name(call), "llvm.");
}

static bool is_assembly(LLVMValueRef call)
{
	return LLVMIsAInlineAsm(LLVMGetCalledValue(call));
}

/* llvm.sadd.with.overflow.i32 and its kin: a pair of the result and of whether it is not what it should be. */
struct overflow {
	const char *name;
	enum walk_op op;
	bool is_signed;
};

static const struct overflow overflows[] = {
	{"llvm.sadd.with.overflow.", WALK_ADD, true}, {"llvm.uadd.with.overflow.", WALK_ADD, false},
	{"llvm.ssub.with.overflow.", WALK_SUB, true}, {"llvm.usub.with.overflow.", WALK_SUB, false},
	{"llvm.smul.with.overflow.", WALK_MUL, true}, {"llvm.umul.with.overflow.", WALK_MUL, false},
};

static const struct overflow *overflow_of(LLVMValueRef call)
{
	for (size_t i = 0; i < sizeof overflows / sizeof *overflows; i++)
		if (starts(callee_name(call), overflows[i].name))
			return &overflows[i];
	return NULL;
}

/* Where twice the bits would be needed and are not there. */
static bool overflow_fits(LLVMValueRef call)
{
	unsigned width = width_of(LLVMGetOperand(call, 0));

	return width && width <= 32;
}

bool call_may_be_symbolic(LLVMValueRef call)
{
	if (is_assembly(call))
		return false;
	if (!is_intrinsic(call))
		return width_of(call) || is_pair(call);
	return starts(callee_name(call), "llvm.expect.") || (overflow_of(call) && overflow_fits(call));
}

static unsigned argument_count(LLVMValueRef call)
{
	return LLVMGetNumArgOperands(call);
}

static LLVMValueRef site(struct body *b, LLVMValueRef call)
{
	return site_of(b, note_of(b->r, call)->ordinal);
}

static LLVMValueRef function_word(struct body *b, LLVMValueRef call)
{
	return LLVMBuildPtrToInt(b->r->at, LLVMGetCalledValue(call), b->r->i64, "");
}

void call_before(struct body *b, LLVMValueRef call)
{
	struct rewrite *r = b->r;

	if (is_assembly(call))
		return;
	call_walk(b, CALL_CALL, (LLVMValueRef[]){function_word(b, call)});
	for (unsigned i = 0; i < argument_count(call); i++) {
		LLVMValueRef v = LLVMGetOperand(call, i);
		LLVMBasicBlockRef after;

		if (!has_shadow(b, v) || !width_of(v))
			continue;
		after = piece_if(b, expr_of(b, v));
		call_walk(b, CALL_PASS, (LLVMValueRef[]){number32(r, i), expr_of(b, v)});
		piece_end(b, after);
	}
}

void call_after(struct body *b, LLVMValueRef call)
{
	struct rewrite *r = b->r;
	unsigned width = width_of(call);
	LLVMValueRef expr = call_walk(b, CALL_RESULT, (LLVMValueRef[]){site(b, call), function_word(b, call),
		number32(r, width), width ? word_of(b, call) : number64(r, 0)});

	shadow_set(b, call, expr);
	if (is_pair(call))
		half_set(b, call, 1, call_walk(b, CALL_SECOND_RESULT, (LLVMValueRef[]){function_word(b, call)}));
}

static void put(struct body *b, LLVMValueRef call)
{
	LLVMInstructionRemoveFromParent(call);
	LLVMInsertIntoBuilder(b->r->at, call);
}

static void call_plain(struct body *b, LLVMValueRef call)
{
	LLVMBasicBlockRef after = piece_begin(b);

	shadow_pending(b);
	call_before(b, call);
	piece_end(b, after);
	put(b, call);
	shadow_none(b, call);
	after = piece_begin(b);
	call_after(b, call);
	piece_end(b, after);
}

static void lose_arguments(struct body *b, LLVMValueRef call, enum walk_lost why)
{
	for (unsigned i = 0; i < argument_count(call); i++)
		if (has_shadow(b, LLVMGetOperand(call, i)))
			call_walk(b, CALL_LOST, (LLVMValueRef[]){site(b, call), expr_of(b, LLVMGetOperand(call, i)),
				number32(b->r, why)});
}

/* What assembly writes through an address it was given is not known: no more than a word is assumed. */
static void forget_memory(struct body *b, LLVMValueRef call)
{
	for (unsigned i = 0; i < argument_count(call); i++) {
		LLVMValueRef v = LLVMGetOperand(call, i);

		if (LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind)
			call_walk(b, CALL_CLEAR, (LLVMValueRef[]){site(b, call), word_of(b, v),
				number64(b->r, (uint64_t)WALK_LOST_ASSEMBLY << 32 | 8)});
	}
}

static void call_assembly(struct body *b, LLVMValueRef call)
{
	LLVMBasicBlockRef after = piece_begin(b);

	shadow_pending(b);
	lose_arguments(b, call, WALK_LOST_ASSEMBLY);
	forget_memory(b, call);
	piece_end(b, after);
	put(b, call);
}

struct memory {
	const char *intrinsic, *function, *parameters;
};

static const struct memory *memory_of(LLVMValueRef call)
{
	static const struct memory all[] = {
		{"llvm.memcpy.p0", "memcpy", "ppl"},
		{"llvm.memcpy.inline.p0", "memcpy", "ppl"},
		{"llvm.memmove.p0", "memmove", "ppl"},
		{"llvm.memset.p0", "memset", "pil"},
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (starts(callee_name(call), all[i].intrinsic))
			return &all[i];
	return NULL;
}

/* llvm.memcpy(to, from, n, volatile) as memcpy(to, from, n), whose wrapper moves the shadows; likewise the others. */
static void call_memory(struct body *b, LLVMValueRef call, const struct memory *m)
{
	struct rewrite *r = b->r;
	struct callee c = declare(r, m->function, "p", m->parameters);
	LLVMValueRef arguments[] = {LLVMGetOperand(call, 0), LLVMGetOperand(call, 1), LLVMGetOperand(call, 2)}, with;
	LLVMBasicBlockRef after = piece_begin(b);

	shadow_pending(b);
	lose_arguments(b, call, WALK_LOST_POINTER);
	piece_end(b, after);
	if (m->parameters[1] == 'i')
		arguments[1] = LLVMBuildZExt(r->at, arguments[1], r->i32, "");
	arguments[2] = LLVMBuildZExtOrBitCast(r->at, arguments[2], r->i64, "");
	with = LLVMBuildCall2(r->at, c.type, c.function, arguments, 3, "");
	/* Otherwise it is expanded in place, and nobody sees it. */
	LLVMAddCallSiteAttribute(with, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(r->context,
		LLVMGetEnumAttributeKindForName("nobuiltin", strlen("nobuiltin")), 0));
	LLVMInstructionEraseFromParent(call);
}

static void shadow_overflow(struct body *b, LLVMValueRef call, const struct overflow *o)
{
	LLVMValueRef x = LLVMGetOperand(call, 0), y = LLVMGetOperand(call, 1);
	LLVMBasicBlockRef after = piece_if(b, LLVMBuildOr(b->r->at, expr_of(b, x), expr_of(b, y), ""));

	half_set(b, call, 0, shadow_binary(b, o->op, x, y));
	half_set(b, call, 1, shadow_overflows(b, o->op, o->is_signed, (LLVMValueRef[]){x, y}));
	piece_end(b, after);
}

static bool any_argument_has(struct body *b, LLVMValueRef call)
{
	for (unsigned i = 0; i < argument_count(call); i++)
		if (has_shadow(b, LLVMGetOperand(call, i)))
			return true;
	return false;
}

static void shadow_intrinsic(struct body *b, LLVMValueRef call)
{
	if (overflow_of(call) && has_shadow(b, call))
		shadow_overflow(b, call, overflow_of(call));
	else if (starts(callee_name(call), "llvm.expect."))
		shadow_set(b, call, expr_of(b, LLVMGetOperand(call, 0)));
	else
		lose_arguments(b, call, WALK_LOST_CALL);
}

/* Marks for debuggers and optimisers compute nothing. */
static bool computes(LLVMValueRef call)
{
	static const char *const marks[] = {
		"llvm.dbg.", "llvm.lifetime.", "llvm.va_", "llvm.stack", "llvm.assume", "llvm.prefetch",
	};

	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
		if (starts(callee_name(call), marks[i]))
			return false;
	return true;
}

static void call_intrinsic(struct body *b, LLVMValueRef call)
{
	const struct memory *m = memory_of(call);
	LLVMBasicBlockRef after;

	if (m) {
		call_memory(b, call, m);
		return;
	}
	put(b, call);
	shadow_none(b, call);
	if (!computes(call) || !any_argument_has(b, call))
		return;
	after = piece_begin(b);
	shadow_pending(b);
	shadow_intrinsic(b, call);
	piece_end(b, after);
}

void call_rewrite(struct body *b, LLVMValueRef call)
{
	if (is_intrinsic(call))
		call_intrinsic(b, call);
	else if (is_assembly(call))
		call_assembly(b, call);
	else
		call_plain(b, call);
}
