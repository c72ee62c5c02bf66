/* SPDX-License-Identifier: MIT */
/* A function, block by block: moves its instructions and puts the hooks' and the shadows' code among them. */
#include "rewrite.h"

#include <string.h>

LLVMValueRef site_of(struct body *b, uint32_t ordinal)
{
	struct rewrite *r = b->r;

	return LLVMBuildOr(r->at, LLVMBuildLoad2(r->at, r->i64, r->unit, ""), number64(r, ordinal), "");
}

LLVMValueRef call_walk(struct body *b, enum rewrite_call which, LLVMValueRef *arguments)
{
	struct callee *c = &b->r->calls[which];

	return LLVMBuildCall2(b->r->at, c->type, c->function, arguments, LLVMCountParamTypes(c->type), "");
}

/* Blocks are put where the old one is, so that what belongs together stays together. */
static LLVMBasicBlockRef new_block(struct body *b, LLVMBasicBlockRef before)
{
	return LLVMInsertBasicBlockInContext(b->r->context, before, "");
}

static void go_to(struct body *b, LLVMBasicBlockRef block)
{
	b->now = block;
	LLVMPositionBuilderAtEnd(b->r->at, block);
}

/* "This is hardly ever so": what a branch is told. */
static void mark_unlikely(struct rewrite *r, LLVMValueRef branch)
{
	LLVMMetadataRef parts[] = {
		LLVMMDStringInContext2(r->context, "branch_weights", strlen("branch_weights")),
		LLVMValueAsMetadata(number32(r, 1)),
		LLVMValueAsMetadata(number32(r, 2000)),
	};
	unsigned kind = LLVMGetMDKindIDInContext(r->context, "prof", strlen("prof"));

	LLVMSetMetadata(branch, kind, LLVMMetadataAsValue(r->context, LLVMMDNodeInContext2(r->context, parts, 3)));
}

/* Goes on in a new block if the condition holds, and in another one, which is returned, if not or later. */
static LLVMBasicBlockRef split(struct body *b, LLVMValueRef condition, bool is_unlikely)
{
	LLVMBasicBlockRef last = LLVMGetNextBasicBlock(b->now), piece, after;
	LLVMValueRef branch;

	after = last ? new_block(b, last) : LLVMAppendBasicBlockInContext(b->r->context, b->function, "");
	piece = new_block(b, after);
	branch = LLVMBuildCondBr(b->r->at, condition, piece, after);
	if (is_unlikely)
		mark_unlikely(b->r, branch);
	go_to(b, piece);
	return after;
}

/* Volatile: each piece asks anew, so that no optimisation makes two copies of a hook, one for each answer. */
LLVMBasicBlockRef piece_begin(struct body *b)
{
	struct rewrite *r = b->r;
	LLVMValueRef on;

	for (size_t i = 0; i < b->pending_count; i++)
		shadow_none(b, b->pending[i]);
	on = LLVMBuildLoad2(r->at, r->i8, r->on, "");
	LLVMSetVolatile(on, true);
	return split(b, LLVMBuildICmp(r->at, LLVMIntNE, on, LLVMConstInt(r->i8, 0, false), ""), true);
}

LLVMBasicBlockRef piece_if(struct body *b, LLVMValueRef number)
{
	return split(b, LLVMBuildICmp(b->r->at, LLVMIntNE, number, b->r->none, ""), true);
}

void piece_end(struct body *b, LLVMBasicBlockRef after)
{
	LLVMBuildBr(b->r->at, after);
	go_to(b, after);
}

static void add_pending(struct body *b, LLVMValueRef i)
{
	if (!shadow_is_needed(b, i))
		return;
	b->pending = arena_reserve(&b->r->arena, b->pending, &b->pending_capacity, b->pending_count, sizeof *b->pending);
	b->pending[b->pending_count++] = i;
}

/* What only computes, one behind the other, is one group. */
static size_t group_at(const struct body *b, size_t from)
{
	size_t n = 0;

	while (from + n < b->pending_count && shadow_is_computed(b->pending[from + n]))
		n++;
	return n;
}

void shadow_pending(struct body *b)
{
	LLVMMetadataRef place = LLVMGetCurrentDebugLocation2(b->r->at);
	size_t n;

	for (size_t i = 0; i < b->pending_count; i += n) {
		LLVMSetCurrentDebugLocation2(b->r->at, LLVMInstructionGetDebugLoc(b->pending[i]));
		n = group_at(b, i);
		if (n) {
			shadow_group(b, b->pending + i, n);
		} else {
			shadow_of(b, b->pending[i]);
			n = 1;
		}
	}
	b->pending_count = 0;
	LLVMSetCurrentDebugLocation2(b->r->at, place);
}

void flush(struct body *b)
{
	LLVMBasicBlockRef after;

	if (!b->pending_count)
		return;
	after = piece_begin(b);
	shadow_pending(b);
	piece_end(b, after);
}

static void move(struct body *b, LLVMValueRef i)
{
	LLVMInstructionRemoveFromParent(i);
	LLVMSetCurrentDebugLocation2(b->r->at, LLVMInstructionGetDebugLoc(i));
	LLVMInsertIntoBuilder(b->r->at, i);
}

/* All who come to the block come to the new one, which is before it, and empty. The terminator stays. */
static void begin_block(struct body *b, LLVMBasicBlockRef block)
{
	LLVMValueRef last = LLVMGetBasicBlockTerminator(block);
	LLVMBasicBlockRef front;

	/* Without a terminator the block has no successors whose phis would be told. */
	LLVMInstructionRemoveFromParent(last);
	front = new_block(b, block);
	LLVMReplaceAllUsesWith(LLVMBasicBlockAsValue(block), LLVMBasicBlockAsValue(front));
	LLVMPositionBuilderAtEnd(b->r->at, block);
	LLVMSetCurrentDebugLocation2(b->r->at, LLVMInstructionGetDebugLoc(last));
	LLVMInsertIntoBuilder(b->r->at, last);
	go_to(b, front);
}

static bool is_head(LLVMValueRef i, bool in_entry)
{
	LLVMOpcode op = LLVMGetInstructionOpcode(i);

	return op == LLVMPHI || op == LLVMLandingPad || (in_entry && op == LLVMAlloca);
}

static bool is_join(LLVMBasicBlockRef block)
{
	LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block));

	return use && LLVMGetNextUse(use);
}

static void enter(struct body *b)
{
	struct rewrite *r = b->r;
	LLVMValueRef function = LLVMBuildPtrToInt(r->at, b->function, r->i64, "");
	LLVMValueRef passed = call_walk(b, CALL_ENTER, (LLVMValueRef[]){site_of(b, b->ordinal), function});

	for (unsigned i = 0; i < LLVMCountParams(b->function); i++) {
		LLVMValueRef p = LLVMGetParam(b->function, i), number;

		if (!width_of(p))
			continue;
		number = LLVMBuildOr(r->at, LLVMBuildZExt(r->at, passed, r->i64, ""), number64(r, (uint64_t)i << 32), "");
		shadow_set(b, p, call_walk(b, CALL_ARGUMENT,
			(LLVMValueRef[]){site_of(b, b->ordinal), number, number32(r, width_of(p)), word_of(b, p)}));
	}
}

/* What comes first in a block: what its edges have brought. */
static void begin_shadows(struct body *b, uint32_t join)
{
	LLVMBasicBlockRef after;

	if (!b->pending_count && !join)
		return;
	after = piece_begin(b);
	shadow_pending(b);
	if (join)
		call_walk(b, CALL_BLOCK, (LLVMValueRef[]){site_of(b, join)});
	piece_end(b, after);
}

/* The first real place in the function: where it begins, for a debugger. */
static void place_at_start(struct body *b)
{
	LLVMMetadataRef place = NULL;

	for (LLVMBasicBlockRef block = b->entry; block && !place; block = LLVMGetNextBasicBlock(block))
		for (LLVMValueRef i = LLVMGetFirstInstruction(block); i && !place; i = LLVMGetNextInstruction(i))
			place = LLVMInstructionGetDebugLoc(i);
	LLVMSetCurrentDebugLocation2(b->r->at, place);
}

/* What was on the stack before says nothing about the variables of this frame. */
static void begin_variables(struct body *b)
{
	for (LLVMValueRef i = LLVMGetFirstInstruction(b->entry); i; i = LLVMGetNextInstruction(i)) {
		uint64_t bytes;

		if (!LLVMIsAAllocaInst(i) || !note_of(b->r, i)->ordinal || !LLVMIsAConstantInt(LLVMGetOperand(i, 0)))
			continue;
		bytes = LLVMABISizeOfType(b->r->layout, LLVMGetAllocatedType(i));
		bytes *= LLVMConstIntGetZExtValue(LLVMGetOperand(i, 0));
		call_walk(b, CALL_FRESH, (LLVMValueRef[]){word_of(b, i), number64(b->r, bytes)});
	}
}

static void begin_function(struct body *b)
{
	LLVMBasicBlockRef after;

	place_at_start(b);
	for (unsigned i = 0; i < LLVMCountParams(b->function); i++)
		shadow_none(b, LLVMGetParam(b->function, i));
	if (b->framed)
		hook_entry(b);
	after = piece_begin(b);
	enter(b);
	begin_variables(b);
	piece_end(b, after);
}

/* Phis, allocations of the frame, landing pads: nothing may come before. */
static void do_head(struct body *b, LLVMBasicBlockRef block, bool is_entry)
{
	LLVMValueRef next, i = LLVMGetFirstInstruction(block);
	uint32_t join = !is_entry && is_join(b->now) ? note_of(b->r, i)->ordinal : 0;

	for (; is_head(i, is_entry); i = next) {
		next = LLVMGetNextInstruction(i);
		move(b, i);
		add_pending(b, i);
	}
	if (is_entry)
		begin_function(b);
	else
		begin_shadows(b, join);
}

static void do_instruction(struct body *b, LLVMValueRef i)
{
	LLVMSetCurrentDebugLocation2(b->r->at, LLVMInstructionGetDebugLoc(i));
	if (LLVMGetInstructionOpcode(i) == LLVMCall) {
		call_rewrite(b, i);
	} else if (atomic_is(i)) {
		flush(b);
		atomic_replace(b, i);
	} else {
		if (b->hooked && hook_is_needed(i)) {
			flush(b);
			hook_access(b, i);
		}
		LLVMInstructionRemoveFromParent(i);
		LLVMInsertIntoBuilder(b->r->at, i);
		add_pending(b, i);
	}
}

/* What the phis behind the block get from it; or that it is nothing. */
static void set_incoming(struct body *b, LLVMBasicBlockRef from, LLVMBasicBlockRef to, bool nothing)
{
	for (LLVMValueRef i = LLVMGetFirstInstruction(to); i && LLVMIsAPHINode(i); i = LLVMGetNextInstruction(i)) {
		LLVMValueRef incoming = note_of(b->r, i)->incoming;

		if (incoming && nothing)
			LLVMBuildStore(b->r->at, b->r->none, incoming);
		for (unsigned k = 0; incoming && !nothing && k < LLVMCountIncoming(i); k++)
			if (LLVMGetIncomingBlock(i, k) == from) {
				LLVMBuildStore(b->r->at, expr_of(b, LLVMGetIncomingValue(i, k)), incoming);
				break;
			}
	}
}

static void set_all_incoming(struct body *b, LLVMBasicBlockRef from, LLVMValueRef last, bool nothing)
{
	for (unsigned i = 0; i < LLVMGetNumSuccessors(last); i++)
		set_incoming(b, from, LLVMGetSuccessor(last, i), nothing);
}

static void shadow_branch(struct body *b, LLVMValueRef last)
{
	struct rewrite *r = b->r;
	LLVMValueRef condition = LLVMIsConditional(last) ? LLVMGetCondition(last) : NULL;

	if (condition)
		call_walk(b, CALL_BRANCH, (LLVMValueRef[]){site_of(b, note_of(r, last)->ordinal), expr_of(b, condition),
			LLVMBuildZExt(r->at, condition, r->i32, "")});
}

/* A constant with the values of a switch's cases. */
static LLVMValueRef cases_of(struct rewrite *r, LLVMValueRef last, unsigned count)
{
	LLVMValueRef *values = arena_alloc(&r->arena, count * sizeof *values), all;
	LLVMTypeRef type = LLVMArrayType(r->i64, count);

	for (unsigned i = 0; i < count; i++)
		values[i] = number64(r, LLVMConstIntGetZExtValue(LLVMGetOperand(last, 2 + 2 * i)));
	all = LLVMAddGlobal(r->module, type, "fission.cases");
	LLVMSetLinkage(all, LLVMPrivateLinkage);
	LLVMSetGlobalConstant(all, true);
	LLVMSetInitializer(all, LLVMConstArray(r->i64, values, count));
	return LLVMConstBitCast(all, r->address);
}

static void shadow_switch(struct body *b, LLVMValueRef last)
{
	struct rewrite *r = b->r;
	LLVMValueRef value = LLVMGetOperand(last, 0), site, expr, above;
	unsigned count = LLVMGetNumSuccessors(last) - 1;

	if (!width_of(value))
		return;
	site = site_of(b, note_of(r, last)->ordinal);
	expr = expr_of(b, value);
	call_walk(b, CALL_SWITCH, (LLVMValueRef[]){site, expr, word_of(b, value)});
	if (!count || !has_shadow(b, value))
		return;
	above = LLVMBuildShl(r->at, LLVMBuildZExt(r->at, expr, r->i64, ""), number64(r, 32), "");
	call_walk(b, CALL_CASES, (LLVMValueRef[]){site, LLVMBuildOr(r->at, above, number64(r, count), ""),
		cases_of(r, last, count)});
}

static void shadow_return(struct body *b, LLVMValueRef last)
{
	struct rewrite *r = b->r;
	LLVMValueRef value = LLVMGetNumOperands(last) ? LLVMGetOperand(last, 0) : NULL;

	if (value && has_shadow(b, value) && is_pair(value))
		call_walk(b, CALL_SECOND, (LLVMValueRef[]){half_expr(b, value, 1)});
	call_walk(b, CALL_EXIT, (LLVMValueRef[]){site_of(b, note_of(r, last)->ordinal),
		LLVMBuildPtrToInt(r->at, b->function, r->i64, ""), value ? expr_of(b, value) : r->none});
}

static void shadow_last(struct body *b, LLVMValueRef last)
{
	switch (LLVMGetInstructionOpcode(last)) {
	case LLVMBr: shadow_branch(b, last); break;
	case LLVMSwitch: shadow_switch(b, last); break;
	case LLVMRet: shadow_return(b, last); break;
	default: break;
	}
}

static void do_last(struct body *b, LLVMBasicBlockRef block)
{
	LLVMValueRef last = LLVMGetBasicBlockTerminator(block);
	LLVMOpcode op = LLVMGetInstructionOpcode(last);
	LLVMBasicBlockRef after;

	LLVMSetCurrentDebugLocation2(b->r->at, LLVMInstructionGetDebugLoc(last));
	set_all_incoming(b, block, last, true);
	after = piece_begin(b);
	shadow_pending(b);
	shadow_last(b, last);
	set_all_incoming(b, block, last, false);
	if (op == LLVMInvoke)
		call_before(b, last);
	piece_end(b, after);
	if (b->framed && (op == LLVMRet || op == LLVMResume))
		hook_exit(b);
	LLVMBuildBr(b->r->at, block);
}

static void do_block(struct body *b, LLVMBasicBlockRef block)
{
	LLVMValueRef last, next, i;
	bool is_entry = block == b->entry;

	begin_block(b, block);
	if (is_entry)
		b->entry = b->now;
	do_head(b, block, is_entry);
	last = LLVMGetBasicBlockTerminator(block);
	for (i = LLVMGetFirstInstruction(block); i != last; i = next) {
		next = LLVMGetNextInstruction(i);
		do_instruction(b, i);
	}
	do_last(b, block);
}

/* It was said of the function, by its declaration, that it touches no memory; with hooks it does. */
static void drop_promises(LLVMValueRef function)
{
	static const char *const promises[] = {"readnone", "readonly", "writeonly", "argmemonly", "inaccessiblememonly",
		"inaccessiblemem_or_argmemonly", "nosync", "nofree", "willreturn", "speculatable", "norecurse"};

	for (size_t i = 0; i < sizeof promises / sizeof *promises; i++) {
		unsigned kind = LLVMGetEnumAttributeKindForName(promises[i], strlen(promises[i]));

		LLVMRemoveEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, kind);
		for (LLVMUseRef u = LLVMGetFirstUse(function); u; u = LLVMGetNextUse(u))
			if (LLVMIsACallInst(LLVMGetUser(u)) && LLVMGetCalledValue(LLVMGetUser(u)) == function)
				LLVMRemoveCallSiteEnumAttribute(LLVMGetUser(u), LLVMAttributeFunctionIndex, kind);
	}
}

static bool has_attribute(LLVMValueRef function, const char *name)
{
	unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));

	return LLVMGetEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, kind);
}

/* Whether it does anything that is worth being told where it was. */
static bool does_something(struct body *b)
{
	for (LLVMBasicBlockRef block = b->entry; block; block = LLVMGetNextBasicBlock(block))
		for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
			if ((LLVMIsACallInst(i) && !LLVMIsADbgInfoIntrinsic(i)) || LLVMIsAInvokeInst(i) || atomic_is(i) ||
				(b->hooked && hook_is_needed(i)))
				return true;
	return false;
}

void rewrite_function(struct rewrite *r, LLVMValueRef function)
{
	struct body b = {.r = r, .function = function, .entry = LLVMGetEntryBasicBlock(function)};
	LLVMBasicBlockRef *all;
	unsigned n = LLVMCountBasicBlocks(function);

	if (has_attribute(function, "naked"))
		return;
	drop_promises(function);
	all = arena_alloc(&r->arena, n * sizeof *all);
	LLVMGetBasicBlocks(function, all);
	b.ordinal = note_of(r, LLVMGetFirstInstruction(b.entry))->ordinal;
	b.hooked = has_attribute(function, "sanitize_thread");
	b.framed = does_something(&b);
	shadow_declare(&b);
	for (unsigned i = 0; i < n; i++)
		do_block(&b, all[i]);
}
