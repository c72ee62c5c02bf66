/* SPDX-License-Identifier: MIT */
#include "legal.h"

static bool held_by_other(const struct legal_sync *m, thread_id t)
{
	for (thread_id u = 0; u < LEGAL_THREADS; u++)
		if (u != t && m->held[u])
			return true;
	return false;
}

static bool acquire(struct legal_sync *m, thread_id t, bool shared)
{
	if (m->held[t] && m->shared != shared)
		return false;
	if (held_by_other(m, t) && !(shared && m->shared))
		return false;
	m->shared = shared;
	m->held[t]++;
	return true;
}

static bool release(struct legal_sync *m, thread_id t, bool shared_only)
{
	if (!m->held[t] || (shared_only && !m->shared))
		return false;
	m->held[t]--;
	return true;
}

/* Waiting with the shared side makes no sense to the readers of traces. */
static bool wait_begin(struct legal_thread *t, struct legal_sync *m, const struct event *e)
{
	if (!m->held[e->thread] || m->shared)
		return false;
	t->waits_for = e->mutex;
	t->waits_depth = m->held[e->thread];
	m->held[e->thread] = 0;
	return true;
}

static bool wait_end(struct legal *l, thread_id id)
{
	struct legal_thread *t = &l->thread[id];
	struct legal_sync *m = &l->sync[t->waits_for];

	if (!t->waits_for)
		return true;
	if (!acquire(m, id, false))
		return false;
	m->held[id] = t->waits_depth;
	t->waits_for = 0;
	return true;
}

static bool arrive(struct legal_thread *t, struct legal_sync *b, const struct event *e)
{
	if (e->count == 0 || (b->arrived && b->parties != e->count))
		return false;
	t->at_barrier = e->object;
	t->round = b->rounds;
	b->parties = e->count;
	if (++b->arrived == b->parties) {
		b->arrived = 0;
		b->rounds++;
	}
	return true;
}

static bool depart(struct legal *l, thread_id id)
{
	struct legal_thread *t = &l->thread[id];

	if (t->at_barrier && l->sync[t->at_barrier].rounds == t->round)
		return false;
	t->at_barrier = 0;
	return true;
}

static bool fork_thread(struct legal_thread *u, const struct event *e)
{
	if (e->object == e->thread || u->seen || u->forked || u->joined)
		return false;
	u->forked = true;
	return true;
}

static bool join_thread(struct legal *l, const struct event *e)
{
	struct legal_thread *u = &l->thread[e->object];

	if (e->object == e->thread || u->joined || u->functions.depth || u->blocks.depth)
		return false;
	if (u->waits_for || !depart(l, (thread_id)e->object))
		return false;
	u->joined = true;
	return true;
}

static bool push(struct legal_stack *s, const struct event *e)
{
	if (s->depth == LEGAL_DEPTH)
		return false;
	s->code[s->depth++] = (code_id)e->object;
	return true;
}

static bool pop(struct legal_stack *s, const struct event *e)
{
	if (s->depth == 0 || s->code[s->depth - 1] != e->object)
		return false;
	s->depth--;
	return true;
}

static bool take_over(struct legal *l, const struct event *e)
{
	struct legal_thread *t = &l->thread[e->thread];

	switch (e->kind) {
	case EVENT_ACQUIRE: return acquire(&l->sync[e->object], e->thread, false);
	case EVENT_ACQUIRE_SHARED: return acquire(&l->sync[e->object], e->thread, true);
	case EVENT_RELEASE: return release(&l->sync[e->object], e->thread, false);
	case EVENT_RELEASE_SHARED: return release(&l->sync[e->object], e->thread, true);
	case EVENT_WAIT: return wait_begin(t, &l->sync[e->mutex], e);
	case EVENT_BARRIER: return arrive(t, &l->sync[e->object], e);
	case EVENT_FORK: return fork_thread(&l->thread[e->object], e);
	case EVENT_JOIN: return join_thread(l, e);
	case EVENT_ENTER: return push(&t->functions, e);
	case EVENT_EXIT: return pop(&t->functions, e);
	case EVENT_BEGIN: return push(&t->blocks, e);
	case EVENT_END: return pop(&t->blocks, e);
	default: return true;
	}
}

bool legal_step(struct legal *l, const struct event *e)
{
	struct legal after = *l;

	if (after.thread[e->thread].joined)
		return false;
	if (!wait_end(&after, e->thread) || !depart(&after, e->thread) || !take_over(&after, e))
		return false;
	after.thread[e->thread].seen = true;
	*l = after;
	return true;
}

bool legal_trace(const struct event *events, size_t n)
{
	struct legal l = {0};

	for (size_t i = 0; i < n; i++)
		if (!legal_step(&l, &events[i]))
			return false;
	return true;
}

bool legal_runnable(const struct legal *l, thread_id t)
{
	struct legal after = *l;

	return !after.thread[t].joined && wait_end(&after, t) && depart(&after, t);
}
