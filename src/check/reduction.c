/* SPDX-License-Identifier: MIT */
/*
 * reduction: which blocks can be shown to be atomic by moving their events, knowing the whole run?
 *
 * Reported is a block that is not of the form (R + AcqA*Rel)* N? (L + AcqA*Rel)*, by the operation that does not fit
 * (the violation: a right-mover or non-mover) and the one after which nothing of its sort may come (the commit: the
 * last left-mover or non-mover before it). The innermost block that holds both is named, once. It proves nothing:
 * `suspected`. What it does not report is atomic, in every trace that the same transactions can make with the
 * same locks, fork, join and barriers, if none of those deadlocks.
 *
 * Wang and Stoller, IEEE TSE 2006, section 5, offline: Theorem 2 with AcqA*Rel, Theorem 1 without; races by
 * state/multilockset.h; re-entrant, thread-local and protected locks as in 5.5. R is a lock's acquire, a semaphore's
 * wait, a join, the departure from a barrier; L its release, post, fork, arrival. N is an access to a variable that
 * can race; this includes atomics, which commute with nothing unless all accesses to the variable hold a lock or no
 * two of them can meet: then they are both-movers like others. One in a block is what N? allows. Departures:
 * sequences instead of the paper's trees, since C's locks do not nest; every block at once, the innermost
 * is blamed; A is any access that no other can meet by thread periods, not only the thread-local and
 * read-only ones; within AcqA*Rel there may be another one, since what has no effect can be taken out from the inside;
 * an access to several variables is one event. A block too long to keep is not decided, and counted.
 *
 * State: the transactions so far as interned sequences (state/record.h), how each variable is protected (ReadSets,
 * WriteSet and the thread sets are in state/multilockset.h), for each lock its only line and the locks that are held
 * whenever it is (`guards`); for each line the blocks that are being recorded. Everything belongs to the run.
 *
 * Cost: an access, a few comparisons and at most two look-ups; a lock, the locks held. At the end, the length of
 * all different transactions. Memory: some five bytes an operation of each different transaction.
 */
#include "check/check.h"

#include <string.h>

#include "base/arena.h"
#include "event/tables.h"
#include "state/multilockset.h"
#include "state/record.h"

/* The steps of the paper's Table 2; each has those before it. */
enum { ACQREL = 8, ALL = MULTILOCKSET_ESCAPE | MULTILOCKSET_PERIODS | MULTILOCKSET_SETS | ACQREL };

/* Flags of ops. */
enum {
	OP_STEP = 1,     /* it stands for a function that is taken to be atomic */
	OP_GUARDED = 2,  /* it is taken not to race */
	OP_SAME = 4,     /* it is of the same event as the one before it */
	OP_LITERAL = 8,  /* a block of the trace, which nothing cuts */
	OP_DECLARED = 16,
	OP_FUNCTION = 64,  /* a block that is all of a function's activation */
	OP_DEPART = 32,  /* from a barrier; otherwise an arrival */
};

/* A lock, over the whole run. */
struct lock {
	uint32_t line;     /* that used it first */
	bool many;         /* others did too */
	lockset_id guards; /* held exclusively whenever this one is held */
};

/* A line, while it is in a block. */
struct line {
	uint64_t *begin; /* of its open blocks, oldest first */
	size_t depth, capacity;
	size_t undecided;  /* the oldest of them, which are too long and no longer recorded */
	uint64_t cut;      /* behind this event another cut is due; 0 for none */
	uint64_t last;     /* the event of the last access */
	struct recording recording;
};

extern const struct check check_reduction;

enum mover { BOTH, RIGHT, LEFT, NON };

/* A lock that is held at some place in a record. */
struct section {
	uint32_t lock;
	uint32_t item; /* its acquire */
	uint32_t hard; /* operations before it that must not be in AcqA*Rel */
};

/* A block that is open at some place in a record. */
struct opened {
	uint32_t item;
	bool literal, reported;
};

struct reduction {
	struct run *run;
	unsigned with; /* MULTILOCKSET_*, ACQREL */
	struct multilockset variables;
	struct records records;
	struct seg line, lock;
	uint64_t undecided; /* blocks */

	/* At the end: what is asked for each operation, side by side. */
	struct op *op;  /* by number */
	uint8_t *class; /* by life */

	/* And for one record at a time. */
	struct record record;
	uint8_t *mover; /* enum mover by item */
	size_t mover_capacity;
	struct section *section;
	size_t sections, section_capacity;
	uint32_t hard;
	struct opened *opened;
	size_t depth, opened_capacity;
};

static struct line *line_of(struct reduction *r, uint32_t line)
{
	return seg_at(&r->line, line, sizeof(struct line));
}

static struct lock *lock_of(struct reduction *r, uint64_t m)
{
	return seg_at(&r->lock, m, sizeof(struct lock));
}

/* Recording. */

static inline bool is_recorded(const struct line *l)
{
	return l->depth > l->undecided;
}

/* Where there is no room, what was recorded still counts, and what opens from here on is recorded by itself. */
static void add_op(struct reduction *r, struct line *l, struct op op, uint32_t object, uint64_t seq)
{
	if (recording_add(&r->records, &l->recording, op, object, seq))
		return;
	recording_end(&r->records, &l->recording, true);
	l->undecided = l->depth;
}

static void add_cut(struct reduction *r, struct line *l, uint64_t seq)
{
	if (is_recorded(l))
		add_op(r, l, (struct op){.kind = RECORD_CUT}, 0, seq);
}

/* What cuts is in no block of a function: there is a cut on either side of it. */
static inline void pass_cut(struct reduction *r, struct line *l, uint64_t seq)
{
	if (__builtin_expect(!l->cut || seq <= l->cut, 1))
		return;
	l->cut = 0;
	add_cut(r, l, seq);
}

static inline void add_event(struct reduction *r, struct line *l, const struct event *e, uint64_t object, unsigned flags)
{
	if (!is_recorded(l) || e->assumed & ASSUMED_MOVER)
		return;
	pass_cut(r, l, e->seq);
	if (e->assumed & ASSUMED_STEP)
		flags |= OP_STEP;
	if (e->assumed & ASSUMED_GUARDED)
		flags |= OP_GUARDED;
	if (is_recorded(l))
		add_op(r, l, (struct op){e->site, e->stack, e->kind, (uint16_t)flags}, (uint32_t)object, e->seq);
}

static struct op op_of(const struct activation *a)
{
	struct op op = {.site = a->site, .stack = a->stack, .kind = RECORD_OPEN};

	if (a->sort == ACTIVATION_BLOCK)
		op.flags |= OP_LITERAL;
	if (a->sort == ACTIVATION_FUNCTION)
		op.flags |= OP_FUNCTION;
	if (a->declared)
		op.flags |= OP_DECLARED;
	return op;
}

static void reduction_open(void *self, const struct event *e)
{
	struct reduction *r = self;
	struct line *l = line_of(r, e->line);
	const struct activations *open = run_open(r->run, e->line);
	const struct activation *a = &open->at[open->depth - 1];
	struct op op = op_of(a);

	pass_cut(r, l, e->seq);
	if (is_recorded(l))
		add_op(r, l, op, a->code, e->seq);
	if (!is_recorded(l)) {
		recording_begin(&r->records, &l->recording, e);
		add_op(r, l, op, a->code, e->seq);
	}
	l->begin = arena_reserve(r->run->arena, l->begin, &l->capacity, l->depth, sizeof *l->begin);
	l->begin[l->depth++] = a->begin;
}

static void reduction_close(void *self, const struct event *e)
{
	struct reduction *r = self;
	struct line *l = line_of(r, e->line);
	size_t i = l->depth - 1, younger;

	while (l->begin[i] != r->run->closing->begin)
		i--;
	younger = l->depth - 1 - i;
	if (i >= l->undecided && l->depth > l->undecided + 1)
		add_op(r, l, (struct op){.kind = RECORD_CLOSE}, (uint32_t)younger, e->seq);
	memmove(&l->begin[i], &l->begin[i + 1], younger * sizeof *l->begin);
	l->depth--;
	if (i < l->undecided)
		l->undecided--;
	else if (!is_recorded(l))
		recording_end(&r->records, &l->recording, false);
}

static void reduction_cut(void *self, const struct event *e)
{
	struct reduction *r = self;
	struct line *l = line_of(r, e->line);

	add_cut(r, l, e->seq);
	l->cut = e->seq;
}

/* The operations. */

static void reduction_access(void *self, const struct event *e)
{
	struct reduction *r = self;
	struct line *l = line_of(r, e->line);
	unsigned flags = e->seq == l->last ? OP_SAME : 0;
	life_id x;

	if (__builtin_expect(e->assumed & ASSUMED_GUARDED, 0))
		x = multilockset_life(&r->variables, e->object);
	else
		x = multilockset_access(&r->variables, e, run_held(r->run, e->line));
	if (!x || !is_recorded(l))
		return;
	l->last = e->seq;
	add_event(r, l, e, x, flags);
}

static void reduction_acquire(void *self, const struct event *e)
{
	struct reduction *r = self;
	struct lock *m = lock_of(r, e->object);
	lockset_id held = run_held(r->run, e->line)->exclusive;

	m->guards = m->line ? lockset_meet(&r->run->held.locksets, m->guards, held) : held;
	if (!m->line)
		m->line = e->line;
	else if (m->line != e->line)
		m->many = true;
	add_event(r, line_of(r, e->line), e, e->object, 0);
}

/* The locks that stay held are from here on held without this one. */
static void reduction_release(void *self, const struct event *e)
{
	struct reduction *r = self;
	const struct held *held = run_held(r->run, e->line);

	for (size_t i = 0; i < held->count; i++) {
		struct lock *n = lock_of(r, held->at[i].lock);

		if (n->guards && held->at[i].lock != e->object)
			n->guards = lockset_remove(&r->run->held.locksets, n->guards, (sync_id)e->object);
	}
	add_event(r, line_of(r, e->line), e, e->object, 0);
}

/* Semaphores, and what cuts, within blocks that nothing cuts. */
static void reduction_other(void *self, const struct event *e)
{
	add_event(self, line_of(self, e->line), e, e->object, 0);
}

static void reduction_depart(void *self, const struct event *e)
{
	add_event(self, line_of(self, e->line), e, e->object, OP_DEPART);
}

/* The end: how each operation of a record moves. */

static const struct op *op_of_item(struct reduction *r, uint32_t i)
{
	return &r->op[r->record.item[i].op];
}

/* A lock that only one line uses, or that another lock keeps from being used at the same time. */
static bool is_idle(struct reduction *r, uint32_t m)
{
	const struct lock *l = lock_of(r, m);

	return !l->many || l->guards;
}

/* An operation that must not be in AcqA*Rel. */
static enum mover hard(struct reduction *r, enum mover m)
{
	r->hard++;
	return m;
}

static enum mover move_access(struct reduction *r, const struct op *op, life_id x)
{
	unsigned class = r->class[x];

	if (op->flags & OP_GUARDED)
		return hard(r, BOTH);
	if (class & LIFE_RACY)
		return hard(r, NON);
	return class & LIFE_SHARED ? hard(r, BOTH) : BOTH;
}

static enum mover move_acquire(struct reduction *r, uint32_t i)
{
	if (is_idle(r, r->record.item[i].object))
		return BOTH;
	r->section = arena_reserve(r->run->arena, r->section, &r->section_capacity, r->sections, sizeof *r->section);
	r->section[r->sections++] = (struct section){r->record.item[i].object, i, r->hard};
	return hard(r, RIGHT);
}

/* Takes the lock's section out of those that are open. False if it began before the record. */
static bool section_end(struct reduction *r, uint32_t lock, struct section *ended)
{
	size_t i = r->sections;

	while (i && r->section[i - 1].lock != lock)
		i--;
	if (!i)
		return false;
	*ended = r->section[i - 1];
	memmove(&r->section[i - 1], &r->section[i], (r->sections - i) * sizeof *r->section);
	r->sections--;
	return true;
}

/* AcqA*Rel: nothing but its acquire has been added since before that. Then it is as if it were not there. */
static enum mover move_release(struct reduction *r, uint32_t i)
{
	struct section s;

	if (is_idle(r, r->record.item[i].object))
		return BOTH;
	if (!section_end(r, r->record.item[i].object, &s) || !(r->with & ACQREL) || r->hard != s.hard + 1)
		return hard(r, LEFT);
	r->hard = s.hard;
	r->mover[s.item] = BOTH;
	return BOTH;
}

static enum mover move(struct reduction *r, uint32_t i)
{
	const struct op *op = op_of_item(r, i);

	if (op->flags & OP_STEP)
		return hard(r, NON);
	switch (op->kind) {
	case RECORD_OPEN:
	case RECORD_CLOSE: return BOTH;
	case RECORD_CUT: return hard(r, BOTH);
	case EVENT_ACQUIRE:
	case EVENT_ACQUIRE_SHARED: return move_acquire(r, i);
	case EVENT_RELEASE:
	case EVENT_RELEASE_SHARED: return move_release(r, i);
	case EVENT_SEM_WAIT:
	case EVENT_JOIN: return hard(r, RIGHT);
	case EVENT_SEM_POST:
	case EVENT_FORK: return hard(r, LEFT);
	case EVENT_BARRIER: return hard(r, op->flags & OP_DEPART ? RIGHT : LEFT);
	default: return move_access(r, op, r->record.item[i].object);
	}
}

static void move_all(struct reduction *r)
{
	r->mover = arena_reserve(r->run->arena, r->mover, &r->mover_capacity, r->record.count, sizeof *r->mover);
	r->sections = 0;
	r->hard = 0;
	for (uint32_t i = 0; i < r->record.count; i++)
		r->mover[i] = (uint8_t)move(r, i);
}

/* Findings. */

static uint64_t seq_of(const struct reduction *r, uint32_t i)
{
	return r->record.begin + r->record.item[i].after;
}

static struct access access_of(struct reduction *r, uint32_t i)
{
	const struct op *op = op_of_item(r, i);
	struct access access = {
		.kind = (uint8_t)op->kind,
		.thread = r->record.thread,
		.object = r->record.item[i].object,
		.site = op->site,
		.stack = op->stack,
		.seq = seq_of(r, i),
	};

	if (event_is_access(access.kind))
		run_variable(r->run, multilockset_variable(&r->variables, r->record.item[i].object), &access);
	return access;
}

/* A function was called from the frame below its own; any other block was begun in the frame that it is in. */
static struct block block_at(struct reduction *r, uint32_t i)
{
	const struct op *op = op_of_item(r, i);
	bool entered = op->flags & OP_FUNCTION;
	stack_id caller = entered && op->stack ? tables_frame(r->run->tables, op->stack).parent : op->stack;

	return (struct block){r->record.item[i].object, op->site, r->record.thread, seq_of(r, i), op->flags & OP_DECLARED,
		entered, op->stack, caller};
}

static void report(struct reduction *r, struct opened *o, uint32_t commit, uint32_t violation)
{
	struct link link = {access_of(r, commit), access_of(r, violation), false};
	struct finding f = {
		.block = block_at(r, o->item),
		.path = &link,
		.links = 1,
		.verdict = VERDICT_SUSPECTED,
	};

	findings_add(r->run->findings, &f, (struct evidence){
		.check = "reduction", .kind = "reduction", .seq = link.to.seq, .times = r->record.times});
	o->reported = true;
}

/* The form of Theorem 2, for all blocks of a record at once. */

/* How many of the open blocks had begun by the item: they are the oldest. */
static size_t begun_by(const struct reduction *r, uint32_t item)
{
	size_t low = 0, high = r->depth;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (r->opened[middle].item <= item)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The innermost block that holds the item and now, or NULL; `cut` is the last item that cut. */
static struct opened *holding(struct reduction *r, uint32_t item, uint32_t cut)
{
	for (size_t i = begun_by(r, item); i-- > 0;)
		if (r->opened[i].literal || item > cut)
			return &r->opened[i];
	return NULL;
}

static void mark(struct reduction *r, const struct op *op, uint32_t item)
{
	size_t younger = r->record.item[item].object, at;

	if (op->kind == RECORD_OPEN) {
		r->opened = arena_reserve(r->run->arena, r->opened, &r->opened_capacity, r->depth, sizeof *r->opened);
		r->opened[r->depth++] = (struct opened){item, op->flags & OP_LITERAL, false};
	} else if (op->kind == RECORD_CLOSE) {
		at = r->depth - 1 - younger;
		memmove(&r->opened[at], &r->opened[at + 1], younger * sizeof *r->opened);
		r->depth--;
	}
}

/* Whether the item may not come after the commit. An access to several variables is one event, and one non-mover. */
static bool violates(const struct reduction *r, uint32_t commit, uint32_t i)
{
	if (!commit || r->mover[i] == LEFT)
		return false;
	return r->mover[i] != NON || r->mover[commit] != NON || r->record.item[i].after != r->record.item[commit].after;
}

/* A record's first item opens its block; so 0 is no commit, and cuts nothing. */
static void judge(struct reduction *r)
{
	uint32_t commit = 0, cut = 0;

	r->depth = 0;
	for (uint32_t i = 0; i < r->record.count; i++) {
		const struct op *op = op_of_item(r, i);
		struct opened *o;

		if (r->mover[i] == BOTH) {
			mark(r, op, i);
			cut = op->kind == RECORD_CUT ? i : cut;
			continue;
		}
		o = violates(r, commit, i) ? holding(r, commit, cut) : NULL;
		if (o && !o->reported)
			report(r, o, commit, i);
		if (r->mover[i] != RIGHT)
			commit = i;
	}
	for (size_t i = 0; i < r->depth && r->record.cut_off; i++)
		r->undecided += r->opened[i].reported ? 0 : r->record.times;
}

static void flatten(struct reduction *r)
{
	r->op = arena_alloc(r->run->arena, (r->records.ops + 1) * sizeof *r->op);
	r->class = arena_alloc(r->run->arena, r->variables.lives + (size_t)1);
	for (uint32_t i = 1; i <= r->records.ops; i++)
		r->op[i] = *op_at(&r->records, i);
	for (life_id i = 1; i <= r->variables.lives; i++)
		r->class[i] = (uint8_t)multilockset_class(&r->variables, i);
}

static void reduction_finish(void *self)
{
	struct reduction *r = self;

	multilockset_finish(&r->variables);
	for (uint32_t i = 1; i <= r->run->lines; i++)
		if (is_recorded(line_of(r, i)))
			recording_end(&r->records, &line_of(r, i)->recording, false);
	flatten(r);
	for (uint32_t i = 1; i <= r->records.records; i++) {
		r->record = record_read(&r->records, i);
		move_all(r);
		judge(r);
	}
	findings_limit(r->run->findings, "reduction: blocks that were too long to decide", r->undecided);
	findings_limit(r->run->findings, "reduction: variables read under more sets of locks than are kept",
		r->variables.merged);
}

static void reduction_split(void *self, uint64_t x, uint64_t y)
{
	multilockset_split(&((struct reduction *)self)->variables, x, y);
}

static void reduction_forget(void *self, uint64_t x)
{
	multilockset_forget(&((struct reduction *)self)->variables, x);
}

static void *reduction_start(struct run *run)
{
	struct reduction *r = arena_alloc(run->arena, sizeof *r);

	r->run = run;
	r->with = run_refinements(run, &check_reduction);
	multilockset_init(&r->variables, run->arena, &run->held.locksets, &run->periods);
	r->variables.with = r->with;
	records_init(&r->records, run->arena);
	seg_init(&r->line, run->arena, sizeof(struct line));
	seg_init(&r->lock, run->arena, sizeof(struct lock));
	return r;
}

static const struct refinement refinements[] = {
	{"none", 0, "the lock sets of von Praun and Gross, Theorem 1"},
	{"escape", MULTILOCKSET_ESCAPE, "what no other thread can reach does not count"},
	{"happen-before", MULTILOCKSET_ESCAPE | MULTILOCKSET_PERIODS, "thread periods by fork, join and barriers"},
	{"multilockset", ALL & ~ACQREL, "several read-protecting lock sets"},
	{"acqrel", ALL, "a section that touches nothing shared does not count"},
	{0},
};

const struct check check_reduction = {
	.name = "reduction",
	.summary = "blocks that cannot be shown to be atomic by moving their events",
	.single = true,
	.needs = NEED_HELD | NEED_PERIODS | NEED_ESCAPE,
	.refinements = refinements,
	.standard = ALL,
	.start = reduction_start,
	.finish = reduction_finish,
	.on = {
		[ON_OPEN] = reduction_open,
		[ON_CLOSE] = reduction_close,
		[ON_CUT] = reduction_cut,
		[ON_ACCESS] = reduction_access,
		[ON_ACQUIRE] = reduction_acquire,
		[ON_RELEASE] = reduction_release,
		[ON_TAKE] = reduction_other,
		[ON_POST] = reduction_other,
		[ON_FORK] = reduction_other,
		[ON_JOIN] = reduction_other,
		[ON_ARRIVE] = reduction_other,
		[ON_DEPART] = reduction_depart,
	},
	.split = reduction_split,
	.forget = reduction_forget,
};
