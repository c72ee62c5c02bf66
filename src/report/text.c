/* SPDX-License-Identifier: MIT */
/*
 * The report for people, one screen a finding: what is not atomic, the interleaving that split it, a column a
 * thread, and why no serial order gives it.
 */
#include "report.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"

enum { COLUMN_MOST = 44, COLUMN_LEAST = 24, RULE = 88, FRAMES_MOST = 16 };

/* One finding being drawn. */
struct drawing {
	struct str *to;
	const struct tables *tables;
	const struct finding *f;
	struct report_step *steps;
	size_t count;
	thread_id *threads; /* in the order of their columns: the block's own first */
	size_t columns;
	int width;
};

static void add_name(struct str *to, const struct tables *tables, enum table_class class, uint32_t id)
{
	struct text t = tables_name(tables, class, id);

	str_bytes(to, t.at, t.length);
}

static size_t column_of(const struct drawing *d, thread_id t)
{
	size_t i = 0;

	while (i < d->columns && d->threads[i] != t)
		i++;
	return i;
}

/* "> WRITE balance = 20 bank.c:6  CULPRIT" */
static void add_step(struct str *to, const struct drawing *d, const struct report_step *s)
{
	str_add(to, "> ");
	for (const char *w = report_word(s->access, s->source); *w; w++)
		str_char(to, *w >= 'a' && *w <= 'z' ? (char)(*w - 'a' + 'A') : *w);
	if (s->access->kind) {
		str_char(to, ' ');
		report_object(to, d->tables, s->access);
	}
	if (s->access->flags & EVENT_VALUED) {
		str_add(to, " = ");
		report_value(to, s->access);
	}
	if (s->access->site) {
		str_add(to, "  ");
		add_name(to, d->tables, TABLE_SITE, s->access->site);
	}
	str_add(to, strcmp(s->role, "first") == 0 ? "  FIRST" : strcmp(s->role, "second") == 0 ? "  SECOND" :
		strcmp(s->role, "culprit") == 0 ? "  CULPRIT" : "");
}

static void layout(struct drawing *d)
{
	struct str cell;

	str_init(&cell, d->to->arena);
	d->threads = arena_alloc(d->to->arena, (d->count + 1) * sizeof *d->threads);
	d->threads[d->columns++] = d->f->block.thread;
	d->width = COLUMN_LEAST;
	for (size_t i = 0; i < d->count; i++) {
		if (column_of(d, d->steps[i].access->thread) == d->columns)
			d->threads[d->columns++] = d->steps[i].access->thread;
		str_clear(&cell);
		add_step(&cell, d, &d->steps[i]);
		if ((int)cell.length + 2 > d->width)
			d->width = (int)cell.length + 2;
	}
	if (d->width > COLUMN_MOST)
		d->width = COLUMN_MOST;
}

static void pad(struct str *to, size_t from, int width)
{
	while (to->length < from + (size_t)width)
		str_char(to, ' ');
}

static void draw_heads(const struct drawing *d)
{
	str_add(d->to, "      ");
	for (size_t i = 0; i < d->columns; i++) {
		size_t from = d->to->length;

		str_add(d->to, "thread ");
		add_name(d->to, d->tables, TABLE_THREAD, d->threads[i]);
		if (i + 1 < d->columns)
			pad(d->to, from, d->width);
	}
	str_char(d->to, '\n');
}

static void draw_rule(const struct drawing *d, const char *words)
{
	size_t from = d->to->length;

	str_printf(d->to, "    +- - - - %s", words);
	while (d->to->length < from + RULE)
		str_add(d->to, "- ");
	str_char(d->to, '\n');
}

static bool is_role(const struct report_step *s, const char *role)
{
	return strcmp(s->role, role) == 0;
}

/* The window is open from the block's first operation of the path to its second. */
static void draw_interleaving(const struct drawing *d)
{
	bool open = false;

	draw_heads(d);
	for (size_t i = 0; i < d->count; i++) {
		size_t from = d->to->length;

		if (is_role(&d->steps[i], "second") && open) {
			draw_rule(d, "");
			open = false;
			from = d->to->length;
		}
		str_printf(d->to, "  %-2zu%s ", i + 1, open ? "|" : " ");
		pad(d->to, from, 6 + (int)column_of(d, d->steps[i].access->thread) * d->width);
		add_step(d->to, d, &d->steps[i]);
		str_char(d->to, '\n');
		if (is_role(&d->steps[i], "first")) {
			draw_rule(d, "vulnerable window ");
			open = true;
		}
	}
}

static void add_block_name(struct str *to, const struct tables *tables, const struct block *b)
{
	if (b->code)
		add_name(to, tables, TABLE_CODE, b->code);
	else
		str_add(to, "the block");
	if (b->site) {
		str_add(to, b->declared ? " (declared atomic at " : " (called at ");
		add_name(to, tables, TABLE_SITE, b->site);
		str_char(to, ')');
	} else if (b->declared) {
		str_add(to, " (declared atomic)");
	}
}

static bool all_data(const struct finding *f)
{
	for (size_t i = 0; i < f->links; i++)
		if (!f->path[i].data)
			return false;
	return true;
}

/* "its read of 'balance'", "its fork" */
static void add_own(struct str *to, const struct tables *tables, const struct access *a, bool object)
{
	str_printf(to, "its %s", report_word(a, true));
	if (!object || !a->object)
		return;
	str_add(to, " of '");
	report_object(to, tables, a);
	str_char(to, '\'');
}

/* One culprit on the very variable of both own accesses: the case that reads best. */
static bool is_triple(const struct finding *f)
{
	const struct access *first = &f->path[0].from, *last = &f->path[f->links - 1].to;

	return f->links == 2 && first->object == last->object && f->path[0].to.object == first->object &&
	       f->path[0].to.seq == f->path[1].from.seq && last->kind != EVENT_JOIN;
}

/* What happened, in one sentence. */
static void add_sentence(struct str *to, const struct tables *tables, const struct finding *f)
{
	const struct access *first = &f->path[0].from, *last = &f->path[f->links - 1].to;
	const struct access *culprit = &f->path[0].to;
	bool triple = is_triple(f), reads = event_is_read(culprit->kind);

	if (triple) {
		str_char(to, '\'');
		report_object(to, tables, first);
		str_add(to, reads ? "' is read by another thread between " : "' changes between ");
	} else {
		str_add(to, "other threads get between ");
	}
	add_own(to, tables, first, !triple);
	str_add(to, " and ");
	add_own(to, tables, last, !triple);
	str_char(to, '.');
}

static void draw_title(const struct drawing *d)
{
	const struct finding *f = d->f;
	char verdict[16] = "";

	for (size_t i = 0; verdict_text[f->verdict][i] && i < sizeof verdict - 1; i++)
		verdict[i] = (char)(verdict_text[f->verdict][i] - 'a' + 'A');
	str_printf(d->to, "==================\nWARNING: fission: atomicity violation (%s, rank %u)  ", verdict,
		f->rank);
	report_id(d->to, f);
	str_add(d->to, "\n  ");
	add_block_name(d->to, d->tables, &f->block);
	if (all_data(f)) {
		str_add(d->to, " is not atomic: ");
		add_sentence(d->to, d->tables, f);
	} else {
		str_add(d->to, " can be split: its lock is free in between; no data conflict seen.");
	}
	str_add(d->to, "\n\n");
}

static void draw_why(const struct drawing *d)
{
	const struct finding *f = d->f;

	str_printf(d->to, "\n  Why: FIRST comes before %s, and %s before SECOND; so whatever else moves,\n"
		"       the block of thread ", f->links == 2 ? "CULPRIT" : "the CULPRITs",
		f->links == 2 ? "CULPRIT" : "they come");
	add_name(d->to, d->tables, TABLE_THREAD, f->block.thread);
	str_add(d->to, " cannot run in one piece. No serial order gives this run.\n");
}

static void draw_stack(const struct drawing *d, const struct report_step *s)
{
	site_id site = s->access->site;
	int depth = 0;

	if (!s->access->stack)
		return;
	str_add(d->to, "  ");
	str_printf(d->to, "%s, thread ", is_role(s, "first") ? "First" : is_role(s, "second") ? "Second" : "Culprit");
	add_name(d->to, d->tables, TABLE_THREAD, s->access->thread);
	str_add(d->to, ":\n");
	for (stack_id stack = s->access->stack; stack && depth < FRAMES_MOST; depth++) {
		struct frame frame = tables_frame(d->tables, stack);

		str_printf(d->to, "    #%d ", depth);
		add_name(d->to, d->tables, TABLE_CODE, frame.code);
		str_char(d->to, ' ');
		add_name(d->to, d->tables, TABLE_SITE, site);
		str_char(d->to, '\n');
		site = frame.site;
		stack = frame.parent;
	}
}

static void draw_end(const struct drawing *d)
{
	const struct finding *f = d->f;

	str_add(d->to, "  Seen by: ");
	for (size_t i = 0; i < f->evidence_count; i++)
		str_printf(d->to, "%s%s (%s at event %" PRIu64 ")", i ? ", " : "", f->evidence[i].check,
			f->evidence[i].kind, f->evidence[i].seq);
	if (f->count > 1)
		str_printf(d->to, "; split %" PRIu64 " times", f->count);
	str_add(d->to, "\nSUMMARY: fission: atomicity violation ");
	add_name(d->to, d->tables, TABLE_SITE, f->path[f->links - 1].to.site);
	str_add(d->to, " in ");
	if (f->block.code)
		add_name(d->to, d->tables, TABLE_CODE, f->block.code);
	else
		str_add(d->to, "a declared block");
	str_add(d->to, "\n==================\n");
}

static void draw(struct str *to, const struct report_trace *trace, const struct finding *f)
{
	struct drawing d = {.to = to, .tables = trace->tables, .f = f};

	d.steps = arena_alloc(to->arena, 2 * f->links * sizeof *d.steps);
	d.count = report_steps(f, d.steps);
	layout(&d);
	draw_title(&d);
	draw_interleaving(&d);
	draw_why(&d);
	for (size_t i = 0; i < d.count; i++)
		draw_stack(&d, &d.steps[i]);
	draw_end(&d);
}

/* What a lenient run has mended, and what a cut file has lost, is never silent. */
static void add_notes(struct str *to, const struct report_trace *t)
{
	for (int rule = 0; rule < WF_RULES; rule++)
		if (t->repaired[rule])
			str_printf(to, "fission: %s: repaired: %" PRIu64 " %s\n", t->path, t->repaired[rule],
				wf_rule_text[rule]);
	if (t->skipped)
		str_printf(to, "fission: %s: skipped: %" PRIu64 " lines that could not be parsed\n", t->path,
			t->skipped);
	if (t->findings->undecided)
		str_printf(to, "fission: %s: not decided: %" PRIu64 " blocks, which are too long\n", t->path,
			t->findings->undecided);
	if (t->cut)
		str_printf(to, "fission: %s: cut off at %s; checked are the %" PRIu64 " events before that\n",
			t->path, t->cut, t->events);
}

static void text_render(const struct report *r, struct str *to)
{
	uint64_t verdicts[VERDICTS] = {0}, events = 0;
	const char *separator = "fission: ";
	bool whole = true;

	for (size_t i = 0; i < r->count; i++) {
		const struct findings *f = r->trace[i].findings;

		for (size_t k = 0; k < f->count; k++) {
			draw(to, &r->trace[i], &f->at[k]);
			verdicts[f->at[k].verdict]++;
		}
		add_notes(to, &r->trace[i]);
		events += r->trace[i].events;
		whole &= !r->trace[i].fault;
	}
	for (int v = VERDICTS - 1; v >= 0; v--)
		if (verdicts[v]) {
			str_printf(to, "%s%" PRIu64 " %s", separator, verdicts[v], verdict_text[v]);
			separator = ", ";
		}
	if (*separator != ',')
		str_add(to, whole ? "fission: no violation" : "fission: nothing found before the error");
	str_printf(to, " in %" PRIu64 " events\n", events);
}

const struct renderer render_text = {
	.name = "text",
	.render = text_render,
};
