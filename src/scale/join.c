/* SPDX-License-Identifier: MIT */
#include "join.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/str.h"
#include "report/source_lines.h"
#include "scale/record.h"
#include "scale/results.h"

void join_init(struct join *m, struct arena *a)
{
	*m = (struct join){.arena = a};
}

void join_add(struct join *m, const struct result *r)
{
	struct text story = record_get(r->bytes, "story");
	struct fault fault = {0};
	struct join_part *p;

	if (!story.length)
		return;
	m->part = arena_reserve(m->arena, m->part, &m->room, m->parts, sizeof *m->part);
	p = &m->part[m->parts];
	*p = (struct join_part){.result = r, .name = record_get(r->bytes, "name")};
	p->name.at = p->name.at ? p->name.at : "";
	if (story_parse(&p->story, m->arena, story, &fault))
		m->parts++;
	else
		m->unread++;
}

/* Which finding stands for its id. */

/* One of a part, and what decides between those of one id. */
struct chosen {
	const struct join_part *part;
	const struct story_finding *finding;
	enum verdict verdict;
	size_t length;
};

static struct text replay_of(const struct join_part *p, struct text id)
{
	struct text rest = p->result->bytes;
	struct record_field f;
	uint64_t want = id.length > 4 ? strtoull(id.at + 4, NULL, 16) : 0, have = 0;

	while (record_next(&rest, &f)) {
		if (text_is(f.name, "hit") && f.value.length >= sizeof have)
			memcpy(&have, f.value.at, sizeof have);
		if (text_is(f.name, "replay") && have == want)
			return f.value;
	}
	return (struct text){NULL, 0};
}

static struct chosen choice_of(const struct join_part *p, const struct story_finding *f)
{
	struct chosen c = {p, f, f->verdict, f->replay ? replay_of(p, f->id).length : f->events};

	if (p->result->differs && c.verdict > VERDICT_OBSERVED)
		c.verdict = VERDICT_OBSERVED;
	return c;
}

static int by_number(size_t a, size_t b)
{
	return a < b ? -1 : a > b;
}

/* Better first. */
static int compare_same(const struct chosen *a, const struct chosen *b)
{
	int order = by_number((size_t)b->verdict, (size_t)a->verdict);

	order = order ? order : (int)a->finding->again - (int)b->finding->again;
	order = order ? order : by_number(b->finding->evidences, a->finding->evidences);
	order = order ? order : by_number(a->length, b->length);
	return order ? order : strcmp(a->part->result->id, b->part->result->id);
}

static int compare_ids(struct text a, struct text b)
{
	int order = memcmp(a.at, b.at, a.length < b.length ? a.length : b.length);

	return order ? order : by_number(a.length, b.length);
}

static int by_id(const void *left, const void *right)
{
	const struct chosen *a = left, *b = right;
	int order = compare_ids(a->finding->id, b->finding->id);

	return order ? order : compare_same(a, b);
}

/* As they are told: best rank first, then what repeats nothing, then the surest. */
static int by_worth(const void *left, const void *right)
{
	const struct chosen *a = left, *b = right;
	int order = by_number(a->finding->rank, b->finding->rank);

	order = order ? order : (int)a->finding->again - (int)b->finding->again;
	order = order ? order : by_number((size_t)b->verdict, (size_t)a->verdict);
	return order ? order : compare_ids(a->finding->id, b->finding->id);
}

static struct chosen *choose(const struct join *m, size_t *count)
{
	struct chosen *all;
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < m->parts; i++)
		n += m->part[i].story.findings;
	all = arena_alloc(m->arena, (n + 1) * sizeof *all);
	n = 0;
	for (size_t i = 0; i < m->parts; i++)
		for (size_t k = 0; k < m->part[i].story.findings; k++)
			all[n++] = choice_of(&m->part[i], &m->part[i].story.finding[k]);
	qsort(all, n, sizeof *all, by_id);
	for (size_t i = 0; i < n; i++)
		if (!kept || !text_same(all[kept - 1].finding->id, all[i].finding->id))
			all[kept++] = all[i];
	qsort(all, kept, sizeof *all, by_worth);
	*count = kept;
	return all;
}

/* The story's own tables: those of each part that has something to say, one behind the other. */

/* How much the numbers of a part grow. */
struct shift {
	uint32_t thread, stack, hazard, trace;
	bool taken;
};

struct telling {
	struct join *m;
	struct story *s;
	struct shift *shift; /* by part */
	struct map traces;   /* a trace's key to its index + 1 */
	struct map hazards;  /* likewise */
	size_t thread_room, stack_room, trace_room, hazard_room;
};

static uint32_t moved(uint32_t index, uint32_t by)
{
	return index == STORY_NONE ? STORY_NONE : index + by;
}

static void take_threads(struct telling *t, const struct story *from, const struct shift *by)
{
	struct story *s = t->s;

	for (size_t i = 0; i < from->threads; i++) {
		s->thread = arena_reserve(s->arena, s->thread, &t->thread_room, s->threads, sizeof *s->thread);
		s->thread[s->threads++] = (struct story_thread){from->thread[i].name, moved(from->thread[i].creator, by->thread),
			moved(from->thread[i].creation, by->stack)};
	}
}

static void take_stacks(struct telling *t, const struct story *from)
{
	struct story *s = t->s;

	for (size_t i = 0; i < from->stacks; i++) {
		s->stack = arena_reserve(s->arena, s->stack, &t->stack_room, s->stacks, sizeof *s->stack);
		s->stack[s->stacks++] = from->stack[i];
	}
}

static struct shift *shift_of(struct telling *t, const struct join_part *p)
{
	struct shift *by = &t->shift[p - t->m->part];

	if (by->taken)
		return by;
	by->taken = true;
	by->thread = (uint32_t)t->s->threads;
	by->stack = (uint32_t)t->s->stacks;
	take_threads(t, &p->story, by);
	take_stacks(t, &p->story);
	return by;
}

static struct story_event *moved_events(struct telling *t, const struct story_event *e, size_t n,
	const struct shift *by)
{
	struct story_event *to = arena_alloc(t->s->arena, (n + 1) * sizeof *to);

	for (size_t i = 0; i < n; i++) {
		to[i] = e[i];
		to[i].thread = moved(e[i].thread, by->thread);
		to[i].stack = moved(e[i].stack, by->stack);
	}
	return to;
}

/* Limits of pieces of one trace: what each piece has of its own is added up, the rest is the same in all of them. */
static void join_limits(struct story_trace *to, const struct story_trace *from)
{
	for (size_t i = 0; i < from->limits && i < to->limits; i++) {
		bool own = to->limit[i].what.length > 4 && memcmp(to->limit[i].what.at, "cand", 4) == 0;

		if (own)
			to->limit[i].times += from->limit[i].times;
		else if (from->limit[i].times > to->limit[i].times)
			to->limit[i].times = from->limit[i].times;
	}
}

static struct text path_of(const struct join_part *p, size_t trace)
{
	return p->name.length ? p->name : p->story.trace[trace].path;
}

/* The traces of a part. An execution has a row for what is said of all of them, and one of its own. */
static void take_trace(struct telling *t, const struct join_part *p)
{
	struct story *s = t->s;
	struct text path, file = record_get(p->result->bytes, "trace");
	uint32_t *known;

	if (!p->story.traces)
		return;
	path = path_of(p, 0);
	known = map_put(&t->traces, hash_pair(hash_bytes(path.at, path.length),
		hash_bytes(file.at ? file.at : "", file.length)));
	if (*known) {
		join_limits(&s->trace[*known - 1], &p->story.trace[0]);
	} else {
		s->trace = arena_reserve(s->arena, s->trace, &t->trace_room, s->traces, sizeof *s->trace);
		s->trace[s->traces] = p->story.trace[0];
		s->trace[s->traces++].path = path;
		*known = (uint32_t)s->traces;
	}
	t->shift[p - t->m->part].trace = *known - 1;
}

/* The same race of two pieces of one trace is one. */
static uint64_t hazard_key(const struct story_hazard *h, uint32_t trace)
{
	uint64_t key = hash_pair(hash_pair(trace, h->kind), hash_bytes(h->object.at ? h->object.at : "", h->object.length));

	for (size_t i = 0; i < h->events; i++)
		key = hash_pair(key, hash_pair(h->event[i].seq, hash_pair(h->event[i].thread, h->event[i].place.line)));
	return key;
}

static void take_hazards(struct telling *t, const struct join_part *p, enum hazard_kind kind)
{
	struct story *s = t->s;

	for (size_t i = 0; i < p->story.hazards; i++) {
		const struct story_hazard *h = &p->story.hazard[i];
		struct shift *by = shift_of(t, p);
		uint32_t *known;

		if (h->kind != kind || map_get(&t->hazards, hazard_key(h, by->trace)))
			continue;
		known = map_put(&t->hazards, hazard_key(h, by->trace));
		s->hazard = arena_reserve(s->arena, s->hazard, &t->hazard_room, s->hazards, sizeof *s->hazard);
		s->hazard[s->hazards] = *h;
		s->hazard[s->hazards].trace = by->trace;
		s->hazard[s->hazards].event = moved_events(t, h->event, h->events, by);
		*known = (uint32_t)++s->hazards;
	}
}

static uint32_t hazard_of(struct telling *t, const struct chosen *c)
{
	const struct story *of = &c->part->story;
	uint32_t n = c->finding->hazard;

	if (n == STORY_NONE || n >= of->hazards)
		return STORY_NONE;
	n = map_get(&t->hazards, hazard_key(&of->hazard[n], shift_of(t, c->part)->trace));
	return n ? n - 1 : STORY_NONE;
}

static void take_finding(struct telling *t, const struct chosen *c)
{
	struct shift *by = shift_of(t, c->part);
	struct story_finding *to = &t->s->finding[t->s->findings++];

	*to = *c->finding;
	to->verdict = c->verdict;
	to->trace = by->trace;
	to->thread = moved(to->thread, by->thread);
	to->block_stack = moved(to->block_stack, by->stack);
	to->caller_stack = moved(to->caller_stack, by->stack);
	to->hazard = hazard_of(t, c);
	to->event = moved_events(t, c->finding->event, c->finding->events, by);
	to->replay &= c->verdict >= VERDICT_REPRODUCED;
}

/* The replay file of a finding. */
static void take_file(struct telling *t, const struct chosen *c)
{
	struct text content = replay_of(c->part, c->finding->id);
	struct str name;

	if (!content.length || c->verdict < VERDICT_REPRODUCED)
		return;
	str_init(&name, t->s->arena);
	str_bytes(&name, c->finding->id.at, c->finding->id.length);
	str_add(&name, ".replay");
	t->s->file[t->s->files++] = (struct story_file){{name.at, name.length}, content};
}

/* By name, then by unit: what a part's trace is called does not depend on when its result came. */
static int by_name(const void *left, const void *right)
{
	const struct join_part *a = left, *b = right;
	int order = compare_ids(a->name, b->name);

	return order ? order : strcmp(a->result->id, b->result->id);
}

void join_tell(struct join *m, struct story *s)
{
	struct telling t = {.m = m, .s = s};
	struct chosen *chosen;
	size_t n;

	*s = (struct story){.arena = m->arena};
	map_init(&t.traces, m->arena);
	map_init(&t.hazards, m->arena);
	if (m->parts)
		qsort(m->part, m->parts, sizeof *m->part, by_name);
	t.shift = arena_alloc(m->arena, (m->parts + 1) * sizeof *t.shift);
	chosen = choose(m, &n);
	for (size_t i = 0; i < m->parts; i++)
		take_trace(&t, &m->part[i]);
	for (int kind = 0; kind < 2; kind++)
		for (size_t i = 0; i < m->parts; i++)
			take_hazards(&t, &m->part[i], (enum hazard_kind)kind);
	s->finding = arena_alloc(m->arena, (n + 1) * sizeof *s->finding);
	s->file = arena_alloc(m->arena, (n + 1) * sizeof *s->file);
	for (size_t i = 0; i < n; i++) {
		take_finding(&t, &chosen[i]);
		take_file(&t, &chosen[i]);
	}
	source_lines_read(s);
}
