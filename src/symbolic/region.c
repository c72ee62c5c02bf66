/* SPDX-License-Identifier: MIT */
#include "region.h"

#include "base/hash.h"
#include "symbolic/effects.h"
#include "symbolic/follow.h"
#include "symbolic/locks.h"
#include "symbolic/postdom.h"
#include "symbolic/resolve.h"

/* Where a way has come to. */
struct tip {
	uint32_t node, hold;
	bool cut;
};

struct way_end {
	struct tip tip;
	struct known_value result; /* that is returned */
};

/* One function that is gone through, or the part of it that is the region. */
struct visit {
	struct walker *walker;
	struct scope scope;
	uint32_t stop;        /* a block, or POSTDOM_EXIT */
	uint32_t depth;
	uint64_t call;        /* tells this call from others */
	uint32_t activation;
	struct map visited;   /* (block, locks, cut) to node + 1 */
	struct way_end end[REGION_ENDS];
	size_t ends;
};

struct walker {
	struct follow *follow;
	struct region *region;
	uint32_t budget;
	struct map written;   /* variable to index + 1: what the region has put there */
	struct known_value *value;
	size_t values, room;
};

static void walk_block(struct visit *v, uint32_t block, uint32_t from, struct tip tip);
static void walk_from(struct visit *v, uint32_t block, LLVMValueRef at, struct tip tip);

/* ---- the graph ---- */

static void add_edge(struct follow *f, struct region *r, uint32_t from, uint32_t to)
{
	r->parent = arena_reserve(f->arena, r->parent, &r->parent_room, r->parents, sizeof *r->parent);
	r->parent[r->parents] = (struct region_edge){from, r->node[to].parents};
	r->node[to].parents = (uint32_t)r->parents++;
}

static uint32_t add_node(struct walker *w, enum region_kind kind, struct tip tip, struct place place)
{
	struct region *r = w->region;
	uint32_t n = (uint32_t)r->nodes++;

	r->node = arena_reserve(w->follow->arena, r->node, &r->node_room, n, sizeof *r->node);
	r->node[n] = (struct region_node){.kind = kind, .cut = tip.cut, .hold = tip.hold, .place = place};
	add_edge(w->follow, r, tip.node, n);
	return n;
}

/* ---- instructions ---- */

static struct place place_of(const struct visit *v, LLVMValueRef at)
{
	return (struct place){v->scope.function->unit->number, unit_ordinal(v->scope.function->unit, at)};
}

static void note_written(struct walker *w, uint64_t key, struct known_value value)
{
	uint32_t *slot = map_put(&w->written, key);

	if (!*slot) {
		w->value = arena_reserve(w->follow->arena, w->value, &w->room, w->values, sizeof *w->value);
		*slot = (uint32_t)++w->values;
	}
	w->value[*slot - 1] = value;
}

static struct known_value content(const struct walker *w, uint64_t key)
{
	uint32_t slot = map_get(&w->written, key);
	uint64_t value;

	if (slot)
		return w->value[slot - 1];
	if (follow_memory(w->follow, key, &value))
		return (struct known_value){KNOWN_VALUE, value};
	return (struct known_value){KNOWN_NOT, 0};
}

static LLVMValueRef accessed(LLVMValueRef at, bool *write)
{
	*write = !LLVMIsALoadInst(at);
	if (LLVMIsAStoreInst(at))
		return LLVMGetOperand(at, 1);
	if (LLVMIsALoadInst(at) || LLVMIsAAtomicRMWInst(at) || LLVMIsAAtomicCmpXchgInst(at))
		return LLVMGetOperand(at, 0);
	return NULL;
}

static bool is_word(LLVMTypeRef type)
{
	LLVMTypeKind kind = LLVMGetTypeKind(type);

	return (kind == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) <= 64) || kind == LLVMPointerTypeKind;
}

static void walk_access(struct visit *v, LLVMValueRef at, struct tip *tip)
{
	struct walker *w = v->walker;
	bool write, local;
	LLVMValueRef pointer = accessed(at, &write);
	struct known_value address = resolve(&v->scope, pointer);
	uint64_t key;

	w->region->known += address.known != KNOWN_NOT;
	w->region->unknown += address.known == KNOWN_NOT;
	if (address.known != KNOWN_VALUE)
		return;
	key = follow_key(w->follow, address.value, w->region->thread, &local);
	if (LLVMIsALoadInst(at) && is_word(LLVMTypeOf(at)))
		scope_bind(&v->scope, at, content(w, key));
	if (LLVMIsAStoreInst(at))
		note_written(w, key, resolve(&v->scope, LLVMGetOperand(at, 0)));
	if (local)
		return;
	tip->node = add_node(w, write ? REGION_WRITE : REGION_READ, *tip, place_of(v, at));
	w->region->node[tip->node].key = key;
	w->region->node[tip->node].activation = v->activation;
}

/* An operand as its callers have it, as long as it is only passed on. */
static LLVMValueRef passed(const struct scope *s, LLVMValueRef value)
{
	for (; LLVMIsAArgument(value) && s->caller; s = s->caller) {
		uint32_t i = 0;

		while (i < s->function->parameters && LLVMGetParam(s->function->ref, i) != value)
			i++;
		if (i >= (uint32_t)LLVMGetNumArgOperands(s->call))
			break;
		value = LLVMGetOperand(s->call, i);
	}
	return value;
}

static void walk_lock(struct visit *v, LLVMValueRef call, const struct effect_of *effect, struct tip *tip)
{
	struct holds *h = &v->walker->follow->holds;
	LLVMValueRef operand = LLVMGetOperand(call, effect->argument);
	struct known_value address = resolve(&v->scope, operand);
	struct held_lock lock = {.acquisition = HOLDS_SUPPOSED | hash_pair(place_key(place_of(v, call)), v->call),
		.shared = effect->what == EFFECT_LOCK_SHARED};

	if (address.known == KNOWN_OWN)
		return;
	lock.address = address.known == KNOWN_VALUE ? address.value : 0;
	lock.class = lock_class(passed(&v->scope, operand));
	if (effect->what == EFFECT_UNLOCK || effect->what == EFFECT_WAIT)
		tip->hold = holds_give(h, tip->hold, &lock);
	if (effect->what != EFFECT_UNLOCK)
		tip->hold = holds_take(h, tip->hold, &lock);
}

static void walk_cut(struct visit *v, LLVMValueRef call, struct tip *tip)
{
	tip->node = add_node(v->walker, REGION_CUT, *tip, place_of(v, call));
	tip->cut = true;
}

static void walk_outside(struct visit *v, LLVMValueRef call, LLVMValueRef called, struct tip *tip)
{
	const struct effect_of *effect = effect_of(LLVMGetValueName(called));

	switch (effect->what) {
	case EFFECT_LOCK: case EFFECT_LOCK_SHARED: case EFFECT_UNLOCK: case EFFECT_WAIT:
		if ((unsigned)LLVMGetNumArgOperands(call) > effect->argument)
			walk_lock(v, call, effect, tip);
		if (effect->what == EFFECT_WAIT)
			walk_cut(v, call, tip);
		break;
	case EFFECT_CUT:
		walk_cut(v, call, tip);
		break;
	case EFFECT_FRESH:
		scope_bind(&v->scope, call, (struct known_value){KNOWN_OWN, 0});
		break;
	default:
		break;
	}
}

static void add_end(struct visit *v, struct tip tip, struct known_value result)
{
	for (size_t i = 0; i < v->ends; i++)
		if (v->end[i].tip.hold == tip.hold && v->end[i].tip.cut == tip.cut) {
			add_edge(v->walker->follow, v->walker->region, tip.node, v->end[i].tip.node);
			if (v->end[i].result.known != result.known || v->end[i].result.value != result.value)
				v->end[i].result.known = KNOWN_NOT;
			return;
		}
	if (v->ends == REGION_ENDS) {
		v->walker->region->cut_short = true;
		return;
	}
	tip.node = add_node(v->walker, REGION_BLOCK, tip, (struct place){0, 0});
	v->end[v->ends++] = (struct way_end){tip, result};
}

/* The body of what is called: by name, or by the address that was entered before. */
static struct unit_function *body_of(const struct visit *v, LLVMValueRef called)
{
	struct follow *f = v->walker->follow;
	struct known_value address;
	uint32_t n;

	if (LLVMIsAFunction(called))
		return units_body(f->units, v->scope.function->unit, called);
	address = resolve(&v->scope, called);
	n = address.known == KNOWN_VALUE ? map_get(&f->code, address.value) : 0;
	return n ? f->entry[n - 1] : NULL;
}

static void visit_init(struct visit *v, struct walker *w, struct unit_function *function)
{
	*v = (struct visit){.walker = w, .stop = POSTDOM_EXIT};
	scope_init(&v->scope, w->follow, function);
	map_init(&v->visited, w->follow->arena);
}

/* Goes through a callee and fills in how it can end. */
static void walk_callee(struct visit *callee, struct visit *v, LLVMValueRef call, struct tip tip)
{
	uint32_t given = (uint32_t)LLVMGetNumArgOperands(call), taken = callee->scope.function->parameters;
	struct known_value *argument = arena_alloc(v->walker->follow->arena, (taken + 1) * sizeof *argument);

	for (uint32_t i = 0; i < taken && i < given; i++)
		argument[i] = resolve(&v->scope, LLVMGetOperand(call, i));
	callee->scope.argument = argument;
	callee->scope.caller = &v->scope;
	callee->scope.call = call;
	callee->depth = v->depth + !callee->scope.function->wraps;
	callee->call = hash_pair(v->call, place_key(place_of(v, call)));
	callee->activation = follow_suppose(v->walker->follow, callee->scope.function, v->activation);
	walk_block(callee, 0, UINT32_MAX, tip);
}

/* A call whose body is known. The way goes on from each of its ends; true if it was gone on with here. */
static bool walk_call(struct visit *v, LLVMValueRef call, uint32_t block, struct tip tip)
{
	LLVMValueRef called = unit_called(call);
	struct unit_function *body = body_of(v, called);
	struct visit callee;

	if (!body || v->depth + !body->wraps > REGION_DEPTH) {
		v->walker->region->deep += body != NULL;
		return false;
	}
	visit_init(&callee, v->walker, body);
	walk_callee(&callee, v, call, tip);
	for (size_t i = 0; i < callee.ends; i++) {
		scope_bind(&v->scope, call, callee.end[i].result);
		walk_from(v, block, LLVMGetNextInstruction(call), callee.end[i].tip);
	}
	return true;
}

/* The ways out of a block. An exception is none. */
static void walk_out(struct visit *v, uint32_t block, LLVMValueRef last, struct tip tip)
{
	struct unit_block *b = &v->scope.function->block[block];
	struct known_value result = {KNOWN_NOT, 0};

	if (LLVMIsAReturnInst(last) && LLVMGetNumOperands(last))
		result = resolve(&v->scope, LLVMGetOperand(last, 0));
	if (b->ends)
		add_end(v, tip, result);
	for (uint32_t i = 0; !b->ends && i < (LLVMIsAInvokeInst(last) ? 1 : b->tos); i++)
		walk_block(v, b->to[i], block, tip);
}

static bool is_call(LLVMValueRef at)
{
	return LLVMIsACallInst(at) || LLVMIsAInvokeInst(at);
}

static void walk_from(struct visit *v, uint32_t block, LLVMValueRef at, struct tip tip)
{
	LLVMValueRef last = NULL;
	bool write;

	for (; at; last = at, at = LLVMGetNextInstruction(at)) {
		if (accessed(at, &write))
			walk_access(v, at, &tip);
		if (!is_call(at))
			continue;
		if (walk_call(v, at, block, tip))
			return;
		if (LLVMIsAFunction(unit_called(at)))
			walk_outside(v, at, unit_called(at), &tip);
	}
	if (last)
		walk_out(v, block, last, tip);
}

static void bind_phis(struct visit *v, uint32_t block, uint32_t from)
{
	struct unit_function *f = v->scope.function;
	LLVMValueRef i = LLVMGetFirstInstruction(f->block[block].ref);

	for (; i && LLVMIsAPHINode(i); i = LLVMGetNextInstruction(i))
		for (unsigned k = 0; k < LLVMCountIncoming(i); k++)
			if (from < f->blocks && LLVMGetIncomingBlock(i, k) == f->block[from].ref)
				scope_bind(&v->scope, i, resolve(&v->scope, LLVMGetIncomingValue(i, k)));
}

static void walk_block(struct visit *v, uint32_t block, uint32_t from, struct tip tip)
{
	struct walker *w = v->walker;
	uint32_t *known;

	if (block == v->stop) {
		add_end(v, tip, (struct known_value){KNOWN_NOT, 0});
		return;
	}
	known = map_put(&v->visited, hash_pair(block, (uint64_t)tip.hold << 1 | tip.cut));
	if (*known) {
		add_edge(w->follow, w->region, tip.node, *known - 1);
		return;
	}
	if (!w->budget) {
		w->region->cut_short = true;
		return;
	}
	w->budget--;
	tip.node = add_node(w, REGION_BLOCK, tip, (struct place){0, 0});
	*known = tip.node + 1;
	if (v->scope.frame)
		w->region->block[block] = 1;
	bind_phis(v, block, from);
	walk_from(v, block, LLVMGetFirstInstruction(v->scope.function->block[block].ref), tip);
}

/* ---- the region ---- */

/* Marks what leads to an end. */
static void mark_useful(struct follow *f, struct region *r)
{
	uint32_t *stack = arena_alloc(f->arena, (r->nodes + 1) * sizeof *stack);
	size_t depth = 0;

	for (size_t i = 0; i < r->ends; i++) {
		r->node[r->end[i]].useful = true;
		stack[depth++] = r->end[i];
	}
	while (depth)
		for (uint32_t e = r->node[stack[--depth]].parents, next; e; e = next) {
			struct region_node *n = &r->node[r->parent[e].from];

			next = r->parent[e].next;
			if (!n->useful) {
				n->useful = true;
				stack[depth++] = r->parent[e].from;
			}
		}
}

static void take_ends(struct region *r, const struct visit *v)
{
	for (size_t i = 0; i < v->ends; i++) {
		r->node[v->end[i].tip.node].kind = REGION_END;
		r->end[r->ends++] = v->end[i].tip.node;
	}
}

char *region_arm(struct follow *f, const struct unit_function *function, uint32_t first, uint32_t stop)
{
	char *arm = arena_alloc(f->arena, function->blocks + 1);
	uint32_t *stack = arena_alloc(f->arena, (function->blocks + 1) * sizeof *stack), depth = 0;

	if (first != stop) {
		arm[first] = 1;
		stack[depth++] = first;
	}
	while (depth) {
		struct unit_block *b = &function->block[stack[--depth]];

		for (uint32_t i = 0; !b->ends && i < b->tos; i++)
			if (b->to[i] != stop && !arm[b->to[i]]) {
				arm[b->to[i]] = 1;
				stack[depth++] = b->to[i];
			}
	}
	return arm;
}

struct region *region_walk(struct follow *f, uint16_t t, struct place branch, uint32_t edge)
{
	struct region *r = arena_alloc(f->arena, sizeof *r);
	const struct follow_thread *thread = follow_thread(f, t);
	struct frame *frame = thread->top;
	struct walker w = {.follow = f, .region = r, .budget = REGION_BLOCKS};
	struct unit_block *from = unit_block_at(frame->function->unit, branch.ordinal);
	struct visit v;
	struct tip tip;

	*r = (struct region){.branch = branch, .edge = edge, .thread = t, .activation = frame->activation,
		.hold = thread->hold, .cut = thread->cut, .clock = thread->clock, .before = f->seen_count, .nodes = 1, .parents = 1};
	r->node = arena_reserve(f->arena, NULL, &r->node_room, 0, sizeof *r->node);
	r->parent = arena_reserve(f->arena, NULL, &r->parent_room, 0, sizeof *r->parent);
	r->block = arena_alloc(f->arena, frame->function->blocks + 1);
	map_init(&w.written, f->arena);
	visit_init(&v, &w, frame->function);
	v.scope.frame = frame;
	v.stop = from->join;
	v.activation = frame->activation;
	tip = (struct tip){0, r->hold, false};
	walk_block(&v, from->to[edge], (uint32_t)(from - frame->function->block), tip);
	take_ends(r, &v);
	mark_useful(f, r);
	return r;
}

bool region_reaches(struct region *r, uint32_t from, uint32_t to, bool whole)
{
	uint32_t stack[256], depth = 0, mark = ++r->mark;

	stack[depth++] = to;
	while (depth)
		for (uint32_t e = r->node[stack[--depth]].parents, next; e; e = next) {
			uint32_t n = r->parent[e].from;

			next = r->parent[e].next;
			if (n == from)
				return true;
			if (r->node[n].mark == mark || depth == sizeof stack / sizeof *stack)
				continue;
			if (whole && r->node[n].kind == REGION_CUT)
				continue;
			r->node[n].mark = mark;
			stack[depth++] = n;
		}
	return false;
}
