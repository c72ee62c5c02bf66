/* SPDX-License-Identifier: MIT */
#include "hunt.h"

#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "chase/lesson.h"
#include "cli/scale.h"
#include "cli/units.h"
#include "report/story.h"
#include "scale/lesson_file.h"
#include "scale/join.h"
#include "scale/record.h"
#include "sched/order.h"

enum { AHEAD = 2, LEFT_MOST = 1000 }; /* a slot; units that are written down to be done */

/* Campaigns. */

struct text hunt_campaign(const struct hunt *h)
{
	struct str to;

	str_init(&to, h->arena);
	record_put_word(&to, "fission-campaign", "1");
	record_put_word(&to, "command", "chase");
	record_put_number(&to, "seeds", h->setup.seeds);
	record_put(&to, "template", h->template);
	return (struct text){to.at, to.length};
}

void hunt_of_campaign(struct hunt *h, struct arena *a, struct text campaign)
{
	*h = (struct hunt){.arena = a, .template = record_get(campaign, "template")};
	units_setup(h->template, a, &h->setup);
	h->setup.seeds = record_number(campaign, "seeds");
}

/* Results. */

static struct result *take_known(struct hunt *h, const struct address *id)
{
	const struct result *r = h->known ? results_find(h->known, id->hex) : NULL;
	struct result *copy = r ? arena_alloc(h->arena, sizeof *copy) : NULL;

	if (r)
		*copy = *r;
	return copy;
}

static struct result *take_made(struct hunt *h, const struct address *id)
{
	struct result *r = arena_alloc(h->arena, sizeof *r);

	if (!depot_result(&h->scale->depot, h->arena, id->hex, &r->bytes))
		return NULL;
	r->kind = RESULT_DONE;
	memcpy(r->id, id->hex, sizeof r->id);
	return r;
}

static bool submit(struct hunt *h, struct text unit, struct address *id)
{
	struct fault fault = {0};

	if (!depot_put_unit(&h->scale->depot, unit, id, &fault))
		die(fault.status, "%s", fault.text);
	return launch_submit(&h->scale->launch, id, (double)record_number(unit, "limit"));
}

/* Has it made before it is asked for. */
static void guess(struct hunt *h, const struct order *o)
{
	struct text unit = units_execution(h->template, o, h->arena);
	struct address id = address_of(unit);

	if (take_known(h, &id) || !submit(h, unit, &id))
		return;
	h->guess = arena_reserve(h->arena, h->guess, &h->guess_room, h->guesses, sizeof *h->guess);
	h->guess[h->guesses++] = (struct hunt_guess){.id = id};
}

/* What would come next; nothing is known of that before the first execution. */
static struct chase_ahead ahead_of(struct hunt *h, struct chase *c, size_t most)
{
	struct chase_ahead ahead = {.order = arena_alloc(h->arena, (most + 1) * sizeof *ahead.order), .most = most};

	if (c->budget)
		chase_look_ahead(c, &ahead);
	return ahead;
}

static void submit_ahead(struct hunt *h, struct chase *c)
{
	struct chase_ahead ahead = ahead_of(h, c, AHEAD * h->scale->launch.slots);

	for (size_t i = 0; i < ahead.count; i++)
		guess(h, ahead.order[i]);
}

static void guess_from(struct hunt *h, const struct chase *c, const struct lesson *l)
{
	size_t most = AHEAD * h->scale->launch.slots;

	for (size_t i = 0; i < l->plans && most; i++)
		if (chase_wants(c, l->plan[i].of)) {
			l->plan[i].order->budget = c->budget;
			guess(h, l->plan[i].order);
			most--;
		}
}

/* A worker is idle: plans of what was guessed, and is done, though the search has not come to it. */
static void guess_on(struct hunt *h, struct chase *c)
{
	for (size_t i = 0; i < h->guesses && launch_is_idle(&h->scale->launch); i++) {
		struct hunt_guess *g = &h->guess[i];
		struct lesson lesson;
		struct result *r;

		if (g->read || launch_state(&h->scale->launch, &g->id) != TASK_DONE)
			continue;
		g->read = true;
		r = take_made(h, &g->id);
		if (r && lesson_read(&lesson, r->bytes, h->arena))
			guess_from(h, c, &lesson);
	}
}

static bool is_time(const struct chase *c)
{
	return !c->setup->seconds || chase_left(c) > 0;
}

/* Has it made; NULL if it was lost, or the time is over. */
static struct result *have_made(struct hunt *h, struct chase *c, struct text unit)
{
	struct address id;
	enum task_state state;

	submit(h, unit, &id);
	launch_hurry(&h->scale->launch, &id);
	if (h->scale->launch.slots > 1)
		submit_ahead(h, c);
	do {
		scale_poll(h->scale);
		if (h->scale->launch.slots > 1)
			guess_on(h, c);
		state = launch_state(&h->scale->launch, &id);
	} while (state != TASK_DONE && state != TASK_LOST && is_time(c));
	h->lost += state == TASK_LOST;
	return state == TASK_DONE ? take_made(h, &id) : NULL;
}

/* Nobody makes it. */
static void note_left(struct hunt *h, struct text unit)
{
	h->left = arena_reserve(h->arena, h->left, &h->left_room, h->lefts, sizeof *h->left);
	h->left[h->lefts++] = unit;
}

static void starve(struct hunt *h, struct chase *c, struct text unit)
{
	struct chase_ahead ahead = ahead_of(h, c, LEFT_MOST);

	h->starved = true;
	note_left(h, unit);
	for (size_t i = 0; i < ahead.count; i++) {
		struct text next = units_execution(h->template, ahead.order[i], h->arena);
		struct address id = address_of(next);

		if (!take_known(h, &id))
			note_left(h, next);
	}
}

static bool is_lost(const struct hunt *h, const struct address *id)
{
	for (size_t i = 0; h->known && i < h->known->count; i++)
		if (h->known->at[i].kind == RESULT_LOST && strcmp(h->known->at[i].id, id->hex) == 0)
			return true;
	return false;
}

static void use(struct hunt *h, struct result *r)
{
	h->used = arena_reserve(h->arena, h->used, &h->used_room, h->useds, sizeof *h->used);
	h->used[h->useds++] = r;
}

static bool learn(struct hunt *h, struct chase *c, const struct order *o, struct result *r)
{
	bool free = !o->steps, fresh;
	struct lesson lesson;

	if (!lesson_read(&lesson, r->bytes, h->arena)) /* it ran into its limit: there is nothing to learn */
		return false;
	use(h, r);
	fresh = lesson_learn(c, &lesson, free);
	if (h->scale)
		h->scale->found = c->hits;
	return fresh;
}

static bool obtain(void *self, struct chase *c, struct order *o, bool *fresh, struct fault *fault)
{
	struct hunt *h = self;
	struct text unit = units_execution(h->template, o, h->arena);
	struct address id = address_of(unit);
	struct result *r = take_known(h, &id);

	(void)fault;
	*fresh = false;
	c->last = (struct chase_last){0};
	if (!r && h->scale)
		r = have_made(h, c, unit);
	else if (!r && !is_lost(h, &id)) {
		starve(h, c, unit);
		return false;
	}
	if (r)
		*fresh = learn(h, c, o, r);
	return true;
}

bool hunt_search(struct hunt *h, struct fault *fault)
{
	h->setup.obtain = obtain;
	h->setup.to = h;
	return chase_search(&h->chase, &h->setup, fault) || h->starved;
}

/* The report. */

void hunt_merge(const struct hunt *h, struct join *m)
{
	for (size_t i = 0; i < h->useds; i++)
		join_add(m, h->used[i]);
	for (size_t i = 0; h->starved && h->known && i < h->known->count; i++)
		if (h->known->at[i].kind == RESULT_DONE)
			join_add(m, &h->known->at[i]);
}

/* One row for all executions, whether anything was found in them or not. */
static void tell_trace(const struct hunt *h, struct story *s)
{
	if (!s->traces) {
		s->trace = arena_alloc(s->arena, sizeof *s->trace);
		s->trace[s->traces++] = (struct story_trace){.path = {h->setup.argv[0], strlen(h->setup.argv[0])}};
	}
	s->trace[0].events = h->chase.events;
}

void hunt_tell(const struct hunt *h, struct story *s)
{
	const struct chase *c = &h->chase;
	struct story_file *file;

	s->program = story_program(s->arena, h->setup.argv);
	tell_trace(h, s);
	s->failure = arena_alloc(s->arena, (c->failures + 1) * sizeof *s->failure);
	file = arena_alloc(s->arena, (s->files + c->failures + 1) * sizeof *file);
	if (s->files)
		memcpy(file, s->file, s->files * sizeof *file);
	s->file = file;
	for (size_t i = 0; i < c->failures; i++) {
		struct str name;

		str_init(&name, s->arena);
		str_printf(&name, "%.*s.replay", (int)c->failure[i].story.id.length, c->failure[i].story.id.at);
		s->failure[s->failures++] = c->failure[i].story;
		s->file[s->files++] = (struct story_file){{name.at, name.length}, c->failure[i].file};
	}
}
