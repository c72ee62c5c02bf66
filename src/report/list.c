/* SPDX-License-Identifier: MIT */
/*
 * Findings a line each, and hazards with their stacks: what `list` and `report --races` print. They are no forms of a
 * whole report, and have no name that --format takes.
 *
 * What the program has named is shown without control characters: a name cannot forge a line, nor speak to a terminal.
 */
#include "report.h"

#include <inttypes.h>

#include "base/str.h"
#include "report/look.h"

/* Up to the width, and at least a space behind it. */
static void pad(struct str *to, size_t from, size_t width)
{
	do
		str_char(to, ' ');
	while (to->length < from + width);
}

static void put(struct str *to, struct text t)
{
	for (size_t i = 0; i < t.length; i++)
		str_char(to, (unsigned char)t.at[i] < 32 || t.at[i] == 127 ? '?' : t.at[i]);
}

static void put_place(struct str *to, const struct story_place *p)
{
	struct str place;

	str_init(&place, to->arena);
	story_add_place(&place, p);
	put(to, (struct text){place.at, place.length});
}

static void add_variables(struct str *to, const struct story_finding *f)
{
	for (size_t i = 0; i < f->variables; i++) {
		str_add(to, i ? "," : "");
		put(to, f->variable[i]);
	}
	str_add(to, f->variables ? "" : "-");
}

/* "fsn-7c1f0a2b  predicted  1  withdraw  balance  bank.c:9  2" */
static void add_line(struct str *to, const struct story_finding *f)
{
	const struct story_event *second = story_event(f, STORY_SECOND);
	size_t from = to->length;

	put(to, f->id);
	pad(to, from, 14);
	str_add(to, verdict_text[f->verdict]);
	pad(to, from, 26);
	str_printf(to, "%u  ", f->rank);
	if (f->function.length)
		put(to, f->function);
	else
		str_add(to, f->declared ? "(declared block)" : "(lock section)");
	pad(to, from, 52);
	add_variables(to, f);
	pad(to, from, 74);
	if (second)
		put_place(to, &second->place);
	pad(to, from, 96);
	str_printf(to, "%" PRIu64 "%s%s%s%s\n", f->count, f->hidden ? " hidden" : "", f->again ? " again" : "",
		f->suppressed.length ? " suppressed" : "", f->known ? " known" : "");
}

static void list_render(const struct story *s, const struct look *look, struct str *to)
{
	size_t shown = 0;

	for (size_t i = 0; i < s->findings; i++)
		if (look_shows(look, s, &s->finding[i])) {
			add_line(to, &s->finding[i]);
			shown++;
		}
	str_printf(to, "fission: %zu finding%s", shown, shown == 1 ? "" : "s");
	if (shown < s->findings)
		str_printf(to, "; %zu not shown (--show-hidden)", s->findings - shown);
	str_char(to, '\n');
}

static void add_frames(struct str *to, const struct story *s, const struct story_event *e)
{
	const struct story_stack *stack = e->stack == STORY_NONE ? NULL : &s->stack[e->stack];

	for (size_t i = 0; stack && i < stack->count; i++) {
		str_printf(to, "    #%zu ", i);
		put(to, stack->at[i].function);
		str_char(to, ' ');
		put_place(to, &stack->at[i].place);
		str_char(to, '\n');
	}
}

static void add_event(struct str *to, const struct story *s, const struct story_event *e)
{
	str_printf(to, "  %s ", e->word);
	put(to, e->object);
	if (e->valued) {
		str_add(to, " = ");
		story_add_value(to, e);
	}
	str_add(to, " at ");
	put_place(to, &e->place);
	if (e->thread != STORY_NONE) {
		str_add(to, ", thread ");
		put(to, s->thread[e->thread].name);
	}
	str_char(to, '\n');
	add_frames(to, s, e);
}

static void add_hazard(struct str *to, const struct story *s, const struct story_hazard *h)
{
	str_add(to, h->kind == HAZARD_RACE ? "data race on '" : "potential deadlock");
	if (h->kind == HAZARD_RACE) {
		put(to, h->object);
		str_char(to, '\'');
	}
	str_printf(to, ", met %" PRIu64 " time%s\n", h->times, h->times == 1 ? "" : "s");
	for (size_t i = 0; i < h->events; i++)
		add_event(to, s, &h->event[i]);
}

static void hazards_render(const struct story *s, const struct look *look, struct str *to)
{
	uint64_t races = story_hazards(s, HAZARD_RACE), deadlocks = story_hazards(s, HAZARD_DEADLOCK);

	(void)look;
	for (size_t i = 0; i < s->hazards; i++)
		add_hazard(to, s, &s->hazard[i]);
	str_printf(to, "fission: %" PRIu64 " data race%s, %" PRIu64 " potential deadlock%s\n", races, races == 1 ? "" : "s",
		deadlocks, deadlocks == 1 ? "" : "s");
}

const struct renderer render_list = {.name = "list", .render = list_render};
const struct renderer render_hazards = {.name = "hazards", .render = hazards_render};
