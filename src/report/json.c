/* SPDX-License-Identifier: MIT */
/*
 * The report as one JSON object: `version`, `findings`, `races`, `deadlocks`, `counts`, `traces`. docs/check.md
 * describes the members. Fields may be added in one version; none changes its meaning or goes away.
 */
#include "report.h"

#include <inttypes.h>

#include "base/arena.h"
#include "base/str.h"
#include "policy/rank.h"

enum { VERSION = 1 };

/* The length of the UTF-8 sequence at p, or 0 if it is none that JSON may hold. */
static size_t sequence(const uint8_t *p, size_t n)
{
	size_t length = *p < 0x80 ? 1 : *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : *p < 0xf5 ? 4 : 0;

	if (length > n)
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) || (*p == 0xf0 && p[1] < 0x90) ||
		(*p == 0xf4 && p[1] > 0x8f))
		return 0;
	return length;
}

/* Bytes that are no UTF-8 become U+FFFD: the output is always valid. */
static void add_bytes(struct str *to, const char *text, size_t n)
{
	const uint8_t *p = (const uint8_t *)text;

	str_char(to, '"');
	for (size_t i = 0; i < n;) {
		size_t length = sequence(p + i, n - i);

		if (length == 0)
			str_add(to, "\\ufffd");
		else if (p[i] == '"' || p[i] == '\\')
			str_printf(to, "\\%c", p[i]);
		else if (p[i] < 32 || p[i] == 127)
			str_printf(to, "\\u%04x", p[i]);
		else
			str_bytes(to, text + i, length);
		i += length ? length : 1;
	}
	str_char(to, '"');
}

static void add_text(struct str *to, struct text t)
{
	if (t.length)
		add_bytes(to, t.at, t.length);
	else
		str_add(to, "null");
}

static void add_string(struct str *to, const char *text)
{
	add_text(to, (struct text){text, text ? __builtin_strlen(text) : 0});
}

static void add_place(struct str *to, const struct tables *tables, site_id site)
{
	struct place_parts p = report_place(tables, site);

	str_add(to, "\"file\": ");
	add_text(to, p.file);
	str_add(to, ", \"line\": ");
	if (p.line)
		str_number(to, p.line);
	else
		str_add(to, "null");
}

/* Innermost first: each function with the place in it, which for the innermost one is the access itself. */
static void add_stack(struct str *to, const struct tables *tables, stack_id s, site_id site)
{
	str_char(to, '[');
	while (s) {
		struct frame f = tables_frame(tables, s);

		str_add(to, "{\"function\": ");
		add_text(to, tables_name(tables, TABLE_CODE, f.code));
		str_add(to, ", ");
		add_place(to, tables, site);
		str_add(to, f.parent ? "}, " : "}");
		site = f.site;
		s = f.parent;
	}
	str_char(to, ']');
}

/* The name of the object as a JSON text. */
static void add_object(struct str *to, const struct tables *tables, const struct access *a)
{
	struct str name;

	str_init(&name, to->arena);
	report_object(&name, tables, a);
	add_text(to, (struct text){name.at, name.length});
}

static bool is_data(const struct access *a)
{
	return event_is_access(a->kind);
}

static void add_access(struct str *to, const struct tables *tables, const struct report_step *s)
{
	const struct access *a = s->access;

	str_add(to, "{\"thread\": ");
	add_text(to, tables_name(tables, TABLE_THREAD, a->thread));
	str_add(to, ", \"role\": ");
	add_string(to, s->role);
	str_add(to, ", \"kind\": ");
	add_string(to, report_word(a, s->source));
	str_add(to, ", \"variable\": ");
	if (is_data(a))
		add_object(to, tables, a);
	else
		str_add(to, "null");
	str_add(to, ", \"object\": ");
	add_object(to, tables, a);
	str_add(to, ", \"value\": ");
	if (a->flags & EVENT_VALUED)
		report_value(to, a);
	else
		str_add(to, "null");
	str_add(to, ", ");
	add_place(to, tables, a->site);
	str_printf(to, ", \"event\": %" PRIu64 ", \"stack\": ", a->seq);
	add_stack(to, tables, a->stack, a->site);
	str_char(to, '}');
}

static void add_block(struct str *to, const struct tables *tables, const struct block *b)
{
	str_add(to, "\"block\": {\"function\": ");
	add_text(to, tables_name(tables, TABLE_CODE, b->code));
	str_add(to, ", ");
	add_place(to, tables, b->site);
	str_add(to, ", \"thread\": ");
	add_text(to, tables_name(tables, TABLE_THREAD, b->thread));
	str_printf(to, ", \"declared\": %s, \"event\": %" PRIu64 ", \"stack\": ", b->declared ? "true" : "false", b->seq);
	add_stack(to, tables, b->stack, b->site);
	str_char(to, '}');
}

/* Whether an earlier step has the same variable. */
static bool repeated(const struct report_step *steps, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (is_data(steps[k].access) && steps[k].access->object == steps[i].access->object &&
			(steps[k].access->flags & EVENT_ADDRESSED) == (steps[i].access->flags & EVENT_ADDRESSED))
			return true;
	return false;
}

static void add_variables(struct str *to, const struct tables *tables, const struct report_step *steps, size_t n)
{
	const char *separator = "";

	str_add(to, "\"variables\": [");
	for (size_t i = 0; i < n; i++) {
		if (!is_data(steps[i].access) || repeated(steps, i))
			continue;
		str_add(to, separator);
		add_object(to, tables, steps[i].access);
		separator = ", ";
	}
	str_char(to, ']');
}

static void add_enclosing(struct str *to, const struct tables *tables, const struct finding *f)
{
	stack_id stack = f->block.entered ? f->block.caller : 0;
	const char *separator = "";
	code_id code;

	str_add(to, "\"enclosing\": [");
	while ((code = report_enclosing(tables, &stack))) {
		struct text name = tables_name(tables, TABLE_CODE, code);

		str_add(to, separator);
		add_text(to, name);
		separator = ", ";
	}
	str_char(to, ']');
}

static void add_checks(struct str *to, const struct finding *f)
{
	str_add(to, "\"checks\": [");
	for (size_t i = 0; i < f->evidence_count; i++)
		str_printf(to, "%s{\"name\": \"%s\", \"kind\": \"%s\", \"event\": %" PRIu64 "}", i ? ", " : "",
			f->evidence[i].check, f->evidence[i].kind, f->evidence[i].seq);
	str_char(to, ']');
}

/* Why it is not predicted, or null: then nothing is in the way, or nobody has predicted it. */
static void add_hindrance(struct str *to, const struct finding *f)
{
	str_add(to, "\"hindrance\": ");
	add_string(to, f->hindrance ? report_hazard[f->hindrance->kind] : f->incomplete ? "incomplete" : f->unchecked ? "unchecked" : NULL);
}

/* Why the rank is what it is: the rules that hold, by name and in words, the one that decides first. */
static void add_reasons(struct str *to, const struct finding *f)
{
	const struct rank_rule *r;
	size_t at = 0;

	str_add(to, "\"rules\": [");
	while ((r = rank_next_reason(f->facts, &at)))
		str_printf(to, "%s\"%s\"", r == rank_rule(f->facts) ? "" : ", ", r->name);
	str_add(to, "],\n     \"reasons\": [");
	at = 0;
	while ((r = rank_next_reason(f->facts, &at)))
		str_printf(to, "%s\"%s\"", r == rank_rule(f->facts) ? "" : ", ", r->why);
	str_char(to, ']');
}

static void add_finding(struct str *to, const struct report_trace *trace, const struct finding *f)
{
	struct report_step *steps = arena_alloc(to->arena, 2 * f->links * sizeof *steps);
	size_t n = report_steps(f, steps);

	str_add(to, "    {\"id\": \"");
	report_id(to, f);
	str_printf(to, "\", \"verdict\": \"%s\", \"rank\": %u, \"hidden\": %s, \"again\": %s, \"count\": %" PRIu64
		", \"trace\": ", verdict_text[f->verdict], f->rank, f->hidden ? "true" : "false", f->again ? "true" : "false",
		f->count);
	add_string(to, trace->path);
	str_add(to, ",\n     ");
	add_reasons(to, f);
	str_add(to, ",\n     ");
	add_block(to, trace->tables, &f->block);
	str_add(to, ",\n     ");
	add_variables(to, trace->tables, steps, n);
	str_add(to, ",\n     \"accesses\": [");
	for (size_t i = 0; i < n; i++) {
		str_add(to, i ? ",\n       " : "\n       ");
		add_access(to, trace->tables, &steps[i]);
	}
	str_add(to, "],\n     ");
	add_enclosing(to, trace->tables, f);
	str_add(to, ",\n     ");
	add_checks(to, f);
	str_add(to, ", ");
	add_hindrance(to, f);
	str_char(to, '}');
}

/* The two accesses of a race, or an acquire of each lock held and of each one wanted. */
static void add_hazard(struct str *to, const struct report_trace *trace, const struct hazard *h)
{
	static const char *const roles[][2] = {{"earlier", "later"}, {"holds", "wants"}};

	str_add(to, "    {\"trace\": ");
	add_string(to, trace->path);
	str_printf(to, ", \"times\": %" PRIu64 ", \"variable\": ", h->times);
	if (h->kind == HAZARD_RACE)
		add_object(to, trace->tables, h->at);
	else
		str_add(to, "null");
	str_add(to, ",\n     \"accesses\": [");
	for (size_t i = 0; i < h->count; i++) {
		str_add(to, i ? ",\n       " : "\n       ");
		add_access(to, trace->tables, &(struct report_step){&h->at[i], roles[h->kind][i % 2], false});
	}
	str_add(to, "]}");
}

static void add_hazards(struct str *to, const struct report *r, enum hazard_kind kind)
{
	const char *separator = "\n";

	str_printf(to, "  \"%ss\": [", report_hazard[kind]);
	for (size_t i = 0; i < r->count; i++)
		for (size_t k = 0; k < r->trace[i].findings->hazards; k++)
			if (r->trace[i].findings->hazard[k]->kind == kind) {
				str_add(to, separator);
				add_hazard(to, &r->trace[i], r->trace[i].findings->hazard[k]);
				separator = ",\n";
			}
	str_add(to, "],\n");
}

static void add_trace(struct str *to, const struct report_trace *t)
{
	uint64_t repaired = 0;

	for (int i = 0; i < WF_RULES; i++)
		repaired += t->repaired[i];
	str_add(to, "    {\"path\": ");
	add_string(to, t->path);
	str_printf(to, ", \"events\": %" PRIu64 ", \"threads\": %" PRIu32 ", \"variables\": %" PRIu64
		", \"repaired\": %" PRIu64 ", \"skipped\": %" PRIu64 ", \"complete\": %s, \"cut\": ",
		t->events, t->tables->names[TABLE_THREAD].count, t->variables, repaired, t->skipped,
		t->cut || t->fault ? "false" : "true");
	add_string(to, t->cut);
	str_add(to, ", \"error\": ");
	add_string(to, t->fault);
	str_add(to, ", \"left_out\": [");
	for (size_t i = 0; i < t->findings->limits; i++) {
		str_add(to, i ? ", {\"what\": " : "{\"what\": ");
		add_string(to, t->findings->limit[i].text);
		str_printf(to, ", \"times\": %" PRIu64 "}", t->findings->limit[i].times);
	}
	str_add(to, "]}");
}

static void add_counts(struct str *to, const struct report *r)
{
	uint64_t verdicts[VERDICTS] = {0}, findings = 0, events = 0, declared = 0, hidden = 0;

	for (size_t i = 0; i < r->count; i++) {
		const struct findings *f = r->trace[i].findings;

		events += r->trace[i].events;
		findings += f->count;
		for (size_t k = 0; k < f->count; k++) {
			verdicts[f->at[k].verdict]++;
			declared += f->at[k].block.declared;
			hidden += f->at[k].hidden;
		}
	}
	str_printf(to, "  \"counts\": {\"traces\": %zu, \"events\": %" PRIu64 ", \"findings\": %" PRIu64
		", \"declared\": %" PRIu64 ", \"hidden\": %" PRIu64, r->count, events, findings, declared, hidden);
	for (int v = VERDICTS - 1; v >= 0; v--)
		str_printf(to, ", \"%s\": %" PRIu64, verdict_text[v], verdicts[v]);
	str_printf(to, ", \"races\": %" PRIu64 ", \"deadlocks\": %" PRIu64 "},\n",
		report_hazards(r, HAZARD_RACE), report_hazards(r, HAZARD_DEADLOCK));
}

static void json_render(const struct report *r, struct str *to)
{
	const char *separator = "\n";

	str_printf(to, "{\n  \"version\": %d,\n  \"findings\": [", VERSION);
	for (size_t i = 0; i < r->count; i++)
		for (size_t k = 0; k < r->trace[i].findings->count; k++) {
			str_add(to, separator);
			add_finding(to, &r->trace[i], &r->trace[i].findings->at[k]);
			separator = ",\n";
		}
	str_add(to, "],\n");
	add_hazards(to, r, HAZARD_RACE);
	add_hazards(to, r, HAZARD_DEADLOCK);
	add_counts(to, r);
	str_add(to, "  \"traces\": [");
	for (size_t i = 0; i < r->count; i++) {
		str_add(to, i ? ",\n" : "\n");
		add_trace(to, &r->trace[i]);
	}
	str_add(to, "]\n}\n");
}

const struct renderer render_json = {
	.name = "json",
	.render = json_render,
};
