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
#include "policy/rank.h"

enum { COLUMN_MOST = 44, COLUMN_LEAST = 24, RULE = 88, FRAMES_MOST = 16, HAZARDS_MOST = 20 };

/* One finding being drawn. */
struct drawing {
	struct str *to;
	const struct tables *tables;
	const struct finding *f;
	bool timed; /* as in struct report_trace */
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
		str_add(to, b->declared ? " (declared atomic at " :
			b->entered ? " (called at " : " (from the lock taken at ");
		add_name(to, tables, TABLE_SITE, b->site);
		str_char(to, ')');
	} else if (b->declared) {
		str_add(to, " (declared atomic)");
	}
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
		str_printf(to, "' %s between ", report_happened(f) ? reads ? "is read by another thread" : "changes" :
			reads ? "can be read by another thread" : "can change");
	} else {
		str_printf(to, "other threads %s between ", report_happened(f) ? "get" : "can get");
	}
	add_own(to, tables, first, !triple);
	str_add(to, " and ");
	add_own(to, tables, last, !triple);
	str_char(to, '.');
}

/* The rule's name as words. */
static void add_rule(struct str *to, const struct rank_rule *r)
{
	for (const char *c = r->name; *c; c++)
		str_char(to, *c == '-' ? ' ' : *c);
}

/* The rule for the title: evidence says more than that the block was declared. */
static const struct rank_rule *headline(uint32_t facts)
{
	const struct rank_rule *r = rank_rule(facts & ~(uint32_t)FACT_DECLARED);

	return r->rank == 1 ? r : rank_rule(facts);
}

/* How much it matters, and why, the reason that decides first. */
static void draw_rank(const struct drawing *d)
{
	const struct rank_rule *r;
	size_t at = 0;

	str_printf(d->to, "  Rank: %u, ", d->f->rank);
	while ((r = rank_next_reason(d->f->facts, &at)))
		str_printf(d->to, "%s%s", r == rank_rule(d->f->facts) ? "" : ";\n        also ", r->why);
	str_add(d->to, ".\n");
}

/* Two operations of the block itself are all there is: no order of it is known in which it runs in one piece. */
static bool is_reduction(const struct finding *f)
{
	return f->links == 1;
}

/* "its unlock of 'm'": what add_own() says of operations that have no other end. */
static void add_irreducible(struct str *to, const struct tables *tables, const struct finding *f)
{
	str_add(to, " may be split: others can see it from ");
	add_own(to, tables, &f->path[0].from, true);
	str_add(to, " on, and it depends on them at ");
	add_own(to, tables, &f->path[0].to, true);
	str_char(to, '.');
}

static void draw_title(const struct drawing *d)
{
	const struct finding *f = d->f;
	char verdict[16] = "";

	for (size_t i = 0; verdict_text[f->verdict][i] && i < sizeof verdict - 1; i++)
		verdict[i] = (char)(verdict_text[f->verdict][i] - 'a' + 'A');
	str_printf(d->to, "==================\nWARNING: fission: atomicity violation (%s, rank %u: ", verdict, f->rank);
	add_rule(d->to, headline(f->facts));
	str_add(d->to, f->hidden ? ", hidden)  " : ")  ");
	report_id(d->to, f);
	str_add(d->to, "\n  ");
	add_block_name(d->to, d->tables, &f->block);
	if (is_reduction(f)) {
		add_irreducible(d->to, d->tables, f);
	} else if (finding_has_data(f)) {
		str_add(d->to, " is not atomic: ");
		add_sentence(d->to, d->tables, f);
	} else {
		str_printf(d->to, " can be split: %s in between; no data conflict seen.",
			finding_lock(f) ? "its lock is free" : "others can get in");
	}
	str_add(d->to, "\n\n");
}

/* What did not happen in this run: in another one it would, or nothing was seen that would keep it from happening. */
static void draw_why_not_yet(const struct drawing *d)
{
	const char *culprit = d->f->links == 2 ? "CULPRIT" : "the CULPRITs";

	if (d->f->verdict == VERDICT_PREDICTED)
		str_printf(d->to, "\n  Why: nothing that came before either of them orders %s before FIRST or behind SECOND: another\n"
			"       schedule of the same program puts it between them, and no serial order gives that run.\n", culprit);
	else
		str_printf(d->to, "\n  Why: no lock that the block holds from FIRST to SECOND keeps %s out. If it comes between them,\n"
			"       no serial order gives that run. Whether it can, this run does not prove.\n", culprit);
}

/* Whether a check has seen the run itself go this way, by data or by locks. */
static bool is_proven(const struct finding *f)
{
	static const char *const proofs[] = {"split", "cycle", "IN"};

	for (size_t i = 0; i < f->evidence_count; i++)
		for (size_t k = 0; k < sizeof proofs / sizeof *proofs; k++)
			if (strcmp(f->evidence[i].kind, proofs[k]) == 0)
				return true;
	return false;
}

static void draw_why(const struct drawing *d)
{
	const struct finding *f = d->f;

	if (!report_happened(f) || !is_proven(f)) {
		draw_why_not_yet(d);
		return;
	}
	str_printf(d->to, "\n  Why: FIRST comes before %s, and %s before SECOND; so whatever else moves,\n"
		"       the block of thread ", f->links == 2 ? "CULPRIT" : "the CULPRITs",
		f->links == 2 ? "CULPRIT" : "they come");
	add_name(d->to, d->tables, TABLE_THREAD, f->block.thread);
	str_add(d->to, " cannot run in one piece. No serial order gives this run.\n");
}

static void draw_frames(const struct drawing *d, stack_id stack, site_id site)
{
	int depth = 0;

	while (stack && depth < FRAMES_MOST) {
		struct frame frame = tables_frame(d->tables, stack);

		str_printf(d->to, "    #%d ", depth++);
		add_name(d->to, d->tables, TABLE_CODE, frame.code);
		str_char(d->to, ' ');
		add_name(d->to, d->tables, TABLE_SITE, site);
		str_char(d->to, '\n');
		site = frame.site;
		stack = frame.parent;
	}
}

/* "write a.c:7", and of a lock which one. */
static void add_place(struct str *to, const struct tables *tables, const struct access *a)
{
	str_add(to, report_word(a, false));
	if (!event_is_access(a->kind)) {
		str_char(to, ' ');
		report_object(to, tables, a);
	}
	str_char(to, ' ');
	add_name(to, tables, TABLE_SITE, a->site);
	str_add(to, " in thread ");
	add_name(to, tables, TABLE_THREAD, a->thread);
}

/* One race or deadlock with its places. */
static void add_hazard(struct str *to, const struct tables *tables, const struct hazard *h)
{
	str_add(to, h->kind == HAZARD_RACE ? "data race on '" : "potential deadlock: ");
	if (h->kind == HAZARD_RACE) {
		report_object(to, tables, h->at);
		str_add(to, "': ");
	}
	for (size_t i = 0; i < h->count; i++) {
		str_add(to, i == 0 ? "" : h->kind == HAZARD_RACE ? ", " : i % 2 ? " then " : "; ");
		add_place(to, tables, &h->at[i]);
	}
}

/* What keeps the finding from being predicted, or observed. */
static void draw_hindrance(const struct drawing *d)
{
	if (d->f->verdict != VERDICT_SUSPECTED || (!d->f->hindrance && !d->f->unchecked && !d->f->incomplete))
		return;
	str_add(d->to, d->f->guessed ? "  Not observed: " : "  Not predicted: ");
	if (d->f->hindrance)
		add_hazard(d->to, d->tables, d->f->hindrance);
	if (d->f->guessed)
		str_add(d->to, ", whose order a recording does not show");
	else if (d->f->incomplete)
		str_add(d->to, "events of the run are missing");
	else if (!d->f->hindrance)
		str_add(d->to, "data races and deadlocks were not looked for, or not to the end");
	str_add(d->to, ".\n");
}

static void draw_stack(const struct drawing *d, const struct report_step *s)
{
	if (!s->access->stack)
		return;
	str_add(d->to, "  ");
	str_printf(d->to, "%s, thread ", is_role(s, "first") ? "First" : is_role(s, "second") ? "Second" : "Culprit");
	add_name(d->to, d->tables, TABLE_THREAD, s->access->thread);
	str_add(d->to, ":\n");
	draw_frames(d, s->access->stack, s->access->site);
}

/* "  Commits at its unlock of 'm':" and the frames; without a stack, its place. */
static void draw_moment(const struct drawing *d, const char *what, const struct access *a)
{
	str_printf(d->to, "  %s", what);
	if (a->kind)
		add_own(d->to, d->tables, a, true);
	if (a->site && !a->stack) {
		str_add(d->to, ", ");
		add_name(d->to, d->tables, TABLE_SITE, a->site);
	}
	str_add(d->to, a->stack ? ":\n" : "\n");
	draw_frames(d, a->stack, a->site);
}

/* Where the block was entered, where it commits, and what cannot be moved back to there. */
static void draw_reduction(const struct drawing *d)
{
	const struct link *l = &d->f->path[0];

	draw_moment(d, "Block entered", &(struct access){.site = d->f->block.site, .stack = d->f->block.caller});
	draw_moment(d, "Commits at ", &l->from);
	draw_moment(d, "Violation at ", &l->to);
	str_add(d->to, "\n  Why: what the block has done can be put off up to the commit and no further; what it does after\n"
		"       that would have to be possible at once, and the violation need not be: others may come first.\n");
}

/* A block that is not atomic is part of others that are not either. */
static void draw_enclosing(const struct drawing *d)
{
	stack_id stack = d->f->block.entered ? d->f->block.caller : 0;
	const char *separator = "  Also not atomic because of it: ";
	code_id code;

	while ((code = report_enclosing(d->tables, &stack))) {
		str_add(d->to, separator);
		add_name(d->to, d->tables, TABLE_CODE, code);
		separator = ", ";
	}
	if (*separator == ',')
		str_char(d->to, '\n');
}

/* "sidetrack (AFTER at event 31)" */
static void add_evidence(const struct drawing *d, const struct evidence *e)
{
	str_printf(d->to, "%s (%s", e->check, e->kind);
	if (!d->timed)
		str_printf(d->to, " at event %" PRIu64, e->seq);
	str_add(d->to, ")");
}

static void draw_end(const struct drawing *d)
{
	const struct finding *f = d->f;

	draw_hindrance(d);
	draw_enclosing(d);
	str_add(d->to, "  Seen by: ");
	for (size_t i = 0; i < f->evidence_count; i++) {
		str_add(d->to, i ? ", " : "");
		add_evidence(d, &f->evidence[i]);
	}
	if (f->count > 1)
		str_printf(d->to, "; split %" PRIu64 " times", f->count);
	str_add(d->to, "\nSUMMARY: fission: atomicity violation ");
	add_name(d->to, d->tables, TABLE_SITE, f->path[f->links - 1].to.site);
	str_add(d->to, " in ");
	if (f->block.code)
		add_name(d->to, d->tables, TABLE_CODE, f->block.code);
	else
		str_add(d->to, f->block.declared ? "a declared block" : "a section of a lock");
	str_add(d->to, "\n==================\n");
}

static void draw(struct str *to, const struct report_trace *trace, const struct finding *f)
{
	struct drawing d = {.to = to, .tables = trace->tables, .f = f, .timed = trace->timed};

	d.steps = arena_alloc(to->arena, 2 * f->links * sizeof *d.steps);
	d.count = report_steps(f, d.steps);
	layout(&d);
	draw_title(&d);
	if (is_reduction(f)) {
		draw_reduction(&d);
		draw_rank(&d);
		draw_end(&d);
		return;
	}
	draw_interleaving(&d);
	draw_why(&d);
	draw_rank(&d);
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
	if (t->cut)
		str_printf(to, "fission: %s: cut off at %s; checked are the %" PRIu64 " events before that\n",
			t->path, t->cut, t->events);
}

/* What checks have left out. */
static void add_limits(struct str *to, const struct report_trace *t)
{
	for (size_t i = 0; i < t->findings->limits; i++)
		str_printf(to, "fission: %s: left out: %s: %" PRIu64 "\n", t->path, t->findings->limit[i].text,
			t->findings->limit[i].times);
}

static void add_number(struct str *to, uint64_t n, const char *what)
{
	str_printf(to, "%" PRIu64 " %s%s", n, what, n == 1 ? "" : "s");
}

/* How many races and deadlocks there are, and the places of the first ones. */
static void add_hazards(struct str *to, const struct report *r)
{
	uint64_t races = report_hazards(r, HAZARD_RACE), deadlocks = report_hazards(r, HAZARD_DEADLOCK);
	size_t shown = 0;

	if (!races && !deadlocks)
		return;
	for (size_t i = 0; i < r->count; i++)
		for (size_t k = 0; k < r->trace[i].findings->hazards && shown < HAZARDS_MOST; k++, shown++) {
			str_add(to, "  ");
			add_hazard(to, r->trace[i].tables, r->trace[i].findings->hazard[k]);
			str_char(to, '\n');
		}
	if (shown < races + deadlocks)
		str_printf(to, "  and %" PRIu64 " more\n", races + deadlocks - shown);
	str_add(to, "fission: ");
	if (races)
		add_number(to, races, "data race");
	str_add(to, races && deadlocks ? ", " : "");
	if (deadlocks)
		add_number(to, deadlocks, "potential deadlock");
	str_char(to, '\n');
}

/* What the last line says. */
struct totals {
	uint64_t verdicts[VERDICTS]; /* of the findings that are shown */
	uint64_t *rules;             /* those that are not shown, by the rule that decided */
	uint64_t shown, unshown, again, events;
	bool whole;
};

static void draw_findings(struct str *to, const struct report *r, const struct report_trace *t, struct totals *totals)
{
	for (size_t i = 0; i < t->findings->count; i++) {
		const struct finding *f = &t->findings->at[i];

		if (report_shows(r, f)) {
			draw(to, t, f);
			totals->verdicts[f->verdict]++;
			totals->shown++;
		} else if (f->again && !f->hidden && f->rank <= r->rank) {
			totals->again++;
		} else {
			totals->rules[rank_rule(f->facts) - rank_rules]++;
			totals->unshown++;
		}
	}
}

static void add_unshown(struct str *to, const struct totals *t)
{
	const char *separator = ": ";

	if (t->again)
		str_printf(to, "; %" PRIu64 " more in the same code", t->again);
	if (t->unshown)
		str_printf(to, "; not shown: %" PRIu64 " by rank", t->unshown);
	for (size_t i = 0; i < rank_rule_count; i++)
		if (t->rules[i]) {
			str_printf(to, "%s%" PRIu64 " %s", separator, t->rules[i], rank_rules[i].name);
			separator = ", ";
		}
	str_add(to, t->again || t->unshown ? " (--show-hidden)" : "");
}

static void add_last_line(struct str *to, const struct totals *t)
{
	const char *separator = "fission: ";

	for (int v = VERDICTS - 1; v >= 0; v--)
		if (t->verdicts[v]) {
			str_printf(to, "%s%" PRIu64 " %s", separator, t->verdicts[v], verdict_text[v]);
			separator = ", ";
		}
	if (!t->shown)
		str_add(to, !t->whole ? "fission: nothing found before the error" :
			t->unshown ? "fission: nothing to show" : "fission: no violation");
	str_printf(to, " in %" PRIu64 " events", t->events);
	add_unshown(to, t);
	str_char(to, '\n');
}

static void text_render(const struct report *r, struct str *to)
{
	struct totals totals = {.whole = true};

	totals.rules = arena_alloc(to->arena, rank_rule_count * sizeof *totals.rules);
	for (size_t i = 0; i < r->count; i++) {
		draw_findings(to, r, &r->trace[i], &totals);
		add_notes(to, &r->trace[i]);
		add_limits(to, &r->trace[i]);
		totals.events += r->trace[i].events;
		totals.whole &= !r->trace[i].fault;
	}
	add_hazards(to, r);
	add_last_line(to, &totals);
}

const struct renderer render_text = {
	.name = "text",
	.render = text_render,
};
