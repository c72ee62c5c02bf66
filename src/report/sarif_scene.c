/* SPDX-License-Identifier: MIT */
#include "sarif_scene.h"

#include <inttypes.h>

#include "base/arena.h"
#include "base/str.h"

static struct text whole(const struct str *s)
{
	return (struct text){s->at, s->length};
}

void sarif_thread(struct str *to, const struct story *s, uint32_t thread)
{
	str_add(to, "thread ");
	if (thread < s->threads)
		sarif_name(to, s->thread[thread].name);
	else
		str_char(to, '?');
}

/* "write of 'balance' = 20" */
static void add_operation(struct str *to, const struct story_event *e)
{
	str_add(to, e->word);
	if (!e->object.length)
		return;
	str_add(to, " of '");
	sarif_name(to, e->object);
	str_char(to, '\'');
	if (e->valued) {
		str_add(to, " = ");
		story_add_value(to, e);
	}
}

struct sarif_location sarif_location_of(const struct story *s, const struct story_event *e)
{
	return (struct sarif_location){.place = e->place, .function = sarif_function(s, e)};
}

/* "thread T1, first: read of 'balance' = 100" */
static void describe(struct str *to, const struct story *s, const struct story_event *e)
{
	sarif_thread(to, s, e->thread);
	if (e->role)
		str_printf(to, ", %s", story_role_text[e->role]);
	str_add(to, ": ");
	add_operation(to, e);
	if (e->skipped)
		str_printf(to, " (%" PRIu64 " events before it are left out)", e->skipped);
}

static bool matters(const struct sarif_scene *c, size_t i)
{
	return c->all || c->event[i].role;
}

static void add_related(struct sarif *f, const struct sarif_scene *c)
{
	struct str s;

	str_init(&s, f->j.to->arena);
	json_open(&f->j, "relatedLocations", '[');
	for (size_t i = 0; i < c->count; i++) {
		struct sarif_location l = sarif_location_of(f->s, &c->event[i]);

		if (!matters(c, i))
			continue;
		str_clear(&s);
		describe(&s, f->s, &c->event[i]);
		l.id = (uint32_t)i + 1;
		l.message = whole(&s);
		sarif_location(f, NULL, &l);
	}
	json_close(&f->j, ']');
	arena_recycle(s.arena, s.at, s.capacity);
}

static size_t depth_of(const struct story *s, const struct story_event *e)
{
	return e->stack < s->stacks ? s->stack[e->stack].count : 0;
}

/* Calls that all events of the thread are inside of are no news. */
static size_t common_depth(const struct story *s, const struct sarif_scene *c, uint32_t thread)
{
	size_t least = SIZE_MAX;

	for (size_t i = 0; i < c->count; i++)
		if (c->event[i].thread == thread && depth_of(s, &c->event[i]) && depth_of(s, &c->event[i]) < least)
			least = depth_of(s, &c->event[i]);
	return least;
}

/* The words are those that the standard proposes. */
static void add_kinds(struct sarif *f, const struct story_event *e)
{
	json_open(&f->j, "kinds", '[');
	if (e->data)
		json_word(&f->j, NULL, "memory");
	if (e->locks || e->unlocks) {
		json_word(&f->j, NULL, "lock");
		json_word(&f->j, NULL, e->locks ? "acquire" : "release");
	}
	if (!e->data && !e->locks && !e->unlocks)
		json_word(&f->j, NULL, e->word);
	if (e->role == STORY_CULPRIT)
		json_word(&f->j, NULL, "danger");
	json_close(&f->j, ']');
}

static void add_state(struct sarif *f, const struct story_event *e)
{
	struct str s;

	if (!e->valued || !e->object.length)
		return;
	str_init(&s, f->j.to->arena);
	story_add_value(&s, e);
	json_open(&f->j, "state", '{');
	json_key(&f->j, e->object);
	json_open(&f->j, NULL, '{');
	json_text(&f->j, "text", whole(&s));
	json_close(&f->j, '}');
	json_close(&f->j, '}');
	arena_recycle(s.arena, s.at, s.capacity);
}

static void add_step(struct sarif *f, const struct sarif_scene *c, size_t i, size_t common)
{
	const struct story_event *e = &c->event[i];
	struct sarif_location l = sarif_location_of(f->s, e);
	size_t depth = depth_of(f->s, e);
	struct str s;

	str_init(&s, f->j.to->arena);
	describe(&s, f->s, e);
	l.message = whole(&s);
	l.snippet = true;
	json_open(&f->j, NULL, '{');
	sarif_location(f, "location", &l);
	add_kinds(f, e);
	add_state(f, e);
	json_number(&f->j, "nestingLevel", depth > common ? depth - common : 0);
	json_number(&f->j, "executionOrder", i + 1);
	json_word(&f->j, "importance", matters(c, i) ? "essential" : e->locks || e->unlocks ? "important" : "unimportant");
	json_close(&f->j, '}');
	arena_recycle(s.arena, s.at, s.capacity);
}

static void add_thread_flow(struct sarif *f, const struct sarif_scene *c, uint32_t thread)
{
	size_t common = common_depth(f->s, c, thread);
	struct str s;

	str_init(&s, f->j.to->arena);
	str_number(&s, thread);
	json_open(&f->j, NULL, '{');
	json_text(&f->j, "id", whole(&s));
	str_clear(&s);
	sarif_thread(&s, f->s, thread);
	sarif_message(f, "message", whole(&s));
	json_open(&f->j, "locations", '[');
	for (size_t i = 0; i < c->count; i++)
		if (c->event[i].thread == thread)
			add_step(f, c, i, common);
	json_close(&f->j, ']');
	json_close(&f->j, '}');
	arena_recycle(s.arena, s.at, s.capacity);
}

/* Whether no event before number i is of its thread. */
static bool is_first_of_thread(const struct sarif_scene *c, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (c->event[k].thread == c->event[i].thread)
			return false;
	return true;
}

static void add_code_flows(struct sarif *f, const struct sarif_scene *c)
{
	if (c->count == 0)
		return;
	json_open(&f->j, "codeFlows", '[');
	json_open(&f->j, NULL, '{');
	json_open(&f->j, "threadFlows", '[');
	for (size_t i = 0; i < c->count; i++)
		if (is_first_of_thread(c, i))
			add_thread_flow(f, c, c->event[i].thread);
	json_close(&f->j, ']');
	json_close(&f->j, '}');
	json_close(&f->j, ']');
}

static void add_creation(struct sarif *f, uint32_t thread)
{
	const struct story_thread *t = thread < f->s->threads ? &f->s->thread[thread] : NULL;
	struct str s;

	if (!t || t->creation >= f->s->stacks)
		return;
	str_init(&s, f->j.to->arena);
	sarif_thread(&s, f->s, thread);
	str_add(&s, " was created by ");
	sarif_thread(&s, f->s, t->creator);
	sarif_stack(f, t->creation, whole(&s));
	arena_recycle(s.arena, s.at, s.capacity);
}

/* Each message has a number or a thread of its own, so no two stacks are the same, as the standard demands. */
static void add_stacks(struct sarif *f, const struct sarif_scene *c)
{
	struct str s;

	str_init(&s, f->j.to->arena);
	json_open(&f->j, "stacks", '[');
	for (size_t i = 0; i < c->count; i++) {
		if (!matters(c, i) || c->event[i].stack >= f->s->stacks)
			continue;
		str_clear(&s);
		str_printf(&s, "%zu. ", i + 1);
		describe(&s, f->s, &c->event[i]);
		sarif_stack(f, c->event[i].stack, whole(&s));
	}
	for (size_t i = 0; i < c->count; i++)
		if (is_first_of_thread(c, i))
			add_creation(f, c->event[i].thread);
	json_close(&f->j, ']');
	arena_recycle(s.arena, s.at, s.capacity);
}

void sarif_scene(struct sarif *f, const struct sarif_scene *c)
{
	add_related(f, c);
	add_code_flows(f, c);
	add_stacks(f, c);
}
