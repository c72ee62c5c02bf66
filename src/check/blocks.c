/* SPDX-License-Identifier: MIT */
/*
 * blocks: which blocks could other threads split in some schedule that keeps locks, forks, joins and barriers?
 *
 * Reported is a block with two accesses between which another thread's access can come, by the locks held and by thread
 * periods, so that no serial order shows the same values: R-W-R, W-W-R, W-R-W, R-W-W on one variable; `2v`, two
 * accesses to two variables against two of another transaction; `cycle`, three and more transactions. It is all by
 * synchronisation: that values or conditions keep the accesses apart is not seen, hence `suspected`. Deadlocks that the
 * program may have are not seen either (check/deadlocks.c is for those).
 *
 * Wang and Stoller, IEEE TSE 2006, section 6, Theorems 3 to 5. Where blocks nest (every function is one) each is a
 * transaction of its own, and a pair is blamed on the innermost that holds both ends; what is outside of all blocks is
 * a transaction an access. A read-modify-write is a read and a write with nothing between. Locks have two sides: two
 * readers do not keep each other out. Departures, each found by brute force (tests/props/theorems.c): a read that sees
 * its own transaction's write does not split two writes of another (the paper has any read). R-W-W is reported
 * although a third transaction that overwrites both unread may make up for it: then the set is atomic by the paper's
 * definition, and Theorem 3 fails in that direction for three and more transactions.
 *
 * State: see blocks_past.h (e1 of the pairs to come), blocks_spans.h (1v-blocks), blocks_shapes.h (initial reads, final
 * writes and locks of transactions, for 2v-blocks and cycles).
 *
 * Everything belongs to the run and is touched by its handlers only. All comparing is done at the end, or when the
 * variable begins a new life.
 *
 * Cost: one or two look-ups an access if nothing is new. Memory: linear in the distinct 1v-blocks; with `2v`, in the
 * distinct transactions.
 */
#include "blocks.h"

#include "base/arena.h"
#include "blocks_cycles.h"
#include "blocks_pairs.h"
#include "blocks_past.h"
#include "blocks_shapes.h"
#include "blocks_spans.h"

/* Accesses that commute with whatever others do make no blocks. */
static bool is_left_out(const struct blocks *b, const struct event *e)
{
	return (e->flags & EVENT_PRIVATE && !(b->on & BLOCKS_NO_ESCAPE)) || e->assumed & ASSUMED_MOVER;
}

static void blocks_access(void *self, const struct event *e)
{
	struct blocks *b = self;
	guard_id held;

	if (is_left_out(b, e))
		return;
	held = past_access(b, e);
	if (b->shapes && past_is_open(b, e->line))
		shapes_access(b, e, held);
	else if (b->shapes)
		shapes_lone(b, e, held);
}

static void blocks_acquire(void *self, const struct event *e)
{
	struct blocks *b = self;

	past_acquire(b, e);
	if (b->shapes)
		shapes_lock(b, e);
}

static void blocks_release(void *self, const struct event *e)
{
	struct blocks *b = self;

	past_release(b, e);
	if (b->shapes)
		shapes_lock(b, e);
}

static void blocks_open(void *self, const struct event *e)
{
	struct blocks *b = self;

	past_open(b, e);
	if (b->shapes)
		shapes_open(b, e);
}

static void blocks_close(void *self, const struct event *e)
{
	struct blocks *b = self;

	if (b->shapes)
		shapes_close(b, e);
	past_close(b, e);
}

static void blocks_cut(void *self, const struct event *e)
{
	struct blocks *b = self;

	spans_new_period(b);
	if (b->shapes)
		shapes_cut(b, e);
}

static void blocks_depart(void *self, const struct event *e)
{
	(void)e;
	spans_new_period(self);
}

static void blocks_forget(void *self, uint64_t x)
{
	struct blocks *b = self;

	pasts_forget(b, x);
	if (b->shapes)
		shapes_forget(b, x, spans_protection(b, x));
	spans_forget(b, x);
}

static void blocks_split(void *self, uint64_t x, uint64_t y)
{
	spans_copy(self, x, y);
	pasts_copy(self, x, y);
}

static struct access access_of(struct blocks *b, const struct blocks_access *at)
{
	const struct mark *m = &at->mark;
	struct access a = {
		.kind = m->kind, .flags = m->flags, .thread = m->thread, .value = m->value,
		.site = m->site, .stack = m->stack, .seq = mark_seq(m),
	};

	run_variable(b->run, at->x, &a);
	return a;
}

void blocks_report(struct blocks *b, struct block block, const char *kind, const struct blocks_access *at, size_t links)
{
	struct link *path = arena_alloc(b->arena, links * sizeof *path);
	struct finding f = {.block = block, .verdict = VERDICT_SUSPECTED, .path = path, .links = links};

	for (size_t i = 0; i < links; i++)
		path[i] = (struct link){access_of(b, &at[2 * i]), access_of(b, &at[2 * i + 1]), true};
	findings_add(b->run->findings, &f,
		(struct evidence){.check = "blocks", .kind = kind, .seq = path[links - 1].to.seq});
	arena_recycle(b->arena, path, links * sizeof *path);
}

static void compare_shapes(struct blocks *b)
{
	shapes_finish(b);
	for (uint32_t i = 1; i <= b->shapes->lives; i++) {
		struct life *life = life_at(b->shapes, i);

		if (!life->over)
			life->protection = spans_protection(b, life->x);
	}
	pairs_compare(b);
	if (b->on & BLOCKS_ALL)
		cycles_search(b);
}

static void blocks_finish(void *self)
{
	struct blocks *b = self;

	pasts_finish(b);
	spans_compare(b);
	if (b->shapes)
		compare_shapes(b);
}

static void *blocks_start(struct run *run);

static const struct refinement refinements[] = {
	{"1v", 0, "pairs of accesses to one variable (Theorem 3); always on"},
	{"2v", BLOCKS_2V, "and to two (Theorem 4)"},
	{"all", BLOCKS_2V | BLOCKS_ALL, "and cycles of three and more transactions (Theorem 5)"},
	{"none", BLOCKS_NO_ESCAPE | BLOCKS_NO_PERIODS, "by locks alone"},
	{"escape", BLOCKS_NO_PERIODS, "and without memory that only its own thread can reach"},
	{"happen-before", 0, "and by fork, join and barriers (default)"},
	{0},
};

const struct check check_blocks = {
	.name = "blocks",
	.summary = "blocks that another schedule could split, by locks and periods",
	.single = true,
	.needs = NEED_HELD | NEED_PERIODS | NEED_ESCAPE,
	.refinements = refinements,
	.standard = 0,
	.start = blocks_start,
	.finish = blocks_finish,
	.on = {
		[ON_OPEN] = blocks_open,
		[ON_CLOSE] = blocks_close,
		[ON_CUT] = blocks_cut,
		[ON_DEPART] = blocks_depart,
		[ON_ACCESS] = blocks_access,
		[ON_ACQUIRE] = blocks_acquire,
		[ON_RELEASE] = blocks_release,
	},
	.split = blocks_split,
	.forget = blocks_forget,
};

static void *blocks_start(struct run *run)
{
	struct blocks *b = arena_alloc(run->arena, sizeof *b);

	b->run = run;
	b->arena = run->arena;
	b->on = run_refinements(run, &check_blocks);
	guards_init(&b->guards, run->arena, &run->held.locksets);
	period_sets_init(&b->sets, run->arena, b->on & BLOCKS_NO_PERIODS ? NULL : &run->periods);
	b->pasts = pasts_new(run->arena);
	b->spans = spans_new(run->arena);
	if (b->on & BLOCKS_2V)
		b->shapes = shapes_new(run->arena, b->on & BLOCKS_ALL);
	return b;
}
