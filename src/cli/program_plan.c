/* SPDX-License-Identifier: MIT */
#include "program_plan.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/arena.h"

/* Turns are 32-bit words, for the futex. */
enum { STEPS_MOST = 1 << 30, PARTIES_MOST = 1 << 30 };

void plan_init(struct plan *p, struct arena *a, const struct tables *tables)
{
	*p = (struct plan){.arena = a, .tables = tables};
	wellformed_init(&p->wellformed, a, tables, false);
	memory_init(&p->memory, a);
	seg_init(&p->steps, a, sizeof(struct step));
	seg_init(&p->threads, a, sizeof(struct plan_thread));
	seg_init(&p->syncs, a, sizeof(struct plan_sync));
	seg_init(&p->codes, a, sizeof(struct plan_code));
	seg_init(&p->waits, a, sizeof(struct plan_wait));
	seg_init(&p->barriers, a, sizeof(struct plan_barrier));
}

static bool refuse(struct plan *p, enum trace_field field, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static bool refuse(struct plan *p, enum trace_field field, const char *format, ...)
{
	va_list ap;

	p->field = field;
	va_start(ap, format);
	vsnprintf(p->why, sizeof p->why, format, ap);
	va_end(ap);
	return false;
}

static const char *sync_name(const struct plan *p, uint64_t id)
{
	return tables_name(p->tables, TABLE_SYNC, (uint32_t)id).at;
}

static struct plan_thread *meet(struct plan *p, uint64_t id)
{
	struct plan_thread *t = plan_thread(p, id);

	if (t->seen)
		return t;
	t->seen = true;
	t->number = p->thread_count++;
	p->thread = arena_reserve(p->arena, p->thread, &p->thread_capacity, t->number, sizeof *p->thread);
	p->thread[t->number] = (thread_id)id;
	return t;
}

/* A pthread mutex has no shared side; a pthread rwlock is neither recursive nor for waits. */
static bool lock_fits(struct plan *p, uint64_t id)
{
	struct plan_sync *m = plan_sync(p, id);

	if (!m->shared || (!m->recursive && !m->waited))
		return true;
	return refuse(p, FIELD_ARGUMENT,
		"lock '%.60s' has a shared side and is %s: no lock of pthreads does both", sync_name(p, id),
		m->recursive ? "acquired again by its holder" : "a condition's mutex");
}

static bool acquire(struct plan *p, struct step *s, const struct wf_step *wf)
{
	struct plan_sync *m = plan_sync(p, s->e.object);
	bool shared = s->e.kind == EVENT_ACQUIRE_SHARED;

	m->lock = true;
	m->shared |= shared;
	m->recursive |= wf->reentrant && !shared;
	m->depth += !shared;
	m->acquired = (uint32_t)s->e.seq;
	return lock_fits(p, s->e.object);
}

static void release(struct plan *p, const struct step *s, const struct wf_step *wf)
{
	struct plan_sync *m = plan_sync(p, s->e.object);

	m->depth -= !wf->shared;
	m->released = (uint32_t)s->e.seq;
}

static void open_wait(struct plan *p, struct plan_sync *c, uint32_t number)
{
	struct plan_wait *w = plan_wait(p, number);

	w->older = c->waits;
	if (w->older)
		plan_wait(p, w->older)->newer = number;
	c->waits = number;
	c->waiting++;
}

static void close_wait(struct plan *p, struct plan_sync *c, uint32_t number)
{
	struct plan_wait *w = plan_wait(p, number);

	if (w->older)
		plan_wait(p, w->older)->newer = w->newer;
	if (w->newer)
		plan_wait(p, w->newer)->older = w->older;
	else
		c->waits = w->older;
	c->waiting--;
}

static bool wait(struct plan *p, struct step *s)
{
	struct plan_sync *m = plan_sync(p, s->e.mutex), *c = plan_sync(p, s->e.object);

	m->waited = c->condition = true;
	if (!lock_fits(p, s->e.mutex))
		return false;
	m->released = (uint32_t)s->e.seq;
	s->number = ++p->wait_count;
	*plan_wait(p, s->number) = (struct plan_wait){.step = (uint32_t)s->e.seq, .depth = m->depth};
	m->depth = 0;
	open_wait(p, c, s->number);
	return true;
}

static void notify(struct plan *p, const struct step *s)
{
	struct plan_sync *c = plan_sync(p, s->e.object);

	c->condition = true;
	if (s->e.kind == EVENT_NOTIFY && c->waiting != 1)
		return;
	for (uint32_t i = c->waits; i; i = plan_wait(p, i)->older)
		plan_wait(p, i)->notified = (uint32_t)s->e.seq;
}

/* The thread's next step after a wait. program_plan.h argues when a notify is enough. */
static void end_wait(struct plan *p, const struct event *wait_event, uint32_t until)
{
	struct step *s = plan_step(p, (uint32_t)wait_event->seq);
	struct plan_wait *w = plan_wait(p, s->number);
	struct plan_sync *m = plan_sync(p, wait_event->mutex);

	close_wait(p, plan_sync(p, wait_event->object), s->number);
	w->until = until;
	w->from = m->released;
	w->woken = m->acquired > w->step && m->acquired < w->notified;
	m->acquired = until;
	m->depth = w->depth;
	if (w->woken)
		return;
	p->roused = arena_reserve(p->arena, p->roused, &p->roused_capacity, p->roused_count, sizeof *p->roused);
	p->roused[p->roused_count++] = s->number;
}

static uint32_t barrier_of(struct plan *p, const struct event *e)
{
	struct plan_sync *b = plan_sync(p, e->object);
	uint32_t number = b->barriers;

	while (number && plan_barrier(p, number)->parties != e->count)
		number = plan_barrier(p, number)->older;
	if (number)
		return number;
	number = ++p->barrier_count;
	*plan_barrier(p, number) = (struct plan_barrier){(sync_id)e->object, b->barriers, e->count};
	b->barriers = number;
	return number;
}

static bool arrive(struct plan *p, struct step *s)
{
	struct plan_sync *b = plan_sync(p, s->e.object);

	if (s->e.count > PARTIES_MOST)
		return refuse(p, FIELD_ARGUMENT, "no barrier has %llu parties", (unsigned long long)s->e.count);
	s->number = barrier_of(p, &s->e);
	s->chain = b->arrival;
	s->completes = ++b->arrivals == s->e.count;
	b->arrival = (uint32_t)s->e.seq;
	plan_thread(p, s->e.thread)->arrived = true;
	if (!s->completes)
		return true;
	for (uint32_t i = b->arrival; i; i = plan_step(p, i)->chain)
		plan_thread(p, plan_step(p, i)->e.thread)->arrived = false;
	b->arrival = b->arrivals = 0;
	return true;
}

/* A semaphore starts with as many as were taken before they were posted. */
static void semaphore(struct plan *p, const struct step *s)
{
	struct plan_sync *m = plan_sync(p, s->e.object);

	m->semaphore = true;
	m->posted += s->e.kind == EVENT_SEM_POST ? 1 : -1;
	if (-m->posted > m->deficit)
		m->deficit = -m->posted;
}

bool plan_is_stuck(struct plan *p, thread_id t)
{
	struct plan_thread *thread = plan_thread(p, t);

	return thread->arrived || (thread->last && plan_step(p, thread->last)->e.kind == EVENT_WAIT);
}

bool plan_is_left(struct plan *p, thread_id t)
{
	struct plan_thread *thread = plan_thread(p, t);

	return !thread->joined && !thread->blocks && !plan_is_stuck(p, t);
}

static bool join(struct plan *p, const struct step *s)
{
	meet(p, s->e.object)->joined = true;
	if (!plan_is_stuck(p, (thread_id)s->e.object))
		return true;
	return refuse(p, FIELD_ARGUMENT, "thread '%.60s' is joined, but waits for a condition or at a barrier",
		tables_name(p->tables, TABLE_THREAD, (uint32_t)s->e.object).at);
}

static void enter(struct plan *p, struct step *s)
{
	struct plan_thread *t = plan_thread(p, s->e.thread);
	struct plan_code *f = plan_code(p, s->e.object);
	uint32_t number = (uint32_t)s->e.seq;

	s->outer = t->open;
	t->open = number;
	s->number = ++f->activations;
	if (f->last)
		plan_step(p, f->last)->chain = number;
	else
		f->first = number;
	f->last = number;
}

static void leave(struct plan *p, const struct step *s)
{
	struct plan_thread *t = plan_thread(p, s->e.thread);
	struct step *entered = plan_step(p, t->open);

	entered->match = (uint32_t)s->e.seq;
	t->open = entered->outer;
}

/* C has no store that acquires and no load that releases. */
static bool order_fits(struct plan *p, const struct event *e)
{
	bool acquires = e->order == ORDER_CONSUME || e->order == ORDER_ACQUIRE || e->order == ORDER_ACQ_REL;
	bool releases = e->order == ORDER_RELEASE || e->order == ORDER_ACQ_REL;

	if ((e->kind == EVENT_ATOMIC_STORE && acquires) || (e->kind == EVENT_ATOMIC_LOAD && releases))
		return refuse(p, FIELD_ARGUMENT, "C has no %s of order %s", event_info[e->kind].text,
			event_order_text[e->order]);
	return true;
}

static bool memory(struct plan *p, struct step *s)
{
	const char *why = NULL;

	if (s->e.kind == EVENT_ALLOC)
		why = memory_alloc(&p->memory, &s->e, &s->spot);
	else if (s->e.kind == EVENT_FREE)
		memory_free(&p->memory, &s->e, &s->spot);
	else
		why = memory_access(&p->memory, &s->e, &s->spot);
	return !why || refuse(p, FIELD_ARGUMENT, "%s", why);
}

static bool judge(struct plan *p, struct step *s, const struct wf_step *wf)
{
	switch (s->e.kind) {
	case EVENT_READ:
	case EVENT_WRITE:
	case EVENT_ALLOC:
	case EVENT_FREE: return memory(p, s);
	case EVENT_ATOMIC_LOAD:
	case EVENT_ATOMIC_STORE:
	case EVENT_ATOMIC_RMW: return order_fits(p, &s->e) && memory(p, s);
	case EVENT_ACQUIRE:
	case EVENT_ACQUIRE_SHARED: return acquire(p, s, wf);
	case EVENT_RELEASE:
	case EVENT_RELEASE_SHARED: release(p, s, wf); return true;
	case EVENT_WAIT: return wait(p, s);
	case EVENT_BARRIER: return arrive(p, s);
	case EVENT_FORK: meet(p, s->e.object)->forked = true; return true;
	case EVENT_JOIN: return join(p, s);
	case EVENT_NOTIFY:
	case EVENT_NOTIFY_ALL: notify(p, s); return true;
	case EVENT_SEM_WAIT:
	case EVENT_SEM_POST: semaphore(p, s); return true;
	case EVENT_ENTER: enter(p, s); return true;
	case EVENT_EXIT: leave(p, s); return true;
	case EVENT_BEGIN: plan_thread(p, s->e.thread)->blocks++; return true;
	case EVENT_END: plan_thread(p, s->e.thread)->blocks--; return true;
	default: return true;
	}
}

static void append(struct plan *p, struct step *s)
{
	struct plan_thread *t = meet(p, s->e.thread);
	uint32_t number = (uint32_t)s->e.seq;

	if (t->last)
		plan_step(p, t->last)->next = number;
	else
		t->first = number;
	t->last = number;
}

bool plan_add(struct plan *p, const struct event *e)
{
	struct wf_step wf = wellformed_step(&p->wellformed, e);
	struct step *s;

	if (wf.broken)
		return refuse(p, wf.field, "%s", p->wellformed.why);
	if (p->step_count == STEPS_MOST)
		return refuse(p, FIELD_THREAD, "the trace is too long for a program");
	s = plan_step(p, ++p->step_count);
	assert(e->seq == p->step_count);
	s->e = *e;
	if (wf.reacquire)
		end_wait(p, wf.wait, p->step_count);
	append(p, s);
	return judge(p, s, &wf);
}

void plan_finish(struct plan *p)
{
	memory_layout(&p->memory);
	for (uint32_t i = 1; i <= p->step_count; i++)
		if (event_is_access(plan_step(p, i)->e.kind))
			memory_settle(&p->memory, &plan_step(p, i)->spot);
	for (uint32_t i = 1; i <= p->step_count; i++)
		if (event_is_access(plan_step(p, i)->e.kind))
			memory_follow(&p->memory, &plan_step(p, i)->e, &plan_step(p, i)->spot);
}
