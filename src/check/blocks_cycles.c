/* SPDX-License-Identifier: MIT */
/*
 * Theorem 5 asks whether every interleaving of all transactions' initial reads and final writes is serializable. An
 * interleaving that is not has a cycle of conflicts; cycles of one variable and of two transactions are found as 1v-
 * and 2v-blocks. So here candidates are looked for first: transactions of different threads, each with an operation
 * `in` that comes after the `out` of the one before it, all periods concurrent. One of them must have `out` before
 * `in` and be open (see blocks_pairs.c) between them: otherwise each could be drawn together to one point, and points
 * have no cycle. That one is blamed, and the search starts from it.
 *
 * A candidate is then searched for an interleaving that keeps locks and has every `out` before the next `in`, and that
 * no serial order of its transactions equals in reads and last writes.
 *
 * Limits: cycles of at most CYCLE_MOST transactions; SEARCH_MOST steps for the whole run, SCHEDULES_MOST interleavings
 * for one candidate. A candidate that is given up, and the rest when the steps are used up, count as undecided. That
 * two transactions of one thread come in an order is not used as a link.
 */
#include "blocks_cycles.h"

#include "base/arena.h"
#include "base/hash.h"
#include "blocks_shapes.h"

enum { CYCLE_MOST = 5, SEARCH_MOST = 1 << 24, SCHEDULES_MOST = 256 };

/* One transaction of a candidate. */
struct member {
	const struct shape *shape;
	uint32_t in, out; /* items */
};

/* An access, in the list of its variable. */
struct use {
	uint32_t next, shape, item;
};

/* One operation of an interleaving. */
struct done {
	uint8_t member;
	uint32_t item;
};

struct cycles {
	struct blocks *b;
	struct shapes *s;
	struct seg first; /* uint32_t by life: its last use */
	struct seg use;
	uint32_t uses;
	struct member member[CYCLE_MOST];
	size_t members;
	uint64_t steps;
	uint32_t schedules; /* of the candidate */
	uint32_t candidate;
	struct map dead; /* (candidate, positions) from which there is no way to the end */
	uint32_t position[CYCLE_MOST];
	guard_id held[CYCLE_MOST];
	struct done *done;
	size_t count, capacity;
	bool gave_up;
};

/* What is seen. */

static const struct item *item_of(const struct cycles *c, struct done d)
{
	return &c->member[d.member].shape->item[d.item];
}

/* The last write before place n of the sequence to what it accesses, as a place + 1; 0 for none. */
static size_t write_before(const struct cycles *c, const struct done *of, size_t n, uint32_t object)
{
	while (n-- > 0)
		if (item_of(c, of[n])->op == ITEM_WRITE && item_of(c, of[n])->object == object)
			return n + 1;
	return 0;
}

static bool same_done(const struct done *a, size_t i, const struct done *b, size_t j)
{
	return !i || !j ? i == j : a[i - 1].member == b[j - 1].member && a[i - 1].item == b[j - 1].item;
}

/* Whether place i of the serial sequence sees there, and leaves behind, what it does in the interleaving. */
static bool same_sight(const struct cycles *c, const struct done *serial, size_t i)
{
	const struct item *item = item_of(c, serial[i]);
	size_t k = 0;

	while (c->done[k].member != serial[i].member || c->done[k].item != serial[i].item)
		k++;
	if (item->op == ITEM_READ && !same_done(serial, write_before(c, serial, i, item->object), c->done,
					     write_before(c, c->done, k, item->object)))
		return false;
	return same_done(serial, write_before(c, serial, c->count, item->object), c->done,
		write_before(c, c->done, c->count, item->object));
}

/* Whether the members in this order do the same. */
static bool is_same_as(const struct cycles *c, const uint8_t *order, struct done *serial)
{
	size_t n = 0;

	for (size_t i = 0; i < c->members; i++)
		for (size_t k = 0; k < c->count; k++)
			if (c->done[k].member == order[i])
				serial[n++] = c->done[k];
	for (size_t i = 0; i < n; i++)
		if (!same_sight(c, serial, i))
			return false;
	return true;
}

/* Tries all orders of what is left. */
static bool any_order(const struct cycles *c, uint8_t *order, size_t fixed, struct done *serial)
{
	if (fixed == c->members)
		return is_same_as(c, order, serial);
	for (size_t i = fixed; i < c->members; i++) {
		uint8_t first = order[fixed];
		bool found;

		order[fixed] = order[i];
		order[i] = first;
		found = any_order(c, order, fixed + 1, serial);
		order[i] = order[fixed];
		order[fixed] = first;
		if (found)
			return true;
	}
	return false;
}

static bool is_serializable(const struct cycles *c)
{
	uint8_t order[CYCLE_MOST] = {0, 1, 2, 3, 4};
	struct done *serial = arena_alloc(c->b->arena, (c->count + 1) * sizeof *serial);
	bool is = any_order(c, order, 0, serial);

	arena_recycle(c->b->arena, serial, (c->count + 1) * sizeof *serial);
	return is;
}

/* Interleavings. */

static bool is_free(struct cycles *c, size_t m, guard_id wanted)
{
	for (size_t i = 0; i < c->members; i++)
		if (i != m && guard_excludes(&c->b->guards, c->held[i], wanted))
			return false;
	return true;
}

/* Whether the member's next item can come now. */
static bool is_possible(struct cycles *c, size_t m)
{
	const struct member *member = &c->member[m];
	size_t before = (m ? m : c->members) - 1;
	const struct item *i = &member->shape->item[c->position[m]];

	if (c->position[m] == member->shape->count)
		return false;
	if (c->position[m] == 0 && !is_free(c, m, member->shape->start))
		return false;
	if (i->op == ITEM_ACQUIRE)
		return is_free(c, m, guard_add(&c->b->guards, 0, i->object, i->shared));
	return c->position[m] != member->in || c->position[before] > c->member[before].out;
}

static void note_done(struct cycles *c, size_t m)
{
	c->done = arena_reserve(c->b->arena, c->done, &c->capacity, c->count, sizeof *c->done);
	c->done[c->count++] = (struct done){(uint8_t)m, c->position[m]};
}

static void advance(struct cycles *c, size_t m)
{
	const struct shape *s = c->member[m].shape;
	const struct item *i = &s->item[c->position[m]];

	if (c->position[m] == 0)
		c->held[m] = s->start;
	if (i->op == ITEM_ACQUIRE)
		c->held[m] = guard_add(&c->b->guards, c->held[m], i->object, i->shared);
	else if (i->op == ITEM_RELEASE)
		c->held[m] = guard_remove(&c->b->guards, c->held[m], i->object);
	else
		note_done(c, m);
	if (++c->position[m] == s->count)
		c->held[m] = 0;
}

/* A read-modify-write is two items and one step. */
static bool goes_on(const struct cycles *c, size_t m)
{
	const struct shape *s = c->member[m].shape;
	const struct item *i = &s->item[c->position[m] - 1];

	return c->position[m] < s->count && i->kind == EVENT_ATOMIC_RMW && i->op == ITEM_READ && i[1].seq == i->seq;
}

static uint64_t state_key(const struct cycles *c)
{
	uint64_t h = c->candidate;

	for (size_t i = 0; i < c->members; i++)
		h = hash_pair(h, c->position[i]);
	return h;
}

enum outcome { NO_WAY, SERIAL, SPLIT };

static enum outcome search(struct cycles *c);

/* The member's next step, and whatever can come then. */
static enum outcome search_by(struct cycles *c, size_t m)
{
	uint32_t position = c->position[m];
	guard_id held = c->held[m];
	size_t count = c->count;
	enum outcome outcome;

	advance(c, m);
	while (goes_on(c, m))
		advance(c, m);
	outcome = search(c);
	c->position[m] = position;
	c->held[m] = held;
	c->count = count;
	return outcome;
}

static bool is_over(const struct cycles *c)
{
	for (size_t i = 0; i < c->members; i++)
		if (c->position[i] < c->member[i].shape->count)
			return false;
	return true;
}

static enum outcome search(struct cycles *c)
{
	enum outcome best = NO_WAY;
	uint64_t key = state_key(c);

	if (is_over(c)) {
		c->schedules++;
		return is_serializable(c) ? SERIAL : SPLIT;
	}
	if (c->schedules > SCHEDULES_MOST || c->steps > SEARCH_MOST) {
		c->gave_up = true;
		return SERIAL;
	}
	c->steps++;
	if (map_get(&c->dead, key))
		return NO_WAY;
	for (size_t m = 0; m < c->members && best != SPLIT; m++) {
		enum outcome now = is_possible(c, m) ? search_by(c, m) : NO_WAY;

		if (now > best)
			best = now;
	}
	if (best == NO_WAY)
		*map_put(&c->dead, key) = 1;
	return best;
}

/* Candidates. */

static bool conflict(const struct item *a, const struct item *b)
{
	return a->object == b->object && (a->op == ITEM_WRITE || b->op == ITEM_WRITE);
}

static void report_cycle(struct cycles *c)
{
	struct blocks_access at[2 * CYCLE_MOST];

	for (size_t i = 0; i < c->members; i++) {
		const struct member *from = &c->member[i], *to = &c->member[(i + 1) % c->members];

		at[2 * i] = shape_access(c->s, from->shape, from->out);
		at[2 * i + 1] = shape_access(c->s, to->shape, to->in);
	}
	blocks_report(c->b, c->member[0].shape->block, "cycle", at, c->members);
}

/* The members make a cycle of conflicts: whether it can happen. */
static bool judge(struct cycles *c)
{
	enum outcome outcome;

	c->candidate++;
	c->schedules = 0;
	c->gave_up = false;
	for (size_t i = 0; i < c->members; i++)
		c->position[i] = c->held[i] = 0;
	outcome = search(c);
	if (outcome == SPLIT)
		report_cycle(c);
	else if (c->gave_up)
		findings_limit(c->b->run->findings, "cycles of transactions that were not decided", 1);
	return outcome == SPLIT;
}

static bool is_apart(struct cycles *c, const struct shape *s)
{
	for (size_t i = 0; i < c->members; i++)
		if (!period_sets_concurrent(&c->b->sets, c->member[i].shape->periods, s->periods))
			return false;
	return true;
}

static bool extend(struct cycles *c);

/* The new last member goes on by each of its accesses: home, or further. */
static bool extend_from(struct cycles *c)
{
	struct member *last = &c->member[c->members - 1];
	const struct item *home = &c->member[0].shape->item[c->member[0].in];

	for (last->out = 0; last->out < last->shape->count; last->out++) {
		const struct item *out = &last->shape->item[last->out];

		if (!item_is_access(out))
			continue;
		if (c->members > 2 && conflict(out, home) && judge(c))
			return true;
		if (c->members < CYCLE_MOST && extend(c))
			return true;
	}
	return false;
}

static bool extend(struct cycles *c)
{
	const struct member *last = &c->member[c->members - 1];
	const struct item *out = &last->shape->item[last->out];
	uint32_t n = *(uint32_t *)seg_at(&c->first, out->object, sizeof n);

	for (const struct use *u; n && c->steps++ <= SEARCH_MOST; n = u->next) {
		const struct shape *s;
		bool found;

		u = seg_at(&c->use, n, sizeof *u);
		s = shape_at(c->s, u->shape);
		if (!conflict(out, &s->item[u->item]) || !is_apart(c, s))
			continue;
		c->member[c->members++] = (struct member){s, u->item, 0};
		found = extend_from(c);
		c->members--;
		if (found)
			return true;
	}
	return false;
}

/* The windows of one block, from the first access to each later one that is open. */
static bool search_from(struct cycles *c, const struct shape *s, uint32_t out)
{
	struct shape_walk w = shape_walk_from(s, out);

	while (shape_walk_next(c->b, &w)) {
		c->member[0] = (struct member){s, w.at, out};
		c->members = 1;
		if (shape_is_open(c->b, &w) && extend(c))
			return true;
	}
	return false;
}

static void index_shape(struct cycles *c, uint32_t number)
{
	const struct shape *s = shape_at(c->s, number);

	for (uint32_t i = 0; i < s->count; i++) {
		uint32_t *first = seg_at(&c->first, s->item[i].object, sizeof *first);

		if (!item_is_access(&s->item[i]))
			continue;
		*(struct use *)seg_at(&c->use, ++c->uses, sizeof(struct use)) = (struct use){*first, number, i};
		*first = c->uses;
	}
}

static void search_shape(struct cycles *c, const struct shape *s)
{
	for (uint32_t out = 0; out < s->count; out++)
		if (item_is_access(&s->item[out]) && search_from(c, s, out))
			return;
}

void cycles_search(struct blocks *b)
{
	struct cycles c = {.b = b, .s = b->shapes};
	uint32_t i;

	seg_init(&c.first, b->arena, sizeof(uint32_t));
	seg_init(&c.use, b->arena, sizeof(struct use));
	map_init(&c.dead, b->arena);
	for (i = 1; i <= b->shapes->count; i++)
		index_shape(&c, i);
	for (i = 1; i <= b->shapes->count && c.steps <= SEARCH_MOST; i++)
		if (!shape_at(c.s, i)->lone)
			search_shape(&c, shape_at(c.s, i));
	if (i <= b->shapes->count)
		findings_limit(b->run->findings, "transactions whose cycles were not looked for", b->shapes->count - (i - 1));
}
