/* SPDX-License-Identifier: MIT */
#include "triple.h"

#include <stdlib.h>

#include "base/hash.h"
#include "symbolic/locks.h"

/* So far is looked around a branch, and so many of the other threads' accesses stand for a variable. */
enum { NEAR = 64, NEAREST = 8, OTHERS = 48, PAIRS = 64, GUARDS = 16 };

const char *const triple_kind_text[TRIPLE_KINDS] = {"before", "after", "inside", "remote", "window"};

const char *const rung_text[RUNGS] = {
	"no abort; address known", "one end follows the other, and nothing between cuts", "a guard, held by s2 and one end",
	"not x += c twice", "s1's value outlives its section",
};

const char *const triple_class_text[CLASSES] = {
	"", "the value decides the branch", "the value outlives its section", "the branch gives the lock back",
	"written first",
};

/* What is known of a variable: its guard, and other threads' accesses without repetitions. */
struct about {
	struct held_lock guard; /* address 0: none */
	uint32_t other[OTHERS];
	size_t others;
};

void triples_init(struct triples *ts, struct follow *f)
{
	*ts = (struct triples){.follow = f};
	flows_init(&ts->flows, f);
	map_init(&ts->known, f->arena);
	map_init(&ts->groups, f->arena);
	map_init(&ts->defects, f->arena);
}

/* ---- variables ---- */

struct guard_count {
	struct held_lock lock;
	uint64_t times;
};

static void count_locks(const struct follow *f, uint32_t hold, struct guard_count *at, size_t *count)
{
	struct holds_set s = holds_at(&f->holds, hold);

	for (size_t i = 0; i < s.count; i++) {
		size_t k = 0;

		while (k < *count && at[k].lock.address != s.at[i].address)
			k++;
		if (k == GUARDS)
			continue;
		*count += k == *count;
		at[k].lock = s.at[i];
		at[k].times++;
	}
}

/* The lock that four in five of the accesses hold, of those at a time when there were other threads. */
static struct held_lock find_guard(const struct follow *f, const struct variable *x)
{
	struct guard_count at[GUARDS] = {{{0}, 0}};
	size_t count = 0, best = 0;
	uint64_t total = 0;

	for (const struct strand *s = x->strands; s; s = s->next)
		for (size_t i = 0; i < s->count; i++) {
			const struct seen *seen = &f->seen[s->at[i]];

			if (seen->alone || seen->local)
				continue;
			total++;
			count_locks(f, seen->hold, at, &count);
		}
	for (size_t i = 1; i < count; i++)
		if (at[i].times > at[best].times)
			best = i;
	return count && at[best].times * 5 >= total * 4 ? at[best].lock : (struct held_lock){0};
}

static bool stands_for(const struct follow *f, const struct seen *a, const struct seen *b)
{
	return place_key(a->place) == place_key(b->place) && a->thread == b->thread && a->clock == b->clock &&
		a->write == b->write && holds_alike(&f->holds, a->hold, b->hold);
}

static void add_other(const struct follow *f, struct about *about, uint32_t n)
{
	if (f->seen[n].alone || f->seen[n].local || about->others == OTHERS)
		return;
	for (size_t i = 0; i < about->others; i++)
		if (stands_for(f, &f->seen[about->other[i]], &f->seen[n]))
			return;
	about->other[about->others++] = n;
}

static const struct about *about(const struct follow *f, struct variable *x)
{
	struct about *a = x->known;

	if (a)
		return a;
	a = x->known = arena_alloc(f->arena, sizeof *a);
	a->guard = find_guard(f, x);
	for (const struct strand *s = x->strands; s; s = s->next)
		for (size_t i = 0; i < s->count; i++)
			add_other(f, a, s->at[i]);
	return a;
}

static struct touch touch_seen(const struct follow *f, uint32_t n)
{
	const struct seen *s = &f->seen[n];

	return (struct touch){.place = s->place, .key = s->key, .activation = s->activation, .hold = s->hold, .cut = s->cut,
		.clock = s->clock, .thread = s->thread, .write = s->write};
}

static struct touch touch_node(const struct region *r, uint32_t n)
{
	const struct region_node *at = &r->node[n];

	return (struct touch){.place = at->place, .key = at->key, .activation = at->activation, .hold = at->hold,
		.cut = r->cut, .clock = r->clock, .node = n, .thread = r->thread, .write = at->kind == REGION_WRITE};
}

/* ---- rules ---- */

/* No serial order explains it: s2 conflicts with both, and between two writes there is somebody who looks. */
static bool is_split(const struct triple *t)
{
	bool a = t->first.write, b = t->culprit.write, c = t->second.write;

	return b ? !(a && c) : a && c;
}

static bool concurrent(const struct follow *f, const struct touch *a, const struct touch *b)
{
	return a->thread != b->thread && !follow_before(f, a->thread, a->clock, b->clock) &&
		!follow_before(f, b->thread, b->clock, a->clock);
}

static const struct held_lock *same_acquisition(const struct holds *h, uint32_t hold, const struct held_lock *lock)
{
	struct holds_set s = holds_at(h, hold);

	for (size_t i = 0; i < s.count; i++)
		if (s.at[i].address == lock->address && s.at[i].acquisition == lock->acquisition)
			return &s.at[i];
	return NULL;
}

/* Whether that acquisition of s1's spans s3, if the region ends at `end`. */
static bool spans(const struct follow *f, const struct triple *t, uint32_t end, const struct held_lock *lock)
{
	const struct holds *h = &f->holds;
	const struct held_lock *then, *last;

	if (t->kind != TRIPLE_AFTER && !same_acquisition(h, t->second.hold, lock))
		return false;
	if (t->kind == TRIPLE_WINDOW || t->kind == TRIPLE_AFTER)
		if (!same_acquisition(h, t->region->node[end].hold, lock))
			return false;
	if (t->kind != TRIPLE_AFTER)
		return true;
	then = holds_find(h, t->region->join_hold, lock->address);
	last = holds_find(h, t->second.hold, lock->address);
	return then && last && then->acquisition == last->acquisition;
}

static bool is_protected(const struct follow *f, const struct triple *t, uint32_t end)
{
	struct holds_set s = holds_at(&f->holds, t->first.hold);

	for (size_t i = 0; i < s.count; i++)
		if (spans(f, t, end, &s.at[i]) && holds_excludes(&f->holds, t->culprit.hold, &s.at[i]))
			return true;
	return false;
}

/* Of a window: some acquisition spans both in the run, and keeps s2 out. */
static bool was_protected(const struct follow *f, const struct triple *t)
{
	struct holds_set s = holds_at(&f->holds, t->first.hold);

	for (size_t i = 0; i < s.count; i++)
		if (same_acquisition(&f->holds, t->second.hold, &s.at[i]) &&
			holds_excludes(&f->holds, t->culprit.hold, &s.at[i]))
			return true;
	return false;
}

/* A way from the region to what comes after it, on which the pair is not protected. False: there is none. */
static bool find_end(const struct follow *f, const struct triple *t, bool *cut)
{
	struct region *r = t->region;
	bool found = false;

	*cut = true;
	for (size_t i = 0; r->joined && i < r->ends; i++) {
		const struct region_node *end = &r->node[r->end[i]];
		uint32_t from = t->first.node; /* 0, the branch, if it was seen */

		if (!holds_alike(&f->holds, end->hold, r->join_hold) || is_protected(f, t, r->end[i]))
			continue;
		if (!region_reaches(r, from, r->end[i], false))
			continue;
		found = true;
		*cut &= !region_reaches(r, from, r->end[i], true);
	}
	return found;
}

static bool is_cut(const struct triple *t, bool way_cut)
{
	struct region *r = t->region;

	switch (t->kind) {
	case TRIPLE_BEFORE: return t->first.cut != r->cut || r->node[t->second.node].cut;
	case TRIPLE_AFTER: return way_cut || t->second.cut != r->join_cut;
	case TRIPLE_INSIDE: return !region_reaches(r, t->first.node, t->second.node, true);
	case TRIPLE_WINDOW: return way_cut || t->first.cut != r->cut || t->second.cut != r->join_cut;
	default: return t->first.cut != t->second.cut;
	}
}

/* A lock that is not known may be it. */
static bool holds_lock(const struct follow *f, const struct touch *t, struct held_lock lock)
{
	lock.shared = false;
	return holds_excludes(&f->holds, t->hold, &lock);
}

static bool is_guarded(const struct follow *f, const struct triple *t)
{
	return t->guard.address && holds_lock(f, &t->culprit, t->guard) &&
		(holds_lock(f, &t->first, t->guard) || holds_lock(f, &t->second, t->guard));
}

LLVMValueRef triple_pointer(const struct follow *f, struct place p)
{
	LLVMValueRef at = unit_value(&f->units->at[p.unit], p.ordinal);

	return LLVMGetOperand(at, LLVMIsAStoreInst(at) ? 1 : 0);
}

static bool same_pointer(LLVMValueRef a, LLVMValueRef b)
{
	if (a == b)
		return true;
	if (!LLVMIsAGetElementPtrInst(a) || !LLVMIsAGetElementPtrInst(b) || LLVMGetNumOperands(a) != LLVMGetNumOperands(b))
		return false;
	for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(a); i++)
		if (LLVMGetOperand(a, i) != LLVMGetOperand(b, i))
			return false;
	return true;
}

/* A value that was loaded, plus or minus a constant. */
static LLVMValueRef summed(LLVMValueRef value)
{
	LLVMValueRef load;

	if (!LLVMIsABinaryOperator(value))
		return NULL;
	if (LLVMGetInstructionOpcode(value) != LLVMAdd && LLVMGetInstructionOpcode(value) != LLVMSub)
		return NULL;
	load = LLVMGetOperand(value, 0);
	return LLVMIsALoadInst(load) && LLVMIsAConstantInt(LLVMGetOperand(value, 1)) ? load : NULL;
}

/* Nothing is called from one to the other: whatever section they are in, it is the same. */
static bool is_near(LLVMValueRef from, LLVMValueRef to)
{
	while (from && from != to && !(LLVMIsACallInst(from) && !LLVMIsAIntrinsicInst(from)))
		from = LLVMGetNextInstruction(from);
	return from == to;
}

static bool is_sum_store(LLVMValueRef store)
{
	LLVMValueRef load = LLVMIsAStoreInst(store) ? summed(LLVMGetOperand(store, 0)) : NULL;

	return load && same_pointer(LLVMGetOperand(load, 0), LLVMGetOperand(store, 1)) && is_near(load, store);
}

/* Part of x += c, and of nothing else. */
static bool is_sum(const struct follow *f, struct place p)
{
	LLVMValueRef at = unit_value(&f->units->at[p.unit], p.ordinal);

	if (!LLVMIsALoadInst(at))
		return is_sum_store(at);
	for (LLVMUseRef use = LLVMGetFirstUse(at); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef sum = LLVMGetUser(use);

		if (summed(sum) != at)
			return false;
		for (LLVMUseRef next = LLVMGetFirstUse(sum); next; next = LLVMGetNextUse(next))
			if (!is_sum_store(LLVMGetUser(next)))
				return false;
	}
	return LLVMGetFirstUse(at) != NULL;
}

static bool is_meant(const struct follow *f, const struct triple *t)
{
	return !(is_sum(f, t->first.place) && is_sum(f, t->second.place));
}

/* ---- values ---- */

static uint32_t depth_of(struct follow *f, uint32_t activation)
{
	uint32_t depth = 0;

	for (; activation; activation = follow_activation(f, activation)->below)
		depth++;
	return depth;
}

/* The innermost activation that both are in; 0: none. */
static uint32_t common(struct follow *f, uint32_t x, uint32_t y)
{
	uint32_t dx = depth_of(f, x), dy = depth_of(f, y);

	for (; dx > dy; dx--)
		x = follow_activation(f, x)->below;
	for (; dy > dx; dy--)
		y = follow_activation(f, y)->below;
	while (x != y) {
		x = follow_activation(f, x)->below;
		y = follow_activation(f, y)->below;
	}
	return x;
}

/* Where a value goes is known by instruction: one call's value is not what another call of the same function uses. */
static bool is_other_call(struct follow *f, const struct touch *from, uint32_t activation)
{
	return from->activation != activation &&
		follow_activation(f, from->activation)->function == follow_activation(f, activation)->function;
}

static struct unit_function *function_of(const struct follow *f, struct place p)
{
	return unit_function_at(&f->units->at[p.unit], p.ordinal);
}

/* A use that is in the region, or, of what is read in the region, one outside of it. */
static bool crosses(const struct triples *ts, const struct triple *t, const struct flow *flow)
{
	struct unit *u = &ts->follow->units->at[t->region->branch.unit];
	const struct unit_function *function = function_of(ts->follow, t->region->branch);

	if (is_other_call(ts->follow, &t->first, t->region->activation))
		return false;
	for (size_t i = 0; i < flow->count; i++) {
		bool own = function_of(ts->follow, flow->use[i]) == function;

		if (own && !t->region->block[u->instruction[flow->use[i].ordinal].block] == (t->kind == TRIPLE_AFTER))
			return true;
	}
	return false;
}

/* Both values are used by one instruction, of an activation that both were read in. */
static bool meet(struct triples *ts, const struct triple *t, const struct flow *flow)
{
	const struct flow *other = flow_of(&ts->flows, t->second.place, t->second.activation);
	uint32_t both = common(ts->follow, t->first.activation, t->second.activation);

	for (size_t i = 0; i < flow->count; i++)
		for (uint32_t a = flow_has(other, flow->use[i]) ? both : 0; a; a = follow_activation(ts->follow, a)->below)
			if (follow_activation(ts->follow, a)->function == function_of(ts->follow, flow->use[i]))
				return true;
	return false;
}

static bool outlives(struct triples *ts, const struct triple *t, const struct flow *flow)
{
	bool own = t->kind == TRIPLE_BEFORE || t->kind == TRIPLE_AFTER || t->kind == TRIPLE_WINDOW;

	if (own && crosses(ts, t, flow))
		return true;
	if (flow_has(flow, t->second.place) && !is_other_call(ts->follow, &t->first, t->second.activation))
		return true;
	return !t->second.write && place_key(t->first.place) != place_key(t->second.place) && meet(ts, t, flow);
}

static bool decides(struct triples *ts, const struct triple *t, const struct flow *flow)
{
	return (t->kind == TRIPLE_BEFORE || t->kind == TRIPLE_WINDOW) && flow_has(flow, t->region->branch) &&
		!is_other_call(ts->follow, &t->first, t->region->activation);
}

static enum triple_class classify(struct triples *ts, const struct triple *t)
{
	const struct flow *flow;

	if (t->first.write)
		return CLASS_WRITTEN;
	flow = flow_of(&ts->flows, t->first.place, t->first.activation);
	if (decides(ts, t, flow))
		return CLASS_DECIDES;
	if (!outlives(ts, t, flow))
		return CLASS_NONE;
	return t->kind == TRIPLE_WINDOW ? CLASS_WINDOW : CLASS_OUTLIVES;
}

/* ---- candidates ---- */

static uint64_t key_of(const struct triple *t)
{
	uint64_t key = hash_pair(place_key(t->region->branch), (uint64_t)t->region->edge << 8 | t->kind);

	return hash_pair(hash_pair(key, place_key(t->first.place)),
		hash_pair(place_key(t->culprit.place), place_key(t->second.place)));
}

static void keep(struct triples *ts, const struct triple *t)
{
	uint32_t *slot = map_put(&ts->known, key_of(t));
	struct triple *old = *slot ? &ts->at[*slot - 1] : NULL;

	if (old && (old->rung > t->rung || (old->rung == t->rung && old->class <= t->class)))
		return;
	if (!old) {
		ts->at = arena_reserve(ts->follow->arena, ts->at, &ts->room, ts->count, sizeof *ts->at);
		*slot = (uint32_t)++ts->count;
		old = &ts->at[*slot - 1];
	}
	*old = *t;
}

/* Climbs as far as it comes. */
static void consider(struct triples *ts, struct triple t)
{
	struct follow *f = ts->follow;
	bool joins = t.kind == TRIPLE_AFTER || t.kind == TRIPLE_WINDOW, cut = false;

	if (!is_split(&t) || !concurrent(f, &t.first, &t.culprit) || !concurrent(f, &t.second, &t.culprit))
		return;
	if (t.kind == TRIPLE_WINDOW && !was_protected(f, &t))
		return;
	if (joins ? !find_end(f, &t, &cut) : is_protected(f, &t, 0))
		return;
	t.rung = RUNG_KNOWN;
	if (!is_cut(&t, cut)) {
		t.rung = RUNG_WHOLE;
		if (is_guarded(f, &t)) {
			t.rung = RUNG_GUARDED;
			if (is_meant(f, &t)) {
				t.class = classify(ts, &t);
				t.rung = t.class ? RUNG_STALE : RUNG_MEANT;
			}
		}
	}
	keep(ts, &t);
}

/* Every access of other threads to the variable as s2. */
static void with_others(struct triples *ts, struct triple t, struct variable *x)
{
	const struct about *a = about(ts->follow, x);

	t.guard = a->guard;
	for (size_t i = 0; i < a->others; i++) {
		t.culprit = touch_seen(ts->follow, a->other[i]);
		if (t.culprit.thread != t.first.thread)
			consider(ts, t);
	}
}

static const struct strand *strand_of(const struct variable *x, uint16_t thread)
{
	const struct strand *s = x->strands;

	while (s && s->thread != thread)
		s = s->next;
	return s;
}

/* How many of the strand's accesses came before number n of all. */
static size_t count_before(const struct strand *s, size_t n)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (s->at[middle] < n)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void pair_before(struct triples *ts, struct region *r, uint32_t n, struct variable *x)
{
	const struct strand *s = strand_of(x, r->thread);
	struct triple t = {.region = r, .kind = TRIPLE_BEFORE, .second = touch_node(r, n)};

	if (!s)
		return;
	for (size_t end = count_before(s, r->before), i = end; i > 0 && end - i < NEAREST; i--) {
		t.first = touch_seen(ts->follow, s->at[i - 1]);
		if (!ts->follow->seen[s->at[i - 1]].local)
			with_others(ts, t, x);
	}
}

static void pair_after(struct triples *ts, struct region *r, uint32_t n, struct variable *x)
{
	const struct strand *s = r->joined ? strand_of(x, r->thread) : NULL;
	struct triple t = {.region = r, .kind = TRIPLE_AFTER, .first = touch_node(r, n)};

	if (!s)
		return;
	for (size_t first = count_before(s, r->after), i = first; i < s->count && i - first < NEAREST; i++) {
		t.second = touch_seen(ts->follow, s->at[i]);
		with_others(ts, t, x);
	}
}

/* Accesses of a region that could be part of a candidate. */
struct in_region {
	uint32_t *node;
	size_t count;
};

static void pair_inside(struct triples *ts, struct region *r, const struct in_region *all, uint32_t n)
{
	struct variable *x = follow_variable(ts->follow, r->node[n].key);
	struct triple t = {.region = r, .kind = TRIPLE_INSIDE, .second = touch_node(r, n)};

	for (size_t i = 0; i < all->count; i++) {
		if (all->node[i] == n || r->node[all->node[i]].key != x->key)
			continue;
		t.first = touch_node(r, all->node[i]);
		with_others(ts, t, x);
	}
}

/* Whether the run itself has something that splits the pair as s2 would: then it is for other checks to tell. */
static bool is_split_already(const struct triples *ts, const struct triple *t, const struct about *a)
{
	struct triple other = *t;

	for (size_t i = 0; i < a->others; i++) {
		if (ts->follow->seen[a->other[i]].write != t->culprit.write)
			continue;
		other.culprit = touch_seen(ts->follow, a->other[i]);
		if (concurrent(ts->follow, &t->first, &other.culprit) && !is_protected(ts->follow, &other, 0))
			return true;
	}
	return false;
}

static void pair_remote(struct triples *ts, struct region *r, uint32_t n, struct variable *x)
{
	const struct about *a = about(ts->follow, x);
	struct triple t = {.region = r, .kind = TRIPLE_REMOTE, .culprit = touch_node(r, n), .guard = a->guard};

	for (const struct strand *s = x->strands; s; s = s->next)
		for (size_t i = 1; s->thread != r->thread && i < s->count && i < PAIRS; i++)
			for (size_t k = i; k > 0 && i - k < 3; k--) {
				t.first = touch_seen(ts->follow, s->at[k - 1]);
				t.second = touch_seen(ts->follow, s->at[i]);
				if (is_split(&t) && !ts->follow->seen[s->at[k - 1]].local && !is_protected(ts->follow, &t, 0) &&
					!is_split_already(ts, &t, a))
					consider(ts, t);
			}
}

/* The region gives something back that was held at the branch, and has it again at its end. */
static bool drops(const struct follow *f, const struct region *r)
{
	struct holds_set s = holds_at(&f->holds, r->hold);

	for (size_t i = 0; i < r->ends; i++)
		for (size_t k = 0; k < s.count; k++)
			if (!same_acquisition(&f->holds, r->node[r->end[i]].hold, &s.at[k]))
				return true;
	return false;
}

static void pair_around(struct triples *ts, struct region *r, uint32_t first)
{
	struct variable *x = follow_variable(ts->follow, ts->follow->seen[first].key);
	const struct strand *s = strand_of(x, r->thread);
	struct triple t = {.region = r, .kind = TRIPLE_WINDOW, .first = touch_seen(ts->follow, first)};

	for (size_t from = count_before(s, r->after), i = from; i < s->count && i - from < NEAREST; i++) {
		t.second = touch_seen(ts->follow, s->at[i]);
		with_others(ts, t, x);
	}
}

static void pair_window(struct triples *ts, struct region *r)
{
	const struct follow_thread *thread = follow_thread(ts->follow, r->thread);
	size_t i = thread->access_count, done = 0;

	if (!r->joined || !drops(ts->follow, r))
		return;
	while (i && thread->accesses[i - 1] >= r->before)
		i--;
	for (; i && done < NEAR; i--, done++)
		if (ts->follow->seen[thread->accesses[i - 1]].hold && !ts->follow->seen[thread->accesses[i - 1]].local)
			pair_around(ts, r, thread->accesses[i - 1]);
}

static bool is_shared(const struct variable *x, uint16_t thread)
{
	for (const struct strand *s = x->strands; s; s = s->next)
		if (s->thread != thread)
			return true;
	return false;
}

static struct in_region find_accesses(const struct triples *ts, const struct region *r)
{
	struct in_region all = {arena_alloc(ts->follow->arena, (r->nodes + 1) * sizeof *all.node), 0};

	for (uint32_t n = 1; n < r->nodes; n++) {
		const struct region_node *at = &r->node[n];
		bool access = at->useful && (at->kind == REGION_READ || at->kind == REGION_WRITE);
		struct variable *x = access ? follow_variable(ts->follow, at->key) : NULL;

		if (x && is_shared(x, r->thread))
			all.node[all.count++] = n;
	}
	return all;
}

void triples_of(struct triples *ts, struct region *r)
{
	struct in_region all = find_accesses(ts, r);

	for (size_t i = 0; i < all.count; i++) {
		struct variable *x = follow_variable(ts->follow, r->node[all.node[i]].key);

		pair_before(ts, r, all.node[i], x);
		pair_after(ts, r, all.node[i], x);
		pair_inside(ts, r, &all, all.node[i]);
		pair_remote(ts, r, all.node[i], x);
	}
	pair_window(ts, r);
}

/* ---- groups ---- */

/* The member of a structure that is at stake, in whatever object. */
static uint64_t member_of(const struct triples *ts, const struct triple *t)
{
	uint64_t member = lock_class(triple_pointer(ts->follow, t->first.place));

	return member ? member : t->first.key;
}

static uint64_t group_of(const struct triples *ts, const struct triple *t)
{
	return hash_pair(hash_pair(place_key(t->region->branch), t->region->edge), member_of(ts, t));
}

static uint32_t defect_of(struct triples *ts, const struct triple *t)
{
	const struct unit_function *f = function_of(ts->follow, t->region->branch);
	uint32_t *n = map_put(&ts->defects, hash_pair((uintptr_t)f, member_of(ts, t)));

	if (!*n)
		*n = ++ts->defect_count;
	return *n;
}

static int better(const void *x, const void *y)
{
	const struct triple *a = x, *b = y;

	if (a->told != b->told)
		return b->told - a->told;
	if (a->class != b->class)
		return a->class < b->class ? -1 : 1;
	if (place_key(a->region->branch) != place_key(b->region->branch))
		return place_key(a->region->branch) < place_key(b->region->branch) ? -1 : 1;
	return place_key(a->second.place) < place_key(b->second.place) ? -1 : 1;
}

static void group(struct triples *ts, size_t i)
{
	uint32_t *best = map_put(&ts->groups, group_of(ts, &ts->at[i]));
	struct triple *old = *best ? &ts->at[*best - 1] : NULL;
	size_t more = old ? old->more + 1 : 0;

	ts->at[i].defect = defect_of(ts, &ts->at[i]);
	if (old && old->class <= ts->at[i].class) {
		old->more = more;
		return;
	}
	if (old)
		old->told = false;
	ts->at[i].told = true;
	ts->at[i].more = more;
	*best = (uint32_t)i + 1;
}

void triples_finish(struct triples *ts)
{
	for (size_t i = 0; i < ts->count; i++) {
		for (int k = 0; k <= (int)ts->at[i].rung; k++)
			ts->rungs[k] += k != RUNG_STALE || ts->at[i].class < CLASS_WRITTEN;
		if (ts->at[i].rung == RUNG_STALE)
			group(ts, i);
	}
	if (ts->count)
		qsort(ts->at, ts->count, sizeof *ts->at, better);
}
