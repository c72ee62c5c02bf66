/* SPDX-License-Identifier: MIT */
#include "milestones.h"

#include <string.h>

#include "chase/execute.h"
#include "chase/judge.h"
#include "event/event.h"
#include "predict/predict.h"
#include "sched/order.h"

static bool find_module(const struct tables *t, uint64_t pc, uint32_t *to)
{
	for (size_t i = t->module_count; i-- > 0;)
		if (pc - t->modules[i].base < t->modules[i].size) {
			*to = (uint32_t)i;
			return true;
		}
	return false;
}

/* The thread's event before that one; SIZE_MAX: there is none. */
static size_t before(const struct judged *j, size_t event)
{
	thread_id t = j->whole.event[event].thread;

	while (event-- > 0)
		if (j->whole.event[event].thread == t)
			return event;
	return SIZE_MAX;
}

bool milestones_step(const struct judged *j, const struct milestone *m, struct order_step *to)
{
	const struct tables *t = &j->execution->tables;
	size_t at = m->resumes ? before(j, m->event) : m->event;
	const struct event *e = at < j->whole.count ? &j->whole.event[at] : NULL;
	uint32_t module;

	if (!e || !e->pc || !find_module(t, e->pc, &module) || !judged_thread(j, e->thread))
		return false;
	*to = (struct order_step){.thread = judged_thread(j, e->thread), .kind = e->kind, .module = module,
		.occurrence = j->occurrence[at], .offset = e->pc - t->modules[module].base, .flags = m->flags};
	if (m->resumes)
		to->kind = e->kind == EVENT_BARRIER ? ORDER_DEPART : ORDER_WOKEN;
	return true;
}

static void name_modules(const struct tables *t, struct order *o)
{
	for (uint32_t i = 0; i < o->modules; i++) {
		const struct module *m = &t->modules[i];
		const char *slash = m->path.length ? memrchr(m->path.at, '/', m->path.length) : NULL;
		const char *name = slash ? slash + 1 : m->path.at;
		struct order_module *to = replay_module(o, i);
		size_t n = m->path.length - (size_t)(name - m->path.at);

		memcpy(to->name, n && n < ORDER_NAME ? name : "?", n && n < ORDER_NAME ? n : 1);
		if (m->build_id.length < ORDER_BUILD_ID)
			memcpy(to->build_id, m->build_id.at, m->build_id.length);
	}
}

struct order *milestones_order(struct arena *a, const struct milestones *m)
{
	const struct tables *t = &m->of->execution->tables;
	struct order *o = replay_order(a, (uint32_t)t->module_count, (uint32_t)m->count);
	uint32_t n = 0;

	strcpy(o->strategy, "plan");
	name_modules(t, o);
	for (size_t i = 0; i < m->count; i++)
		n += milestones_step(m->of, &m->at[i], replay_step(o, n));
	o->steps = n;
	return o;
}

/* A plan. */

static uint32_t step_at(const struct prediction *p, uint32_t i)
{
	return i < p->start ? i : p->step[i - p->start];
}

static bool is_mark(const struct prediction *p, uint32_t step)
{
	return step == p->instance->first || step == p->instance->culprit || step == p->instance->second;
}

/* Of a plan, what its thread does by itself on the way. */
static bool is_between(const struct prediction *p, uint32_t step, bool *behind)
{
	*behind |= step == p->instance->culprit;
	return *behind && !is_mark(p, step);
}

struct order *milestones_plan(struct arena *a, const struct judged *j, const struct prediction *p, bool at_once)
{
	const struct whole *w = &j->whole;
	uint32_t count = p->start + p->steps;
	struct milestone *at = arena_alloc(a, (count + 1) * sizeof *at);
	struct milestones m = {j, at, 0};
	bool behind = false, shorter = false;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t n = step_at(p, i);
		const struct step *s = &w->step[n];
		bool last = i + 1 == count || w->step[step_at(p, i + 1)].thread != s->thread;

		if (!last && !is_mark(p, n))
			continue;
		if (is_between(p, n, &behind) && at_once)
			shorter = true;
		else
			at[m.count++] = (struct milestone){s->event, w->step_of[s->event] != n,
				n == p->instance->culprit ? ORDER_CULPRIT : 0};
	}
	return at_once && !shorter ? NULL : milestones_order(a, &m);
}

/* A culprit, and with it all of the outermost section that it is in: what it leaves half-done shows nothing. */
static size_t add_culprit(const struct judged *j, uint32_t step, uint32_t flags, struct milestone *to)
{
	const struct whole *w = &j->whole;
	uint32_t h = w->step[step].held, release;

	to[0] = (struct milestone){w->step[step].event, false, flags};
	while (h && w->holding[h].next)
		h = w->holding[h].next;
	release = h ? w->step[w->holding[h].acquire].mate : (uint32_t)NO_STEP;
	if (release == NO_STEP || w->step[release].waits)
		return 1;
	to[1] = (struct milestone){w->step[release].event, false, 0};
	return 2;
}

struct order *milestones_wide(struct arena *a, const struct judged *j, const struct wide *d)
{
	const struct step *s = j->whole.step;
	struct milestone at[6];
	struct milestones m = {j, at, 0};

	at[m.count++] = (struct milestone){s[d->first].event, false, 0};
	if (d->culprit[0] != NO_STEP)
		m.count += add_culprit(j, d->culprit[0], 0, at + m.count);
	m.count += add_culprit(j, d->culprit[1], ORDER_CULPRIT, at + m.count);
	at[m.count++] = (struct milestone){s[d->second].event, false, 0};
	return milestones_order(a, &m);
}

/* Where the section that the event begins is over; SIZE_MAX: never. */
static size_t release_of(const struct judged *j, size_t acquire)
{
	const struct event *of = &j->whole.event[acquire];

	for (size_t i = acquire + 1; i < j->whole.count; i++) {
		const struct event *e = &j->whole.event[i];

		if (e->thread == of->thread && (e->kind == EVENT_RELEASE || e->kind == EVENT_RELEASE_SHARED) &&
			e->object == of->object)
			return i;
	}
	return SIZE_MAX;
}

struct order *milestones_window(struct arena *a, const struct judged *j, const struct finding *f)
{
	const uint64_t first = f->path[0].from.seq, culprit = f->path[0].to.seq, second = f->path[f->links - 1].to.seq;
	size_t release = culprit ? release_of(j, culprit - 1) : SIZE_MAX;
	struct milestone at[4];
	struct milestones m = {j, at, 0};

	if (!first || !culprit || !second)
		return NULL;
	at[m.count++] = (struct milestone){(uint32_t)first - 1, false, 0};
	at[m.count++] = (struct milestone){(uint32_t)culprit - 1, false, ORDER_CULPRIT};
	if (release != SIZE_MAX)
		at[m.count++] = (struct milestone){(uint32_t)release, false, 0};
	at[m.count++] = (struct milestone){(uint32_t)second - 1, false, 0};
	return milestones_order(a, &m);
}
