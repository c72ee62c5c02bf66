/* SPDX-License-Identifier: MIT */
/*
 * The questions whether something can happen are searches over states: where each thread is, and memory as the reads
 * to come can tell it. No state is entered twice.
 *
 * A step is *harmless* if it takes nothing that others may want, is no source of a read that is to be kept and spoils
 * no read that could be kept now. It can be done at once without looking at what else could: in any reordering that
 * does it later it can be moved to the front, in one that does without it it can be put in front, and nothing that
 * follows is worse off. Nothing that is stuck gets unstuck by that either, since such a step stays possible until it is
 * done. reorder_self checks all of this against a search that knows no states and no harmless steps.
 */
#include "reorder.h"

#include "event/event.h"
#include "memory.h"
#include "seen.h"
#include "steps.h"

struct search {
	struct steps steps;
	struct memory memory;
	struct seen seen;
	int goal; /* the step to get to, or -1: get stuck */
};

static int possible(const struct search *x, struct state at, size_t t)
{
	return state_possible(&x->steps, &x->memory, at, t);
}

static struct state after(const struct search *x, struct state at, size_t i)
{
	return state_after(&x->steps, &x->memory, at, i);
}

static bool is_harmless(const struct search *x, struct state at, size_t i)
{
	return !steps_takes(&x->steps.at[i]) && !x->memory.serves[i] && !(x->memory.spoils[i] & at.memory);
}

static bool is_done(const struct search *x, struct state at, size_t i)
{
	return steps_done(at.positions, x->steps.at[i].thread) >= steps_position(&x->steps, i);
}

static bool do_harmless(const struct search *x, struct state *at)
{
	bool any = false;

	for (size_t t = 0; t < x->steps.threads; t++)
		for (int i; (i = possible(x, *at, t)) >= 0 && is_harmless(x, *at, (size_t)i); any = true)
			*at = after(x, *at, (size_t)i);
	return any;
}

static bool reaches(struct search *x, struct state at)
{
	bool stuck = true;

	while (do_harmless(x, &at))
		continue;
	if (x->goal >= 0 && is_done(x, at, (size_t)x->goal))
		return true;
	if (!seen_add(&x->seen, (uint64_t[]){at.positions | STEPS_MARK, at.memory}))
		return false;
	for (size_t t = 0; t < x->steps.threads; t++) {
		int i = possible(x, at, t);

		if (i < 0)
			continue;
		stuck = false;
		if (reaches(x, after(x, at, (size_t)i)))
			return true;
	}
	return x->goal < 0 && stuck && !steps_complete(&x->steps, at.positions);
}

static enum reorder_answer search(struct search *x)
{
	bool found;

	seen_init(&x->seen, 2, REORDER_STATES_MOST);
	found = reaches(x, (struct state){0, x->memory.start});
	seen_free(&x->seen);
	if (found)
		return REORDER_YES;
	return x->seen.full ? REORDER_UNDECIDED : REORDER_NO;
}

/* The same for a goal, where reads see what they see in the trace, except those of steps in `loose`. */
static enum reorder_answer search_goal(struct search *x, size_t goal, uint64_t loose)
{
	struct sights sights;
	struct view view;

	if (!sights_make(&sights, &x->steps))
		return REORDER_UNDECIDED;
	view_recorded(&view, &sights, &x->steps);
	memory_keep(&x->memory, &sights, &x->steps, &view, ~loose);
	x->goal = (int)goal;
	return search(x);
}

/* The steps of i's thread from i on. */
static uint64_t from(const struct steps *s, size_t i)
{
	unsigned end = s->first[s->at[i].thread + 1];

	return ~(uint64_t)0 >> (64 - end) & ~(uint64_t)0 << i;
}

/* The step that acquires the lock, from 1, right before the event with the seq, or in it; or -1. */
static int acquire_of(const struct steps *s, uint64_t seq, unsigned lock)
{
	for (size_t i = 0; i < steps_count(s); i++)
		if (s->at[i].event->seq == seq && s->at[i].lock == lock)
			return (int)i;
	return -1;
}

/* The first step behind i after which its thread does not hold the lock, or -1. */
static int release_of(const struct steps *s, size_t i, unsigned lock)
{
	uint32_t bit = (uint32_t)1 << (lock - 1);

	for (size_t end = s->first[s->at[i].thread + 1]; i < end; i++)
		if (!((s->at[i].hold.exclusive | s->at[i].hold.shared) & bit))
			return (int)i;
	return -1;
}

/* first and second are of one thread and in this order, x is of another one. */
static bool is_window(const struct steps *s, int first, int x, int second)
{
	return first >= 0 && x >= 0 && second > first && s->at[first].thread == s->at[second].thread &&
	       s->at[first].thread != s->at[x].thread;
}

enum reorder_answer reorder_confirms(
	const struct event *events, size_t n, uint64_t first, uint64_t culprit, uint64_t second)
{
	int a = -1, x = -1, b = -1, release;
	struct search s;
	unsigned lock = 0;

	if (!steps_make(&s.steps, events, n))
		return REORDER_UNDECIDED;
	while (lock < STEPS_LOCKS && !is_window(&s.steps, a, x, b)) {
		a = acquire_of(&s.steps, first, ++lock);
		x = acquire_of(&s.steps, culprit, lock);
		b = acquire_of(&s.steps, second, lock);
	}
	if (!is_window(&s.steps, a, x, b))
		return REORDER_NO;
	release = release_of(&s.steps, (size_t)x, lock);
	if (release < 0)
		return REORDER_NO;
	steps_require(&s.steps, (size_t)x, (size_t)a);
	steps_require(&s.steps, (size_t)b, (size_t)release);
	return search_goal(&s, (size_t)b, from(&s.steps, (size_t)x));
}

enum reorder_answer reorder_confirms_data(const struct event *events, size_t n, uint64_t a, uint64_t x, uint64_t b)
{
	struct search s;
	int i, j, k;

	if (!steps_make(&s.steps, events, n))
		return REORDER_UNDECIDED;
	i = steps_of(&s.steps, a);
	j = steps_of(&s.steps, x);
	k = steps_of(&s.steps, b);
	if (!is_window(&s.steps, i, j, k))
		return REORDER_NO;
	steps_require(&s.steps, (size_t)j, (size_t)i);
	steps_require(&s.steps, (size_t)k, (size_t)j);
	return search_goal(&s, (size_t)k, from(&s.steps, (size_t)j) | from(&s.steps, (size_t)k));
}

enum reorder_answer reorder_deadlocks(const struct event *events, size_t n)
{
	struct search s = {.goal = -1};

	if (!steps_make(&s.steps, events, n))
		return REORDER_UNDECIDED;
	return search(&s);
}

/* ---- All of them. ---- */

struct walk {
	struct search search;
	const struct reorder_tour *tour;
	size_t left; /* of the budget */
	struct event sequence[REORDER_EVENTS_MOST];
};

static enum reorder_answer visit(struct walk *w, struct state at, size_t length)
{
	if (w->left == 0)
		return REORDER_UNDECIDED;
	w->left--;
	if (w->tour->visit(w->tour->self, w->sequence, length, !steps_complete(&w->search.steps, at.positions)))
		return REORDER_YES;
	return REORDER_NO;
}

/* The thread's next event, with the acquire that it owes for a wait: both or none. */
static bool advance(struct walk *w, struct state *at, size_t t, size_t length)
{
	struct state now = *at;
	int i = possible(&w->search, now, t);

	if (i < 0)
		return false;
	if (w->search.steps.at[i].reacquires) {
		now = after(&w->search, now, (size_t)i);
		i = possible(&w->search, now, t);
		if (i < 0)
			return false;
	}
	*at = after(&w->search, now, (size_t)i);
	w->sequence[length] = *w->search.steps.at[i].event;
	return true;
}

static enum reorder_answer walk(struct walk *w, struct state at, size_t length)
{
	bool end = true;

	for (size_t t = 0; t < w->search.steps.threads; t++) {
		struct state next = at;
		enum reorder_answer answer;

		if (!advance(w, &next, t, length))
			continue;
		end = false;
		answer = walk(w, next, length + 1);
		if (answer != REORDER_YES)
			return answer;
	}
	return end ? visit(w, at, length) : REORDER_YES;
}

enum reorder_answer reorder_each(const struct event *events, size_t n, const struct reorder_tour *tour)
{
	struct walk w = {.tour = tour, .left = tour->budget};
	struct sights sights;
	struct view view;

	if (!steps_make(&w.search.steps, events, n))
		return REORDER_UNDECIDED;
	if (tour->mode == REORDER_READS) {
		if (!sights_make(&sights, &w.search.steps))
			return REORDER_UNDECIDED;
		view_recorded(&view, &sights, &w.search.steps);
		memory_keep(&w.search.memory, &sights, &w.search.steps, &view, ~(uint64_t)0);
	}
	return walk(&w, (struct state){0, w.search.memory.start}, 0);
}
