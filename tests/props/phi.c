/* SPDX-License-Identifier: MIT */
#include "phi.h"

#include <string.h>

enum { THREADS = 16, LOCKS = 32, VARIABLES = 16 };

/* A field or lock, Fig. 13. */
struct thing {
	enum { VIRGIN, THREAD_LOCAL, THREAD_LOCAL_2, READ_SHARED, SHARED_MODIFIED } state;
	thread_id owner;
	uint32_t access, write; /* candidates */
};

/* Which parts of Fig. 13 and 15 apply to a thing. */
struct parts {
	bool local, local2, read_shared, candidates, pairs;
};

struct world {
	struct phi *to;
	unsigned rules;
	struct parts data, lock;
	struct thing variable[VARIABLES], locks[LOCKS];
	unsigned times[THREADS][LOCKS]; /* how often a thread has it */
	uint32_t all[THREADS], exclusive[THREADS];
};

static void share(struct thing *x)
{
	x->state = SHARED_MODIFIED;
	x->access = x->write = UINT32_MAX;
}

/* The arrows of Fig. 13. */
static void advance(struct thing *x, const struct parts *p, thread_id t, bool write)
{
	switch (x->state) {
	case VIRGIN:
		if (p->local) {
			x->state = THREAD_LOCAL;
			x->owner = t;
		} else if (p->read_shared && !write) {
			x->state = READ_SHARED;
		} else {
			share(x);
		}
		break;
	case THREAD_LOCAL:
		if (x->owner == t)
			break;
		if (p->local2) {
			x->state = THREAD_LOCAL_2;
			x->owner = t;
			break;
		} /* fall through */
	case THREAD_LOCAL_2:
		if (x->state == THREAD_LOCAL_2 && x->owner == t)
			break;
		if (p->read_shared && !write)
			x->state = READ_SHARED;
		else
			share(x);
		break;
	case READ_SHARED:
		if (write)
			share(x);
		break;
	default: break;
	}
}

static bool is_both_mover(struct thing *x, const struct parts *p, thread_id t, uint32_t held, bool write)
{
	advance(x, p, t, write);
	if (x->state != SHARED_MODIFIED)
		return true;
	x->access &= held;
	if (write)
		x->write &= held;
	if (!p->candidates)
		return false;
	return p->pairs && !write ? (x->write & held) != 0 : (x->access & held) != 0;
}

/* The thread does something that cannot move left, or right. */
static void step(struct world *w, thread_id t, bool left, bool right)
{
	for (size_t i = 0; i < w->to->count; i++) {
		struct phi_block *b = &w->to->block[i];

		if (!b->open || b->thread != t)
			continue;
		b->violated |= !left && b->committed;
		b->committed |= !right;
	}
}

static void access_memory(struct world *w, const struct event *e)
{
	thread_id t = e->thread;
	bool write = !event_is_read(e->kind);
	bool both = is_both_mover(&w->variable[e->object], &w->data, t, write ? w->exclusive[t] : w->all[t], write);

	step(w, t, both, both);
}

static bool use_lock(struct world *w, const struct event *e, bool shared)
{
	uint32_t held = shared ? w->all[e->thread] : w->exclusive[e->thread];

	return is_both_mover(&w->locks[e->object], &w->lock, e->thread, held & ~(1u << e->object), true);
}

static void acquire(struct world *w, const struct event *e, bool shared)
{
	bool again = w->times[e->thread][e->object]++ > 0;
	bool both = (again && w->rules & PHI_REENTRANT) || use_lock(w, e, shared);

	step(w, e->thread, both, true);
	w->all[e->thread] |= 1u << e->object;
	if (!shared)
		w->exclusive[e->thread] |= 1u << e->object;
}

static void release(struct world *w, const struct event *e)
{
	uint32_t m = 1u << e->object;
	bool again = --w->times[e->thread][e->object] > 0;
	bool both = (again && w->rules & PHI_REENTRANT) || use_lock(w, e, !(w->exclusive[e->thread] & m));

	step(w, e->thread, true, both);
	if (!again) {
		w->all[e->thread] &= ~m;
		w->exclusive[e->thread] &= ~m;
	}
}

static void begin(struct world *w, const struct event *e)
{
	w->to->block[w->to->count++] = (struct phi_block){.thread = e->thread, .begin = e->seq, .end = UINT64_MAX,
		.function = e->kind == EVENT_ENTER, .open = true};
}

static void end(struct world *w, const struct event *e)
{
	size_t i = w->to->count - 1;

	while (!w->to->block[i].open || w->to->block[i].thread != e->thread ||
		w->to->block[i].function != (e->kind == EVENT_EXIT))
		i--;
	w->to->block[i].open = false;
	w->to->block[i].end = e->seq;
}

void phi_judge(const struct event *events, size_t n, unsigned rules, struct phi *to)
{
	struct world w = {.to = to, .rules = rules};

	memset(to, 0, sizeof *to);
	w.data = (struct parts){rules & PHI_DATA_LOCAL, rules & PHI_DATA_LOCAL2, rules & PHI_READ_SHARED, true,
		rules & PHI_WRITE_PROTECTED};
	w.lock = (struct parts){rules & PHI_LOCAL, rules & PHI_LOCAL2, false, rules & PHI_PROTECTED, false};
	for (size_t i = 0; i < n; i++) {
		switch (events[i].kind) {
		case EVENT_READ:
		case EVENT_WRITE: access_memory(&w, &events[i]); break;
		case EVENT_ACQUIRE: acquire(&w, &events[i], false); break;
		case EVENT_ACQUIRE_SHARED: acquire(&w, &events[i], true); break;
		case EVENT_RELEASE:
		case EVENT_RELEASE_SHARED: release(&w, &events[i]); break;
		case EVENT_BEGIN:
		case EVENT_ENTER: begin(&w, &events[i]); break;
		case EVENT_END:
		case EVENT_EXIT: end(&w, &events[i]); break;
		default: break;
		}
	}
}
