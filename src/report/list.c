/* SPDX-License-Identifier: MIT */
/*
 * Findings a line each, and hazards with their stacks: what `list` and `report --races` print. They are no forms of a
 * whole report, and have no name that --format takes.
 */
#include "report.h"

#include <inttypes.h>

#include "base/str.h"
#include "report/harmless.h"
#include "report/hide.h"
#include "report/look.h"

/* What is being written, and how names are shown. */
struct lister {
	struct str *to;
	const struct story *s;
	struct harmless how;
};

/* Up to the column, and at least a space behind what is there; `from` is where the line begins. */
static void pad(struct str *to, size_t from, unsigned column)
{
	unsigned have = harmless_columns(to->at + from, to->length - from);

	do
		str_char(to, ' ');
	while (++have < column);
}

static void put(const struct lister *l, struct text t)
{
	harmless_add(l->to, t, l->how);
}

static void put_place(const struct lister *l, const struct story_place *p)
{
	struct str place;

	str_init(&place, l->to->arena);
	story_add_place(&place, p);
	put(l, (struct text){place.at, place.length});
}

static void add_variables(const struct lister *l, const struct story_finding *f)
{
	for (size_t i = 0; i < f->variables; i++) {
		str_add(l->to, i ? "," : "");
		put(l, f->variable[i]);
	}
	str_add(l->to, f->variables ? "" : "-");
}

/* "fsn-7c1f0a2b  predicted  1  withdraw  balance  bank.c:9  2" */
static void add_line(const struct lister *l, const struct story_finding *f)
{
	struct str *to = l->to;
	const struct story_event *second = story_event(f, STORY_SECOND);
	size_t from = to->length;

	put(l, f->id);
	pad(to, from, 14);
	str_add(to, verdict_text[f->verdict]);
	pad(to, from, 26);
	str_printf(to, "%u  ", f->rank);
	if (f->function.length)
		put(l, f->function);
	else
		str_add(to, f->declared ? "(declared block)" : "(lock section)");
	pad(to, from, 52);
	add_variables(l, f);
	pad(to, from, 74);
	if (second)
		put_place(l, &second->place);
	pad(to, from, 96);
	str_printf(to, "%" PRIu64 "%s%s%s%s\n", f->count, f->hidden ? " hidden" : "", f->again ? " again" : "",
		f->suppressed.length ? " suppressed" : "", f->known ? " known" : "");
}

static void list_render(const struct story *s, const struct look *look, struct str *to)
{
	struct lister l = {to, s, {look->utf8, 0}};
	size_t by[HIDINGS] = {0}, hidden;

	for (size_t i = 0; i < s->findings; i++) {
		enum hiding why = look_hides(look, s, &s->finding[i]);

		by[why]++;
		if (why == HIDE_NOT)
			add_line(&l, &s->finding[i]);
	}
	hidden = s->findings - by[HIDE_NOT] - by[HIDE_KNOWN];
	str_printf(to, "fission: %zu finding%s", by[HIDE_NOT], by[HIDE_NOT] == 1 ? "" : "s");
	if (hidden)
		str_printf(to, "; %zu not shown (--show-hidden)", hidden);
	if (by[HIDE_KNOWN])
		str_printf(to, "; %zu known from the baseline", by[HIDE_KNOWN]);
	str_char(to, '\n');
}

static void add_frames(const struct lister *l, const struct story_event *e)
{
	const struct story_stack *stack = e->stack == STORY_NONE ? NULL : &l->s->stack[e->stack];

	for (size_t i = 0; stack && i < stack->count; i++) {
		str_printf(l->to, "    #%zu ", i);
		put(l, stack->at[i].function);
		str_char(l->to, ' ');
		put_place(l, &stack->at[i].place);
		str_char(l->to, '\n');
	}
}

static void add_event(const struct lister *l, const struct story_event *e)
{
	str_printf(l->to, "  %s ", e->word);
	put(l, e->object);
	if (e->valued) {
		str_add(l->to, " = ");
		story_add_value(l->to, e);
	}
	str_add(l->to, " at ");
	put_place(l, &e->place);
	if (e->thread != STORY_NONE) {
		str_add(l->to, ", thread ");
		put(l, l->s->thread[e->thread].name);
	}
	str_char(l->to, '\n');
	add_frames(l, e);
}

static void add_hazard(const struct lister *l, const struct story_hazard *h)
{
	str_add(l->to, h->kind == HAZARD_RACE ? "data race on '" : "potential deadlock");
	if (h->kind == HAZARD_RACE) {
		put(l, h->object);
		str_char(l->to, '\'');
	}
	str_printf(l->to, ", met %" PRIu64 " time%s\n", h->times, h->times == 1 ? "" : "s");
	for (size_t i = 0; i < h->events; i++)
		add_event(l, &h->event[i]);
}

static void hazards_render(const struct story *s, const struct look *look, struct str *to)
{
	uint64_t races = story_hazards(s, HAZARD_RACE), deadlocks = story_hazards(s, HAZARD_DEADLOCK);
	struct lister l = {to, s, {look->utf8, 0}};

	for (size_t i = 0; i < s->hazards; i++)
		add_hazard(&l, &s->hazard[i]);
	str_printf(to, "fission: %" PRIu64 " data race%s, %" PRIu64 " potential deadlock%s\n", races, races == 1 ? "" : "s",
		deadlocks, deadlocks == 1 ? "" : "s");
}

const struct renderer render_list = {.name = "list", .render = list_render};
const struct renderer render_hazards = {.name = "hazards", .render = hazards_render};
