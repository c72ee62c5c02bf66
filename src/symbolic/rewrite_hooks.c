/* SPDX-License-Identifier: MIT */
/*
 * The hooks of -fsanitize=thread, where LLVM's own pass puts them: before each load and store but those of constants
 * and of variables of the frame whose address nobody else has; in place of each atomic operation; at entry and exit.
 */
#include "rewrite.h"

#include <stdio.h>
#include <string.h>

static LLVMValueRef address_operand(LLVMValueRef i)
{
	return LLVMGetOperand(i, LLVMGetInstructionOpcode(i) == LLVMStore ? 1 : 0);
}

static LLVMTypeRef accessed_type(LLVMValueRef i)
{
	return LLVMGetInstructionOpcode(i) == LLVMStore ? LLVMTypeOf(LLVMGetOperand(i, 0)) : LLVMTypeOf(i);
}

/* What the address is within. */
static LLVMValueRef object_of(LLVMValueRef address)
{
	while (LLVMIsAGetElementPtrInst(address) || LLVMIsABitCastInst(address) ||
		(LLVMIsAConstantExpr(address) && (LLVMGetConstOpcode(address) == LLVMGetElementPtr ||
			LLVMGetConstOpcode(address) == LLVMBitCast)))
		address = LLVMGetOperand(address, 0);
	return address;
}

/* Intrinsics that look at memory and keep no address. */
static bool keeps_no_address(LLVMValueRef user)
{
	static const char *const prefixes[] = {"llvm.mem", "llvm.dbg.", "llvm.lifetime."};
	LLVMValueRef callee = LLVMIsACallInst(user) ? LLVMGetCalledValue(user) : NULL;
	const char *name = callee && LLVMIsAFunction(callee) ? LLVMGetValueName(callee) : "";

	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

static bool is_captured(LLVMValueRef address, unsigned depth)
{
	for (LLVMUseRef u = LLVMGetFirstUse(address); u; u = LLVMGetNextUse(u)) {
		LLVMValueRef user = LLVMGetUser(u);

		if (LLVMIsALoadInst(user) || (LLVMIsAStoreInst(user) && LLVMGetOperand(user, 0) != address))
			continue;
		if (LLVMIsAGetElementPtrInst(user) || LLVMIsABitCastInst(user)) {
			if (!depth || is_captured(user, depth - 1))
				return true;
		} else if (!keeps_no_address(user)) {
			return true;
		}
	}
	return false;
}

bool hook_is_needed(LLVMValueRef i)
{
	LLVMOpcode op = LLVMGetInstructionOpcode(i);
	LLVMValueRef object;

	if ((op != LLVMLoad && op != LLVMStore) || LLVMGetPointerAddressSpace(LLVMTypeOf(address_operand(i))))
		return false;
	object = object_of(address_operand(i));
	if (op == LLVMLoad && LLVMIsAGlobalVariable(object) && LLVMIsGlobalConstant(object))
		return false;
	return !LLVMIsAAllocaInst(object) || is_captured(object, 16);
}

static LLVMValueRef as_address(struct rewrite *r, LLVMValueRef pointer)
{
	return LLVMBuildBitCast(r->at, pointer, r->address, "");
}

static void call_range(struct rewrite *r, LLVMValueRef i, unsigned long long bytes, bool writes)
{
	struct callee c = declare(r, writes ? "__tsan_write_range" : "__tsan_read_range", "v", "pl");
	LLVMValueRef arguments[] = {as_address(r, address_operand(i)), number64(r, bytes)};

	LLVMBuildCall2(r->at, c.type, c.function, arguments, 2, "");
}

void hook_access(struct body *b, LLVMValueRef i)
{
	struct rewrite *r = b->r;
	unsigned long long bytes = LLVMStoreSizeOfType(r->layout, accessed_type(i));
	unsigned alignment = LLVMGetAlignment(i);
	bool writes = LLVMGetInstructionOpcode(i) == LLVMStore, aligned = alignment >= 8 || alignment % bytes == 0;
	char name[64];
	struct callee c;
	LLVMValueRef address;

	if (!bytes)
		return;
	if (bytes > 16 || (bytes & (bytes - 1))) {
		call_range(r, i, bytes, writes);
		return;
	}
	snprintf(name, sizeof name, "__tsan_%s%s%s%llu", aligned ? "" : "unaligned_", LLVMGetVolatile(i) ? "volatile_" : "",
		writes ? "write" : "read", bytes);
	c = declare(r, name, "v", "p");
	address = as_address(r, address_operand(i));
	LLVMBuildCall2(r->at, c.type, c.function, &address, 1, "");
}

void hook_entry(struct body *b)
{
	struct rewrite *r = b->r;
	struct callee where = declare(r, "llvm.returnaddress", "p", "i"), c = declare(r, "__tsan_func_entry", "v", "p");
	LLVMValueRef address = LLVMBuildCall2(r->at, where.type, where.function, &r->none, 1, "");

	LLVMBuildCall2(r->at, c.type, c.function, &address, 1, "");
}

void hook_exit(struct body *b)
{
	struct callee c = declare(b->r, "__tsan_func_exit", "v", "");

	LLVMBuildCall2(b->r->at, c.type, c.function, NULL, 0, "");
}

/* Atomics. */

/* As __ATOMIC_RELAXED and so on. */
static uint32_t order_of(LLVMAtomicOrdering ordering)
{
	switch (ordering) {
	case LLVMAtomicOrderingAcquire: return __ATOMIC_ACQUIRE;
	case LLVMAtomicOrderingRelease: return __ATOMIC_RELEASE;
	case LLVMAtomicOrderingAcquireRelease: return __ATOMIC_ACQ_REL;
	case LLVMAtomicOrderingSequentiallyConsistent: return __ATOMIC_SEQ_CST;
	default: return __ATOMIC_RELAXED;
	}
}

static const char *rmw_name(LLVMAtomicRMWBinOp op)
{
	switch (op) {
	case LLVMAtomicRMWBinOpXchg: return "exchange";
	case LLVMAtomicRMWBinOpAdd: return "fetch_add";
	case LLVMAtomicRMWBinOpSub: return "fetch_sub";
	case LLVMAtomicRMWBinOpAnd: return "fetch_and";
	case LLVMAtomicRMWBinOpNand: return "fetch_nand";
	case LLVMAtomicRMWBinOpOr: return "fetch_or";
	case LLVMAtomicRMWBinOpXor: return "fetch_xor";
	default: return NULL; /* nothing that C has: no hook, as everywhere */
	}
}

static bool has_ordering(LLVMValueRef i)
{
	return LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic;
}

bool atomic_is(LLVMValueRef i)
{
	switch (LLVMGetInstructionOpcode(i)) {
	case LLVMLoad:
	case LLVMStore: return has_ordering(i) && !LLVMIsAtomicSingleThread(i);
	case LLVMFence: return true;
	case LLVMAtomicCmpXchg: return !LLVMIsAtomicSingleThread(i);
	case LLVMAtomicRMW: return !LLVMIsAtomicSingleThread(i) && rmw_name(LLVMGetAtomicRMWBinOp(i));
	default: return false;
	}
}

/* An atomic operation as a call of its hook. */
struct atomic {
	struct body *b;
	LLVMValueRef instruction, address;
	LLVMTypeRef type;   /* of the value */
	LLVMTypeRef number; /* an integer of its size */
	unsigned bits;
};

static LLVMValueRef to_number(const struct atomic *a, LLVMValueRef v)
{
	LLVMBuilderRef at = a->b->r->at;

	return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind ? LLVMBuildPtrToInt(at, v, a->number, "") :
		LLVMBuildBitCast(at, v, a->number, "");
}

static LLVMValueRef from_number(const struct atomic *a, LLVMValueRef v)
{
	LLVMBuilderRef at = a->b->r->at;

	return LLVMGetTypeKind(a->type) == LLVMPointerTypeKind ? LLVMBuildIntToPtr(at, v, a->type, "") :
		LLVMBuildBitCast(at, v, a->type, "");
}

/* The hook __tsan_atomicN_<what>(address, values..., orders...). */
static LLVMValueRef call_atomic(const struct atomic *a, const char *what, LLVMValueRef *arguments, unsigned n)
{
	struct rewrite *r = a->b->r;
	LLVMTypeRef types[5], result = strcmp(what, "store") == 0 ? r->nothing : a->number, type;
	LLVMValueRef function;
	char name[64];

	for (unsigned i = 0; i < n; i++)
		types[i] = LLVMTypeOf(arguments[i]);
	snprintf(name, sizeof name, "__tsan_atomic%u_%s", a->bits, what);
	type = LLVMFunctionType(result, types, n, false);
	function = LLVMGetNamedFunction(r->module, name);
	if (!function)
		function = LLVMAddFunction(r->module, name, type);
	return LLVMBuildCall2(r->at, type, function, arguments, n, "");
}

static LLVMValueRef order_number(const struct atomic *a, LLVMAtomicOrdering o)
{
	return number32(a->b->r, order_of(o));
}

static LLVMValueRef number_pointer(const struct atomic *a)
{
	return LLVMBuildBitCast(a->b->r->at, a->address, LLVMPointerType(a->number, 0), "");
}

/* The value that the instruction had is that one now, and so is its shadow. */
static void replace(const struct atomic *a, LLVMValueRef with)
{
	struct rewrite *r = a->b->r;
	struct note n = *note_of(r, a->instruction);

	*note_of(r, with) = n;
	LLVMReplaceAllUsesWith(a->instruction, with);
}

static void replace_load(const struct atomic *a)
{
	LLVMValueRef i = a->instruction;
	LLVMValueRef v = call_atomic(a, "load", (LLVMValueRef[]){number_pointer(a), order_number(a, LLVMGetOrdering(i))}, 2);
	LLVMBasicBlockRef after;

	v = from_number(a, v);
	replace(a, v);
	shadow_none(a->b, v);
	after = piece_begin(a->b);
	shadow_load(a->b, v, a->address);
	piece_end(a->b, after);
}

static void replace_store(const struct atomic *a)
{
	LLVMValueRef i = a->instruction, value = LLVMGetOperand(i, 0);
	LLVMBasicBlockRef after;

	call_atomic(a, "store", (LLVMValueRef[]){number_pointer(a), to_number(a, value),
		order_number(a, LLVMGetOrdering(i))}, 3);
	after = piece_begin(a->b);
	shadow_store(a->b, i, a->address, value);
	piece_end(a->b, after);
}

/* What is in memory behind it: a value without a name, of that expression. */
static void store_expr(const struct atomic *a, LLVMValueRef value, LLVMValueRef expr)
{
	struct rewrite *r = a->b->r;
	LLVMValueRef high = LLVMBuildShl(r->at, LLVMBuildZExt(r->at, expr, r->i64, ""), number64(r, 32), "");

	call_walk(a->b, CALL_STORE, (LLVMValueRef[]){site_of(a->b, note_of(r, a->instruction)->ordinal),
		word_of(a->b, a->address), LLVMBuildOr(r->at, high, number64(r, a->bits), ""), word_of(a->b, value)});
}

static LLVMValueRef rmw_result(struct rewrite *r, LLVMAtomicRMWBinOp op, LLVMValueRef old, LLVMValueRef with)
{
	switch (op) {
	case LLVMAtomicRMWBinOpAdd: return LLVMBuildAdd(r->at, old, with, "");
	case LLVMAtomicRMWBinOpSub: return LLVMBuildSub(r->at, old, with, "");
	case LLVMAtomicRMWBinOpAnd: return LLVMBuildAnd(r->at, old, with, "");
	case LLVMAtomicRMWBinOpNand: return LLVMBuildNot(r->at, LLVMBuildAnd(r->at, old, with, ""), "");
	case LLVMAtomicRMWBinOpOr: return LLVMBuildOr(r->at, old, with, "");
	case LLVMAtomicRMWBinOpXor: return LLVMBuildXor(r->at, old, with, "");
	default: return with;
	}
}

static LLVMValueRef rmw_expr(struct body *b, LLVMAtomicRMWBinOp op, LLVMValueRef old, LLVMValueRef with)
{
	switch (op) {
	case LLVMAtomicRMWBinOpAdd: return shadow_binary(b, WALK_ADD, old, with);
	case LLVMAtomicRMWBinOpSub: return shadow_binary(b, WALK_SUB, old, with);
	case LLVMAtomicRMWBinOpAnd: return shadow_binary(b, WALK_AND, old, with);
	case LLVMAtomicRMWBinOpOr: return shadow_binary(b, WALK_OR, old, with);
	case LLVMAtomicRMWBinOpXor: return shadow_binary(b, WALK_XOR, old, with);
	case LLVMAtomicRMWBinOpXchg: return expr_of(b, with);
	default: return b->r->none;
	}
}

static void replace_rmw(const struct atomic *a)
{
	LLVMValueRef i = a->instruction, with = LLVMGetOperand(i, 1), old;
	LLVMAtomicRMWBinOp op = LLVMGetAtomicRMWBinOp(i);
	LLVMBasicBlockRef after;

	old = call_atomic(a, rmw_name(op), (LLVMValueRef[]){number_pointer(a), to_number(a, with),
		order_number(a, LLVMGetOrdering(i))}, 3);
	old = from_number(a, old);
	replace(a, old);
	if (!width_of(old))
		return;
	shadow_none(a->b, old);
	after = piece_begin(a->b);
	shadow_load(a->b, old, a->address);
	store_expr(a, rmw_result(a->b->r, op, old, with), rmw_expr(a->b, op, old, with));
	piece_end(a->b, after);
}

/* The first half of a pair, as a value. */
static void shadow_share(struct rewrite *r, LLVMValueRef v, LLVMValueRef pair)
{
	struct note n = *note_of(r, pair);

	n.second = NULL;
	*note_of(r, v) = n;
}

/* The pair of the old value and of whether it was what was expected. */
static void replace_cmpxchg(const struct atomic *a)
{
	struct rewrite *r = a->b->r;
	LLVMValueRef i = a->instruction, expected = LLVMGetOperand(i, 1), with = LLVMGetOperand(i, 2);
	LLVMValueRef number, old, done, pair;
	LLVMBasicBlockRef after, swapped;

	expected = to_number(a, expected);
	number = call_atomic(a, "compare_exchange_val", (LLVMValueRef[]){number_pointer(a), expected, to_number(a, with),
		order_number(a, LLVMGetCmpXchgSuccessOrdering(i)), order_number(a, LLVMGetCmpXchgFailureOrdering(i))}, 5);
	done = LLVMBuildICmp(r->at, LLVMIntEQ, number, expected, "");
	old = from_number(a, number);
	pair = LLVMBuildInsertValue(r->at, LLVMGetUndef(LLVMTypeOf(i)), old, 0, "");
	pair = LLVMBuildInsertValue(r->at, pair, done, 1, "");
	replace(a, pair);
	if (!note_of(r, pair)->shadow)
		return;
	shadow_share(r, old, pair);
	shadow_none(a->b, pair);
	after = piece_begin(a->b);
	shadow_load(a->b, old, a->address);
	half_set(a->b, pair, 1, shadow_binary(a->b, WALK_EQ, old, LLVMGetOperand(i, 1)));
	swapped = piece_if(a->b, LLVMBuildZExt(r->at, done, r->i32, ""));
	store_expr(a, with, expr_of(a->b, with));
	piece_end(a->b, swapped);
	piece_end(a->b, after);
}

static void replace_fence(const struct atomic *a)
{
	struct rewrite *r = a->b->r;
	struct callee c = declare(r, LLVMIsAtomicSingleThread(a->instruction) ? "__tsan_atomic_signal_fence" :
		"__tsan_atomic_thread_fence", "v", "i");
	LLVMValueRef order = order_number(a, LLVMGetOrdering(a->instruction));

	LLVMBuildCall2(r->at, c.type, c.function, &order, 1, "");
}

static LLVMTypeRef atomic_type(LLVMValueRef i)
{
	switch (LLVMGetInstructionOpcode(i)) {
	case LLVMLoad: return LLVMTypeOf(i);
	case LLVMStore: return LLVMTypeOf(LLVMGetOperand(i, 0));
	default: return LLVMTypeOf(LLVMGetOperand(i, 1));
	}
}

void atomic_replace(struct body *b, LLVMValueRef i)
{
	LLVMOpcode op = LLVMGetInstructionOpcode(i);
	struct atomic a = {.b = b, .instruction = i};

	if (op != LLVMFence) {
		a.address = address_operand(i);
		a.type = atomic_type(i);
		a.bits = (unsigned)LLVMStoreSizeOfType(b->r->layout, a.type) * 8;
		a.number = LLVMIntTypeInContext(b->r->context, a.bits);
	}
	switch (op) {
	case LLVMLoad: replace_load(&a); break;
	case LLVMStore: replace_store(&a); break;
	case LLVMAtomicRMW: replace_rmw(&a); break;
	case LLVMAtomicCmpXchg: replace_cmpxchg(&a); break;
	default: replace_fence(&a); break;
	}
	LLVMInstructionEraseFromParent(i);
}
