/* SPDX-License-Identifier: MIT */
#include "flow.h"

#include "base/hash.h"
#include "symbolic/follow.h"

/* A value goes so many calls deep, and is followed to so many uses. */
enum { FLOW_DEPTH = 3, FLOW_USES = 4000, FLOW_CALLERS = 8 };

/* Something whose uses are to be looked at. */
struct source {
	LLVMValueRef value;
	const struct unit *unit;
	uint32_t depth;      /* calls down from the load's function */
	uint32_t activation; /* for the way out; 0: it came in by an argument and goes out where it came from */
};

struct flood {
	struct follow *follow;
	struct flow *flow;
	struct source *stack;
	size_t depth, room;
	struct map seen; /* values */
};

void flows_init(struct flows *fs, struct follow *f)
{
	*fs = (struct flows){.follow = f};
	map_init(&fs->by_load, f->arena);
}

static void push(struct flood *fl, struct source s)
{
	uint32_t *seen = map_put(&fl->seen, hash_pair((uintptr_t)s.value, s.depth));

	if (*seen || fl->flow->count > FLOW_USES)
		return;
	*seen = 1;
	fl->stack = arena_reserve(fl->follow->arena, fl->stack, &fl->room, fl->depth, sizeof *fl->stack);
	fl->stack[fl->depth++] = s;
}

static bool add_use(struct flood *fl, const struct unit *u, LLVMValueRef user)
{
	struct place p = {u->number, unit_ordinal(u, user)};
	struct flow *flow = fl->flow;
	uint32_t *known = p.ordinal ? map_put(&flow->uses, place_key(p)) : NULL;

	if (!known || *known)
		return false;
	*known = 1;
	flow->use = arena_reserve(fl->follow->arena, flow->use, &flow->room, flow->count, sizeof *flow->use);
	flow->use[flow->count++] = p;
	return true;
}

/* The local variable that a pointer is to, or NULL. */
static LLVMValueRef local_of(LLVMValueRef pointer)
{
	while (LLVMIsAGetElementPtrInst(pointer) || LLVMIsABitCastInst(pointer))
		pointer = LLVMGetOperand(pointer, 0);
	return LLVMIsAAllocaInst(pointer) ? pointer : NULL;
}

/* What is in a local variable comes out at each of its loads. */
static void through_local(struct flood *fl, struct source s, LLVMValueRef pointer)
{
	for (LLVMUseRef use = LLVMGetFirstUse(pointer); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		if (LLVMIsALoadInst(user))
			push(fl, (struct source){user, s.unit, s.depth, s.activation});
		else if (LLVMIsAGetElementPtrInst(user) || LLVMIsABitCastInst(user))
			through_local(fl, s, user);
	}
}

static void into_callee(struct flood *fl, struct source s, LLVMValueRef call)
{
	LLVMValueRef called = unit_called(call);
	struct unit_function *body =
		LLVMIsAFunction(called) ? units_body(fl->follow->units, s.unit, called) : NULL;

	push(fl, (struct source){call, s.unit, s.depth, s.activation});
	if (!body || s.depth == FLOW_DEPTH)
		return;
	for (unsigned i = 0; i < (unsigned)LLVMGetNumArgOperands(call) && i < body->parameters; i++)
		if (LLVMGetOperand(call, i) == s.value)
			push(fl, (struct source){LLVMGetParam(body->ref, i), body->unit, s.depth + 1, 0});
}

/* The result of a function is what calls of it in its caller are. */
static void out_to_caller(struct flood *fl, struct source s)
{
	struct activation *own = follow_activation(fl->follow, s.activation);
	uint32_t below = s.activation ? own->below : 0;
	struct unit_function *caller = below ? follow_activation(fl->follow, below)->function : NULL;

	for (uint32_t i = 0; caller && i < caller->count; i++) {
		LLVMValueRef at = unit_value(caller->unit, caller->first + i);
		LLVMValueRef called = LLVMIsACallInst(at) ? unit_called(at) : NULL;

		if (called && LLVMIsAFunction(called) && units_body(fl->follow->units, caller->unit, called) == own->function)
			push(fl, (struct source){at, caller->unit, s.depth, below});
	}
}

static void use_of(struct flood *fl, struct source s, LLVMValueRef user)
{
	LLVMValueRef local;

	if (!add_use(fl, s.unit, user) && !LLVMIsAPHINode(user))
		return;
	if (LLVMIsAStoreInst(user)) {
		local = LLVMGetOperand(user, 0) == s.value ? local_of(LLVMGetOperand(user, 1)) : NULL;
		if (local)
			through_local(fl, s, local);
	} else if (LLVMIsACallInst(user)) {
		into_callee(fl, s, user);
	} else if (LLVMIsAReturnInst(user)) {
		out_to_caller(fl, s);
	} else if (!LLVMIsALoadInst(user)) {
		push(fl, (struct source){user, s.unit, s.depth, s.activation});
	}
}

static struct flow *flood(struct follow *f, struct place load, uint32_t activation)
{
	struct unit *u = &f->units->at[load.unit];
	struct flood fl = {.follow = f, .flow = arena_alloc(f->arena, sizeof *fl.flow)};

	map_init(&fl.flow->uses, f->arena);
	map_init(&fl.seen, f->arena);
	push(&fl, (struct source){unit_value(u, load.ordinal), u, 0, activation});
	while (fl.depth) {
		struct source s = fl.stack[--fl.depth];

		for (LLVMUseRef use = LLVMGetFirstUse(s.value); use; use = LLVMGetNextUse(use))
			use_of(&fl, s, LLVMGetUser(use));
	}
	return fl.flow;
}

/* Which callers there are decides where results go. */
static uint64_t key_of(struct follow *f, struct place load, uint32_t activation)
{
	uint64_t key = hash_word(place_key(load));

	for (unsigned i = 0; activation && i < FLOW_CALLERS; i++) {
		struct activation *a = follow_activation(f, activation);

		key = hash_pair(key, (uintptr_t)a->function);
		activation = a->below;
	}
	return key;
}

const struct flow *flow_of(struct flows *fs, struct place load, uint32_t activation)
{
	uint32_t *slot = map_put(&fs->by_load, key_of(fs->follow, load, activation));

	if (!*slot) {
		fs->at = arena_reserve(fs->follow->arena, fs->at, &fs->room, fs->count, sizeof *fs->at);
		fs->at[fs->count++] = flood(fs->follow, load, activation);
		*slot = (uint32_t)fs->count;
	}
	return fs->at[*slot - 1];
}
