/* SPDX-License-Identifier: MIT */
/*
 * The way of an event: well-formedness, thread to line, wait and barrier ends, call stacks, addresses to
 * variables, conflicts, then the handlers of each check in turn. check.h says what checks may rely on.
 */
#include "run.h"

#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "check/check.h"
#include "state/cells.h"
#include "state/conflicts.h"
#include "state/lines.h"

/* Fetching ahead pays once the variables no longer fit into the caches. */
enum { PREFETCH_AHEAD = 16, PREFETCH_FROM = 1 << 14 };

struct slot {
	const struct check *check;
	void *self;
};

/* One round of a barrier: who has arrived, and how many of them have yet to leave. */
struct round {
	struct round *next;
	uint64_t number;
	struct mark *arrival;
	size_t arrived, capacity, inside;
};

struct runner {
	struct run run; /* first: checks see this part only */
	struct wellformed wellformed;
	enum trace_field field; /* of the event that broke a rule: what to point at */
	struct lines lines;
	struct cells cells;
	struct conflicts conflicts;
	struct seg stacks;  /* stack_id by line: where the line's thread is */
	struct seg rounds;  /* struct round * by barrier */
	struct slot *slot;
	size_t slots;
	bool has_raw; /* a check wants raw events */
	bool new_lives; /* a variable was forgotten */
	struct event access; /* the access whose variables are being told */
};

static struct runner *runner_of(const struct run *run)
{
	return (struct runner *)run;
}

static void tell_raw(struct runner *r, const struct event *e)
{
	for (size_t i = 0; i < r->slots; i++)
		if (r->slot[i].check->raw)
			r->slot[i].check->raw(r->slot[i].self, e);
}

static void tell_edge(void *self, const struct mark *from, const struct event *e, bool data)
{
	struct runner *r = self;

	for (size_t i = 0; i < r->slots; i++)
		if (r->slot[i].check->edge)
			r->slot[i].check->edge(r->slot[i].self, from, e, data);
}

/* An edge that is not by a conflict. */
static void tell_after(struct runner *r, const struct mark *from, const struct event *e, bool data)
{
	if (mark_line(from) != e->line)
		tell_edge(r, from, e, data);
}

static void cell_split(void *self, uint64_t x, uint64_t y)
{
	conflicts_split(&((struct runner *)self)->conflicts, x, y);
}

static void cell_forget(void *self, uint64_t x)
{
	struct runner *r = self;

	r->new_lives = true;
	conflicts_forget(&r->conflicts, x);
}

static inline void touch(struct runner *r, const struct event *e)
{
	if (event_is_read(e->kind))
		conflicts_read(&r->conflicts, e);
	else
		conflicts_write(&r->conflicts, e);
}

static void cell_touch(void *self, uint64_t x)
{
	struct runner *r = self;

	r->access.object = x;
	touch(r, &r->access);
}

struct run *run_new(struct arena *a, struct tables *tables, struct findings *findings,
	const struct check *const *checks, size_t count, bool lenient)
{
	struct runner *r = arena_alloc(a, sizeof *r);

	r->run = (struct run){.arena = a, .tables = tables, .findings = findings};
	seg_init(&r->run.open, a, sizeof(struct activations));
	seg_init(&r->stacks, a, sizeof(stack_id));
	seg_init(&r->rounds, a, sizeof(struct round *));
	wellformed_init(&r->wellformed, a, tables, lenient);
	lines_init(&r->lines, a);
	cells_init(&r->cells, a, (struct cells_listener){r, cell_split, cell_forget, cell_touch});
	conflicts_init(&r->conflicts, a, r, tell_edge);
	r->slot = arena_alloc(a, (count + 1) * sizeof *r->slot);
	r->slots = count;
	for (size_t i = 0; i < count; i++) {
		r->slot[i] = (struct slot){checks[i], checks[i]->start(&r->run)};
		r->has_raw |= checks[i]->raw != NULL;
	}
	return &r->run;
}

static stack_id *stack_of(struct runner *r, uint32_t line)
{
	return seg_at(&r->stacks, line, sizeof(stack_id));
}

/* Functions. */

static void enter(struct runner *r, const struct event *e)
{
	stack_id *stack = stack_of(r, e->line);
	struct activation a = {e->seq, (code_id)e->object, e->site, *stack, false};

	*stack = tables_stack(r->run.tables, (struct frame){*stack, (code_id)e->object, e->site});
	activations_push(run_open(&r->run, e->line), r->run.arena, a);
}

static void leave(struct runner *r, const struct event *e)
{
	struct activations *open = run_open(&r->run, e->line);

	*stack_of(r, e->line) = activations_youngest(open, false)->caller;
	activations_pop(open, false);
}

/* Declared blocks: one without a label goes by the function that it is in. */

static void begin(struct runner *r, const struct event *e)
{
	struct activations *open = run_open(&r->run, e->line);
	struct activation *function = activations_youngest(open, false);
	struct activation a = {e->seq, (code_id)e->object, e->site, 0, true};

	if (!a.code && function)
		a.code = function->code;
	activations_push(open, r->run.arena, a);
	for (size_t i = 0; i < r->slots; i++)
		if (r->slot[i].check->begin)
			r->slot[i].check->begin(r->slot[i].self, e);
}

static void end(struct runner *r, const struct event *e)
{
	for (size_t i = 0; i < r->slots; i++)
		if (r->slot[i].check->end)
			r->slot[i].check->end(r->slot[i].self, e);
	activations_pop(run_open(&r->run, e->line), true);
}

/* Leaves what a joined thread has left open, which only a lenient run allows. */
static void close_all(struct runner *r, const struct event *join, thread_id u, uint32_t line)
{
	struct activations *open = run_open(&r->run, line);
	struct event e = {.thread = u, .line = line, .seq = join->seq, .site = join->site};

	while (open->depth) {
		bool declared = open->at[open->depth - 1].declared;

		e.kind = declared ? EVENT_END : EVENT_EXIT;
		tell_raw(r, &e);
		if (declared)
			end(r, &e);
		else
			leave(r, &e);
	}
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

	r->run.lines = r->lines.count;
	*stack_of(r, line) = 0;
	tell_after(r, &fork, &start, true);
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
}

static void round_drop(struct runner *r, struct round **link)
{
	struct round *gone = *link;

	*link = gone->next;
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
	for (size_t i = 0; i < (*link)->arrived && !s->early; i++)
		tell_after(r, &(*link)->arrival[i], &plain, false);
	if (--(*link)->inside == 0)
		round_drop(r, link);
}

/* Locks. */

static void reacquire(struct runner *r, const struct event *e, const struct event *wait)
{
	struct event plain = *wait;

	plain.kind = EVENT_ACQUIRE;
	plain.object = wait->mutex;
	plain.value = 0;
	plain.line = e->line;
	plain.seq = e->seq;
	conflicts_acquire(&r->conflicts, &plain);
}

static void release_for_wait(struct runner *r, const struct event *e)
{
	struct event plain = *e;

	plain.kind = EVENT_RELEASE;
	plain.object = e->mutex;
	plain.value = 0;
	conflicts_release(&r->conflicts, &plain);
}

static void release(struct runner *r, const struct event *e, bool shared)
{
	struct event plain = *e;

	plain.kind = shared ? EVENT_RELEASE_SHARED : EVENT_RELEASE;
	if (shared)
		conflicts_release_shared(&r->conflicts, &plain);
	else
		conflicts_release(&r->conflicts, &plain);
}

/* From here on the event's object is the variable. */
static inline void access_memory(struct runner *r, struct event *e)
{
	if (e->flags & EVENT_ADDRESSED) {
		r->access = *e;
		cells_access(&r->cells, e);
	} else {
		e->object = cells_named(&r->cells, e->object);
		touch(r, e);
	}
}

static void dispatch(struct runner *r, struct event *e, const struct wf_step *s)
{
	switch (e->kind) {
	case EVENT_READ:
	case EVENT_WRITE:
	case EVENT_ATOMIC_LOAD:
	case EVENT_ATOMIC_STORE:
	case EVENT_ATOMIC_RMW: access_memory(r, e); break;
	case EVENT_ACQUIRE: conflicts_acquire(&r->conflicts, e); break;
	case EVENT_ACQUIRE_SHARED: conflicts_acquire_shared(&r->conflicts, e); break;
	case EVENT_RELEASE:
	case EVENT_RELEASE_SHARED: release(r, e, s->shared); break;
	case EVENT_FORK: fork_thread(r, e); break;
	case EVENT_JOIN: join_thread(r, e, s->idle); break;
	case EVENT_WAIT: release_for_wait(r, e); break;
	case EVENT_BARRIER: arrive(r, e, s->round); break;
	case EVENT_SEM_WAIT: conflicts_take(&r->conflicts, e); break;
	case EVENT_SEM_POST: conflicts_post(&r->conflicts, e); break;
	case EVENT_ALLOC: cells_alloc(&r->cells, e); break;
	case EVENT_ENTER: enter(r, e); break;
	case EVENT_EXIT:
		for (size_t i = 0; i < s->exits; i++)
			leave(r, e);
		break;
	case EVENT_BEGIN: begin(r, e); break;
	case EVENT_END: end(r, e); break;
	default: break; /* notify, fences and free order nothing */
	}
}

static inline void place_event(struct runner *r, struct event *e)
{
	e->line = lines_of(&r->lines, e->thread);
	r->run.lines = r->lines.count;
	if (r->has_raw)
		tell_raw(r, e);
	if (!e->stack)
		e->stack = *stack_of(r, e->line);
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
	struct wf_step s = wellformed_step(&r->wellformed, e);

	if (__builtin_expect(s.broken != WF_FINE, 0)) {
		r->field = s.field;
		if (!r->wellformed.lenient)
			return false;
		if (!s.mended) {
			e->line = lines_of(&r->lines, e->thread);
			leave_wait(r, e, &s);
			return true;
		}
	}
	place_event(r, e);
	leave_wait(r, e, &s);
	if (!s.reentrant)
		dispatch(r, e, &s);
	return true;
}

/* Most events are accesses by threads that are simply running. */
static inline bool is_plain(struct runner *r, const struct event *e)
{
	return event_is_access(e->kind) && wellformed_plain(&r->wellformed, e->thread);
}

static void look_ahead(struct runner *r, const struct event *e)
{
	if (event_is_access(e->kind) && !(e->flags & EVENT_ADDRESSED))
		conflicts_fetch(&r->conflicts, cells_named(&r->cells, e->object));
}

size_t run_events(struct run *run, struct event *events, size_t n)
{
	struct runner *r = runner_of(run);
	bool far = r->cells.variables > PREFETCH_FROM;

	if (n && events[n - 1].seq > MARK_SEQ_MOST)
		die(STATUS_UNFIT, "more than %llu events", (unsigned long long)MARK_SEQ_MOST);
	for (size_t i = 0; i < n; i++) {
		if (far && i + PREFETCH_AHEAD < n)
			look_ahead(r, &events[i + PREFETCH_AHEAD]);
		if (is_plain(r, &events[i])) {
			place_event(r, &events[i]);
			access_memory(r, &events[i]);
		} else if (!one_event(r, &events[i])) {
			return i;
		}
	}
	return n;
}

void run_finish(struct run *run)
{
	struct runner *r = runner_of(run);

	for (size_t i = 0; i < r->slots; i++)
		if (r->slot[i].check->finish)
			r->slot[i].check->finish(r->slot[i].self);
}

const struct wellformed *run_wellformed(const struct run *run)
{
	return &runner_of(run)->wellformed;
}

enum trace_field run_field(const struct run *run)
{
	return runner_of(run)->field;
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

void run_variable(struct run *run, uint64_t x, struct access *access)
{
	struct event e = {.flags = access->flags};

	cells_name(&runner_of(run)->cells, x, &e);
	access->object = e.object;
	access->flags = e.flags;
	access->size = e.size;
}
