/* SPDX-License-Identifier: MIT */
/*
 * Whether a trace is one that a program can have produced, event by event, and what each event does to locks,
 * waits and barriers. docs/traces.md, "Well-formed", has the rules.
 *
 * State: a record a thread (born, ended, open functions and blocks, what it waits for) and a record a
 * synchronisation object (holder and depth, shared holders, the barrier's round). Both follow the number of
 * threads and objects, not of events. Cost: constant an event; linear in the shared holders for a shared side.
 *
 * A broken rule is told by the returned step; nothing of the event is taken over then but that its thread has left
 * the wait or barrier it was in. In a lenient run the caller drops it and goes on, unless the step says it was mended.
 */
#ifndef FISSION_EVENT_WELLFORMED_H
#define FISSION_EVENT_WELLFORMED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/seg.h"
#include "event/trace.h"

/* Every rule: its name in the counts of a lenient run. */
enum wf_rule {
	WF_FINE,
	WF_HELD,         /* acquire of a lock that is held */
	WF_NOT_HELD,     /* release or wait without the lock */
	WF_BEFORE_FORK,  /* fork of a thread that has run already */
	WF_AFTER_JOIN,   /* an event of a thread that was joined */
	WF_FORK,         /* fork of oneself or for the second time */
	WF_JOIN,         /* join of oneself or for the second time */
	WF_JOIN_OPEN,    /* join of a thread with an open block or function */
	WF_END,          /* end without begin */
	WF_EXIT,         /* exit without enter */
	WF_BARRIER,      /* a barrier left too early, or its parties changed */
	WF_RULES
};

extern const char *const wf_rule_text[WF_RULES];

/* What one event means. Small enough to be cleared without a call. */
struct wf_step {
	enum wf_rule broken;
	enum trace_field field; /* what to point at */
	bool mended;            /* broken, but to be handed on in a lenient run */
	bool reentrant;         /* nothing changes for anyone else */
	bool shared;            /* a release: of the shared side */
	bool idle;              /* a join of a thread that has no event */
	bool early;             /* before the round is complete that it leaves: mended by taking the arrival back */
	sync_id reacquire;      /* the mutex of the wait that ends right before this event, or 0 */
	sync_id depart;         /* the barrier that the thread leaves right before this event, or 0 */
	uint32_t exits;         /* an exit: functions to leave, more than 1 only if mended */
	uint64_t departed;      /* the round that it leaves */
	uint64_t round;         /* an arrival: the round that it belongs to */
	const struct event *wait; /* the wait that has ended, valid until the next step */
};

struct briefs;
struct wf_thread;

/* Open functions of a thread, oldest first. */
struct wf_calls {
	code_id *function;
	size_t depth, capacity;
};

/* A function's entry or exit, which is taken note of; false: it is not in its order, or there is no room. */
static inline bool wf_calls_enter(struct wf_calls *c, uint64_t function)
{
	if (c->depth == c->capacity)
		return false;
	c->function[c->depth++] = (code_id)function;
	return true;
}

static inline bool wf_calls_exit(struct wf_calls *c, uint64_t function)
{
	if (!c->depth || c->function[c->depth - 1] != function)
		return false;
	c->depth--;
	return true;
}

struct wellformed {
	struct arena *arena;
	const struct tables *tables;
	bool lenient; /* what the caller will do about a broken rule */
	struct seg threads, syncs;
	struct seg plain; /* bool by thread: it has run, and neither waits nor was joined */
	uint64_t count[WF_RULES]; /* how often each was broken */
	char why[256];            /* of the last one, in words */
};

void wellformed_init(struct wellformed *w, struct arena *a, const struct tables *tables, bool lenient);

/*
 * Whether an access by the thread is fine and means nothing else: the quick answer to most events. It is there for as
 * long as the run, and follows the thread.
 */
static inline const bool *wellformed_plain(struct wellformed *w, thread_id t)
{
	return seg_at(&w->plain, t, sizeof(bool));
}

/* What is known of the thread; it stays where it is. */
struct wf_thread *wellformed_thread(struct wellformed *w, thread_id t);

/* Its open functions, likewise: while it is plain, calls that they take are fine and mean nothing else. */
struct wf_calls *wellformed_calls(struct wellformed *w, thread_id t);

/*
 * A function's entry or exit by such a thread, which is taken note of; false: it is not in its order, and
 * wellformed_step() has to judge.
 */
bool wellformed_call(struct wf_thread *t, const struct event *e);

/*
 * Likewise an acquire of a lock that is free, and the release of one that the thread has taken once: both of the
 * exclusive side.
 */
bool wellformed_acquire(struct wellformed *w, const struct event *e);
bool wellformed_release(struct wellformed *w, const struct event *e);

/*
 * How many events of the row, from the first on, are fine and mean nothing else; calls among them are taken note of.
 * The one behind them is for wellformed_step() to judge.
 */
size_t wellformed_briefs(struct wellformed *w, const struct briefs *b);

/* Judges the next event of the trace. */
struct wf_step wellformed_step(struct wellformed *w, const struct event *e);

#endif
