/* SPDX-License-Identifier: MIT */
#include "facts.h"

#include <string.h>

#include "base/arena.h"
#include "check/check.h"
#include "finding/window.h"
#include "policy/policy.h"
#include "policy/rank.h"
#include "state/diary.h"

enum { WAITERS_MOST = 64 };

/* A finding that waits for the release of a lock, or for the end of its block. */
struct waiter {
	uint32_t finding;
	uint64_t second; /* of the path: a finding that has another path by now waits elsewhere */
	uint64_t begin;  /* of the block, if the line is the block's own */
	sync_id lock;
};

struct waiting {
	struct waiter *at;
	size_t count, capacity;
};

void facts_init(struct facts *f, struct run *run, const struct policy *policy)
{
	*f = (struct facts){.run = run, .policy = policy, .surroundings.run = run};
	seg_init(&f->line, run->arena, sizeof(struct waiting));
}

/* Facts about locks and places. */

static struct window_end end_of(const struct side *s)
{
	const struct note *from = diary_note(s->diary, s->note), *to = from;

	if (s->outer && s->outer->begun) {
		from = diary_note(s->diary, s->outer->from);
		to = diary_note(s->diary, s->outer->open ? s->outer->from : s->outer->to);
	}
	return (struct window_end){from->kind, from->object, from->site, from->stack, to->stack};
}

/* Not the block's own lock, where the block is what that lock protects. */
static bool holds_another(const struct scene *c)
{
	for (size_t i = 0; i < c->first.spans->count; i++) {
		const struct held_span *s = &c->first.spans->at[i];

		if (s->begun && span_holds(s, c->first.note) && span_holds(s, c->second.note) &&
			diary_note(c->first.diary, s->from)->seq != c->f->block.seq)
			return true;
	}
	return false;
}

static bool waits(const struct scene *c)
{
	for (uint64_t i = c->first.note; i < c->second.note; i++)
		if (diary_note(c->first.diary, i)->kind == EVENT_WAIT)
			return true;
	return false;
}

static uint32_t place_facts(const struct scene *c)
{
	struct window_end first = end_of(&c->first), second = end_of(&c->second);
	uint32_t facts = window_shape(c->run->tables, &c->f->block, &first, &second);

	if (c->second.outer && c->second.outer->waited)
		facts |= FACT_REACQUIRE;
	if (holds_another(c))
		facts |= FACT_OTHER_LOCK;
	if (waits(c))
		facts |= FACT_WAIT;
	return facts;
}

/* Facts about the block, and about a window of which nothing is remembered. */

static bool is_main(struct text name)
{
	return name.length == 4 && memcmp(name.at, "main", 4) == 0;
}

/* The policy leaves these out where it knows them. */
static bool is_start(struct facts *f, const struct block *b)
{
	if (!b->entered || !b->stack || tables_frame(f->run->tables, b->stack).parent)
		return false;
	return is_main(tables_name(f->run->tables, TABLE_CODE, b->code)) ||
	       run_birth(f->run, run_line(f->run, b->thread), b->seq);
}

/* By its function, or by the file that it is in. */
static bool is_foreign(struct facts *f, const struct finding *of)
{
	const struct tables *t = f->run->tables;
	struct window_end first = window_end_of(&of->path[0].from);
	site_id place = window_place(t, &of->block, &first);

	if (of->block.code && policy_code(f->policy, tables_name(t, TABLE_CODE, of->block.code)) & CODE_FOREIGN)
		return true;
	return place && policy_site(f->policy, tables_name(t, TABLE_SITE, place)) & SITE_FOREIGN;
}

static uint32_t block_facts(struct facts *f, const struct finding *of)
{
	return (is_start(f, &of->block) ? FACT_START : 0) | (is_foreign(f, of) ? FACT_FOREIGN : 0);
}

static uint32_t bare_facts(const struct facts *f, const struct finding *of)
{
	const struct access *second = &of->path[of->links - 1].to;

	return window_shape_of(f->run->tables, of) | (second->flags & EVENT_WAITED ? FACT_REACQUIRE : 0);
}

/* Waiting. */

static bool is_open(struct facts *f, uint32_t line, uint64_t begin)
{
	const struct activations *open = run_open(f->run, line);

	for (size_t i = open->depth; i-- > 0;)
		if (open->at[i].begin == begin)
			return true;
	return false;
}

/* A thread may hold a lock for ever: beyond some, findings do without what they would learn. */
static void wait_on(struct facts *f, uint32_t line, struct waiter w)
{
	struct waiting *l = seg_at(&f->line, line, sizeof *l);

	if (l->count == WAITERS_MOST)
		return;
	l->at = arena_reserve(f->run->arena, l->at, &l->capacity, l->count, sizeof w);
	l->at[l->count++] = w;
	f->waiting++;
}

/* Whether a section is running that the finding must wait for; it does so. */
static bool must_wait(struct facts *f, const struct scene *c, size_t i)
{
	struct waiter w = {(uint32_t)i, c->f->path[c->f->links - 1].to.seq, c->f->block.seq, c->second.running};

	if (c->second.running && is_open(f, c->second.line, c->f->block.seq)) {
		wait_on(f, c->second.line, w);
		return true;
	}
	w.begin = 0;
	for (size_t k = 0; k < c->culprits; k++)
		if (c->theirs[k].running) {
			w.lock = c->theirs[k].running;
			wait_on(f, c->theirs[k].line, w);
			return true;
		}
	return false;
}

/*
 * All that is known about finding number i now, without what speaks of all that a section does while one is running.
 * False if the window is forgotten: what was known before still holds.
 */
static bool examine(struct facts *f, size_t i, bool over)
{
	const struct finding *of = &f->run->findings->at[i];
	struct scene c = {.run = f->run, .f = of, .spans = f->spans};
	bool known = scene_look(&c, i);
	uint32_t facts;

	surroundings_look(&f->surroundings, i);
	if (!known)
		return false;
	facts = block_facts(f, of) | place_facts(&c) | uses_growing(&f->uses, &c);
	if (over || !must_wait(f, &c, i))
		facts |= uses_whole(&f->uses, &c, facts);
	findings_learn(f->run->findings, i, facts);
	return true;
}

static bool wakes(struct facts *f, const struct waiter *w, const struct event *e)
{
	if (e->kind == EVENT_EXIT || e->kind == EVENT_END)
		return w->begin && !is_open(f, e->line, w->begin);
	return (e->kind == EVENT_WAIT ? e->mutex : e->object) == w->lock;
}

static bool is_current(const struct facts *f, const struct waiter *w)
{
	const struct finding *of = &f->run->findings->at[w->finding];

	return of->path[of->links - 1].to.seq == w->second;
}

/* From the last to the first, since those that have to wait again come behind. */
static void wake(struct facts *f, const struct event *e)
{
	struct waiting *l = seg_at(&f->line, e->line, sizeof *l);

	for (size_t i = l->count; i-- > 0;) {
		struct waiter w = l->at[i];

		if (!wakes(f, &w, e))
			continue;
		l->at[i] = l->at[--l->count];
		f->waiting--;
		if (is_current(f, &w))
			examine(f, w.finding, false);
	}
}

static bool ends_something(uint8_t kind)
{
	return kind == EVENT_RELEASE || kind == EVENT_RELEASE_SHARED || kind == EVENT_WAIT || kind == EVENT_EXIT ||
	       kind == EVENT_END;
}

static void take_fresh(struct facts *f, bool over)
{
	struct findings *of = f->run->findings;

	while (of->fresh_count) {
		size_t i = of->fresh[--of->fresh_count];

		if (!examine(f, i, over))
			findings_learn(of, i, of->at[i].facts | block_facts(f, &of->at[i]) | bare_facts(f, &of->at[i]));
	}
}

void facts_step(struct facts *f, const struct event *e)
{
	take_fresh(f, false);
	if (f->waiting && ends_something(e->kind))
		wake(f, e);
}

void facts_finish(struct facts *f)
{
	take_fresh(f, true);
	for (uint32_t line = 1; line <= f->run->lines; line++) {
		struct waiting *l = seg_at(&f->line, line, sizeof *l);

		while (l->count) {
			struct waiter w = l->at[--l->count];

			if (is_current(f, &w))
				examine(f, w.finding, true);
		}
	}
	f->waiting = 0;
}
