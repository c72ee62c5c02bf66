/* SPDX-License-Identifier: MIT */
#include "lesson_file.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "chase/lesson.h"
#include "report/story.h"
#include "scale/record.h"
#include "sched/order.h"

enum { LAST = 8 };

static void put_last(struct str *to, const struct chase_last *l)
{
	uint64_t n[LAST] = {l->diverged, l->done, l->outcome.ending, l->outcome.status, l->outcome.bytes, l->outcome.hash,
		l->split, l->counts};

	record_put(to, "last", (struct text){(const char *)n, sizeof n});
}

static void put_plan(struct str *to, const char *name, const struct chase_plan *p)
{
	uint64_t head[3] = {p->of.key, p->of.defect, p->worked_out};
	struct str value;

	str_init(&value, to->arena);
	str_bytes(&value, (const char *)head, sizeof head);
	str_bytes(&value, (const char *)p->order, order_bytes(p->order));
	record_put(to, name, (struct text){value.at, value.length});
}

static void put_hit(struct str *to, const struct chase_hit *h)
{
	uint64_t keys[3] = {h->id, h->defect, h->block};

	record_put(to, "hit", (struct text){(const char *)keys, sizeof keys});
	record_put(to, "replay", h->file);
}

static void put_failure(struct str *to, const struct chase_failure *f)
{
	record_put(to, "failure", (struct text){(const char *)&f->key, sizeof f->key});
	record_put(to, "failure-id", f->story.id);
	record_put(to, "failure-what", f->story.what);
	for (size_t i = 0; i < f->story.lines; i++)
		record_put(to, "failure-line", f->story.line[i]);
	record_put(to, "failure-replay", f->file);
}

void lesson_write(struct str *to, const struct lesson *l)
{
	put_last(to, &l->last);
	record_put_number(to, "events", l->events);
	record_put_number(to, "steps", l->steps);
	record_put_number(to, "repeats", l->repeats);
	record_put_number(to, "reached", l->reached);
	record_put(to, "candidates", (struct text){(const char *)l->candidate, l->candidates * sizeof *l->candidate});
	record_put(to, "pairs", (struct text){(const char *)l->pair, l->pairs * sizeof *l->pair});
	for (size_t i = 0; i < l->plans; i++)
		put_plan(to, "plan", &l->plan[i]);
	for (size_t i = 0; i < l->wides; i++)
		put_plan(to, "wide", &l->wide[i]);
	for (size_t i = 0; i < l->hits; i++)
		put_hit(to, &l->hit[i]);
	for (size_t i = 0; i < l->failures; i++)
		put_failure(to, &l->failure[i]);
}

/* Reading. */

/* Copies an array of numbers, which may lie anywhere, to where it can be used. */
static void *copy_of(struct arena *a, struct text t, size_t each, size_t *count)
{
	void *to = arena_alloc(a, t.length + 1);

	memcpy(to, t.at ? t.at : "", t.length);
	*count = t.length / each;
	return to;
}

static bool read_last(struct lesson *l, struct text t)
{
	uint64_t n[LAST];

	if (t.length != sizeof n)
		return false;
	memcpy(n, t.at, sizeof n);
	if (n[2] >= ENDINGS)
		return false;
	l->last = (struct chase_last){.diverged = n[0], .done = (uint32_t)n[1],
		.outcome = {(enum ending)n[2], (uint32_t)n[3], n[4], n[5]}, .split = n[6], .counts = n[7]};
	return true;
}

static bool read_plan(struct chase_plan *p, struct text t, struct arena *a)
{
	uint64_t head[3];
	size_t n = t.length - sizeof head, count;

	if (t.length < sizeof head)
		return false;
	memcpy(head, t.at, sizeof head);
	p->of = (struct chase_candidate){head[0], head[1]};
	p->worked_out = head[2];
	p->order = copy_of(a, (struct text){t.at + sizeof head, n}, 1, &count);
	return !order_check(p->order, n);
}

/* What comes more than once: how often. */
struct tally {
	size_t plans, wides, hits, failures, lines;
};

static struct tally tally_of(struct text result)
{
	struct tally n = {0};
	struct record_field f;

	while (record_next(&result, &f)) {
		n.plans += text_is(f.name, "plan");
		n.wides += text_is(f.name, "wide");
		n.hits += text_is(f.name, "hit");
		n.failures += text_is(f.name, "failure");
		n.lines += text_is(f.name, "failure-line");
	}
	return n;
}

/* The arrays that are being filled. */
struct filling {
	struct lesson *l;
	struct arena *arena;
	struct chase_plan *plan, *wide;
	struct chase_hit *hit;
	struct chase_failure *failure;
	struct text *line;
};

static bool read_hit(struct filling *to, struct text value)
{
	struct chase_hit *h = &to->hit[to->l->hits++];
	uint64_t keys[3];

	if (value.length != sizeof keys)
		return false;
	memcpy(keys, value.at, sizeof keys);
	*h = (struct chase_hit){.id = keys[0], .defect = keys[1], .block = keys[2]};
	return true;
}

static bool read_failure(struct filling *to, struct text value)
{
	struct chase_failure *f = &to->failure[to->l->failures++];

	*f = (struct chase_failure){.story.line = to->line};
	if (value.length == sizeof f->key)
		memcpy(&f->key, value.at, sizeof f->key);
	return value.length == sizeof f->key;
}

/* A field of the failure that was begun last. A file is named after its id. */
static void read_of_failure(struct filling *to, const struct record_field *f)
{
	struct chase_failure *last = &to->failure[to->l->failures - 1];

	if (text_is(f->name, "failure-id") && !memchr(f->value.at, '/', f->value.length))
		last->story.id = (struct text){record_word(to->arena, f->value), f->value.length};
	else if (text_is(f->name, "failure-what"))
		last->story.what = f->value;
	else if (text_is(f->name, "failure-replay"))
		last->file = f->value;
	else if (text_is(f->name, "failure-line")) {
		*to->line++ = f->value;
		last->story.lines++;
	}
}

static struct text id_text(struct arena *a, uint64_t id)
{
	struct str s;

	str_init(&s, a);
	str_printf(&s, "fsn-%08" PRIx64, id);
	return (struct text){s.at, s.length};
}

static void read_replay(struct filling *to, struct text value)
{
	struct chase_hit *h = to->l->hits ? &to->hit[to->l->hits - 1] : NULL;

	if (!h)
		return;
	h->file = value;
	h->replay.finding = id_text(to->arena, h->id);
}

static bool read_field(struct filling *to, const struct record_field *f)
{
	if (text_is(f->name, "plan"))
		return read_plan(&to->plan[to->l->plans++], f->value, to->arena);
	if (text_is(f->name, "wide"))
		return read_plan(&to->wide[to->l->wides++], f->value, to->arena);
	if (text_is(f->name, "hit"))
		return read_hit(to, f->value);
	if (text_is(f->name, "failure"))
		return read_failure(to, f->value);
	if (text_is(f->name, "replay"))
		read_replay(to, f->value);
	else if (to->l->failures)
		read_of_failure(to, f);
	return true;
}

bool lesson_read(struct lesson *l, struct text result, struct arena *a)
{
	struct tally n = tally_of(result);
	struct filling to = {.l = l, .arena = a, .plan = arena_alloc(a, n.plans * sizeof *to.plan),
		.wide = arena_alloc(a, n.wides * sizeof *to.wide), .hit = arena_alloc(a, n.hits * sizeof *to.hit),
		.failure = arena_alloc(a, n.failures * sizeof *to.failure), .line = arena_alloc(a, n.lines * sizeof *to.line)};
	struct text rest = result;
	struct record_field f;

	*l = (struct lesson){.events = record_number(result, "events"), .steps = record_number(result, "steps"),
		.repeats = record_number(result, "repeats"), .reached = record_number(result, "reached"),
		.plan = to.plan, .wide = to.wide, .hit = to.hit, .failure = to.failure};
	l->candidate = copy_of(a, record_get(result, "candidates"), sizeof *l->candidate, &l->candidates);
	l->pair = copy_of(a, record_get(result, "pairs"), sizeof *l->pair, &l->pairs);
	if (!read_last(l, record_get(result, "last")))
		return false;
	while (record_next(&rest, &f))
		if (!read_field(&to, &f))
			return false;
	return true;
}
