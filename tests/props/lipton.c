/* SPDX-License-Identifier: MIT */
/*
 * What `atomizer` promises, on random traces of structured locking.
 *
 *   lipton [--count N] [--seed S] [--events E]
 *
 * Trace number i is made from seed S + i. Three properties, and some counts:
 *
 * - its violations are those of phi.c, which has a phi for each block, under any set of refinements: what is reported
 *   is violated there, and of what is violated there it or a block within it is reported;
 * - a refinement only removes violations: with more of them, a block is reported only if, with fewer, it or a block
 *   within it was. (Not "if it was": the inner block may be excused and the outer one not.)
 * - what is accepted is atomic: every reordering that synchronisation allows is serializable, in the full order, unless
 *   it deadlocks. So it is for any set of refinements once the trace has been gone through before, so that lock sets
 *   and owners have settled; and at once where every access has its variable's lock and only what cannot be taken
 *   back is refined: re-entrant locks and write-protected data. Otherwise online inference may judge too early (003
 *   3.4 and 4.2): how often is counted.
 *
 * The exit status is 1 if one of them does not hold; the trace is printed.
 */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/opts.h"
#include "base/rng.h"
#include "check/check.h"
#include "check/run.h"
#include "event/tables.h"
#include "finding/finding.h"
#include "phi.h"
#include "random_locks.h"
#include "serial.h"
#include "short_trace.h"

enum { ROUNDS = 5, LONGEST = ROUNDS * RANDOM_LOCKS_MOST };

/* The refinements by name, for phi.c and for the check; with what cannot be taken back first. */
static const struct {
	const char *name;
	unsigned phi;
} refinement[] = {
	{"reentrant", PHI_REENTRANT},
	{"write-protected", PHI_WRITE_PROTECTED},
	{"protected", PHI_PROTECTED},
	{"local", PHI_LOCAL},
	{"local2", PHI_LOCAL2},
	{"data-local", PHI_DATA_LOCAL},
	{"data-local2", PHI_DATA_LOCAL2},
	{"read-shared", PHI_READ_SHARED},
};

enum { REFINEMENTS = sizeof refinement / sizeof *refinement };

/* Sets whose soundness is looked at. */
static const struct set {
	const char *name;
	unsigned rules; /* enum phi_rule */
	bool settled;   /* nothing that was said can be taken back where every access is guarded */
} sets[] = {
	{"basic", 0, true},
	{"reentrant", PHI_REENTRANT, true},
	{"reentrant,write-protected", PHI_REENTRANT | PHI_WRITE_PROTECTED, true},
	{"protected", PHI_PROTECTED, false},
	{"local", PHI_LOCAL, false},
	{"local,local2", PHI_LOCAL | PHI_LOCAL2, false},
	{"states", PHI_DATA_LOCAL | PHI_DATA_LOCAL2 | PHI_READ_SHARED, false},
	{"standard", PHI_RULES - 1, false},
};

enum { SETS = sizeof sets / sizeof *sets };

struct counts {
	unsigned long accepted, missed;
};

static struct {
	unsigned long traces, judged, atomic, blocks, violated, ladders;
	struct counts once[SETS], settled[SETS], again[SETS];
} total;

struct sample {
	struct arena arena;
	struct tables tables;
	struct random_locks made;
	struct event at[LONGEST];
	size_t count;
};

/* The blocks that the check has named. */
struct named {
	uint64_t begin[PHI_BLOCKS_MOST];
	size_t count;
};

static unsigned bits_of(unsigned rules)
{
	const struct check *c = check_named("atomizer", strlen("atomizer"));
	unsigned bits = 0;

	for (size_t i = 0; i < REFINEMENTS; i++)
		for (const struct refinement *r = c->refinements; r->name; r++)
			if (rules & refinement[i].phi && strcmp(r->name, refinement[i].name) == 0)
				bits |= r->bits;
	return bits;
}

static struct named atomizer(struct sample *t, size_t n, unsigned rules)
{
	const struct check *check = check_named("atomizer", strlen("atomizer"));
	unsigned bits = bits_of(rules);
	struct event copy[LONGEST];
	struct named named = {.count = 0};
	struct findings f;
	struct arena a;
	struct run *run;

	arena_init(&a);
	findings_init(&f, &a, &t->tables);
	memcpy(copy, t->at, n * sizeof *copy);
	run = run_new(&a, &t->tables, &f, &(struct run_setup){.checks = &check, .count = 1, .refinements = &bits});
	if (run_events(run, copy, n) < n)
		die(STATUS_TRACE, "lipton: %s", run_wellformed(run)->why);
	run_finish(run);
	for (size_t i = 0; i < f.count; i++)
		named.begin[named.count++] = f.at[i].block.seq;
	arena_free(&a);
	return named;
}

static bool fails(const struct sample *t, const char *what, unsigned rules)
{
	printf("# %s; refinements %02x\n", what, rules);
	for (size_t i = 0; i < t->count; i++) {
		const struct event *e = &t->at[i];
		struct text object = tables_name(&t->tables, event_info[e->kind].table, (uint32_t)e->object);

		printf("T%u|%s(%.*s)|%zu\n", e->thread, event_info[e->kind].text, (int)object.length, object.at, i + 1);
	}
	return false;
}

/* ---- phi.c, and the ladder. ---- */

static const struct phi_block *block_at(const struct phi *p, uint64_t begin)
{
	size_t i = 0;

	while (p->block[i].begin != begin)
		i++;
	return &p->block[i];
}

/* Whether it or a block within it was named. */
static bool names_within(const struct named *n, const struct phi *p, const struct phi_block *b)
{
	for (size_t i = 0; i < n->count; i++) {
		const struct phi_block *other = block_at(p, n->begin[i]);

		if (other->thread == b->thread && other->begin >= b->begin && other->end <= b->end)
			return true;
	}
	return false;
}

static bool agrees_with_phi(const struct sample *t, const struct named *n, unsigned rules)
{
	struct phi p;

	phi_judge(t->at, t->count, rules, &p);
	for (size_t i = 0; i < n->count; i++)
		if (!block_at(&p, n->begin[i])->violated)
			return fails(t, "a block is reported that is not violated", rules);
	for (size_t i = 0; i < p.count; i++) {
		if (p.block[i].violated && !names_within(n, &p, &p.block[i]))
			return fails(t, "a block is violated and not reported", rules);
		total.violated += p.block[i].violated;
	}
	total.blocks += p.count;
	return true;
}

static bool climbs(struct sample *t, unsigned few, unsigned more)
{
	struct named with_few = atomizer(t, t->count, few), with_more = atomizer(t, t->count, more);
	struct phi p;

	if (!agrees_with_phi(t, &with_few, few) || !agrees_with_phi(t, &with_more, more))
		return false;
	phi_judge(t->at, t->count, few, &p);
	for (size_t i = 0; i < with_more.count; i++)
		if (!names_within(&with_few, &p, block_at(&p, with_more.begin[i])))
			return fails(t, "a refinement adds a violation", more);
	total.ladders++;
	return true;
}

/* One more refinement than any, and from any to all of them. */
static bool check_ladder(struct sample *t, uint64_t seed)
{
	struct rng rng = {seed ^ 0x1add3e};
	unsigned any = rng_below(&rng, PHI_RULES), one = refinement[rng_below(&rng, REFINEMENTS)].phi;

	return climbs(t, any & ~one, any | one) && climbs(t, any, PHI_RULES - 1) && climbs(t, 0, any);
}

/* ---- Soundness. ---- */

/* The trace again and again; there are no forks in it. */
static void repeat(struct sample *t)
{
	for (size_t i = t->count; i < ROUNDS * t->count; i++) {
		t->at[i] = t->at[i - t->count];
		t->at[i].seq = i + 1;
	}
}

static void tally(struct counts *c, bool atomic)
{
	c->accepted++;
	c->missed += !atomic;
}

static bool check_set(struct sample *t, size_t s, bool atomic)
{
	bool guarded = t->made.flags & RANDOM_LOCKS_GUARDED, settled = sets[s].settled && guarded;
	bool once = atomizer(t, t->count, sets[s].rules).count == 0;

	if (once)
		tally(settled ? &total.settled[s] : &total.once[s], atomic);
	if (once && settled && !atomic)
		return fails(t, "accepted, and not atomic", sets[s].rules);
	if (!once || atomizer(t, ROUNDS * t->count, sets[s].rules).count)
		return true;
	tally(&total.again[s], atomic);
	return atomic || fails(t, "accepted again and again, and not atomic", sets[s].rules);
}

static bool check_soundness(struct sample *t)
{
	enum reorder_answer atomic;

	if (reorder_deadlocks(t->at, t->count) != REORDER_NO)
		return true;
	atomic = atomic_by_conflicts(t->at, t->count, SERIAL_FULL);
	if (atomic == REORDER_UNDECIDED)
		return true;
	total.judged++;
	total.atomic += atomic == REORDER_YES;
	repeat(t);
	for (size_t s = 0; s < SETS; s++)
		if (!check_set(t, s, atomic == REORDER_YES))
			return false;
	return true;
}

/* ---- What a policy takes for granted. ---- */

/* The middle of the trace is that of a block; x is raced on, y and m are not shared. */
static const struct {
	const char *trace;
	uint64_t from, to; /* seqs of the events that something is assumed about */
	uint8_t assumed;
	bool reported;
} assumptions[] = {
	{"8 w x; 9 w x; 8 w x; 1 begin; 1 r x; 1 w x; 1 end", 0, 0, 0, true},
	{"8 w x; 9 w x; 8 w x; 1 begin; 1 r x; 1 w x; 1 end", 6, 6, ASSUMED_MOVER, false},
	{"8 w x; 9 w x; 8 w x; 1 begin; 1 r x; 1 w x; 1 end", 5, 5, ASSUMED_GUARDED, false},
	{"8 w x; 9 w x; 8 w x; 1 begin; 1 r x; 1 w x; 1 w x; 1 end", 6, 6, ASSUMED_MOVER, true},
	{"1 begin; 1 w y; 1 w y; 1 end", 2, 2, ASSUMED_STEP, false},
	{"1 begin; 1 w y; 1 w y; 1 end", 2, 3, ASSUMED_STEP, true},
	{"1 begin; 1 w y; 1 w y; 1 end", 2, 3, ASSUMED_STEP | ASSUMED_GUARDED, true},
	{"1 begin; 1 acq m; 1 rel m; 1 end", 2, 3, ASSUMED_STEP, true},
	{"1 begin; 1 notify m; 1 acq m; 1 rel m; 1 end", 2, 3, ASSUMED_STEP, true},
	/* guarded accesses teach nothing, others do */
	{"8 w x; 9 w x; 8 w x; 1 begin; 1 r x; 1 w x; 1 end", 1, 3, ASSUMED_GUARDED, false},
	{"8 w x; 9 w x; 8 w x; 1 begin; 1 r x; 1 w x; 1 end", 1, 3, ASSUMED_MOVER, true},
};

static bool check_assumptions(void)
{
	static struct sample t;
	bool good = true;

	arena_init(&t.arena);
	tables_init(&t.tables, &t.arena);
	for (size_t i = 0; i < sizeof assumptions / sizeof *assumptions; i++) {
		t.count = short_trace(assumptions[i].trace, t.at);
		for (size_t k = 0; k < t.count; k++)
			if (t.at[k].seq >= assumptions[i].from && t.at[k].seq <= assumptions[i].to)
				t.at[k].assumed = assumptions[i].assumed;
		if ((atomizer(&t, t.count, PHI_RULES - 1).count > 0) != assumptions[i].reported)
			good = fails(&t, "what is assumed has no effect", assumptions[i].assumed);
	}
	arena_free(&t.arena);
	return good;
}

/* ---- Traces. ---- */

static void trace_make(struct sample *t, uint64_t seed, unsigned events, unsigned without)
{
	arena_init(&t->arena);
	tables_init(&t->tables, &t->arena);
	t->made = random_locks_draw(seed, events);
	t->made.flags &= ~without;
	t->count = random_locks(&t->made, seed, &t->tables, t->at);
}

static bool check_seed(uint64_t seed, unsigned events)
{
	static struct sample t;
	bool good;

	trace_make(&t, seed, 2 * events, RANDOM_LOCKS_FORKS);
	good = check_ladder(&t, seed);
	arena_free(&t.arena);
	if (!good)
		return false;
	trace_make(&t, seed, events, RANDOM_LOCKS_FORKS | RANDOM_LOCKS_FUNCTIONS);
	good = check_soundness(&t);
	arena_free(&t.arena);
	total.traces++;
	return good;
}

static void print_totals(void)
{
	printf("%lu traces, %lu ladders with %lu blocks, %lu violated; %lu judged, %lu atomic\n", total.traces,
		total.ladders, total.blocks, total.violated, total.judged, total.atomic);
	printf("%-28s %21s %21s %21s\n", "accepted (not atomic)", "guarded", "at once", "again and again");
	for (size_t s = 0; s < SETS; s++) {
		const struct counts c[] = {total.settled[s], total.once[s], total.again[s]};

		printf("%-28s", sets[s].name);
		for (size_t i = 0; i < 3; i++)
			printf(" %12lu (%6lu)", c[i].accepted, c[i].missed);
		putchar('\n');
	}
}

int main(int argc, char **argv)
{
	uint64_t count = 20000, seed = 1, events = 20;
	struct opt table[] = {
		{"count", 0, OPT_COUNT, &count, "N", "how many traces"},
		{"seed", 0, OPT_COUNT, &seed, "S", "of the first one"},
		{"events", 0, OPT_COUNT, &events, "E", "of a trace, at most"},
		{0},
	};

	if (opts_parse(table, "lipton", argc, argv) || events > RANDOM_LOCKS_MOST / 2)
		die(STATUS_USAGE, "usage: lipton [--count N] [--seed S] [--events E]");
	if (!check_assumptions())
		return 1;
	for (uint64_t i = 0; i < count; i++)
		if (!check_seed(seed + i, (unsigned)events)) {
			printf("# lipton --seed %llu --count 1 --events %u\n", (unsigned long long)(seed + i), (unsigned)events);
			return 1;
		}
	print_totals();
	return 0;
}
