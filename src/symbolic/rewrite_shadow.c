/* SPDX-License-Identifier: MIT */
/* What the expression of an instruction is: the code that says so. It runs while the walk is on. */
#include "rewrite.h"

#include <string.h>

bool has_shadow(const struct body *b, LLVMValueRef v)
{
	const struct note *n = note_find(b->r, v);

	return n && n->shadow;
}

LLVMValueRef expr_of(struct body *b, LLVMValueRef v)
{
	return has_shadow(b, v) ? LLVMBuildLoad2(b->r->at, b->r->i32, note_find(b->r, v)->shadow, "") : b->r->none;
}

LLVMValueRef word_of(struct body *b, LLVMValueRef v)
{
	struct rewrite *r = b->r;

	if (LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind)
		return LLVMBuildPtrToInt(r->at, v, r->i64, "");
	return width_of(v) == 64 ? v : LLVMBuildZExt(r->at, v, r->i64, "");
}

void shadow_set(struct body *b, LLVMValueRef v, LLVMValueRef expr)
{
	if (has_shadow(b, v))
		LLVMBuildStore(b->r->at, expr, note_find(b->r, v)->shadow);
}

/* Which values may be symbolic. */

static bool any_operand_has(const struct body *b, LLVMValueRef i)
{
	for (int k = 0; k < LLVMGetNumOperands(i); k++)
		if (has_shadow(b, LLVMGetOperand(i, (unsigned)k)))
			return true;
	return false;
}

/* A value that is not known to be a constant; of one that comes later nothing else is known yet. */
static bool phi_may_be(LLVMValueRef phi)
{
	for (unsigned k = 0; k < LLVMCountIncoming(phi); k++)
		if (!LLVMIsConstant(LLVMGetIncomingValue(phi, k)))
			return true;
	return false;
}

static unsigned bits_of(LLVMTypeRef type)
{
	switch (LLVMGetTypeKind(type)) {
	case LLVMPointerTypeKind: return LLVMGetPointerAddressSpace(type) ? 0 : 64;
	case LLVMIntegerTypeKind: return LLVMGetIntTypeWidth(type) <= 64 ? LLVMGetIntTypeWidth(type) : 0;
	default: return 0;
	}
}

static unsigned half_bits(LLVMValueRef pair, unsigned half)
{
	return bits_of(LLVMStructGetTypeAtIndex(LLVMTypeOf(pair), half));
}

bool is_pair(LLVMValueRef v)
{
	LLVMTypeRef type = LLVMTypeOf(v);

	return LLVMGetTypeKind(type) == LLVMStructTypeKind && LLVMCountStructElementTypes(type) == 2 && half_bits(v, 0) &&
		half_bits(v, 1);
}

static LLVMValueRef half_variable(struct body *b, LLVMValueRef pair, unsigned half)
{
	const struct note *n = note_find(b->r, pair);

	return !n ? NULL : half ? n->second : n->shadow;
}

LLVMValueRef half_expr(struct body *b, LLVMValueRef pair, unsigned half)
{
	LLVMValueRef variable = half_variable(b, pair, half);

	return variable ? LLVMBuildLoad2(b->r->at, b->r->i32, variable, "") : b->r->none;
}

void half_set(struct body *b, LLVMValueRef pair, unsigned half, LLVMValueRef expr)
{
	LLVMValueRef variable = half_variable(b, pair, half);

	if (variable)
		LLVMBuildStore(b->r->at, expr, variable);
}

static bool may_be_symbolic(const struct body *b, LLVMValueRef i)
{
	switch (LLVMGetInstructionOpcode(i)) {
	case LLVMAtomicCmpXchg: return true;
	case LLVMCall: return call_may_be_symbolic(i);
	case LLVMInsertValue: return is_pair(i) && any_operand_has(b, i);
	case LLVMLoad: return width_of(i) || is_pair(i);
	case LLVMAtomicRMW: return width_of(i);
	case LLVMPHI: return width_of(i) && phi_may_be(i);
	case LLVMAlloca:
	case LLVMInvoke:
	case LLVMFCmp:
	case LLVMFPToSI:
	case LLVMFPToUI:
	case LLVMVAArg:
	case LLVMExtractElement:
	case LLVMLandingPad: return false;
	default: return width_of(i) && any_operand_has(b, i);
	}
}

static LLVMValueRef variable(struct body *b)
{
	return LLVMBuildAlloca(b->r->at, b->r->i32, "");
}

static void declare_one(struct body *b, LLVMValueRef v)
{
	struct note *n = note_of(b->r, v);

	n->shadow = variable(b);
	if (LLVMIsAPHINode(v))
		n->incoming = variable(b);
	if (is_pair(v))
		n->second = variable(b);
}

/*
 * In the order of the blocks, which need not be the order in which they run: what is found later may make an operand
 * symbolic, so until nothing changes.
 */
void shadow_declare(struct body *b)
{
	bool changed = true;

	LLVMPositionBuilderBefore(b->r->at, LLVMGetFirstInstruction(b->entry));
	LLVMSetCurrentDebugLocation2(b->r->at, NULL);
	for (unsigned i = 0; i < LLVMCountParams(b->function); i++)
		if (width_of(LLVMGetParam(b->function, i)))
			declare_one(b, LLVMGetParam(b->function, i));
	while (changed) {
		changed = false;
		for (LLVMBasicBlockRef block = b->entry; block; block = LLVMGetNextBasicBlock(block))
			for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
				if (!has_shadow(b, i) && may_be_symbolic(b, i)) {
					declare_one(b, i);
					changed = true;
				}
	}
}

void shadow_none(struct body *b, LLVMValueRef v)
{
	half_set(b, v, 0, b->r->none);
	half_set(b, v, 1, b->r->none);
}

/* Code. */

static uint32_t ordinal_of(struct body *b, LLVMValueRef i)
{
	const struct note *n = note_find(b->r, i);

	return n ? n->ordinal : 0;
}

static LLVMValueRef above(struct body *b, LLVMValueRef high, LLVMValueRef low)
{
	struct rewrite *r = b->r;

	high = LLVMBuildShl(r->at, LLVMBuildZExt(r->at, high, r->i64, ""), number64(r, 32), "");
	return LLVMBuildOr(r->at, high, LLVMBuildZExtOrBitCast(r->at, low, r->i64, ""), "");
}

struct term {
	LLVMValueRef expr, value; /* value: 64 bits */
};

static LLVMValueRef binary(struct body *b, uint32_t what, struct term x, struct term y)
{
	return call_walk(b, CALL_BINARY, (LLVMValueRef[]){number32(b->r, what), above(b, x.expr, y.expr), x.value, y.value});
}

LLVMValueRef shadow_binary(struct body *b, enum walk_op op, LLVMValueRef left, LLVMValueRef right)
{
	struct term x = {expr_of(b, left), word_of(b, left)}, y = {expr_of(b, right), word_of(b, right)};

	return binary(b, op | width_of(left) << 8, x, y);
}

LLVMValueRef shadow_overflows(struct body *b, enum walk_op op, bool is_signed, LLVMValueRef of[2])
{
	return call_walk(b, CALL_OVERFLOW, (LLVMValueRef[]){number32(b->r, op | width_of(of[0]) << 8 | is_signed << 16),
		above(b, expr_of(b, of[0]), expr_of(b, of[1])), word_of(b, of[0]), word_of(b, of[1])});
}

static LLVMValueRef cast(struct body *b, enum walk_op op, unsigned width, LLVMValueRef expr)
{
	return call_walk(b, CALL_CAST, (LLVMValueRef[]){number32(b->r, op | width << 8), expr});
}

static void use_address(struct body *b, LLVMValueRef i, LLVMValueRef address)
{
	LLVMBasicBlockRef after;

	if (!has_shadow(b, address))
		return;
	after = piece_if(b, expr_of(b, address));
	call_walk(b, CALL_ADDRESS, (LLVMValueRef[]){site_of(b, ordinal_of(b, i)), expr_of(b, address), word_of(b, address)});
	piece_end(b, after);
}

static enum walk_lost why_lost(LLVMTypeRef type)
{
	switch (LLVMGetTypeKind(type)) {
	case LLVMVectorTypeKind: return WALK_LOST_VECTOR;
	case LLVMIntegerTypeKind:
	case LLVMStructTypeKind:
	case LLVMArrayTypeKind: return WALK_LOST_WIDTH;
	default: return WALK_LOST_FLOAT;
	}
}

static void clear(struct body *b, LLVMValueRef i, LLVMValueRef address, LLVMTypeRef type)
{
	uint64_t bytes = LLVMStoreSizeOfType(b->r->layout, type);

	call_walk(b, CALL_CLEAR, (LLVMValueRef[]){site_of(b, ordinal_of(b, i)), word_of(b, address),
		number64(b->r, (uint64_t)why_lost(type) << 32 | bytes)});
}

static bool has_whole_bytes(LLVMValueRef v)
{
	return width_of(v) && width_of(v) % 8 == 0;
}

static LLVMValueRef half_address(struct body *b, LLVMValueRef pair, unsigned half, LLVMValueRef address)
{
	uint64_t offset = LLVMOffsetOfElement(b->r->layout, LLVMTypeOf(pair), half);

	return LLVMBuildAdd(b->r->at, word_of(b, address), number64(b->r, offset), "");
}

static LLVMValueRef half_word(struct body *b, LLVMValueRef pair, unsigned half)
{
	return word_of(b, LLVMBuildExtractValue(b->r->at, pair, half, ""));
}

static bool is_whole_pair(LLVMValueRef v)
{
	return is_pair(v) && half_bits(v, 0) % 8 == 0 && half_bits(v, 1) % 8 == 0;
}

static void load_pair(struct body *b, LLVMValueRef i, LLVMValueRef address)
{
	for (unsigned half = 0; half < 2; half++)
		half_set(b, i, half, call_walk(b, CALL_LOAD, (LLVMValueRef[]){site_of(b, ordinal_of(b, i)),
			half_address(b, i, half, address), number32(b->r, half_bits(i, half)), half_word(b, i, half)}));
}

static void store_pair(struct body *b, LLVMValueRef i, LLVMValueRef address, LLVMValueRef value)
{
	for (unsigned half = 0; half < 2; half++)
		call_walk(b, CALL_STORE, (LLVMValueRef[]){site_of(b, ordinal_of(b, i)), half_address(b, value, half, address),
			above(b, half_expr(b, value, half), number64(b->r, half_bits(value, half))), half_word(b, value, half)});
}

void shadow_load(struct body *b, LLVMValueRef i, LLVMValueRef address)
{
	use_address(b, i, address);
	if (is_whole_pair(i))
		load_pair(b, i, address);
	else if (!has_whole_bytes(i))
		clear(b, i, address, LLVMTypeOf(i));
	else
		shadow_set(b, i, call_walk(b, CALL_LOAD, (LLVMValueRef[]){site_of(b, ordinal_of(b, i)), word_of(b, address),
			number32(b->r, width_of(i)), word_of(b, i)}));
}

void shadow_store(struct body *b, LLVMValueRef i, LLVMValueRef address, LLVMValueRef value)
{
	use_address(b, i, address);
	if (is_whole_pair(value))
		store_pair(b, i, address, value);
	else if (!has_whole_bytes(value))
		clear(b, i, address, LLVMTypeOf(value));
	else
		call_walk(b, CALL_STORE, (LLVMValueRef[]){site_of(b, ordinal_of(b, i)), word_of(b, address),
			above(b, expr_of(b, value), number64(b->r, width_of(value))), word_of(b, value)});
}

static const uint8_t op_of[] = {
	[LLVMAdd] = 1 + WALK_ADD, [LLVMSub] = 1 + WALK_SUB, [LLVMMul] = 1 + WALK_MUL, [LLVMUDiv] = 1 + WALK_UDIV,
	[LLVMSDiv] = 1 + WALK_SDIV, [LLVMURem] = 1 + WALK_UREM, [LLVMSRem] = 1 + WALK_SREM, [LLVMAnd] = 1 + WALK_AND,
	[LLVMOr] = 1 + WALK_OR, [LLVMXor] = 1 + WALK_XOR, [LLVMShl] = 1 + WALK_SHL, [LLVMLShr] = 1 + WALK_LSHR,
	[LLVMAShr] = 1 + WALK_ASHR, [LLVMTrunc] = 1 + WALK_TRUNC, [LLVMZExt] = 1 + WALK_ZEXT, [LLVMSExt] = 1 + WALK_SEXT,
};

static const uint8_t comparison_of[] = {
	[LLVMIntEQ] = WALK_EQ, [LLVMIntNE] = WALK_NE, [LLVMIntUGT] = WALK_UGT, [LLVMIntUGE] = WALK_UGE,
	[LLVMIntULT] = WALK_ULT, [LLVMIntULE] = WALK_ULE, [LLVMIntSGT] = WALK_SGT, [LLVMIntSGE] = WALK_SGE,
	[LLVMIntSLT] = WALK_SLT, [LLVMIntSLE] = WALK_SLE,
};

/* An index moves the address by a constant, or by a multiple of a value. */
static struct term index_term(struct body *b, LLVMValueRef index, uint64_t scale)
{
	struct rewrite *r = b->r;
	struct term times = {r->none, number64(r, scale)}, t;

	if (LLVMIsAConstantInt(index))
		return (struct term){r->none, number64(r, (uint64_t)LLVMConstIntGetSExtValue(index) * scale)};
	t.value = width_of(index) == 64 ? index : LLVMBuildSExt(r->at, index, r->i64, "");
	t.expr = binary(b, WALK_MUL | 64 << 8, (struct term){cast(b, WALK_SEXT, 64, expr_of(b, index)), t.value}, times);
	t.value = LLVMBuildMul(r->at, t.value, times.value, "");
	return t;
}

static struct term add_terms(struct body *b, struct term x, struct term y)
{
	return (struct term){binary(b, WALK_ADD | 64 << 8, x, y), LLVMBuildAdd(b->r->at, x.value, y.value, "")};
}

/* The type within `type` that the index leads to, and what one of it moves the address by. */
static LLVMTypeRef go_into(struct body *b, LLVMTypeRef type, LLVMValueRef index, struct term *by)
{
	LLVMTypeRef inner;

	if (LLVMGetTypeKind(type) == LLVMStructTypeKind) {
		unsigned field = (unsigned)LLVMConstIntGetZExtValue(index);

		*by = (struct term){b->r->none, number64(b->r, LLVMOffsetOfElement(b->r->layout, type, field))};
		return LLVMStructGetTypeAtIndex(type, field);
	}
	inner = LLVMGetElementType(type);
	*by = index_term(b, index, LLVMABISizeOfType(b->r->layout, inner));
	return inner;
}

static LLVMValueRef shadow_index(struct body *b, LLVMValueRef i)
{
	LLVMValueRef base = LLVMGetOperand(i, 0);
	LLVMTypeRef type = LLVMGetGEPSourceElementType(i);
	struct term t = {expr_of(b, base), word_of(b, base)}, by;

	for (unsigned k = 1; k < (unsigned)LLVMGetNumOperands(i); k++) {
		LLVMValueRef index = LLVMGetOperand(i, k);

		if (k == 1)
			by = index_term(b, index, LLVMABISizeOfType(b->r->layout, type));
		else
			type = go_into(b, type, index, &by);
		t = add_terms(b, t, by);
	}
	return t.expr;
}

static LLVMValueRef shadow_conversion(struct body *b, LLVMValueRef i, LLVMValueRef of)
{
	unsigned to = width_of(i), from = width_of(of);

	if (!from)
		return b->r->none; /* the bits of a float */
	return to == from ? expr_of(b, of) : cast(b, to < from ? WALK_TRUNC : WALK_ZEXT, to, expr_of(b, of));
}

static LLVMValueRef shadow_half(struct body *b, LLVMValueRef i, LLVMValueRef pair)
{
	return is_pair(pair) && LLVMGetNumIndices(i) == 1 ? half_expr(b, pair, *LLVMGetIndices(i)) : b->r->none;
}

/* A pair with another half. */
static void shadow_insert(struct body *b, LLVMValueRef i)
{
	unsigned at = *LLVMGetIndices(i);

	half_set(b, i, at, expr_of(b, LLVMGetOperand(i, 1)));
	half_set(b, i, !at, half_expr(b, LLVMGetOperand(i, 0), !at));
}

static LLVMValueRef shadow_choice(struct body *b, LLVMValueRef i)
{
	LLVMValueRef condition = LLVMGetOperand(i, 0);

	if (!width_of(condition))
		return b->r->none;
	call_walk(b, CALL_SELECT, (LLVMValueRef[]){site_of(b, ordinal_of(b, i)), expr_of(b, condition),
		LLVMBuildZExt(b->r->at, condition, b->r->i32, "")});
	return LLVMBuildSelect(b->r->at, condition, expr_of(b, LLVMGetOperand(i, 1)), expr_of(b, LLVMGetOperand(i, 2)), "");
}

/* The expression where an operand has one. NULL: there is none for such an instruction. */
static LLVMValueRef shadow_value(struct body *b, LLVMValueRef i)
{
	LLVMOpcode op = LLVMGetInstructionOpcode(i);
	LLVMValueRef first = LLVMGetOperand(i, 0);

	switch (op) {
	case LLVMGetElementPtr: return shadow_index(b, i);
	case LLVMICmp: return shadow_binary(b, comparison_of[LLVMGetICmpPredicate(i)], first, LLVMGetOperand(i, 1));
	case LLVMTrunc:
	case LLVMZExt:
	case LLVMSExt: return cast(b, op_of[op] - 1, width_of(i), expr_of(b, first));
	case LLVMPtrToInt:
	case LLVMIntToPtr:
	case LLVMBitCast: return shadow_conversion(b, i, first);
	case LLVMFreeze: return expr_of(b, first);
	case LLVMSelect: return shadow_choice(b, i);
	default: break;
	}
	if (op < (int)sizeof op_of && op_of[op])
		return shadow_binary(b, op_of[op] - 1, first, LLVMGetOperand(i, 1));
	return NULL;
}

static void lose_operands(struct body *b, LLVMValueRef i)
{
	for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(i); k++)
		if (has_shadow(b, LLVMGetOperand(i, k)))
			call_walk(b, CALL_LOST, (LLVMValueRef[]){site_of(b, ordinal_of(b, i)), expr_of(b, LLVMGetOperand(i, k)),
				number32(b->r, why_lost(LLVMTypeOf(i)))});
}

bool shadow_is_needed(const struct body *b, LLVMValueRef i)
{
	switch (LLVMGetInstructionOpcode(i)) {
	case LLVMLoad:
	case LLVMStore: return true;
	case LLVMPHI: return has_shadow(b, i);
	case LLVMLandingPad: return false;
	default: return has_shadow(b, i) || any_operand_has(b, i);
	}
}

bool shadow_is_computed(LLVMValueRef i)
{
	switch (LLVMGetInstructionOpcode(i)) {
	case LLVMLoad:
	case LLVMStore:
	case LLVMPHI:
	case LLVMInsertValue:
	case LLVMExtractValue: return false;
	default: return true;
	}
}

static void shadow_computed(struct body *b, LLVMValueRef i)
{
	LLVMValueRef expr = width_of(i) ? shadow_value(b, i) : NULL;

	LLVMSetCurrentDebugLocation2(b->r->at, LLVMInstructionGetDebugLoc(i));
	if (expr)
		shadow_set(b, i, expr);
	else
		lose_operands(b, i);
}

static bool is_in(LLVMValueRef v, LLVMValueRef *group, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (group[i] == v)
			return true;
	return false;
}

/* Something from outside of the group that has an expression. */
static LLVMValueRef any_from_outside(struct body *b, LLVMValueRef *group, size_t n)
{
	LLVMValueRef all = b->r->none;

	for (size_t i = 0; i < n; i++)
		for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(group[i]); k++) {
			LLVMValueRef v = LLVMGetOperand(group[i], k);

			if (has_shadow(b, v) && !is_in(v, group, i))
				all = LLVMBuildOr(b->r->at, all, expr_of(b, v), "");
		}
	return all;
}

void shadow_group(struct body *b, LLVMValueRef *group, size_t n)
{
	LLVMBasicBlockRef after = piece_if(b, any_from_outside(b, group, n));


	for (size_t i = 0; i < n; i++)
		shadow_computed(b, group[i]);
	piece_end(b, after);
}

void shadow_of(struct body *b, LLVMValueRef i)
{
	switch (LLVMGetInstructionOpcode(i)) {
	case LLVMPHI: shadow_set(b, i, LLVMBuildLoad2(b->r->at, b->r->i32, note_find(b->r, i)->incoming, "")); break;
	case LLVMLoad: shadow_load(b, i, LLVMGetOperand(i, 0)); break;
	case LLVMStore: shadow_store(b, i, LLVMGetOperand(i, 1), LLVMGetOperand(i, 0)); break;
	case LLVMExtractValue: shadow_set(b, i, shadow_half(b, i, LLVMGetOperand(i, 0))); break;
	case LLVMInsertValue: shadow_insert(b, i); break;
	default: break;
	}
}
