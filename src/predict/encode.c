/* SPDX-License-Identifier: MIT */
#include "encode.h"

#include <string.h>

#include "base/arena.h"
#include "predict/closure.h"
#include "predict/linear.h"
#include "predict/solver.h"

/* Literals that are known. */
enum { TRUE = INT32_MAX, FALSE = -INT32_MAX };

/* A pair of nodes that has a variable. */
struct pair {
	uint32_t before, after; /* if it is true */
};

struct clause {
	int *literal;
	size_t n, capacity;
	bool holds;
};

struct encoding {
	struct closure *c;
	const struct ideal *d;
	struct arena *arena;
	struct solver *solver;
	struct map variable; /* pair of nodes to the number in `pair` + 1 */
	struct pair *pair;   /* by variable - 1; both DONE: it is a choice of a read */
	size_t pairs, pair_capacity;
	struct clause clause; /* that is being made */
	size_t clauses;
	bool impossible;
};

static int new_variable(struct encoding *k, struct pair p)
{
	k->pair = arena_reserve(k->arena, k->pair, &k->pair_capacity, k->pairs, sizeof p);
	k->pair[k->pairs++] = p;
	return (int)k->pairs;
}

/* "a comes before b". */
static int before(struct encoding *k, uint32_t a, uint32_t b)
{
	bool swapped;
	uint32_t *number;

	if (a == DONE || b == DONE)
		return a == DONE ? TRUE : FALSE;
	if (closure_before(k->c, a, b))
		return TRUE;
	if (closure_before(k->c, b, a))
		return FALSE;
	swapped = k->d->step[a] > k->d->step[b];
	number = map_put(&k->variable, swapped ? (uint64_t)b << 32 | a : (uint64_t)a << 32 | b);
	if (!*number)
		*number = (uint32_t)new_variable(k, swapped ? (struct pair){b, a} : (struct pair){a, b});
	return swapped ? -(int)*number : (int)*number;
}

static void put(struct encoding *k, int literal)
{
	struct clause *c = &k->clause;

	if (literal == TRUE)
		c->holds = true;
	if (literal == TRUE || literal == FALSE)
		return;
	c->literal = arena_reserve(k->arena, c->literal, &c->capacity, c->n, sizeof *c->literal);
	c->literal[c->n++] = literal;
}

static void end_clause(struct encoding *k)
{
	if (!k->clause.holds) {
		k->impossible |= k->clause.n == 0;
		solver_clause(k->solver, k->clause.literal, k->clause.n);
		k->clauses++;
	}
	k->clause.n = 0;
	k->clause.holds = false;
}

/* ---- Locks. ---- */

static void encode_pair(struct encoding *k, const struct section *a, const struct section *b)
{
	if ((a->shared && b->shared) || a->slot == b->slot || a->acquire == DONE || b->acquire == DONE ||
		a->release == NO_STEP || b->release == NO_STEP)
		return;
	put(k, before(k, a->release, b->acquire));
	put(k, before(k, b->release, a->acquire));
	end_clause(k);
}

static void encode_locks(struct encoding *k)
{
	const struct groups *g = &k->c->sections;

	for (uint32_t m = 0; m < g->count; m++) {
		uint32_t from = g->first[m] < g->first[m + 1] ? g->at[g->first[m]].from : 0;
		uint32_t to = g->first[m] < g->first[m + 1] ? g->at[g->first[m + 1] - 1].to : 0;

		for (uint32_t i = from; i < to; i++)
			for (uint32_t j = i + 1; j < to && k->clauses < ENCODE_MOST; j++)
				encode_pair(k, &k->c->section[i], &k->c->section[j]);
	}
}

/* ---- Reads. ---- */

/* What the location has when the window begins: the last write, or the initial value that a read has seen. */
static bool value_at_start(const struct encoding *k, uint32_t loc, uint64_t *value)
{
	const struct whole *w = k->d->w;
	struct slice all = whole_loc_steps(w, loc);

	for (uint32_t i = slice_before(all, k->d->start); i-- > 0;)
		if (step_writes(&w->step[all.at[i]]))
			return whole_value(w, all.at[i], loc, value);
	for (uint32_t i = 0; i < all.count && !step_writes(&w->step[all.at[i]]); i++)
		if (whole_value(w, all.at[i], loc, value))
			return true;
	return false;
}

/* A read of one location: what it may see. */
struct view {
	uint32_t read, loc;
	uint32_t source; /* what it saw; NO_STEP: that is not in the ideal */
	uint64_t value;
	bool valued;     /* another write of the value will do */
	const uint32_t *write;
	uint32_t writes;
};

static bool may_see(const struct encoding *k, const struct view *v, uint32_t w)
{
	uint64_t value;

	if (w == v->read || (w != DONE && closure_before(k->c, v->read, w)))
		return false;
	if (w == v->source)
		return true;
	if (!v->valued)
		return false;
	return (w == DONE ? value_at_start(k, v->loc, &value) : whole_value(k->d->w, k->d->step[w], v->loc, &value)) &&
	       value == v->value;
}

/* If the read sees w (by the literal `if_not`, its opposite): w before it, any other before w or behind the read. */
static void encode_seen(struct encoding *k, const struct view *v, uint32_t w, int if_not)
{
	put(k, if_not);
	put(k, before(k, w, v->read));
	end_clause(k);
	for (uint32_t i = 0; i < v->writes && k->clauses < ENCODE_MOST; i++) {
		if (v->write[i] == w || v->write[i] == v->read)
			continue;
		put(k, if_not);
		put(k, before(k, v->write[i], w));
		put(k, before(k, v->read, v->write[i]));
		end_clause(k);
	}
}

static void encode_view(struct encoding *k, const struct view *v)
{
	int *choice = arena_alloc(k->arena, (v->writes + 2) * sizeof *choice);
	uint32_t *seen = arena_alloc(k->arena, (v->writes + 2) * sizeof *seen), n = 0;

	if (may_see(k, v, DONE))
		seen[n++] = DONE;
	for (uint32_t i = 0; i < v->writes; i++)
		if (may_see(k, v, v->write[i]))
			seen[n++] = v->write[i];
	for (uint32_t i = 0; i < n; i++) {
		choice[i] = n == 1 ? TRUE : new_variable(k, (struct pair){DONE, DONE});
		encode_seen(k, v, seen[i], n == 1 ? FALSE : -choice[i]);
	}
	for (uint32_t i = 0; i < n; i++)
		put(k, choice[i]);
	end_clause(k);
}

static void encode_read(struct encoding *k, uint32_t node)
{
	const struct closure *c = k->c;
	const struct step *s = ideal_step(k->d, node);

	for (uint32_t i = 0; i < s->locs; i++) {
		uint32_t loc = s->object + i, x = closure_loc(c, loc);
		struct view v = {.read = node, .loc = loc, .source = closure_source(c, s, i)};

		v.valued = s->kind == STEP_READ && whole_value(k->d->w, k->d->step[node], loc, &v.value);
		if (x != NO_STEP) {
			v.write = c->write + c->writes.at[c->writes.first[x]].from;
			v.writes = (uint32_t)(c->write + c->writes.at[c->writes.first[x + 1] - 1].to - v.write);
		}
		encode_view(k, &v);
	}
}

static void encode_reads(struct encoding *k)
{
	for (uint32_t v = 0; v < k->d->nodes && k->clauses < ENCODE_MOST; v++) {
		const struct step *s = ideal_step(k->d, v);

		if (step_is_access(s) && step_reads(s) && ideal_keeps(k->d, k->d->step[v]))
			encode_read(k, v);
	}
}

/* ---- Cycles. ---- */

/* An edge that the answer has chosen. */
struct chosen {
	uint32_t to, next;
	int literal;
};

/* A node that the search is in. */
struct stop {
	uint32_t node;
	int literal; /* by which it was come to; 0: by one that was not chosen */
	uint32_t given, choice; /* edges to be looked at next, number + 1 */
	bool chain;  /* its thread's next node was looked at */
};

struct search {
	struct encoding *k;
	uint32_t *head; /* by node: its newest chosen edge, number + 1 */
	struct chosen *chosen;
	uint8_t *colour; /* by node: 0 new, 1 on the path, 2 done */
	struct stop *path;
	uint32_t depth;
	size_t cycles;
};

static void choose(struct search *f, uint32_t number)
{
	struct encoding *k = f->k;
	struct pair p = k->pair[number];
	bool value;

	if (p.before == DONE)
		return;
	value = solver_value(k->solver, (int)number + 1);
	if (!value)
		p = (struct pair){p.after, p.before};
	f->chosen[number] = (struct chosen){p.after, f->head[p.before], value ? (int)number + 1 : -(int)number - 1};
	f->head[p.before] = number + 1;
}

static void enter(struct search *f, uint32_t node, int literal)
{
	f->colour[node] = 1;
	f->path[f->depth++] = (struct stop){node, literal, f->k->c->head[node], f->head[node], false};
}

/* The path from the node to its end, closed by an edge: not all of its chosen edges again. */
static void forbid(struct search *f, uint32_t node, int literal)
{
	struct encoding *k = f->k;
	uint32_t i = f->depth;

	if (literal)
		put(k, -literal);
	while (f->path[--i].node != node)
		if (f->path[i].literal)
			put(k, -f->path[i].literal);
	end_clause(k);
	f->cycles++;
}

static bool has_next(const struct ideal *d, uint32_t node)
{
	uint32_t t = ideal_step(d, node)->thread;

	return node + 1 < d->base[t] + d->upto[t] - d->from[t];
}

/* The next edge from the path's end; false if there is none. */
static bool next_edge(struct search *f, uint32_t *to, int *literal)
{
	struct stop *at = &f->path[f->depth - 1];
	const struct closure *c = f->k->c;

	*literal = 0;
	if (!at->chain) {
		at->chain = true;
		*to = at->node + 1;
		if (has_next(f->k->d, at->node))
			return true;
	}
	if (at->given) {
		*to = c->edge[at->given - 1].to;
		at->given = c->edge[at->given - 1].next;
		return true;
	}
	if (!at->choice)
		return false;
	*to = f->chosen[at->choice - 1].to;
	*literal = f->chosen[at->choice - 1].literal;
	at->choice = f->chosen[at->choice - 1].next;
	return true;
}

static void search_from(struct search *f, uint32_t node)
{
	uint32_t to;
	int literal;

	enter(f, node, 0);
	while (f->depth) {
		if (!next_edge(f, &to, &literal))
			f->colour[f->path[--f->depth].node] = 2;
		else if (f->colour[to] == 0)
			enter(f, to, literal);
		else if (f->colour[to] == 1)
			forbid(f, to, literal);
	}
}

/* Forbids the cycles of an answer. Returns how many there were; without any, the order is the closure's. */
static size_t find_cycles(struct encoding *k)
{
	uint32_t n = k->d->nodes;
	struct arena scratch;
	struct search f = {.k = k};

	arena_init(&scratch);
	f.head = arena_alloc(&scratch, (n + 1) * sizeof *f.head);
	f.chosen = arena_alloc(&scratch, (k->pairs + 1) * sizeof *f.chosen);
	f.colour = arena_alloc(&scratch, n + 1);
	f.path = arena_alloc(&scratch, (n + 1) * sizeof *f.path);
	for (uint32_t i = 0; i < k->pairs; i++)
		choose(&f, i);
	for (uint32_t v = 0; v < n; v++)
		if (!f.colour[v])
			search_from(&f, v);
	for (uint32_t v = 0; v < n && !f.cycles; v++)
		for (uint32_t e = f.head[v]; e; e = f.chosen[e - 1].next)
			closure_add(k->c, v, f.chosen[e - 1].to);
	arena_free(&scratch);
	return f.cycles;
}

/* ---- All of it. ---- */

static bool search_order(struct encoding *k, uint32_t budget, bool *undecided)
{
	for (uint32_t round = 0; round <= budget && k->clauses < ENCODE_MOST; round++) {
		enum solver_answer answer = k->impossible ? SOLVER_NO : solver_solve(k->solver, budget);

		if (answer == SOLVER_NO)
			return false;
		if (answer == SOLVER_GAVE_UP)
			break;
		if (!find_cycles(k))
			return true;
	}
	*undecided = true;
	return false;
}

bool encode_solve(struct closure *c, uint32_t budget, uint32_t *steps, bool *undecided)
{
	struct encoding k = {.c = c, .d = c->d, .arena = c->arena, .solver = solver_new()};
	bool found;

	map_init(&k.variable, c->arena);
	encode_locks(&k);
	encode_reads(&k);
	found = search_order(&k, budget, undecided);
	solver_delete(k.solver);
	return found && linear_sort(c, steps);
}
