/* SPDX-License-Identifier: MIT */
#include "blocks_spans.h"

#include <string.h>

#include "base/arena.h"
#include "base/hash.h"

enum { SPANS_NEAR = 3, LINES_NEAR = 64, RECENT_READ = 0, RECENT_FINAL, RECENTS };

struct point {
	struct point *next;
	struct mark at[2]; /* where it was seen first, and where first in another thread, if it was */
	struct period_track periods;
	guard_id held;
	enum point_op op;
};

/* One sight of a span. */
struct sight {
	struct mark first, second;
	struct block block;
};

struct span {
	struct sight sight[2]; /* the first, and the first of another thread, if first.at.at is not 0 */
	struct period_track periods; /* of the first end */
	guard_id held;
	period_id last; /* of the second end, where it is another one than that of the first; otherwise 0 */
	enum span_ops ops;
	uint32_t next; /* of the variable, in the order in which they were seen; of a spare one, the next spare one */
};

/* What is looked at each time, apart from the rest: it says of the first lines whether they have been seen lately. */
struct glance {
	uint64_t lines; /* bits of those that were seen in the period that they are in */
	uint32_t stamp; /* when that was; a bit is good as long as no period has ended since */
	guard_id held;  /* of the span or point */
};

/* Spans that differ in locks and periods alone. */
struct family {
	struct glance glance[SPANS_NEAR];
	uint32_t span[SPANS_NEAR]; /* numbers; 0: no more */
	uint32_t more; /* the family goes on there; of a spare one, the next spare one */
};

_Static_assert(sizeof(struct family) == 64, "one cache line");

struct variable {
	_Alignas(64) struct glance recent[RECENTS]; /* of a point that was seen lately */
	struct point *points; /* in the order in which they were seen */
	uint64_t lines;       /* the caller's */
	uint32_t life;        /* another one after it was forgotten; 0: not accessed */
	uint32_t spans, last_span; /* numbers */
};

_Static_assert(sizeof(struct variable) == 64, "one cache line");

struct spans {
	struct seg variable;
	uint64_t variables;  /* they are below this */
	struct map families; /* (life, operations, blame) to number */
	struct seg family, span;
	uint32_t family_count, spare_family;
	uint32_t span_count, spare_span;
	uint32_t lives;
	uint32_t stamp;      /* goes up when a period ends */
	struct map reported; /* (variable, blame) */
};

struct spans *spans_new(struct arena *a)
{
	struct spans *s = arena_alloc(a, sizeof *s);

	seg_init(&s->variable, a, sizeof(struct variable));
	seg_init(&s->family, a, sizeof(struct family));
	seg_init(&s->span, a, sizeof(struct span));
	map_init(&s->families, a);
	map_init(&s->reported, a);
	s->stamp = 1;
	return s;
}

void spans_new_period(struct blocks *b)
{
	b->spans->stamp++;
}

static struct variable *variable_of(struct blocks *b, uint64_t x)
{
	return seg_at(&b->spans->variable, x, sizeof(struct variable));
}

static void variable_new(struct blocks *b, struct variable *v, uint64_t x)
{
	v->life = ++b->spans->lives;
	if (x >= b->spans->variables)
		b->spans->variables = x + 1;
}

/* The variable, which is accessed. */
static inline struct variable *variable_use(struct blocks *b, uint64_t x)
{
	struct variable *v = variable_of(b, x);

	if (__builtin_expect(!v->life, 0))
		variable_new(b, v, x);
	return v;
}

uint64_t *spans_lines(struct blocks *b, uint64_t x)
{
	return &variable_of(b, x)->lines;
}

/* Glances. */

/* Whether the access is in the period of one that was seen, and holds as much or more. */
static inline bool glance_covers(struct blocks *b, const struct glance *g, const struct end *end, guard_id held)
{
	uint32_t line = mark_line(&end->at);

	return g->stamp == b->spans->stamp && line < LINES_NEAR && g->lines >> line & 1 &&
	       guard_within(&b->guards, g->held, held);
}

/* What holds `held` was seen at the access. */
static void glance_set(struct blocks *b, struct glance *g, const struct end *end, guard_id held)
{
	uint32_t line = mark_line(&end->at);

	if (g->stamp != b->spans->stamp || g->held != held)
		*g = (struct glance){0, b->spans->stamp, held};
	if (line < LINES_NEAR)
		g->lines |= (uint64_t)1 << line;
}

/* Points. */

/* The place for the new one: where it was seen before, or of one that it stands for and that has no other period. */
static struct point **point_place(struct blocks *b, struct variable *v, const struct point *new, period_id period)
{
	struct point **link = &v->points, *p;

	for (; (p = *link); link = &p->next) {
		if (p->op != new->op)
			continue;
		if (p->held == new->held)
			return link;
		if (period_track_is(&b->sets, &p->periods, period) && guard_within(&b->guards, new->held, p->held)) {
			p->held = new->held;
			p->at[0] = new->at[0];
			return link;
		}
	}
	return link;
}

/* Where there are too many, the new one counts as holding what all of them hold: returns whether so. */
static bool point_weaken(struct blocks *b, const struct variable *v, struct point *new)
{
	size_t count = 0;

	for (const struct point *p = v->points; p; p = p->next)
		count += p->op == new->op;
	if (count < HELD_MOST)
		return false;
	for (const struct point *p = v->points; p && new->held; p = p->next)
		if (p->op == new->op)
			new->held = guard_meet(&b->guards, new->held, p->held);
	return true;
}

static struct point *point_put(struct blocks *b, struct point **place, const struct point *new)
{
	struct point *p = arena_alloc(b->arena, sizeof *p);

	*p = *new;
	p->next = *place;
	*place = p;
	return p;
}

static const struct point *point_add_new(struct blocks *b, struct variable *v, struct point new, period_id period)
{
	struct point **place = point_place(b, v, &new, period), *p;
	bool is_weak = !*place && point_weaken(b, v, &new);

	if (is_weak)
		place = point_place(b, v, &new, period);
	p = *place;
	if (!p)
		p = point_put(b, is_weak ? &v->points : place, &new);
	period_track_add(&b->sets, &p->periods, period);
	if (!p->at[1].at && p->at[0].thread != new.at[0].thread)
		p->at[1] = new.at[0];
	return p;
}

static void point_add(struct blocks *b, struct variable *v, enum point_op op, const struct end *end)
{
	struct point new = {.at = {end->at}, .held = end->held, .op = op};
	const struct point *p = v->points;

	while (p && !(p->op == op && guard_within(&b->guards, p->held, end->held) &&
			    period_track_has(&b->sets, &p->periods, end->period)))
		p = p->next;
	if (!p)
		p = point_add_new(b, v, new, end->period);
	if (op != POINT_WRITE)
		glance_set(b, &v->recent[op == POINT_FINAL], end, p->held);
}

/* A final write stands for any. */
void spans_point(struct blocks *b, uint64_t x, enum point_op op, const struct end *end)
{
	struct variable *v = variable_use(b, x);

	if (!glance_covers(b, &v->recent[op != POINT_READ], end, end->held))
		point_add(b, v, op, end);
}

/* Spans. */

static struct span *span_at(struct blocks *b, uint32_t number)
{
	return number ? seg_at(&b->spans->span, number, sizeof(struct span)) : NULL;
}

static struct family *family_at(struct blocks *b, uint32_t number)
{
	return number ? seg_at(&b->spans->family, number, sizeof(struct family)) : NULL;
}

static period_id last_of(const struct stretch *s)
{
	return s->first->period == s->second->period ? 0 : s->second->period;
}

/* Where the family is found; that two keys are equal by chance is ruled out. */
static uint64_t family_key(uint32_t life, period_id last, const struct block *block, enum span_ops ops)
{
	return hash_pair((uint64_t)life << 32 | last, blocks_blame(block) << 2 | ops);
}

static uint32_t family_new(struct blocks *b, uint32_t more)
{
	struct spans *s = b->spans;
	uint32_t number = s->spare_family ? s->spare_family : ++s->family_count;
	struct family *f = family_at(b, number);

	if (s->spare_family)
		s->spare_family = f->more;
	*f = (struct family){.more = more};
	return number;
}

/* Puts the span in front of the family, whose number it returns. */
static uint32_t family_put(struct blocks *b, uint32_t number, uint32_t span)
{
	struct family *f;

	if (!number || family_at(b, number)->span[SPANS_NEAR - 1])
		number = family_new(b, number);
	f = family_at(b, number);
	memmove(&f->glance[1], &f->glance[0], sizeof f->glance - sizeof f->glance[0]);
	memmove(&f->span[1], &f->span[0], sizeof f->span - sizeof f->span[0]);
	f->glance[0] = (struct glance){.held = span_at(b, span)->held};
	f->span[0] = span;
	return number;
}

static uint32_t span_new(struct blocks *b, struct variable *v, const struct span *new)
{
	struct spans *all = b->spans;
	uint32_t number = all->spare_span ? all->spare_span : ++all->span_count;
	struct span *s = span_at(b, number);

	if (all->spare_span)
		all->spare_span = s->next;
	*s = *new;
	s->next = 0;
	if (v->last_span)
		span_at(b, v->last_span)->next = number;
	else
		v->spans = number;
	v->last_span = number;
	return number;
}

static struct sight sight_of(const struct stretch *s)
{
	return (struct sight){s->first->at, s->second->at, s->block};
}

/* One more sight of a span that holds what the new one holds, or that the new one stands for. */
static void span_seen(struct blocks *b, struct span *s, const struct stretch *new)
{
	if (s->held != new->held)
		s->sight[0] = sight_of(new);
	s->held = new->held;
	period_track_add(&b->sets, &s->periods, new->first->period);
	if (!s->sight[1].first.at && s->sight[0].block.thread != new->block.thread)
		s->sight[1] = sight_of(new);
}

/* Whether the new one is another sight of the family's span, or stands for it and it was seen in no other period. */
static bool is_sight_of(struct blocks *b, const struct family *f, size_t i, const struct stretch *new)
{
	return f->glance[i].held == new->held ||
	       (guard_within(&b->guards, new->held, f->glance[i].held) &&
		       period_track_is(&b->sets, &span_at(b, f->span[i])->periods, new->first->period));
}

static bool span_known(struct blocks *b, uint32_t number, const struct stretch *new)
{
	for (struct family *f = family_at(b, number); f; f = family_at(b, f->more))
		for (size_t i = 0; i < SPANS_NEAR && f->span[i]; i++) {
			struct span *s;

			if (!is_sight_of(b, f, i, new))
				continue;
			s = span_at(b, f->span[i]);
			span_seen(b, s, new);
			glance_set(b, &f->glance[i], new->first, s->held);
			return true;
		}
	return false;
}

static size_t family_size(struct blocks *b, uint32_t number)
{
	size_t count = 0;

	for (const struct family *f = family_at(b, number); f; f = family_at(b, f->more))
		for (size_t i = 0; i < SPANS_NEAR && f->span[i]; i++)
			count++;
	return count;
}

/* Where there are too many, the new one counts as holding what all of them hold: returns whether so. */
static bool span_weaken(struct blocks *b, uint32_t number, struct stretch *new)
{
	if (family_size(b, number) < HELD_MOST)
		return false;
	for (const struct family *f = family_at(b, number); f; f = family_at(b, f->more))
		for (size_t i = 0; i < SPANS_NEAR && f->span[i] && new->held; i++)
			new->held = guard_meet(&b->guards, new->held, f->glance[i].held);
	return true;
}

static void span_add_new(struct blocks *b, struct variable *v, uint32_t *number, struct stretch new)
{
	struct span s = {.sight = {sight_of(&new)}, .last = last_of(&new), .ops = new.ops};

	if (span_known(b, *number, &new))
		return;
	if (span_weaken(b, *number, &new) && span_known(b, *number, &new))
		return;
	s.held = new.held;
	period_track_add(&b->sets, &s.periods, new.first->period);
	*number = family_put(b, *number, span_new(b, v, &s));
	glance_set(b, &family_at(b, *number)->glance[0], new.first, new.held);
}

/* The second look: a glance may know less than the span itself. */
static bool family_knows(struct blocks *b, uint32_t number, const struct stretch *new)
{
	for (struct family *f = family_at(b, number); f; f = family_at(b, f->more))
		for (size_t i = 0; i < SPANS_NEAR && f->span[i]; i++) {
			if (!guard_within(&b->guards, f->glance[i].held, new->held) ||
				!period_track_has(&b->sets, &span_at(b, f->span[i])->periods, new->first->period))
				continue;
			glance_set(b, &f->glance[i], new->first, f->glance[i].held);
			return true;
		}
	return false;
}

void spans_stretch(struct blocks *b, uint64_t x, const struct stretch *new)
{
	struct variable *v = variable_use(b, x);
	uint64_t key = family_key(v->life, last_of(new), &new->block, new->ops);
	uint32_t number = map_get(&b->spans->families, key);

	for (struct family *f = family_at(b, number); f; f = family_at(b, f->more))
		for (size_t i = 0; i < SPANS_NEAR && f->span[i]; i++)
			if (glance_covers(b, &f->glance[i], new->first, new->held))
				return;
	if (!family_knows(b, number, new))
		span_add_new(b, v, map_put(&b->spans->families, key), *new);
}

/* Comparing. */

static const char *const pattern_names[] = {
	[SPAN_RR] = "R-W-R", [SPAN_RW] = "R-W-W", [SPAN_WR] = "W-W-R", [SPAN_WW] = "W-R-W",
};

/* The four unserializable patterns. */
static bool is_pattern(enum span_ops ops, enum point_op between)
{
	switch (ops) {
	case SPAN_WW: return between == POINT_READ;
	case SPAN_RW: return between == POINT_FINAL;
	default: return between != POINT_READ;
	}
}

static bool can_occur_between(struct blocks *b, const struct point *p, const struct span *s, period_set around)
{
	period_set between;

	if (guard_excludes(&b->guards, p->held, s->held))
		return false;
	between = period_track_set(&b->sets, &p->periods);
	if (s->last)
		return period_sets_fit(&b->sets, around, s->last, between);
	return period_sets_concurrent(&b->sets, around, between);
}

/* Which two sights to show together: of two threads. */
struct shown {
	const struct sight *sight;
	const struct mark *at;
};

static struct shown show(const struct span *s, const struct point *p)
{
	for (size_t i = 0; i < 4; i++) {
		const struct sight *sight = &s->sight[i & 1];
		const struct mark *at = &p->at[i >> 1];

		if (sight->first.at && at->at && sight->block.thread != at->thread)
			return (struct shown){sight, at};
	}
	return (struct shown){&s->sight[0], &p->at[0]};
}

static void report_span(struct blocks *b, uint64_t x, const struct span *s, const struct point *p)
{
	struct shown w = show(s, p);
	struct blocks_access at[] = {{w.sight->first, x}, {*w.at, x}, {*w.at, x}, {w.sight->second, x}};

	blocks_report(b, w.sight->block, pattern_names[s->ops], at, 2);
}

/* Whether there is something to compare. */
static bool is_written(const struct variable *v)
{
	for (const struct point *p = v->points; p; p = p->next)
		if (p->op != POINT_READ)
			return true;
	return false;
}

guard_id spans_protection(struct blocks *b, uint64_t x)
{
	const struct point *p = variable_of(b, x)->points;
	guard_id held = p ? p->held : 0;

	for (; p && held; p = p->next)
		held = guard_meet(&b->guards, held, p->held);
	return held;
}

static const struct point *point_between(struct blocks *b, const struct variable *v, const struct span *s)
{
	period_set around = period_track_set(&b->sets, &s->periods);

	for (const struct point *p = v->points; p; p = p->next)
		if (is_pattern(s->ops, p->op) && can_occur_between(b, p, s, around))
			return p;
	return NULL;
}

/* Whether the block is reported for the variable already; it is from now on. */
static bool is_reported(struct blocks *b, uint64_t x, const struct block *block)
{
	uint32_t *known = map_put(&b->spans->reported, hash_pair(x, blocks_blame(block)));
	bool was = *known;

	*known = 1;
	return was;
}

static void compare_span(struct blocks *b, uint64_t x, const struct span *s)
{
	const struct point *p = point_between(b, variable_of(b, x), s);

	if (p && !is_reported(b, x, &s->sight[0].block))
		report_span(b, x, s, p);
}

static void compare_variable(struct blocks *b, uint64_t x)
{
	const struct variable *v = variable_of(b, x);
	guard_id protection;

	if (!v->spans || !is_written(v))
		return;
	protection = spans_protection(b, x);
	for (const struct span *s = span_at(b, v->spans); s; s = span_at(b, s->next))
		if (!guard_excludes(&b->guards, s->held, protection))
			compare_span(b, x, s);
}

void spans_compare(struct blocks *b)
{
	for (uint64_t x = 0; x < b->spans->variables; x++)
		compare_variable(b, x);
}

/* Variables that end and divide. */

static void family_drop(struct blocks *b, uint32_t *number)
{
	for (struct family *f = family_at(b, *number); f; f = family_at(b, *number)) {
		uint32_t more = f->more;

		f->more = b->spans->spare_family;
		b->spans->spare_family = *number;
		*number = more;
	}
}

static void spans_drop(struct blocks *b, const struct variable *v)
{
	for (struct span *s = span_at(b, v->spans); s; s = span_at(b, s->next)) {
		uint64_t key = family_key(v->life, s->last, &s->sight[0].block, s->ops);

		family_drop(b, map_put(&b->spans->families, key));
		period_track_drop(&b->sets, &s->periods);
	}
	if (v->spans) {
		span_at(b, v->last_span)->next = b->spans->spare_span;
		b->spans->spare_span = v->spans;
	}
}

static void points_drop(struct blocks *b, const struct variable *v)
{
	for (struct point *p = v->points, *next; p; p = next) {
		next = p->next;
		period_track_drop(&b->sets, &p->periods);
		arena_recycle(b->arena, p, sizeof *p);
	}
}

void spans_forget(struct blocks *b, uint64_t x)
{
	struct variable *v = variable_of(b, x);

	compare_variable(b, x);
	spans_drop(b, v);
	points_drop(b, v);
	*v = (struct variable){.lines = v->lines};
}

static void points_copy(struct blocks *b, const struct variable *from, struct variable *to)
{
	struct point **place = &to->points;

	for (const struct point *p = from->points; p; p = p->next) {
		struct point *copy = point_put(b, place, &(struct point){0});

		*copy = *p;
		copy->periods = period_track_copy(&b->sets, &p->periods);
		copy->next = NULL;
		place = &copy->next;
	}
}

void spans_copy(struct blocks *b, uint64_t x, uint64_t y)
{
	const struct variable *from = variable_of(b, x);
	struct variable *to = variable_of(b, y);

	*to = (struct variable){0};
	variable_new(b, to, y);
	points_copy(b, from, to);
	for (const struct span *s = span_at(b, from->spans); s; s = span_at(b, s->next)) {
		uint32_t *number = map_put(&b->spans->families,
			family_key(to->life, s->last, &s->sight[0].block, s->ops));
		struct span copy = *s;

		copy.periods = period_track_copy(&b->sets, &s->periods);
		*number = family_put(b, *number, span_new(b, to, &copy));
	}
}
