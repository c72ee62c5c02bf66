/* SPDX-License-Identifier: MIT */
#include "resolve.h"

#include "symbolic/effects.h"
#include "symbolic/follow.h"

/* So deep values are looked into. */
enum { DEPTH = 24 };

static const struct known_value nothing = {KNOWN_NOT, 0};

static struct known_value find(const struct scope *s, LLVMValueRef v, unsigned depth);

static struct known_value just(uint64_t value)
{
	return (struct known_value){KNOWN_VALUE, value};
}

void scope_init(struct scope *s, struct follow *f, struct unit_function *function)
{
	*s = (struct scope){.follow = f, .function = function};
	map_init(&s->bound, f->arena);
}

void scope_bind(struct scope *s, LLVMValueRef instruction, struct known_value value)
{
	uint32_t *slot = map_put(&s->bound, (uintptr_t)instruction);

	if (!*slot) {
		s->value = arena_reserve(s->follow->arena, s->value, &s->room, s->values, sizeof *s->value);
		*slot = (uint32_t)++s->values;
	}
	s->value[*slot - 1] = value;
}

static uint64_t cut_to(uint64_t value, LLVMTypeRef type)
{
	unsigned width = LLVMGetTypeKind(type) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(type) : 64;

	return width < 64 ? value & (((uint64_t)1 << width) - 1) : value;
}

static int64_t with_sign(uint64_t value, LLVMTypeRef type)
{
	unsigned width = LLVMGetTypeKind(type) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(type) : 64;

	return width < 64 ? (int64_t)(value << (64 - width)) >> (64 - width) : (int64_t)value;
}

/* Adds one index of an address computation; false if it is not known. */
static bool add_index(const struct scope *s, LLVMTypeRef *type, LLVMValueRef index, uint64_t *sum, unsigned depth)
{
	LLVMTargetDataRef layout = s->function->unit->layout;
	struct known_value i = find(s, index, depth);

	if (i.known != KNOWN_VALUE)
		return false;
	if (LLVMGetTypeKind(*type) == LLVMStructTypeKind) {
		if (i.value >= LLVMCountStructElementTypes(*type))
			return false;
		*sum += LLVMOffsetOfElement(layout, *type, (unsigned)i.value);
		*type = LLVMStructGetTypeAtIndex(*type, (unsigned)i.value);
		return true;
	}
	*type = LLVMGetElementType(*type);
	*sum += (uint64_t)with_sign(i.value, LLVMTypeOf(index)) * LLVMABISizeOfType(layout, *type);
	return true;
}

static struct known_value element(const struct scope *s, LLVMValueRef gep, unsigned depth)
{
	struct known_value base = find(s, LLVMGetOperand(gep, 0), depth);
	LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(gep, 0));
	int count = LLVMGetNumOperands(gep);

	if (base.known != KNOWN_VALUE || LLVMGetTypeKind(type) != LLVMPointerTypeKind)
		return base.known == KNOWN_OWN ? base : nothing;
	for (int i = 1; i < count; i++) {
		if (i == 1) {
			struct known_value first = find(s, LLVMGetOperand(gep, 1), depth);

			type = LLVMGetElementType(type);
			if (first.known != KNOWN_VALUE || !LLVMTypeIsSized(type))
				return nothing;
			base.value += (uint64_t)with_sign(first.value, LLVMTypeOf(LLVMGetOperand(gep, 1))) *
				LLVMABISizeOfType(s->function->unit->layout, type);
		} else if (!add_index(s, &type, LLVMGetOperand(gep, (unsigned)i), &base.value, depth)) {
			return nothing;
		}
	}
	return base;
}

static struct known_value compute(LLVMOpcode op, uint64_t x, uint64_t y)
{
	switch (op) {
	case LLVMAdd: return just(x + y);
	case LLVMSub: return just(x - y);
	case LLVMMul: return just(x * y);
	case LLVMAnd: return just(x & y);
	case LLVMOr: return just(x | y);
	case LLVMXor: return just(x ^ y);
	case LLVMShl: return y < 64 ? just(x << y) : nothing;
	case LLVMLShr: return y < 64 ? just(x >> y) : nothing;
	case LLVMUDiv: return y ? just(x / y) : nothing;
	case LLVMURem: return y ? just(x % y) : nothing;
	default: return nothing;
	}
}

/* Signs matter to these. */
static struct known_value compute_signed(LLVMOpcode op, int64_t x, int64_t y)
{
	if ((op == LLVMSDiv || op == LLVMSRem) && (y == 0 || y == -1))
		return y ? just(op == LLVMSDiv ? -(uint64_t)x : 0) : nothing;
	switch (op) {
	case LLVMSDiv: return just((uint64_t)(x / y));
	case LLVMSRem: return just((uint64_t)(x % y));
	case LLVMAShr: return y >= 0 && y < 64 ? just((uint64_t)(x >> y)) : nothing;
	default: return nothing;
	}
}

static struct known_value arithmetic(const struct scope *s, LLVMValueRef v, LLVMOpcode op, unsigned depth)
{
	struct known_value x = find(s, LLVMGetOperand(v, 0), depth), y = nothing;
	LLVMTypeRef type = LLVMTypeOf(v);

	if (x.known == KNOWN_VALUE)
		y = find(s, LLVMGetOperand(v, 1), depth);
	if (y.known != KNOWN_VALUE)
		return nothing;
	if (op == LLVMSDiv || op == LLVMSRem || op == LLVMAShr)
		x = compute_signed(op, with_sign(x.value, type), with_sign(y.value, type));
	else
		x = compute(op, x.value, y.value);
	x.value = cut_to(x.value, type);
	return x;
}

static struct known_value cast(const struct scope *s, LLVMValueRef v, LLVMOpcode op, unsigned depth)
{
	LLVMValueRef from = LLVMGetOperand(v, 0);
	struct known_value x = find(s, from, depth);

	if (x.known != KNOWN_VALUE)
		return x;
	if (op == LLVMSExt)
		x.value = (uint64_t)with_sign(x.value, LLVMTypeOf(from));
	x.value = cut_to(x.value, LLVMTypeOf(v));
	return x;
}

/* What a value is that is worked out from others; of instructions and of constant expressions alike. */
static struct known_value work_out(const struct scope *s, LLVMValueRef v, LLVMOpcode op, unsigned depth)
{
	switch (op) {
	case LLVMGetElementPtr:
		return element(s, v, depth);
	case LLVMBitCast: case LLVMPtrToInt: case LLVMIntToPtr: case LLVMZExt: case LLVMSExt: case LLVMTrunc:
		return cast(s, v, op, depth);
	case LLVMFreeze:
		return find(s, LLVMGetOperand(v, 0), depth);
	case LLVMAdd: case LLVMSub: case LLVMMul: case LLVMAnd: case LLVMOr: case LLVMXor: case LLVMShl: case LLVMLShr:
	case LLVMAShr: case LLVMUDiv: case LLVMURem: case LLVMSDiv: case LLVMSRem:
		return arithmetic(s, v, op, depth);
	default:
		return nothing;
	}
}

static struct known_value constant(const struct scope *s, LLVMValueRef v, unsigned depth)
{
	uint64_t address;

	if (LLVMIsAConstantInt(v))
		return LLVMGetIntTypeWidth(LLVMTypeOf(v)) <= 64 ? just(LLVMConstIntGetZExtValue(v)) : nothing;
	if (LLVMIsAConstantPointerNull(v))
		return just(0);
	if (LLVMIsAGlobalVariable(v) && LLVMIsThreadLocal(v))
		return (struct known_value){KNOWN_OWN, 0};
	if (LLVMIsAGlobalVariable(v) || LLVMIsAFunction(v))
		return units_address(s->follow->units, v, &address) ? just(address) : nothing;
	return LLVMIsAConstantExpr(v) ? work_out(s, v, LLVMGetConstOpcode(v), depth) : nothing;
}

static struct known_value argument(const struct scope *s, LLVMValueRef v)
{
	uint64_t value;

	for (uint32_t i = 0; i < s->function->parameters; i++) {
		if (LLVMGetParam(s->function->ref, i) != v)
			continue;
		if (!s->frame)
			return s->argument[i];
		return frame_get(s->frame, frame_argument(s->frame, i), &value) ? just(value) : nothing;
	}
	return nothing;
}

static struct known_value instruction(const struct scope *s, LLVMValueRef v, unsigned depth)
{
	uint32_t slot = map_get(&s->bound, (uintptr_t)v), ordinal;
	uint64_t value;

	if (slot)
		return s->value[slot - 1];
	ordinal = unit_ordinal(s->function->unit, v);
	if (s->frame && ordinal && frame_get(s->frame, ordinal - s->function->first, &value))
		return just(value);
	if (LLVMGetInstructionOpcode(v) == LLVMAlloca)
		return (struct known_value){KNOWN_OWN, 0};
	return work_out(s, v, LLVMGetInstructionOpcode(v), depth);
}

static struct known_value find(const struct scope *s, LLVMValueRef v, unsigned depth)
{
	if (!depth)
		return nothing;
	if (LLVMIsAInstruction(v))
		return instruction(s, v, depth - 1);
	if (LLVMIsAArgument(v))
		return argument(s, v);
	return LLVMIsAConstant(v) ? constant(s, v, depth - 1) : nothing;
}

struct known_value resolve(const struct scope *s, LLVMValueRef value)
{
	return find(s, value, DEPTH);
}

/* The sum of an address computation whose indices are all constants. */
static bool constant_offset(const struct unit *u, LLVMValueRef gep, int64_t *sum)
{
	LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(gep, 0));

	if (LLVMGetTypeKind(type) != LLVMPointerTypeKind)
		return false;
	for (int i = 1; i < LLVMGetNumOperands(gep); i++) {
		LLVMValueRef index = LLVMGetOperand(gep, (unsigned)i);

		if (!LLVMIsAConstantInt(index))
			return false;
		if (LLVMGetTypeKind(type) == LLVMStructTypeKind) {
			*sum += (int64_t)LLVMOffsetOfElement(u->layout, type, (unsigned)LLVMConstIntGetZExtValue(index));
			type = LLVMStructGetTypeAtIndex(type, (unsigned)LLVMConstIntGetZExtValue(index));
		} else {
			type = LLVMGetElementType(type);
			*sum += LLVMConstIntGetSExtValue(index) * (int64_t)LLVMABISizeOfType(u->layout, type);
		}
	}
	return true;
}

LLVMValueRef resolve_base(const struct unit *u, LLVMValueRef pointer, int64_t *offset)
{
	*offset = 0;
	for (unsigned i = 0; i < DEPTH; i++) {
		bool gep = LLVMIsAGetElementPtrInst(pointer), other = LLVMIsABitCastInst(pointer);
		int64_t sum = 0;

		if (!gep && !other)
			break;
		if (gep && !constant_offset(u, pointer, &sum))
			break;
		*offset += sum;
		pointer = LLVMGetOperand(pointer, 0);
	}
	return pointer;
}
