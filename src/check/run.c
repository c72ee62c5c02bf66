/* SPDX-License-Identifier: MIT */
/*
 * The way of an event: well-formedness, thread to line, wait and barrier ends, the policy's blocks, addresses to
 * variables, conflicts, then the handlers of each check in turn, then the shared state. check.h says what checks may
 * rely on. What no check of the run has asked for is not kept, and accesses that nobody looks at cost nothing.
 */
#include "run.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "check/check.h"
#include "check/facts.h"
#include "check/scope.h"
#include "event/tables.h"
#include "policy/policy.h"
#include "state/cells.h"
#include "state/conflicts.h"
#include "state/escape.h"
#include "state/history.h"
#include "state/lines.h"
#include "symbols/namer.h"

/* Fetching ahead pays once the variables no longer fit into the caches. In accesses: how far ahead each step is. */
enum { FETCH_HINT = 12, FETCH_LINE = 8, FETCH_VARIABLE = 4, FETCH_REST = 2, FETCH_FROM = 1 << 12 };

/* Events whose accesses are looked for at once. */
enum { PIECE = 256 };

struct slot {
	const struct check *check;
	void *self;
	unsigned refinements;
};

/* Who is told of something. */
struct calls {
	struct call {
		handler *tell;
		void *self;
	} at[CHECKS_MOST];
	size_t count;
};

/* Who has something of a variable to bring in. */
struct fetches {
	struct {
		void (*fetch)(void *self, uint64_t x);
		void (*rest)(void *self, uint64_t x);
		void *self;
	} at[CHECKS_MOST];
	size_t count;
};

enum { AHEAD = FETCH_VARIABLE };

/* Events, and how far they are. */
struct piece {
	struct event *events;
	const uint16_t *next; /* the numbers of the accesses to come; no event's: none is looked for */
	uint64_t x[AHEAD];    /* their variables, by the number of the access; CELLS_NONE: it is not known */
	size_t count;         /* of the next one */
};

/* One round of a barrier: who has arrived, what they knew, and how many of them have yet to leave. */
struct round {
	struct round *next;
	uint64_t number;
	struct mark *arrival;
	size_t arrived, capacity, inside;
	struct vclock clock[CLOCKS_ORDERS], period;
};

/* The stack of accesses in a function of which only its caller was told. */
struct inner {
	stack_id outer, stack;
	code_id code;
};

enum { INNERS = 64 };

/* What makes many variables alike: bytes of an access, accesses of the past in a row. Fewer are not worth while. */
enum { SEVERAL = 4096, ROW = 32 };

/* Who is told of edges. */
struct edge_call {
	void (*tell)(void *self, const struct mark *from, const struct event *e, bool data);
	void *self;
};

/*
 * What a line's events need, found once: none of it ever moves. By thread, because that is what an event has; a thread
 * has a line from its fork on.
 */
struct lane {
	thread_id thread;   /* 0: not found yet */
	uint32_t line;
	const bool *plain;  /* of wellformed.h */
	struct wf_thread *judged;
	struct scope_line *scope;
	struct diary *diary;
	struct history *history;
	struct vclock *clock[CLOCKS_ORDERS]; /* NULL: nobody needs it */
	uint64_t inner;     /* the last function that was not entered, as an event has it */
	stack_id outer, stack; /* what it was called on; with it */
};

struct runner {
	struct run run; /* first: checks see this part only */
	struct wellformed wellformed;
	enum trace_field field; /* of the event that broke a rule: what to point at */
	struct lines lines;
	struct scope scope;
	struct escape escape;
	struct facts facts;
	struct cells cells;
	struct conflicts conflicts;
	struct seg rounds; /* struct round * by barrier */
	struct slot *slot;
	size_t slots;
	unsigned needs;        /* enum need, of all checks */
	bool edges;            /* a check wants edges */
	struct edge_call edge[CHECKS_MOST];
	size_t edge_calls;
	bool declared;         /* a block was begun: checks that look at no others are among them */
	bool atomics;          /* atomics order something that a check wants */
	struct calls on[TOLD]; /* by what is told */
	struct calls late_calls; /* of accesses of the past */
	struct fetches fetches;  /* of variables that will be accessed */
	bool new_lives;        /* a variable was forgotten */
	struct seg lanes;      /* struct lane by thread */
	struct lane *lane;     /* of the last event that was none of the past */
	struct event access;   /* the access whose variables are being told */
	bool late;             /* it is one of the past */
	bool known;            /* it is one of the diary's: its variables are all that is wanted */
	uint64_t touched[DIARY_VARIABLES]; /* these; as many as may be */
	size_t touches;
	uint64_t row_seq;      /* of the last of those, */
	thread_id row_thread;  /* whose it was, */
	uint32_t row;          /* and how many before it had both */
	struct histories histories; /* of CLOCKS_C11 */
	struct inner inner[INNERS]; /* by function */
};

static struct runner *runner_of(const struct run *run)
{
	return (struct runner *)run;
}

static inline void tell(struct runner *r, enum told what, const struct event *e)
{
	const struct calls *c = &r->on[what];

	for (size_t i = 0; i < c->count; i++)
		c->at[i].tell(c->at[i].self, e);
}

static void tell_edge(void *self, const struct mark *from, const struct event *e, bool data)
{
	struct runner *r = self;

	for (size_t i = 0; i < r->edge_calls; i++)
		r->edge[i].tell(r->edge[i].self, from, e, data);
}

/* An edge that is not by a conflict. */
static void tell_after(struct runner *r, const struct mark *from, const struct event *e, bool data)
{
	if (mark_line(from) != e->line)
		tell_edge(r, from, e, data);
}

static void cell_split(void *self, uint64_t x, uint64_t y)
{
	struct runner *r = self;

	conflicts_split(&r->conflicts, x, y);
	for (size_t i = 0; i < CLOCKS_ORDERS; i++)
		clocks_split(&r->run.clocks[i], x, y);
	for (size_t i = 0; i < r->slots; i++)
		if (r->slot[i].check->split)
			r->slot[i].check->split(r->slot[i].self, x, y);
}

static void cell_forget(void *self, uint64_t x)
{
	struct runner *r = self;

	r->new_lives = true;
	conflicts_forget(&r->conflicts, x);
	for (size_t i = 0; i < CLOCKS_ORDERS; i++)
		clocks_forget(&r->run.clocks[i], x);
	for (size_t i = 0; i < r->slots; i++)
		if (r->slot[i].check->forget)
			r->slot[i].check->forget(r->slot[i].self, x);
}

static void clocks_touch(struct runner *r, const struct event *e)
{
	if (r->needs & NEED_C11)
		clocks_atomic(&r->run.clocks[CLOCKS_C11], e);
	if (r->needs & NEED_CAUSES)
		clocks_atomic(&r->run.clocks[CLOCKS_CAUSES], e);
}

static bool is_atomic(uint8_t kind)
{
	return kind >= EVENT_ATOMIC_LOAD && kind <= EVENT_ATOMIC_RMW;
}

static inline void conflict(struct runner *r, const struct event *e)
{
	bool reads = event_is_read(e->kind);

	if (__builtin_expect(r->run.several, 0))
		(reads ? conflicts_read_one : conflicts_write_one)(&r->conflicts, e);
	else if (reads)
		conflicts_read(&r->conflicts, e);
	else
		conflicts_write(&r->conflicts, e);
}

static inline __attribute__((always_inline)) void touch(struct runner *r, const struct event *e)
{
	if (__builtin_expect(r->edges, 1))
		conflict(r, e);
	tell(r, ON_ACCESS, e);
	if (r->run.accesses)
		diary_put(&r->run.diaries, r->lane->diary, e);
	if (is_atomic(e->kind)) {
		tell(r, ON_ATOMIC, e);
		clocks_touch(r, e);
	}
}

static void touch_late(struct runner *r, const struct event *e)
{
	if (r->edges)
		(r->run.several ? conflicts_past_one : conflicts_past)(&r->conflicts, e);
	for (size_t i = 0; i < r->late_calls.count; i++)
		r->late_calls.at[i].tell(r->late_calls.at[i].self, e);
	diary_insert(&r->run.diaries, e);
}

static void cell_touch(void *self, uint64_t x)
{
	struct runner *r = self;

	if (r->known) {
		r->touched[r->touches++ % DIARY_VARIABLES] = x;
		return;
	}
	r->access.object = x;
	if (r->late)
		touch_late(r, &r->access);
	else
		touch(r, &r->access);
}

/*
 * Of an access that was noted with its address. Its memory may have begun a new life since; its variables are the same, but
 * for those that were divided.
 */
static size_t note_variables(void *self, const struct note *n, uint64_t x[DIARY_VARIABLES])
{
	struct runner *r = self;
	const struct event e = {.kind = n->kind, .flags = EVENT_ADDRESSED | EVENT_SIZED, .object = n->object, .size = n->size};

	*x = cells_whole(&r->cells, &e);
	if (*x != CELLS_NONE)
		return 1;
	r->touches = 0;
	r->known = true;
	cells_access(&r->cells, &e);
	r->known = false;
	memcpy(x, r->touched, sizeof r->touched);
	return r->touches < DIARY_VARIABLES ? r->touches : DIARY_VARIABLES;
}

/* What the checks of a run want to be told, gathered once. */

static void gather(struct runner *r, const struct slot *s)
{
	const struct check *c = s->check;

	for (size_t what = 0; what < TOLD; what++)
		if (c->on[what])
			r->on[what].at[r->on[what].count++] = (struct call){c->on[what], s->self};
	if (c->fetch) {
		assert(c->fetch_rest);
		r->fetches.at[r->fetches.count].fetch = c->fetch;
		r->fetches.at[r->fetches.count].rest = c->fetch_rest;
		r->fetches.at[r->fetches.count++].self = s->self;
	}
	if (c->past)
		r->late_calls.at[r->late_calls.count++] = (struct call){c->past, s->self};
	if (c->edge && !c->declared)
		r->edge[r->edge_calls++] = (struct edge_call){c->edge, s->self};
	r->needs |= c->needs;
	r->edges |= c->edge != NULL;
	r->run.accesses |= !c->modest && (c->edge || c->on[ON_ACCESS]);
}

static void opened(void *self, const struct event *e)
{
	tell(self, ON_OPEN, e);
}

static void closed(void *self, const struct event *e)
{
	tell(self, ON_CLOSE, e);
}

/* Nearly always one check wants edges: conflicts tell it without a detour. */
static void direct_edges(struct runner *r)
{
	bool one = r->edge_calls == 1;

	r->conflicts.edge = one ? r->edge[0].tell : tell_edge;
	r->conflicts.self = one ? r->edge[0].self : r;
}

/* Those who look at declared blocks only have learned nothing so far, and go on from here. */
static void gather_declared(struct runner *r)
{
	r->declared = true;
	r->edge_calls = 0;
	for (size_t i = 0; i < r->slots; i++)
		if (r->slot[i].check->edge)
			r->edge[r->edge_calls++] = (struct edge_call){r->slot[i].check->edge, r->slot[i].self};
	direct_edges(r);
}

static void began(void *self, const struct event *e)
{
	struct runner *r = self;

	if (!r->declared)
		gather_declared(r);
	tell(r, ON_BEGIN, e);
}

static void ended(void *self, const struct event *e)
{
	tell(self, ON_END, e);
}

static const struct policy *policy_of(struct arena *a, const struct run_setup *setup)
{
	struct policy *p;

	if (setup->policy)
		return setup->policy;
	p = arena_alloc(a, sizeof *p);
	policy_init(p, a);
	return p;
}

static void state_init(struct runner *r, struct arena *a, const struct run_setup *setup)
{
	struct scope_listener to = {r, opened, closed, began, ended};

	seg_init(&r->run.open, a, sizeof(struct activations));
	seg_init(&r->rounds, a, sizeof(struct round *));
	seg_init(&r->lanes, a, sizeof(struct lane));
	r->lane = seg_at(&r->lanes, 0, sizeof(struct lane));
	wellformed_init(&r->wellformed, a, r->run.tables, setup->lenient);
	lines_init(&r->lines, a);
	scope_init(&r->scope, &r->run, policy_of(a, setup), to);
	escape_init(&r->escape, a);
	cells_init(&r->cells, a, (struct cells_listener){r, cell_split, cell_forget, cell_touch});
	conflicts_init(&r->conflicts, a, r, tell_edge);
	helds_init(&r->run.held, a);
	for (size_t i = 0; i < CLOCKS_ORDERS; i++)
		clocks_init(&r->run.clocks[i], a, (enum clocks_order)i);
	periods_init(&r->run.periods, a);
	diaries_init(&r->run.diaries, a, r, note_variables);
	facts_init(&r->facts, &r->run, r->scope.policy);
	histories_init(&r->histories, a);
}

struct run *run_new(struct arena *a, struct tables *tables, struct findings *findings,
	const struct run_setup *setup)
{
	struct runner *r = arena_alloc(a, sizeof *r);

	r->run = (struct run){.arena = a, .tables = tables, .findings = findings};
	state_init(r, a, setup);
	r->slot = arena_alloc(a, (setup->count + 1) * sizeof *r->slot);
	r->slots = setup->count;
	for (size_t i = 0; i < setup->count; i++) {
		const struct check *c = setup->checks[i];

		r->slot[i] = (struct slot){c, NULL, setup->refinements ? setup->refinements[i] : c->standard};
		r->slot[i].self = c->start(&r->run);
		gather(r, &r->slot[i]);
	}
	direct_edges(r);
	if (!r->run.accesses)
		r->on[ON_ACCESS].count = r->on[ON_ATOMIC].count = 0;
	if (!r->on[ON_OPEN].count)
		r->scope.to.opened = NULL;
	if (!r->on[ON_CLOSE].count)
		r->scope.to.closed = NULL;
	r->histories.kept = setup->late && r->needs & NEED_C11;
	r->atomics = r->needs & (NEED_C11 | NEED_CAUSES);
	return &r->run;
}

/* Leaves what a joined thread has left open, which only a lenient run allows. */
static void close_all(struct runner *r, const struct event *join, thread_id u, uint32_t line)
{
	struct activations *open = run_open(&r->run, line);
	struct event e = {.thread = u, .line = line, .seq = join->seq, .site = join->site};

	for (size_t i = open->depth; i-- > 0 && r->on[ON_RAW].count;) {
		e.kind = open->at[i].sort == ACTIVATION_BLOCK ? EVENT_END : EVENT_EXIT;
		if (open->at[i].sort != ACTIVATION_SPAN)
			tell(r, ON_RAW, &e);
	}
	scope_close_all(&r->scope, &e, line);
}

/* Threads. */

/* The start and the end of a thread: no events of the trace, but ends of edges. */
static struct event far_end(const struct event *e, uint32_t line)
{
	return (struct event){.thread = (thread_id)e->object, .line = line, .object = e->object, .seq = e->seq};
}

static void fork_thread(struct runner *r, const struct event *e)
{
	uint32_t line = lines_fork(&r->lines, e);
	struct mark fork = mark_of(e);
	struct event start = far_end(e, line);

	*(struct lane *)seg_at(&r->lanes, e->object, sizeof(struct lane)) = (struct lane){0};
	r->run.lines = r->lines.count;
	findings_created(r->run.findings, e);
	scope_fork(&r->scope, line);
	held_reset(&r->run.held, line);
	if (r->needs & NEED_ESCAPE)
		escape_fork(&r->escape, e, line);
	tell_after(r, &fork, &start, true);
	tell(r, ON_FORK, e);
	if (r->needs & NEED_C11)
		clocks_fork(&r->run.clocks[CLOCKS_C11], e->line, line);
	if (r->needs & NEED_CAUSES)
		clocks_fork(&r->run.clocks[CLOCKS_CAUSES], e->line, line);
	if (r->needs & NEED_PERIODS)
		periods_fork(&r->run.periods, e->line, line);
}

/* A thread that has done nothing splits nothing; but its fork comes before its join, whoever made them. */
static void join_idle(struct runner *r, const struct event *e, uint32_t line)
{
	const struct birth *b = lines_birth(&r->lines, line, e->seq);

	if (b && b->thread == e->object)
		tell_after(r, &b->fork, e, true);
}

static void join_thread(struct runner *r, const struct event *e, bool idle)
{
	uint32_t line = lines_of(&r->lines, (thread_id)e->object);
	struct event finish = far_end(e, line);
	struct mark from = mark_of(&finish);

	r->run.lines = r->lines.count;
	close_all(r, e, (thread_id)e->object, line);
	if (idle)
		join_idle(r, e, line);
	else
		tell_after(r, &from, e, true);
	tell(r, ON_JOIN, e);
	if (r->needs & NEED_C11)
		clocks_join(&r->run.clocks[CLOCKS_C11], e->line, line);
	if (r->needs & NEED_CAUSES)
		clocks_join(&r->run.clocks[CLOCKS_CAUSES], e->line, line);
	if (r->needs & NEED_PERIODS)
		periods_join(&r->run.periods, e->line, line);
	lines_join(&r->lines, e);
}

/* Barriers. */

static struct round **rounds_of(struct runner *r, uint64_t barrier)
{
	return seg_at(&r->rounds, barrier, sizeof(struct round *));
}

static void arrive(struct runner *r, const struct event *e, uint64_t number)
{
	struct round **list = rounds_of(r, e->object), *round = *list;

	if (!round || round->number != number) {
		round = arena_alloc(r->run.arena, sizeof *round);
		round->next = *list;
		round->number = number;
		*list = round;
	}
	round->arrival = arena_reserve(r->run.arena, round->arrival, &round->capacity, round->arrived,
		sizeof *round->arrival);
	round->arrival[round->arrived++] = mark_of(e);
	round->inside++;
	tell(r, ON_ARRIVE, e);
	for (size_t i = 0; i < CLOCKS_ORDERS; i++)
		if (r->needs & (i == CLOCKS_C11 ? NEED_C11 : NEED_CAUSES))
			clocks_arrive(&r->run.clocks[i], e->line, &round->clock[i]);
	if (r->needs & NEED_PERIODS)
		periods_arrive(&r->run.periods, e->line, &round->period);
}

static void vclock_drop(struct runner *r, struct vclock *c)
{
	arena_recycle(r->run.arena, c->at, c->lines * sizeof *c->at);
}

static void round_drop(struct runner *r, struct round **link)
{
	struct round *gone = *link;

	*link = gone->next;
	vclock_drop(r, &gone->clock[CLOCKS_C11]);
	vclock_drop(r, &gone->clock[CLOCKS_CAUSES]);
	vclock_drop(r, &gone->period);
	arena_recycle(r->run.arena, gone->arrival, gone->capacity * sizeof *gone->arrival);
	arena_recycle(r->run.arena, gone, sizeof *gone);
}

/* Takes an arrival back, for a thread that a lenient run lets leave early. */
static void unarrive(struct round *round, uint32_t line)
{
	size_t i = 0;

	while (mark_line(&round->arrival[i]) != line)
		i++;
	round->arrival[i] = round->arrival[--round->arrived];
}

/* A thread that leaves early has learned nothing from the others. */
static void leave_round(struct runner *r, const struct event *e, const struct round *round)
{
	for (size_t i = 0; i < round->arrived; i++)
		tell_after(r, &round->arrival[i], e, false);
	tell(r, ON_DEPART, e);
	for (size_t i = 0; i < CLOCKS_ORDERS; i++)
		if (r->needs & (i == CLOCKS_C11 ? NEED_C11 : NEED_CAUSES))
			clocks_depart(&r->run.clocks[i], e->line, &round->clock[i]);
	if (r->needs & NEED_PERIODS)
		periods_depart(&r->run.periods, e->line, &round->period);
}

static void depart(struct runner *r, const struct event *e, const struct wf_step *s)
{
	struct round **link = rounds_of(r, s->depart);
	struct event plain = *e;

	while ((*link)->number != s->departed)
		link = &(*link)->next;
	plain.kind = EVENT_BARRIER;
	plain.object = s->depart;
	if (s->early)
		unarrive(*link, e->line);
	else
		leave_round(r, &plain, *link);
	if (--(*link)->inside == 0)
		round_drop(r, link);
}

/* Locks. */

static inline void note_sync(struct runner *r, const struct event *e)
{
	if (r->slots)
		diary_put(&r->run.diaries, r->lane->diary, e);
}

static inline void acquire(struct runner *r, const struct event *e)
{
	if (r->edges && e->kind == EVENT_ACQUIRE_SHARED)
		conflicts_acquire_shared(&r->conflicts, e);
	else if (r->edges)
		conflicts_acquire(&r->conflicts, e);
	tell(r, ON_ACQUIRE, e);
	note_sync(r, e);
	if (r->needs & NEED_HELD)
		held_acquire(&r->run.held, e);
	for (size_t i = 0; i < CLOCKS_ORDERS; i++)
		if (r->lane->clock[i])
			clocks_lock(&r->run.clocks[i], r->lane->clock[i], e);
}

static inline void release(struct runner *r, const struct event *e)
{
	if (r->edges && e->kind == EVENT_RELEASE_SHARED)
		conflicts_release_shared(&r->conflicts, e);
	else if (r->edges)
		conflicts_release(&r->conflicts, e);
	tell(r, ON_RELEASE, e);
	note_sync(r, e);
	if (r->needs & NEED_HELD)
		held_release(&r->run.held, e);
	for (size_t i = 0; i < CLOCKS_ORDERS; i++)
		if (r->lane->clock[i])
			clocks_unlock(&r->run.clocks[i], r->lane->clock[i], e);
}

/* Of the side that was held. */
static inline void release_side(struct runner *r, struct event *e, bool shared)
{
	e->kind = shared ? EVENT_RELEASE_SHARED : EVENT_RELEASE;
	release(r, e);
	if (r->scope.spans)
		scope_release(&r->scope, e);
}

static void reacquire(struct runner *r, const struct event *e, const struct event *wait)
{
	struct event plain = *wait;

	plain.kind = EVENT_ACQUIRE;
	plain.flags |= EVENT_WAITED;
	plain.object = wait->mutex;
	plain.value = 0;
	plain.line = e->line;
	plain.seq = e->seq;
	if (!plain.stack)
		plain.stack = scope_stack(&r->scope, e->line);
	acquire(r, &plain);
}

/* Every function that is open waits. */
static void note_waiters(struct runner *r, const struct event *e)
{
	const struct activations *open = run_open(&r->run, e->line);

	for (size_t i = 0; i < open->depth; i++)
		if (open->at[i].sort != ACTIVATION_BLOCK)
			findings_waiter(r->run.findings, open->at[i].code);
}

static void wait_on(struct runner *r, const struct event *e)
{
	struct event plain = *e;

	note_waiters(r, e);
	tell(r, ON_WAIT, e);
	note_sync(r, e);
	plain.kind = EVENT_RELEASE;
	plain.object = e->mutex;
	plain.value = 0;
	release(r, &plain);
}

/* Semaphores and fences. */

static void post(struct runner *r, const struct event *e)
{
	if (r->edges)
		conflicts_post(&r->conflicts, e);
	tell(r, ON_POST, e);
	note_sync(r, e);
	if (r->needs & NEED_C11)
		clocks_post(&r->run.clocks[CLOCKS_C11], e);
	if (r->needs & NEED_CAUSES)
		clocks_post(&r->run.clocks[CLOCKS_CAUSES], e);
}

static void take(struct runner *r, const struct event *e)
{
	if (r->edges)
		conflicts_take(&r->conflicts, e);
	tell(r, ON_TAKE, e);
	note_sync(r, e);
	if (r->needs & NEED_C11)
		clocks_take(&r->run.clocks[CLOCKS_C11], e);
	if (r->needs & NEED_CAUSES)
		clocks_take(&r->run.clocks[CLOCKS_CAUSES], e);
}

static void fence(struct runner *r, const struct event *e)
{
	tell(r, ON_FENCE, e);
	clocks_touch(r, e);
}

/* Of memory that is not just one variable. */
static __attribute__((noinline)) void access_parts(struct runner *r, const struct event *e)
{
	r->access = *e;
	r->run.several = e->size > SEVERAL;
	cells_access(&r->cells, e);
	r->run.several = false;
}

/* From here on the event's object is the variable. */
static inline __attribute__((always_inline)) void access_memory(struct runner *r, struct event *e)
{
	if (r->needs & NEED_ESCAPE && escape_access(&r->escape, e))
		e->flags |= EVENT_PRIVATE;
	if (!scope_watches(&r->scope, e))
		return;
	if (e->flags & EVENT_ADDRESSED) {
		uint64_t address = e->object, x = cells_whole(&r->cells, e);

		if (__builtin_expect(x != CELLS_NONE, 1)) {
			e->object = x;
			touch(r, e);
			e->object = address;
			return;
		}
		access_parts(r, e);
	} else {
		e->object = cells_named(&r->cells, e->object);
		touch(r, e);
	}
}

static __attribute__((noinline)) void access_slowly(struct runner *r, struct event *e)
{
	access_memory(r, e);
}

static void allocate(struct runner *r, const struct event *e)
{
	if (r->run.tables->namer)
		namer_alloc(r->run.tables->namer, e);
	if (r->needs & NEED_ESCAPE)
		escape_alloc(&r->escape, e);
	scope_alloc(&r->scope, e);
	if (r->run.accesses || r->atomics)
		cells_alloc(&r->cells, e);
	tell(r, ON_ALLOC, e);
}

static void deallocate(struct runner *r, const struct event *e)
{
	tell(r, ON_FREE, e);
	scope_free(&r->scope, e);
	if (r->needs & NEED_ESCAPE)
		escape_free(&r->escape, e);
}

/* Operations behind which no block goes on that the policy made. */
static void cutting(struct runner *r, const struct event *e, const struct wf_step *s)
{
	scope_cut(&r->scope, e);
	tell(r, ON_CUT, e);
	if (e->kind != EVENT_WAIT)
		note_sync(r, e);
	switch (e->kind) {
	case EVENT_FORK: fork_thread(r, e); break;
	case EVENT_JOIN: join_thread(r, e, s->idle); break;
	case EVENT_WAIT: wait_on(r, e); break;
	default: arrive(r, e, s->round); break;
	}
	scope_resume(&r->scope, e);
}

/* Functions and blocks. */
static void activation_event(struct runner *r, const struct event *e, const struct wf_step *s, bool first)
{
	switch (e->kind) {
	case EVENT_ENTER: scope_enter(&r->scope, r->lane->scope, e, first); break;
	case EVENT_EXIT:
		for (size_t i = 0; i < s->exits; i++)
			scope_exit(&r->scope, r->lane->scope, e);
		break;
	case EVENT_BEGIN: scope_begin(&r->scope, e); break;
	default: scope_end(&r->scope, e); break;
	}
}

static void dispatch(struct runner *r, struct event *e, const struct wf_step *s, bool first)
{
	switch (e->kind) {
	case EVENT_READ:
	case EVENT_WRITE:
		if (r->run.accesses)
			access_slowly(r, e);
		break;
	case EVENT_ATOMIC_LOAD:
	case EVENT_ATOMIC_STORE:
	case EVENT_ATOMIC_RMW:
		if (r->run.accesses || r->atomics)
			access_slowly(r, e);
		break;
	case EVENT_ACQUIRE:
	case EVENT_ACQUIRE_SHARED:
		if (r->scope.spans)
			scope_acquire(&r->scope, e);
		acquire(r, e);
		break;
	case EVENT_RELEASE:
	case EVENT_RELEASE_SHARED: release_side(r, e, s->shared); break;
	case EVENT_FORK:
	case EVENT_JOIN:
	case EVENT_WAIT:
	case EVENT_BARRIER: cutting(r, e, s); break;
	case EVENT_SEM_WAIT: take(r, e); break;
	case EVENT_SEM_POST: post(r, e); break;
	case EVENT_ALLOC: allocate(r, e); break;
	case EVENT_FREE: deallocate(r, e); break;
	case EVENT_NOTIFY:
	case EVENT_NOTIFY_ALL: tell(r, ON_NOTIFY, e); break;
	case EVENT_ATOMIC_FENCE: fence(r, e); break;
	case EVENT_NONE: break; /* a sign of life: the thread has left what it waited in */
	default: activation_event(r, e, s, first); break;
	}
}

static stack_id stack_in(struct runner *r, stack_id outer, code_id code)
{
	struct inner *i = &r->inner[code % INNERS];

	if (i->outer != outer || i->code != code)
		*i = (struct inner){outer, tables_stack(r->run.tables, (struct frame){outer, code, 0}), code};
	return i->stack;
}

/* An access in a function that nobody has entered. */
static inline bool has_inner(const struct event *e)
{
	return e->value && !(e->flags & EVENT_VALUED);
}

/* Locks and notifications likewise. */
static inline bool may_be_inside(uint8_t kind)
{
	return kind == EVENT_ACQUIRE || kind == EVENT_RELEASE || kind == EVENT_NOTIFY || kind == EVENT_NOTIFY_ALL;
}

static inline stack_id stack_inside(struct runner *r, struct lane *l, const struct event *e)
{
	if (l->inner != e->value || l->outer != e->stack) {
		l->inner = e->value;
		l->outer = e->stack;
		l->stack = scope_stack_with(&r->scope, e->stack, (code_id)e->value, (site_id)(e->value >> 32));
	}
	return l->stack;
}

static __attribute__((cold, noinline)) void lane_find(struct runner *r, struct lane *l, thread_id t)
{
	l->thread = t;
	l->line = lines_of(&r->lines, t);
	l->plain = wellformed_plain(&r->wellformed, t);
	l->judged = wellformed_thread(&r->wellformed, t);
	l->scope = scope_line(&r->scope, l->line);
	l->diary = diary_of(&r->run.diaries, l->line);
	l->history = history_of(&r->histories, l->line);
	l->clock[CLOCKS_C11] = r->needs & NEED_C11 ? clocks_now(&r->run.clocks[CLOCKS_C11], l->line) : NULL;
	l->clock[CLOCKS_CAUSES] = r->needs & NEED_CAUSES ? clocks_now(&r->run.clocks[CLOCKS_CAUSES], l->line) : NULL;
	r->run.lines = r->lines.count;
}

static inline struct lane *lane_of(struct runner *r, thread_id t)
{
	struct lane *l = seg_at(&r->lanes, t, sizeof *l);

	if (__builtin_expect(!l->thread, 0))
		lane_find(r, l, t);
	return l;
}

/* From here on it is the event that is told. */
static inline void lane_take(struct runner *r, struct lane *l, struct event *e)
{
	r->lane = l;
	r->run.now = l->clock;
	e->line = l->line;
}

static inline __attribute__((always_inline)) void place_event(struct runner *r, struct lane *l, struct event *e)
{
	lane_take(r, l, e);
	if (__builtin_expect(r->on[ON_RAW].count != 0, 0))
		tell(r, ON_RAW, e);
	if (!e->stack)
		e->stack = l->scope->stack;
}

/* The same where the event may say in which function it is: see run.h. */

static inline __attribute__((always_inline)) void place_access(struct runner *r, struct lane *l, struct event *e)
{
	place_event(r, l, e);
	if (has_inner(e)) {
		e->stack = stack_in(r, e->stack, (code_id)e->value);
		e->value = 0;
	}
}

static inline __attribute__((always_inline)) void place_lock(struct runner *r, struct lane *l, struct event *e)
{
	place_event(r, l, e);
	if (e->value) {
		e->stack = stack_inside(r, l, e);
		e->value = 0;
	}
}

static void place_any(struct runner *r, struct lane *l, struct event *e)
{
	if (e->kind == EVENT_READ || e->kind == EVENT_WRITE)
		place_access(r, l, e);
	else if (may_be_inside(e->kind))
		place_lock(r, l, e);
	else
		place_event(r, l, e);
}

/* The wait or the barrier that the thread has left before the event, even one that a lenient run drops. */
static void leave_wait(struct runner *r, const struct event *e, const struct wf_step *s)
{
	if (s->reacquire)
		reacquire(r, e, s->wait);
	if (s->depart)
		depart(r, e, s);
}

/* One event; false when it broke a rule and the run is strict. */
static bool one_event(struct runner *r, struct event *e)
{
	bool ran = *wellformed_plain(&r->wellformed, e->thread), first;
	struct wf_step s;

	if (event_is_declaration(e->kind)) {
		scope_declare(&r->scope, e);
		return true;
	}
	s = wellformed_step(&r->wellformed, e);

	if (__builtin_expect(s.broken != WF_FINE, 0)) {
		r->field = s.field;
		if (!r->wellformed.lenient)
			return false;
		if (!s.mended) {
			lane_take(r, lane_of(r, e->thread), e);
			leave_wait(r, e, &s);
			return true;
		}
	}
	place_any(r, lane_of(r, e->thread), e);
	if (__builtin_expect(s.reacquire || s.depart, 0))
		leave_wait(r, e, &s);
	first = !ran && scope_first(&r->scope, e->line);
	if (!event_is_access(e->kind))
		scope_watches(&r->scope, e);
	if (s.reentrant)
		tell(r, ON_AGAIN, e);
	else
		dispatch(r, e, &s, first);
	return true;
}

/* Whether it may change the time of a line. */
static inline bool is_ordering(uint8_t kind)
{
	const uint64_t others = (uint64_t)1 << EVENT_READ | (uint64_t)1 << EVENT_WRITE | (uint64_t)1 << EVENT_ENTER |
		(uint64_t)1 << EVENT_EXIT | (uint64_t)1 << EVENT_ACQUIRE | (uint64_t)1 << EVENT_ALLOC | (uint64_t)1 << EVENT_FREE;

	return !(others >> (kind & 63) & 1);
}

/* Times are asked for by what comes late. */
static inline void note_time(struct runner *r, const struct event *e)
{
	if (r->histories.kept)
		history_note(&r->histories, r->lane->history, e->seq, r->lane->clock[CLOCKS_C11]->at[e->line]);
}

static void note_times(struct runner *r, const struct event *e)
{
	uint32_t line;

	if (!is_ordering(e->kind) || event_is_declaration(e->kind))
		return;
	note_time(r, e);
	if (e->kind != EVENT_FORK || !r->histories.kept)
		return;
	line = run_line(&r->run, (thread_id)e->object);
	history_note(&r->histories, history_of(&r->histories, line), e->seq,
		clocks_time(&r->run.clocks[CLOCKS_C11], line));
}

/* What a thread does that is simply running, as most events are. */

static inline __attribute__((always_inline)) void plain_access(struct runner *r, struct lane *l, struct event *e)
{
	if (!r->run.accesses && !r->on[ON_RAW].count)
		return;
	place_access(r, l, e);
	if (r->run.accesses)
		access_memory(r, e);
}

static __attribute__((noinline)) void plain_atomic(struct runner *r, struct lane *l, struct event *e)
{
	place_event(r, l, e);
	if (r->run.accesses || r->atomics)
		access_slowly(r, e);
	note_time(r, e);
}

/* Functions that are entered and left in their order. */

static inline __attribute__((always_inline)) bool plain_enter(struct runner *r, struct lane *l, struct event *e)
{
	if (!wellformed_call(l->judged, e))
		return false;
	place_event(r, l, e);
	scope_watches(&r->scope, e);
	scope_enter(&r->scope, l->scope, e, false);
	return true;
}

static inline __attribute__((always_inline)) bool plain_exit(struct runner *r, struct lane *l, struct event *e)
{
	if (!wellformed_call(l->judged, e))
		return false;
	place_event(r, l, e);
	scope_watches(&r->scope, e);
	scope_exit(&r->scope, l->scope, e);
	return true;
}

/* Locks that are taken while they are free, and given back. */

static inline __attribute__((always_inline)) bool plain_acquire(struct runner *r, struct lane *l, struct event *e)
{
	if (!wellformed_acquire(&r->wellformed, e))
		return false;
	place_lock(r, l, e);
	scope_watches(&r->scope, e);
	if (r->scope.spans)
		scope_acquire(&r->scope, e);
	acquire(r, e);
	return true;
}

static inline __attribute__((always_inline)) bool plain_release(struct runner *r, struct lane *l, struct event *e)
{
	if (!wellformed_release(&r->wellformed, e))
		return false;
	place_lock(r, l, e);
	scope_watches(&r->scope, e);
	release_side(r, e, false);
	note_time(r, e);
	return true;
}

/* The lane of a thread that is simply running, or NULL. Events come in rows of one thread. */
static inline __attribute__((always_inline)) struct lane *plain_lane(struct runner *r, const struct event *e)
{
	struct lane *l = r->lane->thread == e->thread ? r->lane : seg_at(&r->lanes, e->thread, sizeof *l);

	return __builtin_expect(l->thread && *l->plain, 1) ? l : NULL;
}

/* What was found is looked at in its surroundings; here, where the event is in the diary. */
static inline void look_around(struct runner *r, const struct event *e)
{
	if (__builtin_expect(r->run.findings->fresh_count || r->facts.waiting, 0))
		facts_step(&r->facts, e);
}

/*
 * The stack of what the thread was heard to do right before and right behind it, if both were in the same call of the
 * access's own function: then so was the access. 0 if that cannot be said.
 */
static stack_id stack_around(struct runner *r, const struct diary *d, uint64_t seq, code_id code)
{
	uint64_t first = diary_first(d), i;
	stack_id stack;
	bool whole;

	if (!d->count || diary_note(d, first)->seq > seq || diary_note(d, d->count - 1)->seq <= seq)
		return 0;
	i = diary_since(d, seq + 1, &whole);
	stack = diary_note(d, i - 1)->stack;
	if (!stack || diary_note(d, i)->stack != stack)
		return 0;
	return tables_frame(r->run.tables, stack).code == code ? stack : 0;
}

/*
 * Otherwise the stack of the innermost activation that held it, of those that are still open, and its own function:
 * what was called in between, and is over, was never told.
 */
static stack_id stack_at(struct runner *r, const struct lane *l, uint64_t seq, code_id code)
{
	stack_id around = stack_around(r, l->diary, seq, code);
	const struct activations *open = run_open(&r->run, l->line);
	size_t i = open->depth;
	stack_id stack;

	if (around)
		return around;
	while (i && open->at[i - 1].begin > seq)
		i--;
	stack = i ? open->at[i - 1].stack : 0;
	if (!code || (stack && tables_frame(r->run.tables, stack).code == code))
		return stack;
	return tables_stack(r->run.tables, (struct frame){stack, code, 0});
}

/* With its address, line by line: a variable is never in two. */
static inline void note_known(struct runner *r, const struct lane *l, struct event *e)
{
	uint64_t end = e->object + e->size, left = CELL_LINE - e->object % CELL_LINE;

	e->flags |= EVENT_KNOWN;
	for (; __builtin_expect(left < end - e->object, 0); left = CELL_LINE) {
		e->size = (uint32_t)left;
		diary_put_known(&r->run.diaries, l->diary, e);
		e->object += left;
	}
	e->size = (uint32_t)(end - e->object);
	diary_put_known(&r->run.diaries, l->diary, e);
}

/* It says what the section does, which is for the diary alone. False: the thread has something else to do first. */
static inline bool known_access(struct runner *r, struct event *e)
{
	struct lane *l = lane_of(r, e->thread);

	e->flags &= (uint8_t)~EVENT_KNOWN;
	if (!*l->plain || r->on[ON_RAW].count)
		return false;
	place_access(r, l, e);
	if (!r->run.accesses || !scope_watches(&r->scope, e))
		return true;
	note_known(r, l, e);
	look_around(r, e);
	return true;
}

/* Whether it is one of many that a thread made at one time: memory that changes hands. */
static bool is_in_row(struct runner *r, const struct event *e)
{
	r->row = e->seq == r->row_seq && e->thread == r->row_thread ? r->row + 1 : 0;
	r->row_seq = e->seq;
	r->row_thread = e->thread;
	return r->row >= ROW;
}

static void past_access(struct runner *r, struct event *e)
{
	uint64_t x = cells_whole(&r->cells, e);
	const struct lane *l = lane_of(r, e->thread);

	r->run.several = is_in_row(r, e);
	e->line = l->line;
	e->stack = stack_at(r, l, e->seq, (code_id)e->value);
	e->value = 0;
	e->flags &= (uint8_t)~EVENT_PAST;
	if (x != CELLS_NONE) {
		e->object = x;
		touch_late(r, e);
	} else {
		r->access = *e;
		r->late = true;
		cells_access(&r->cells, e);
		r->late = false;
	}
	r->run.several = false;
}

static inline __attribute__((always_inline)) void fetch(struct runner *r, uint64_t x)
{
	conflicts_fetch(&r->conflicts, x);
	for (size_t i = 0; i < r->fetches.count; i++)
		r->fetches.at[i].fetch(r->fetches.at[i].self, x);
}

/* Memory that is given out begins a new life: what is kept of it is forgotten. Of what is known only the diary hears. */
static inline bool touches_memory(const struct event *e)
{
	const uint64_t kinds = (uint64_t)1 << EVENT_READ | (uint64_t)1 << EVENT_WRITE | (uint64_t)1 << EVENT_ATOMIC_LOAD |
		(uint64_t)1 << EVENT_ATOMIC_STORE | (uint64_t)1 << EVENT_ATOMIC_RMW | (uint64_t)1 << EVENT_ALLOC;

	return kinds >> (e->kind & 63) & 1 & ~(unsigned)(e->flags / EVENT_KNOWN);
}

/*
 * The numbers of the accesses among the events, and behind them the last one again, as often as somebody looks further.
 * False: there is none. Of those to one place in a row, as accesses of the past and what they are told for, the first
 * does. Without branches: which event is one nobody can guess.
 */
static bool find_accesses(uint16_t *at, const struct event *events, size_t n)
{
	uint64_t object = 0;
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		bool found = touches_memory(&events[i]) & (events[i].object != object);

		at[count] = (uint16_t)i;
		count += found;
		object = found ? events[i].object : object;
	}
	for (size_t i = 0; i <= FETCH_HINT && count; i++)
		at[count + i] = at[count - 1];
	return count;
}

static inline __attribute__((always_inline)) void fetch_rest(struct runner *r, uint64_t x)
{
	conflicts_fetch_rest(&r->conflicts, x);
	for (size_t i = 0; i < r->fetches.count; i++)
		r->fetches.at[i].rest(r->fetches.at[i].self, x);
}

static inline __attribute__((always_inline)) void fetch_line(struct runner *r, const struct event *e)
{
	if (e->flags & EVENT_ADDRESSED)
		cells_fetch_line(&r->cells, e->object);
	else if (e->kind != EVENT_ALLOC) /* of a name that nobody has accessed yet */
		conflicts_fetch(&r->conflicts, cells_named(&r->cells, e->object));
}

static inline __attribute__((always_inline)) uint64_t fetch_variable(struct runner *r, const struct event *e)
{
	uint64_t x = e->flags & EVENT_ADDRESSED ? cells_fetch_variable(&r->cells, e->object) : CELLS_NONE;

	if (x != CELLS_NONE)
		fetch(r, x);
	return x;
}

/* The first accesses have nobody before them: their steps are taken one after the other, each of all. */
static __attribute__((noinline)) void look_at_first(struct runner *r, struct piece *p)
{
	const struct event *events = p->events;
	const uint16_t *first = p->next;

	for (size_t i = 0; i < FETCH_HINT; i++)
		cells_fetch_hint(&r->cells, events[first[i]].object);
	for (size_t i = 0; i < FETCH_LINE; i++)
		fetch_line(r, &events[first[i]]);
	for (size_t i = 0; i < FETCH_VARIABLE; i++)
		p->x[i] = fetch_variable(r, &events[first[i]]);
	for (size_t i = 0; i < FETCH_REST; i++)
		if (p->x[i] != CELLS_NONE)
			fetch_rest(r, p->x[i]);
}

/* Of memory, what is needed is found in four steps: the accesses are those which are so far ahead of the next one. */
static inline __attribute__((always_inline)) void look_ahead(struct runner *r, struct piece *p)
{
	const struct event *events = p->events;
	const uint16_t *next = p->next++;
	uint64_t rest = p->x[(p->count + FETCH_REST) % AHEAD];

	cells_fetch_hint(&r->cells, events[next[FETCH_HINT]].object);
	fetch_line(r, &events[next[FETCH_LINE]]);
	p->x[p->count++ % AHEAD] = fetch_variable(r, &events[next[FETCH_VARIABLE]]);
	if (rest != CELLS_NONE)
		fetch_rest(r, rest);
}

static inline bool is_next(const struct piece *p, const struct event *e)
{
	return (size_t)(e - p->events) == *p->next;
}

/* False when it broke a rule and the run is strict. */
static __attribute__((noinline)) bool take_slowly(struct runner *r, struct event *e)
{
	if (!one_event(r, e))
		return false;
	note_times(r, e);
	look_around(r, e);
	return true;
}

/* Whether it is one of the kinds that are seldom, and plain. */
static __attribute__((noinline)) bool take_seldom(struct runner *r, struct piece *p, struct event *e)
{
	struct lane *l = is_atomic(e->kind) ? plain_lane(r, e) : NULL;

	if (is_next(p, e))
		look_ahead(r, p);
	if (l)
		plain_atomic(r, l, e);
	return l;
}

/* The same. What comes next nobody can guess: it is asked once. */
static inline __attribute__((always_inline)) bool take_event(struct runner *r, struct piece *p, struct event *e)
{
	struct lane *l;
	bool plain;

	switch (e->kind) {
	case EVENT_READ: case EVENT_WRITE:
		if (is_next(p, e))
			look_ahead(r, p);
		if (e->flags & EVENT_PAST) {
			past_access(r, e);
			return true;
		}
		if (e->flags & EVENT_KNOWN && known_access(r, e))
			return true;
		if ((plain = (l = plain_lane(r, e))))
			plain_access(r, l, e);
		break;
	case EVENT_ACQUIRE: plain = (l = plain_lane(r, e)) && plain_acquire(r, l, e); break;
	case EVENT_RELEASE: plain = (l = plain_lane(r, e)) && plain_release(r, l, e); break;
	case EVENT_ENTER: plain = (l = plain_lane(r, e)) && plain_enter(r, l, e); break;
	case EVENT_EXIT: plain = (l = plain_lane(r, e)) && plain_exit(r, l, e); break;
	default: plain = take_seldom(r, p, e); break;
	}
	if (__builtin_expect(!plain, 0))
		return take_slowly(r, e);
	look_around(r, e);
	return true;
}

/* No more than PIECE events. */
static size_t run_piece(struct runner *r, struct event *events, size_t n)
{
	uint16_t access[PIECE + FETCH_HINT + 1];
	struct piece p = {.events = events, .next = access};

	if (r->edges && r->cells.variables > FETCH_FROM && find_accesses(access, events, n))
		look_at_first(r, &p);
	else
		access[0] = UINT16_MAX;
	for (size_t i = 0; i < n; i++)
		if (!take_event(r, &p, &events[i]))
			return i;
	return n;
}

size_t run_events(struct run *run, struct event *events, size_t n)
{
	struct runner *r = runner_of(run);
	size_t done = 0;

	if (n && events[n - 1].seq > MARK_SEQ_MOST)
		die(STATUS_UNFIT, "more than %llu events", (unsigned long long)MARK_SEQ_MOST);
	while (done < n) {
		size_t piece = n - done < PIECE ? n - done : PIECE, taken = run_piece(r, events + done, piece);

		done += taken;
		if (taken < piece)
			break;
	}
	return done;
}

bool run_looks_at_accesses(const struct run *run)
{
	return run->accesses;
}

bool run_needs_single(const struct run *run)
{
	const struct runner *r = runner_of(run);

	for (size_t i = 0; i < r->slots; i++)
		if (r->slot[i].check->single)
			return true;
	return !r->scope.says_little;
}

/* What begins with a lock would begin before its function. */
bool run_may_enter_late(const struct run *run)
{
	const struct runner *r = runner_of(run);

	return !run->accesses && r->scope.says_little && !r->scope.spans;
}

clock_time run_time_at(struct run *run, uint32_t line, uint64_t seq)
{
	return history_at(history_of(&runner_of(run)->histories, line), seq);
}

void run_finish(struct run *run)
{
	struct runner *r = runner_of(run);

	for (size_t i = 0; i < r->slots; i++)
		if (r->slot[i].check->finish)
			r->slot[i].check->finish(r->slot[i].self);
	facts_finish(&r->facts);
}

const struct wellformed *run_wellformed(const struct run *run)
{
	return &runner_of(run)->wellformed;
}

enum trace_field run_field(const struct run *run)
{
	return runner_of(run)->field;
}

unsigned run_refinements(const struct run *run, const struct check *check)
{
	const struct runner *r = runner_of(run);
	size_t i = 0;

	while (r->slot[i].check != check)
		i++;
	return r->slot[i].refinements;
}

uint32_t run_line(struct run *run, thread_id t)
{
	return lines_of(&runner_of(run)->lines, t);
}

const struct birth *run_birth(struct run *run, uint32_t line, uint64_t seq)
{
	return lines_birth(&runner_of(run)->lines, line, seq);
}

uint64_t run_variables(const struct run *run)
{
	return runner_of(run)->cells.variables;
}

bool run_has_new_lives(const struct run *run)
{
	return runner_of(run)->new_lives;
}

void *run_check_state(const struct run *run, const char *name)
{
	const struct runner *r = runner_of(run);

	for (size_t i = 0; i < r->slots; i++)
		if (strcmp(r->slot[i].check->name, name) == 0)
			return r->slot[i].self;
	return NULL;
}

/* An address that has a name goes by it from here on: findings are about names. */
void run_variable(struct run *run, uint64_t x, struct access *access)
{
	uint32_t name = 0;

	run_address(run, x, access);
	if (access->flags & EVENT_ADDRESSED && run->tables->namer) {
		name = namer_variable(run->tables->namer, access->object, access->size);
		if (!name)
			name = namer_heap(run->tables->namer, access->object, access->size, access->seq);
	}
	if (name) {
		access->object = name;
		access->flags &= (uint8_t)~EVENT_ADDRESSED;
	}
}

void run_address(struct run *run, uint64_t x, struct access *access)
{
	struct event e = {.flags = access->flags};

	cells_name(&runner_of(run)->cells, x, &e);
	access->object = e.object;
	access->flags = e.flags;
	access->size = e.size;
}
