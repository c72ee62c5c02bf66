/* SPDX-License-Identifier: MIT */
#include "wellformed.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "event/brief.h"

const char *const wf_rule_text[WF_RULES] = {
	[WF_FINE] = "",
	[WF_HELD] = "acquires of a held lock",
	[WF_NOT_HELD] = "releases of a lock that was not held",
	[WF_BEFORE_FORK] = "forks of a running thread",
	[WF_AFTER_JOIN] = "events after join",
	[WF_FORK] = "double forks",
	[WF_JOIN] = "double joins",
	[WF_JOIN_OPEN] = "joins with open blocks or functions",
	[WF_END] = "ends without begin",
	[WF_EXIT] = "exits without enter",
	[WF_BARRIER] = "barriers left early",
};

struct wf_thread {
	bool seen, forked, joined;
	uint32_t begun;       /* open declared blocks */
	struct wf_calls calls;
	struct event wait;    /* kind 0: not waiting */
	struct event ended;   /* the wait that ended last */
	uint32_t wait_depth;  /* how often the mutex was held */
	sync_id barrier;      /* where it waits, 0 for nowhere */
	uint64_t round;
};

struct holder {
	thread_id thread;
	uint32_t depth;
};

struct sync {
	struct holder exclusive; /* thread 0: nobody */
	struct holder *shared;
	size_t shared_count, shared_capacity;
	uint64_t parties, arrived, round; /* round: how many are complete */
};

void wellformed_init(struct wellformed *w, struct arena *a, const struct tables *tables, bool lenient)
{
	*w = (struct wellformed){.arena = a, .tables = tables, .lenient = lenient};
	seg_init(&w->threads, a, sizeof(struct wf_thread));
	seg_init(&w->syncs, a, sizeof(struct sync));
	seg_init(&w->plain, a, sizeof(bool));
}

static struct wf_thread *thread_of(struct wellformed *w, uint64_t id)
{
	return seg_at(&w->threads, id, sizeof(struct wf_thread));
}

static struct sync *sync_of(struct wellformed *w, uint64_t id)
{
	return seg_at(&w->syncs, id, sizeof(struct sync));
}

static bool *plain_of(struct wellformed *w, uint64_t id)
{
	return seg_at(&w->plain, id, sizeof(bool));
}

static const char *thread_name(const struct wellformed *w, uint64_t id)
{
	return tables_name(w->tables, TABLE_THREAD, (uint32_t)id).at;
}

static const char *sync_name(const struct wellformed *w, uint64_t id)
{
	return tables_name(w->tables, TABLE_SYNC, (uint32_t)id).at;
}

static void broken(struct wellformed *w, struct wf_step *s, enum wf_rule rule, enum trace_field field,
	const char *format, ...) __attribute__((format(printf, 5, 6)));

static void broken(struct wellformed *w, struct wf_step *s, enum wf_rule rule, enum trace_field field,
	const char *format, ...)
{
	va_list ap;

	s->broken = rule;
	s->field = field;
	w->count[rule]++;
	va_start(ap, format);
	vsnprintf(w->why, sizeof w->why, format, ap);
	va_end(ap);
}

static struct holder *shared_holder(struct sync *m, thread_id t)
{
	for (size_t i = 0; i < m->shared_count; i++)
		if (m->shared[i].thread == t)
			return &m->shared[i];
	return NULL;
}

static void held_by(struct wellformed *w, struct wf_step *s, const struct event *e, thread_id holder,
	const char *side)
{
	broken(w, s, WF_HELD, FIELD_ARGUMENT, "thread '%.60s' acquires lock '%.60s', which '%.60s' holds%s",
		thread_name(w, e->thread), sync_name(w, e->object), thread_name(w, holder), side);
}

static void acquire(struct wellformed *w, struct wf_step *s, const struct event *e)
{
	struct sync *m = sync_of(w, e->object);

	if (m->exclusive.thread && m->exclusive.thread != e->thread)
		return held_by(w, s, e, m->exclusive.thread, "");
	if (m->shared_count)
		return held_by(w, s, e, m->shared[0].thread, " on the shared side");
	s->reentrant = m->exclusive.depth > 0;
	m->exclusive.thread = e->thread;
	m->exclusive.depth++;
}

static void acquire_shared(struct wellformed *w, struct wf_step *s, const struct event *e)
{
	struct sync *m = sync_of(w, e->object);
	struct holder *h = shared_holder(m, e->thread);

	if (m->exclusive.thread)
		return held_by(w, s, e, m->exclusive.thread, " exclusively");
	if (h) {
		h->depth++;
		s->reentrant = true;
		return;
	}
	m->shared = arena_reserve(w->arena, m->shared, &m->shared_capacity, m->shared_count, sizeof *h);
	m->shared[m->shared_count++] = (struct holder){e->thread, 1};
}

static void release_shared(struct wf_step *s, struct sync *m, struct holder *h)
{
	s->shared = true;
	s->reentrant = --h->depth > 0;
	if (!s->reentrant)
		*h = m->shared[--m->shared_count];
}

/* `rel` takes whichever side is held, as pthread_rwlock_unlock does; `rel_shared` only the shared one. */
static void release(struct wellformed *w, struct wf_step *s, const struct event *e)
{
	struct sync *m = sync_of(w, e->object);
	struct holder *h = shared_holder(m, e->thread);

	if (h)
		return release_shared(s, m, h);
	if (m->exclusive.thread != e->thread || e->kind == EVENT_RELEASE_SHARED)
		return broken(w, s, WF_NOT_HELD, FIELD_ARGUMENT,
			"thread '%.60s' releases lock '%.60s', which it does not hold%s",
			thread_name(w, e->thread), sync_name(w, e->object),
			e->kind == EVENT_RELEASE_SHARED ? " on the shared side" : "");
	s->reentrant = --m->exclusive.depth > 0;
	if (!s->reentrant)
		m->exclusive.thread = 0;
}

/* A wait lets go of the mutex whole, however often it was acquired, and has it back as often. */
static void wait(struct wellformed *w, struct wf_step *s, const struct event *e)
{
	struct sync *m = sync_of(w, e->mutex);
	struct wf_thread *t = thread_of(w, e->thread);

	if (m->exclusive.thread != e->thread)
		return broken(w, s, WF_NOT_HELD, FIELD_ARGUMENT,
			"thread '%.60s' waits with mutex '%.60s', which it does not hold",
			thread_name(w, e->thread), sync_name(w, e->mutex));
	t->wait = *e;
	t->wait_depth = m->exclusive.depth;
	m->exclusive = (struct holder){0};
}

static void end_wait(struct wellformed *w, struct wf_step *s, const struct event *e, struct wf_thread *t)
{
	struct sync *m = sync_of(w, t->wait.mutex);

	if (m->exclusive.thread || m->shared_count)
		return broken(w, s, WF_HELD, FIELD_THREAD,
			"thread '%.60s' goes on, but mutex '%.60s' of its wait is held by '%.60s'",
			thread_name(w, e->thread), sync_name(w, t->wait.mutex),
			thread_name(w, m->exclusive.thread ? m->exclusive.thread : m->shared[0].thread));
	m->exclusive = (struct holder){e->thread, t->wait_depth};
	s->reacquire = (sync_id)t->wait.mutex;
	t->ended = t->wait;
	s->wait = &t->ended;
	t->wait.kind = EVENT_NONE;
}

/* A lenient run lets the thread go: one arrival fewer. */
static void end_barrier(struct wellformed *w, struct wf_step *s, const struct event *e, struct wf_thread *t)
{
	struct sync *b = sync_of(w, t->barrier);

	if (b->round <= t->round) {
		broken(w, s, WF_BARRIER, FIELD_THREAD,
			"thread '%.60s' leaves barrier '%.60s', at which %llu of %llu have arrived",
			thread_name(w, e->thread), sync_name(w, t->barrier), (unsigned long long)b->arrived,
			(unsigned long long)b->parties);
		if (!w->lenient)
			return;
		s->broken = WF_FINE;
		s->early = true;
		b->arrived--;
	}
	s->depart = t->barrier;
	s->departed = t->round;
	t->barrier = 0;
}

static void arrive(struct wellformed *w, struct wf_step *s, const struct event *e)
{
	struct sync *b = sync_of(w, e->object);
	struct wf_thread *t = thread_of(w, e->thread);

	if (b->arrived && b->parties != e->count)
		return broken(w, s, WF_BARRIER, FIELD_ARGUMENT,
			"barrier '%.60s' has %llu parties in this round, not %llu", sync_name(w, e->object),
			(unsigned long long)b->parties, (unsigned long long)e->count);
	b->parties = e->count;
	t->barrier = (sync_id)e->object;
	t->round = s->round = b->round;
	if (++b->arrived == b->parties) {
		b->arrived = 0;
		b->round++;
	}
}

static void fork_thread(struct wellformed *w, struct wf_step *s, const struct event *e)
{
	struct wf_thread *u = thread_of(w, e->object);
	const char *name = thread_name(w, e->object);

	if (e->object == e->thread)
		return broken(w, s, WF_FORK, FIELD_ARGUMENT, "thread '%.60s' forks itself", name);
	if (u->forked)
		return broken(w, s, WF_FORK, FIELD_ARGUMENT, "thread '%.60s' is forked a second time", name);
	if (u->seen || u->joined)
		return broken(w, s, WF_BEFORE_FORK, FIELD_ARGUMENT,
			"thread '%.60s' is forked here, but has events before", name);
	u->forked = true;
}

static void join_thread(struct wellformed *w, struct wf_step *s, const struct event *e)
{
	struct wf_thread *u = thread_of(w, e->object);
	const char *name = thread_name(w, e->object);

	if (e->object == e->thread)
		return broken(w, s, WF_JOIN, FIELD_ARGUMENT, "thread '%.60s' joins itself", name);
	if (u->joined)
		return broken(w, s, WF_JOIN, FIELD_ARGUMENT, "thread '%.60s' is joined a second time", name);
	if (u->begun || u->calls.depth) {
		broken(w, s, WF_JOIN_OPEN, FIELD_ARGUMENT, "thread '%.60s' is joined with an open %s", name,
			u->begun ? "block: its 'end' is missing" : "function: its 'exit' is missing");
		s->mended = true;
	}
	s->idle = !u->seen;
	u->joined = true;
	*plain_of(w, e->object) = false;
}

static void enter(struct wellformed *w, const struct event *e)
{
	struct wf_calls *c = &thread_of(w, e->thread)->calls;

	c->function = arena_reserve(w->arena, c->function, &c->capacity, c->depth, sizeof *c->function);
	c->function[c->depth++] = (code_id)e->object;
}

static void leave(struct wellformed *w, struct wf_step *s, const struct event *e)
{
	struct wf_calls *c = &thread_of(w, e->thread)->calls;
	size_t above = 0;

	while (above < c->depth && c->function[c->depth - 1 - above] != e->object)
		above++;
	s->exits = (uint32_t)above + 1;
	if (above) {
		broken(w, s, WF_EXIT, FIELD_ARGUMENT, "exit of '%.60s', but the open function is %s%.60s",
			tables_name(w->tables, TABLE_CODE, (uint32_t)e->object).at, c->depth ? "" : "none",
			c->depth ? tables_name(w->tables, TABLE_CODE, c->function[c->depth - 1]).at : "");
		s->mended = above < c->depth;
	} else if (!c->depth) {
		broken(w, s, WF_EXIT, FIELD_OPERATION, "exit of '%.60s' without enter",
			tables_name(w->tables, TABLE_CODE, (uint32_t)e->object).at);
	}
	if (s->broken == WF_FINE || s->mended)
		c->depth -= s->exits;
}

static void block_end(struct wellformed *w, struct wf_step *s, const struct event *e)
{
	struct wf_thread *t = thread_of(w, e->thread);

	if (!t->begun)
		return broken(w, s, WF_END, FIELD_OPERATION, "'end' without 'begin' in thread '%.60s'",
			thread_name(w, e->thread));
	t->begun--;
}

static void judge(struct wellformed *w, struct wf_step *s, const struct event *e)
{
	switch (e->kind) {
	case EVENT_ACQUIRE: acquire(w, s, e); break;
	case EVENT_ACQUIRE_SHARED: acquire_shared(w, s, e); break;
	case EVENT_RELEASE:
	case EVENT_RELEASE_SHARED: release(w, s, e); break;
	case EVENT_WAIT: wait(w, s, e); break;
	case EVENT_BARRIER: arrive(w, s, e); break;
	case EVENT_FORK: fork_thread(w, s, e); break;
	case EVENT_JOIN: join_thread(w, s, e); break;
	case EVENT_ENTER: enter(w, e); break;
	case EVENT_EXIT: leave(w, s, e); break;
	case EVENT_BEGIN: thread_of(w, e->thread)->begun++; break;
	case EVENT_END: block_end(w, s, e); break;
	default: break;
	}
}

static inline bool call(struct wf_calls *c, uint32_t kind, uint64_t function)
{
	return kind == EVENT_EXIT ? wf_calls_exit(c, function) : wf_calls_enter(c, function);
}

bool wellformed_acquire(struct wellformed *w, const struct event *e)
{
	struct sync *m = sync_of(w, e->object);

	if (m->shared_count || m->exclusive.thread)
		return false;
	m->exclusive = (struct holder){e->thread, 1};
	return true;
}

bool wellformed_release(struct wellformed *w, const struct event *e)
{
	struct sync *m = sync_of(w, e->object);

	if (m->shared_count || m->exclusive.thread != e->thread || m->exclusive.depth != 1)
		return false;
	m->exclusive = (struct holder){0};
	return true;
}

struct wf_thread *wellformed_thread(struct wellformed *w, thread_id t)
{
	return thread_of(w, t);
}

struct wf_calls *wellformed_calls(struct wellformed *w, thread_id t)
{
	return &thread_of(w, t)->calls;
}

bool wellformed_call(struct wf_thread *t, const struct event *e)
{
	return call(&t->calls, e->kind, e->object);
}

size_t wellformed_briefs(struct wellformed *w, const struct briefs *b)
{
	struct wf_calls *c = wellformed_calls(w, b->thread);
	const struct brief *end = b->at + b->count;

	if (!*plain_of(w, b->thread))
		return 0;
	for (size_t i = 0; i < b->calls && b->call[i] < end; i++)
		if (!call(c, brief_kind(b, b->call[i]), b->call[i]->object))
			return (size_t)(b->call[i] - b->at);
	return b->count;
}

struct wf_step wellformed_step(struct wellformed *w, const struct event *e)
{
	struct wf_thread *t = thread_of(w, e->thread);
	struct wf_step s = {.broken = WF_FINE};

	if (event_is_declaration(e->kind))
		return s;
	if (t->joined) {
		broken(w, &s, WF_AFTER_JOIN, FIELD_THREAD, "thread '%.60s' was joined before this event",
			thread_name(w, e->thread));
		return s;
	}
	if (t->wait.kind)
		end_wait(w, &s, e, t);
	else if (t->barrier)
		end_barrier(w, &s, e, t);
	if (s.broken)
		return s;
	judge(w, &s, e);
	t->seen |= !s.broken || s.mended;
	*plain_of(w, e->thread) = t->seen && !t->wait.kind && !t->barrier;
	return s;
}
