/* SPDX-License-Identifier: MIT */
/*
 * The report as one JSON object, which story_read.c reads back. docs/report.md describes the members. Fields may be
 * added in one version; none changes its meaning or goes away.
 *
 * `accesses` of a finding are its path with whole stacks, for whoever wants to read a finding by itself; `events` are
 * all rows of its interleaving by number, and what is read back.
 */
#include "report.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "report/hide.h"
#include "report/json_out.h"

static void add_text(struct str *to, struct text t)
{
	if (t.length)
		json_quote(to, t);
	else
		str_add(to, "null");
}

/* "name": with the comma before it. */
static void add_name(struct str *to, const char *name)
{
	str_printf(to, ", \"%s\": ", name);
}

static void put_text(struct str *to, const char *name, struct text t)
{
	add_name(to, name);
	add_text(to, t);
}

static void put_bool(struct str *to, const char *name, bool value)
{
	add_name(to, name);
	str_add(to, value ? "true" : "false");
}

static void add_number(struct str *to, uint64_t n)
{
	str_printf(to, "%" PRIu64, n);
}

static void put_number(struct str *to, const char *name, uint64_t n)
{
	add_name(to, name);
	add_number(to, n);
}

static void add_index(struct str *to, uint32_t index)
{
	if (index == STORY_NONE)
		str_add(to, "null");
	else
		str_number(to, index);
}

static void put_index(struct str *to, const char *name, uint32_t index)
{
	add_name(to, name);
	add_index(to, index);
}

static void put_known(struct str *to, const char *name, uint32_t number)
{
	put_index(to, name, number ? number : STORY_NONE);
}

static void put_texts(struct str *to, const char *name, const struct text *list, size_t n)
{
	add_name(to, name);
	str_char(to, '[');
	for (size_t i = 0; i < n; i++) {
		str_add(to, i ? ", " : "");
		json_quote(to, list[i]);
	}
	str_char(to, ']');
}

static void put_place(struct str *to, const struct story_place *p)
{
	put_text(to, "file", p->file);
	put_known(to, "line", p->line);
	put_known(to, "column", p->column);
}

static void add_frame(struct str *to, const struct story_frame *f)
{
	str_add(to, "{\"function\": ");
	add_text(to, f->function);
	put_place(to, &f->place);
	if (f->inlined)
		put_bool(to, "inlined", true);
	if (f->foreign)
		put_bool(to, "foreign", true);
	str_char(to, '}');
}

/* Innermost first: each function with the place in it, which for the innermost one is the access itself. */
static void add_stack(struct str *to, const struct story_stack *stack)
{
	str_char(to, '[');
	for (size_t i = 0; i < stack->count; i++) {
		str_add(to, i ? ", " : "");
		add_frame(to, &stack->at[i]);
	}
	str_char(to, ']');
}

static void put_stack(struct str *to, const struct story *s, uint32_t index)
{
	static const struct story_stack none;

	add_name(to, "stack");
	add_stack(to, index == STORY_NONE ? &none : &s->stack[index]);
}

static struct text thread_name(const struct story *s, uint32_t thread)
{
	return thread == STORY_NONE ? (struct text){NULL, 0} : s->thread[thread].name;
}

static void put_value(struct str *to, const struct story_event *e)
{
	add_name(to, "value");
	if (!e->valued)
		str_add(to, "null");
	else if (e->is_unsigned)
		add_number(to, e->value);
	else
		str_printf(to, "%" PRId64, (int64_t)e->value);
}

static struct text word_text(const char *word)
{
	return (struct text){word, strlen(word)};
}

static void add_access(struct str *to, const struct story *s, const struct story_event *e, const char *role)
{
	str_add(to, "\n       {\"thread\": ");
	add_text(to, thread_name(s, e->thread));
	put_text(to, "role", word_text(role));
	put_text(to, "kind", word_text(e->word));
	put_text(to, "variable", e->data ? e->object : (struct text){NULL, 0});
	put_text(to, "object", e->object);
	put_value(to, e);
	put_place(to, &e->place);
	put_number(to, "event", e->seq);
	put_stack(to, s, e->stack);
	str_char(to, '}');
}

static void add_event(struct str *to, const struct story_event *e)
{
	str_add(to, "\n       {\"thread\": ");
	add_index(to, e->thread);
	put_text(to, "role", word_text(story_role_text[e->role]));
	put_text(to, "kind", word_text(e->word));
	put_text(to, "object", e->object);
	put_bool(to, "data", e->data);
	put_bool(to, "locks", e->locks);
	put_bool(to, "unlocks", e->unlocks);
	put_value(to, e);
	put_bool(to, "unsigned", e->is_unsigned);
	put_number(to, "size", e->size);
	put_place(to, &e->place);
	put_index(to, "stack", e->stack);
	put_number(to, "event", e->seq);
	put_number(to, "skipped", e->skipped);
	str_char(to, '}');
}

static void put_events(struct str *to, const struct story_event *e, size_t n)
{
	str_add(to, ",\n     \"events\": [");
	for (size_t i = 0; i < n; i++) {
		str_add(to, i ? "," : "");
		add_event(to, &e[i]);
	}
	str_char(to, ']');
}

static void put_block(struct str *to, const struct story *s, const struct story_finding *f)
{
	str_add(to, ",\n     \"block\": {\"function\": ");
	add_text(to, f->function);
	put_place(to, &f->place);
	put_text(to, "thread", thread_name(s, f->thread));
	put_bool(to, "declared", f->declared);
	put_bool(to, "entered", f->entered);
	put_number(to, "event", f->seq);
	put_stack(to, s, f->block_stack);
	put_index(to, "thread_number", f->thread);
	put_index(to, "stack_number", f->block_stack);
	put_index(to, "caller_number", f->caller_stack);
	str_char(to, '}');
}

static void put_evidence(struct str *to, const struct story_finding *f)
{
	add_name(to, "checks");
	str_char(to, '[');
	for (size_t i = 0; i < f->evidences; i++) {
		str_add(to, i ? ", {\"name\": " : "{\"name\": ");
		add_text(to, f->evidence[i].check);
		put_text(to, "kind", f->evidence[i].kind);
		put_number(to, "event", f->evidence[i].event);
		str_char(to, '}');
	}
	str_char(to, ']');
}

/* Why the rank is what it is: the rules that hold, by name and in words, the one that decides first. */
static void put_reasons(struct str *to, const struct story_finding *f)
{
	struct text *list = arena_alloc(to->arena, f->reasons * sizeof *list);

	for (size_t i = 0; i < f->reasons; i++)
		list[i] = f->reason[i].rule;
	put_texts(to, "rules", list, f->reasons);
	for (size_t i = 0; i < f->reasons; i++)
		list[i] = f->reason[i].why;
	put_texts(to, "reasons", list, f->reasons);
}

static void add_fix_place(struct str *to, const char *name, const struct story_place *p)
{
	str_printf(to, "\"%s\": {\"file\": ", name);
	add_text(to, p->file);
	put_known(to, "line", p->line);
	put_known(to, "column", p->column);
	str_char(to, '}');
}

static void put_fix(struct str *to, const struct story_fix *fix)
{
	add_name(to, "fix");
	if (!fix->from.file.length) {
		str_add(to, "null");
		return;
	}
	str_add(to, "{\"lock\": ");
	add_text(to, fix->lock);
	str_add(to, ", ");
	add_fix_place(to, "from", &fix->from);
	str_add(to, ", ");
	add_fix_place(to, "to", &fix->to);
	str_char(to, '}');
}

static void put_window(struct str *to, const struct story_finding *f)
{
	add_name(to, "window");
	if (f->window_from == STORY_NONE)
		str_add(to, "null");
	else
		str_printf(to, "{\"from\": %" PRIu32 ", \"to\": %" PRIu32 "}", f->window_from, f->window_to);
}

static void put_outcomes(struct str *to, const struct story_finding *f)
{
	add_name(to, "outcomes");
	str_char(to, '[');
	for (size_t i = 0; i < f->outcomes; i++) {
		const struct story_outcome *o = &f->outcome[i];

		str_add(to, i ? ", {\"order\": " : "{\"order\": ");
		add_text(to, o->order);
		put_bool(to, "serial", o->serial);
		put_text(to, "variable", o->variable);
		add_name(to, "value");
		str_printf(to, o->known ? "%" PRId64 "}" : "null}", o->value);
	}
	str_char(to, ']');
}

static void put_path(struct str *to, const struct story *s, const struct story_finding *f)
{
	const char *separator = "";

	str_add(to, ",\n     \"accesses\": [");
	for (size_t i = 0; i < f->events; i++)
		if (f->event[i].role) {
			str_add(to, separator);
			add_access(to, s, &f->event[i], story_role_text[f->event[i].role]);
			separator = ",";
		}
	str_char(to, ']');
}

/* Why people are not shown it, in one word; null if they are. */
static void put_hiding(struct str *to, const struct story *s, const struct story_finding *f)
{
	enum hiding why = hide_why(s, f, false);

	put_text(to, "hidden_by", word_text(why == HIDE_NOT ? "" : hiding_info[why].word));
}

static void put_judgement(struct str *to, const struct story_finding *f)
{
	put_text(to, "verdict", word_text(verdict_text[f->verdict]));
	put_number(to, "rank", f->rank);
	put_bool(to, "hidden", f->hidden);
	put_bool(to, "again", f->again);
	put_bool(to, "happened", f->happened);
	put_bool(to, "by_data", f->data);
	put_number(to, "count", f->count);
	put_bool(to, "known", f->known);
	put_text(to, "suppressed", f->suppressed);
	put_text(to, "suppression_reason", f->reason_given);
}

static struct text trace_path(const struct story *s, uint32_t trace)
{
	return trace < s->traces ? s->trace[trace].path : (struct text){NULL, 0};
}

static void add_finding(struct str *to, const struct story *s, const struct story_finding *f)
{
	str_add(to, "    {\"id\": ");
	add_text(to, f->id);
	put_judgement(to, f);
	put_hiding(to, s, f);
	put_text(to, "trace", trace_path(s, f->trace));
	put_index(to, "trace_number", f->trace);
	put_text(to, "function", f->function);
	put_text(to, "lock", f->lock);
	put_reasons(to, f);
	put_block(to, s, f);
	put_texts(to, "variables", f->variable, f->variables);
	put_path(to, s, f);
	put_events(to, f->event, f->events);
	put_window(to, f);
	put_texts(to, "enclosing", f->enclosing, f->enclosings);
	put_evidence(to, f);
	put_text(to, "hindrance", f->hindrance);
	put_index(to, "hazard", f->hazard);
	put_bool(to, "guessed", f->guessed);
	put_fix(to, &f->fix);
	put_outcomes(to, f);
	put_bool(to, "replay", f->replay);
	put_text(to, "then", f->then);
	str_char(to, '}');
}

/* The two accesses of a race, or an acquire of each lock held and of each one wanted. */
static void add_hazard(struct str *to, const struct story *s, const struct story_hazard *h)
{
	static const char *const roles[][2] = {{"earlier", "later"}, {"holds", "wants"}};

	str_add(to, "    {\"trace\": ");
	add_text(to, trace_path(s, h->trace));
	put_index(to, "trace_number", h->trace);
	put_number(to, "times", h->times);
	put_text(to, "variable", h->object);
	str_add(to, ",\n     \"accesses\": [");
	for (size_t i = 0; i < h->events; i++) {
		str_add(to, i ? "," : "");
		add_access(to, s, &h->event[i], roles[h->kind][i % 2]);
	}
	str_char(to, ']');
	put_events(to, h->event, h->events);
	str_char(to, '}');
}

static void add_hazards(struct str *to, const struct story *s, enum hazard_kind kind)
{
	const char *separator = "\n";

	str_printf(to, "  \"%ss\": [", story_hazard_text[kind]);
	for (size_t i = 0; i < s->hazards; i++)
		if (s->hazard[i].kind == kind) {
			str_add(to, separator);
			add_hazard(to, s, &s->hazard[i]);
			separator = ",\n";
		}
	str_add(to, "],\n");
}

static void add_failures(struct str *to, const struct story *s)
{
	str_add(to, "  \"failures\": [");
	for (size_t i = 0; i < s->failures; i++) {
		const struct story_failure *f = &s->failure[i];

		str_add(to, i ? ",\n    {\"id\": " : "\n    {\"id\": ");
		add_text(to, f->id);
		put_text(to, "what", f->what);
		put_texts(to, "lines", f->line, f->lines);
		str_char(to, '}');
	}
	str_add(to, "],\n");
}

static void put_limits(struct str *to, const char *name, const struct story_limit *list, size_t n)
{
	add_name(to, name);
	str_char(to, '[');
	for (size_t i = 0; i < n; i++) {
		str_add(to, i ? ", {\"what\": " : "{\"what\": ");
		add_text(to, list[i].what);
		put_number(to, "times", list[i].times);
		str_char(to, '}');
	}
	str_char(to, ']');
}

static void add_trace(struct str *to, const struct story_trace *t)
{
	str_add(to, "    {\"path\": ");
	add_text(to, t->path);
	put_number(to, "events", t->events);
	put_number(to, "threads", t->threads);
	put_number(to, "variables", t->variables);
	put_number(to, "repaired", t->repaired);
	put_number(to, "skipped", t->skipped);
	put_bool(to, "complete", !t->cut.length && !t->fault.length);
	put_text(to, "cut", t->cut);
	put_text(to, "error", t->fault);
	put_bool(to, "timed", t->timed);
	put_limits(to, "repairs", t->repair, t->repairs);
	put_limits(to, "left_out", t->limit, t->limits);
	str_char(to, '}');
}

static void add_counts(struct str *to, const struct story *s)
{
	uint64_t verdicts[VERDICTS] = {0}, events = 0, declared = 0, hidden = 0, suppressed = 0, known = 0;

	for (size_t i = 0; i < s->traces; i++)
		events += s->trace[i].events;
	for (size_t i = 0; i < s->findings; i++) {
		verdicts[s->finding[i].verdict]++;
		declared += s->finding[i].declared;
		hidden += s->finding[i].hidden;
		suppressed += s->finding[i].suppressed.length > 0;
		known += s->finding[i].known;
	}
	str_printf(to, "  \"counts\": {\"traces\": %zu, \"events\": %" PRIu64 ", \"findings\": %zu, \"declared\": %" PRIu64
		", \"hidden\": %" PRIu64, s->traces, events, s->findings, declared, hidden);
	for (int v = VERDICTS - 1; v >= 0; v--)
		str_printf(to, ", \"%s\": %" PRIu64, verdict_text[v], verdicts[v]);
	put_number(to, "races", story_hazards(s, HAZARD_RACE));
	put_number(to, "deadlocks", story_hazards(s, HAZARD_DEADLOCK));
	put_number(to, "suppressed", suppressed);
	put_number(to, "known", known);
	str_add(to, "},\n");
}

static void add_thread(struct str *to, const struct story_thread *t)
{
	str_add(to, "    {\"name\": ");
	add_text(to, t->name);
	put_index(to, "creator", t->creator);
	put_index(to, "creation", t->creation);
	str_char(to, '}');
}

static void add_source(struct str *to, const struct story_source *source)
{
	str_add(to, "    {\"file\": ");
	add_text(to, source->file);
	add_name(to, "lines");
	str_char(to, '[');
	for (size_t i = 0; i < source->count; i++) {
		str_printf(to, "%s\n       {\"number\": %" PRIu32 ", \"text\": ", i ? "," : "", source->number[i]);
		json_quote(to, source->line[i]);
		str_char(to, '}');
	}
	str_add(to, "]}");
}

/* All lines of suppression that were read, also those that are of no use. */
static void add_suppressions(struct str *to, const struct story *s)
{
	str_add(to, ",\n  \"suppressions\": [");
	for (size_t i = 0; i < s->suppressions; i++) {
		const struct story_suppression *l = &s->suppression[i];

		str_add(to, i ? ",\n    {\"place\": " : "\n    {\"place\": ");
		add_text(to, l->place);
		put_text(to, "rule", l->rule);
		put_text(to, "reason", l->reason);
		put_text(to, "owner", l->owner);
		put_text(to, "expires", l->expires);
		put_bool(to, "expired", l->expired);
		put_number(to, "used", l->used);
		str_char(to, '}');
	}
	str_char(to, ']');
}

static void add_tables(struct str *to, const struct story *s)
{
	str_add(to, ",\n  \"threads\": [");
	for (size_t i = 0; i < s->threads; i++) {
		str_add(to, i ? ",\n" : "\n");
		add_thread(to, &s->thread[i]);
	}
	str_add(to, "],\n  \"stacks\": [");
	for (size_t i = 0; i < s->stacks; i++) {
		str_add(to, i ? ",\n    " : "\n    ");
		add_stack(to, &s->stack[i]);
	}
	str_char(to, ']');
	add_suppressions(to, s);
	str_add(to, ",\n  \"sources\": [");
	for (size_t i = 0; i < s->sources; i++) {
		str_add(to, i ? ",\n" : "\n");
		add_source(to, &s->source[i]);
	}
	str_char(to, ']');
}

static void add_head(struct str *to, const struct story *s)
{
	str_printf(to, "{\n  \"version\": %d", STORY_VERSION);
	put_text(to, "command", s->command);
	put_text(to, "program", s->program);
	str_printf(to, ", \"status\": %d", s->status);
	put_text(to, "fail_on", s->fail_on);
	put_number(to, "rank", s->rank);
	str_add(to, ",\n");
}

static void json_render(const struct story *s, const struct look *look, struct str *to)
{
	(void)look; /* machines are told of everything */
	add_head(to, s);
	str_add(to, "  \"findings\": [");
	for (size_t i = 0; i < s->findings; i++) {
		str_add(to, i ? ",\n" : "\n");
		add_finding(to, s, &s->finding[i]);
	}
	str_add(to, "],\n");
	add_hazards(to, s, HAZARD_RACE);
	add_hazards(to, s, HAZARD_DEADLOCK);
	add_failures(to, s);
	add_counts(to, s);
	str_add(to, "  \"traces\": [");
	for (size_t i = 0; i < s->traces; i++) {
		str_add(to, i ? ",\n" : "\n");
		add_trace(to, &s->trace[i]);
	}
	str_char(to, ']');
	add_tables(to, s);
	str_add(to, "\n}\n");
}

const struct renderer render_json = {
	.name = "json",
	.render = json_render,
};
