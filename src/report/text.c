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
#include "report/hide.h"
#include "report/look.h"

enum { COLUMN_MOST = 44, COLUMN_LEAST = 24, RULE = 88, FRAMES_MOST = 16, HAZARDS_MOST = 20 };

/* One finding being drawn. */
struct drawing {
	struct str *to;
	const struct story *s;
	const struct story_finding *f;
	uint32_t *threads; /* in the order of their columns: the block's own first */
	size_t columns;
	int width;
};

static void put(struct str *to, struct text t)
{
	str_bytes(to, t.at, t.length);
}

static void add_thread(struct str *to, const struct story *s, uint32_t thread)
{
	if (thread != STORY_NONE)
		put(to, s->thread[thread].name);
}

static size_t column_of(const struct drawing *d, uint32_t thread)
{
	size_t i = 0;

	while (i < d->columns && d->threads[i] != thread)
		i++;
	return i;
}

static bool is_placed(const struct story_place *p)
{
	return p->file.length || p->line;
}

/* "> WRITE balance = 20 bank.c:6  CULPRIT" */
static void add_step(struct str *to, const struct story_event *e)
{
	str_add(to, "> ");
	for (const char *w = e->word; *w; w++)
		str_char(to, *w >= 'a' && *w <= 'z' ? (char)(*w - 'a' + 'A') : *w);
	if (e->object.length) {
		str_char(to, ' ');
		put(to, e->object);
	}
	if (e->valued) {
		str_add(to, " = ");
		story_add_value(to, e);
	}
	if (is_placed(&e->place)) {
		str_add(to, "  ");
		story_add_place(to, &e->place);
	}
	str_add(to, e->role ? "  " : "");
	for (const char *w = story_role_text[e->role]; *w; w++)
		str_char(to, (char)(*w - 'a' + 'A'));
}

static void layout(struct drawing *d)
{
	struct str cell;

	str_init(&cell, d->to->arena);
	d->threads = arena_alloc(d->to->arena, (d->f->events + 1) * sizeof *d->threads);
	d->threads[d->columns++] = d->f->thread;
	d->width = COLUMN_LEAST;
	for (size_t i = 0; i < d->f->events; i++) {
		if (column_of(d, d->f->event[i].thread) == d->columns)
			d->threads[d->columns++] = d->f->event[i].thread;
		str_clear(&cell);
		add_step(&cell, &d->f->event[i]);
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
		add_thread(d->to, d->s, d->threads[i]);
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

/* The window is open from the block's first operation of the path to its second. */
static void draw_interleaving(const struct drawing *d)
{
	bool open = false;

	draw_heads(d);
	for (size_t i = 0; i < d->f->events; i++) {
		const struct story_event *e = &d->f->event[i];
		size_t from = d->to->length;

		if (e->role == STORY_SECOND && open) {
			draw_rule(d, "");
			open = false;
			from = d->to->length;
		}
		str_printf(d->to, "  %-2zu%s ", i + 1, open ? "|" : " ");
		pad(d->to, from, 6 + (int)column_of(d, e->thread) * d->width);
		add_step(d->to, e);
		str_char(d->to, '\n');
		if (e->role == STORY_FIRST) {
			draw_rule(d, "vulnerable window ");
			open = true;
		}
	}
}

static void add_block_name(struct str *to, const struct story_finding *f)
{
	if (f->function.length)
		put(to, f->function);
	else
		str_add(to, "the block");
	if (is_placed(&f->place)) {
		str_add(to, f->declared ? " (declared atomic at " :
			f->entered ? " (called at " : " (from the lock taken at ");
		story_add_place(to, &f->place);
		str_char(to, ')');
	} else if (f->declared) {
		str_add(to, " (declared atomic)");
	}
}

/* "its read of 'balance'", "its fork" */
static void add_own(struct str *to, const struct story_event *e, bool object)
{
	str_printf(to, "its %s", e->word);
	if (!object || !e->object.length)
		return;
	str_add(to, " of '");
	put(to, e->object);
	str_char(to, '\'');
}

static size_t culprits(const struct story_finding *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->events; i++)
		n += f->event[i].role == STORY_CULPRIT;
	return n;
}

/* One culprit on the very variable of both own accesses: the case that reads best. */
static bool is_triple(const struct story_finding *f)
{
	const struct story_event *first = story_event(f, STORY_FIRST), *second = story_event(f, STORY_SECOND);

	return culprits(f) == 1 && text_same(first->object, second->object) &&
		text_same(first->object, story_event(f, STORY_CULPRIT)->object) && strcmp(second->word, "join") != 0;
}

/* What happened, in one sentence. */
static void add_sentence(struct str *to, const struct story_finding *f)
{
	const struct story_event *first = story_event(f, STORY_FIRST), *culprit = story_event(f, STORY_CULPRIT);
	bool triple = is_triple(f), reads = strcmp(culprit->word, "read") == 0 || strcmp(culprit->word, "atomic load") == 0;

	if (triple) {
		str_char(to, '\'');
		put(to, first->object);
		str_printf(to, "' %s between ", f->happened ? reads ? "is read by another thread" : "changes" :
			reads ? "can be read by another thread" : "can change");
	} else {
		str_printf(to, "other threads %s between ", f->happened ? "get" : "can get");
	}
	add_own(to, first, !triple);
	str_add(to, " and ");
	add_own(to, story_event(f, STORY_SECOND), !triple);
	str_char(to, '.');
}

/* The rule's name as words. */
static void add_rule(struct str *to, struct text name)
{
	for (size_t i = 0; i < name.length; i++)
		str_char(to, name.at[i] == '-' ? ' ' : name.at[i]);
}

/* Whether the rule of that name makes rank 1. */
static bool is_first(struct text name)
{
	for (size_t i = 0; i < rank_rule_count; i++)
		if (text_is(name, rank_rules[i].name))
			return rank_rules[i].rank == 1;
	return false;
}

/* The rule for the title: evidence says more than that the block was declared. */
static struct text headline(const struct story_finding *f)
{
	bool more = f->reasons > 1 && text_is(f->reason[0].rule, "declared") && is_first(f->reason[1].rule);

	return f->reasons ? f->reason[more].rule : (struct text){NULL, 0};
}

/* How much it matters, and why, the reason that decides first. */
static void draw_rank(const struct drawing *d)
{
	str_printf(d->to, "  Rank: %u, ", d->f->rank);
	for (size_t i = 0; i < d->f->reasons; i++) {
		str_add(d->to, i ? ";\n        also " : "");
		put(d->to, d->f->reason[i].why);
	}
	str_add(d->to, ".\n");
}

/* Two operations of the block itself are all there is: no order of it is known in which it runs in one piece. */
static bool is_reduction(const struct story_finding *f)
{
	return culprits(f) == 0;
}

/* "its unlock of 'm'": what add_own() says of operations that have no other end. */
static void add_irreducible(struct str *to, const struct story_finding *f)
{
	str_add(to, " may be split: others can see it from ");
	add_own(to, story_event(f, STORY_FIRST), true);
	str_add(to, " on, and it depends on them at ");
	add_own(to, story_event(f, STORY_SECOND), true);
	str_char(to, '.');
}

static void draw_title(const struct drawing *d)
{
	const struct story_finding *f = d->f;
	char verdict[16] = "";

	for (size_t i = 0; verdict_text[f->verdict][i] && i < sizeof verdict - 1; i++)
		verdict[i] = (char)(verdict_text[f->verdict][i] - 'a' + 'A');
	str_printf(d->to, "==================\nWARNING: fission: atomicity violation (%s, rank %u: ", verdict, f->rank);
	add_rule(d->to, headline(f));
	str_add(d->to, f->hidden ? ", hidden)  " : ")  ");
	put(d->to, f->id);
	str_add(d->to, "\n  ");
	add_block_name(d->to, f);
	if (is_reduction(f)) {
		add_irreducible(d->to, f);
	} else if (f->data) {
		str_add(d->to, " is not atomic: ");
		add_sentence(d->to, f);
	} else {
		str_printf(d->to, " can be split: %s in between; no data conflict seen.",
			f->lock.length ? "its lock is free" : "others can get in");
	}
	str_add(d->to, "\n\n");
}

/* What did not happen in this run: in another one it would, or nothing was seen that would keep it from happening. */
static void draw_why_not_yet(const struct drawing *d)
{
	const char *culprit = culprits(d->f) == 1 ? "CULPRIT" : "the CULPRITs";

	if (d->f->verdict == VERDICT_PREDICTED)
		str_printf(d->to, "\n  Why: nothing that came before either of them orders %s before FIRST or behind SECOND: another\n"
			"       schedule of the same program puts it between them, and no serial order gives that run.\n", culprit);
	else
		str_printf(d->to, "\n  Why: no lock that the block holds from FIRST to SECOND keeps %s out. If it comes between them,\n"
			"       no serial order gives that run. Whether it can, this run does not prove.\n", culprit);
}

/* Whether a check has seen the run itself go this way, by data or by locks. */
static bool is_proven(const struct story_finding *f)
{
	static const char *const proofs[] = {"split", "cycle", "IN"};

	for (size_t i = 0; i < f->evidences; i++)
		for (size_t k = 0; k < sizeof proofs / sizeof *proofs; k++)
			if (text_is(f->evidence[i].kind, proofs[k]))
				return true;
	return false;
}

static void draw_why(const struct drawing *d)
{
	bool one = culprits(d->f) == 1;

	if (!d->f->happened || !is_proven(d->f)) {
		draw_why_not_yet(d);
		return;
	}
	str_printf(d->to, "\n  Why: FIRST comes before %s, and %s before SECOND; so whatever else moves,\n"
		"       the block of thread ", one ? "CULPRIT" : "the CULPRITs", one ? "CULPRIT" : "they come");
	add_thread(d->to, d->s, d->f->thread);
	str_add(d->to, " cannot run in one piece. No serial order gives this run.\n");
}

static void draw_frames(const struct drawing *d, uint32_t stack)
{
	const struct story_stack *frames = stack == STORY_NONE ? NULL : &d->s->stack[stack];

	for (size_t i = 0; frames && i < frames->count && i < FRAMES_MOST; i++) {
		str_printf(d->to, "    #%zu ", i);
		put(d->to, frames->at[i].function);
		str_char(d->to, ' ');
		story_add_place(d->to, &frames->at[i].place);
		str_char(d->to, '\n');
	}
}

/* "write a.c:7", and of a lock which one. */
static void add_place(struct str *to, const struct story *s, const struct story_event *e)
{
	str_add(to, e->word);
	if (!e->data) {
		str_char(to, ' ');
		put(to, e->object);
	}
	str_char(to, ' ');
	story_add_place(to, &e->place);
	str_add(to, " in thread ");
	add_thread(to, s, e->thread);
}

/* One race or deadlock with its places. */
static void add_hazard(struct str *to, const struct story *s, const struct story_hazard *h)
{
	str_add(to, h->kind == HAZARD_RACE ? "data race on '" : "potential deadlock: ");
	if (h->kind == HAZARD_RACE) {
		put(to, h->object);
		str_add(to, "': ");
	}
	for (size_t i = 0; i < h->events; i++) {
		str_add(to, i == 0 ? "" : h->kind == HAZARD_RACE ? ", " : i % 2 ? " then " : "; ");
		add_place(to, s, &h->event[i]);
	}
}

/* What keeps the finding from being predicted, or observed. */
static void draw_hindrance(const struct drawing *d)
{
	if (d->f->verdict != VERDICT_SUSPECTED || !d->f->hindrance.length)
		return;
	str_add(d->to, d->f->guessed ? "  Not observed: " : "  Not predicted: ");
	if (d->f->hazard != STORY_NONE)
		add_hazard(d->to, d->s, &d->s->hazard[d->f->hazard]);
	if (d->f->guessed)
		str_add(d->to, ", whose order a recording does not show");
	else if (text_is(d->f->hindrance, "incomplete"))
		str_add(d->to, "events of the run are missing");
	else if (d->f->hazard == STORY_NONE)
		str_add(d->to, "data races and deadlocks were not looked for, or not to the end");
	str_add(d->to, ".\n");
}

static void draw_stack(const struct drawing *d, const struct story_event *e)
{
	if (e->stack == STORY_NONE || !e->role)
		return;
	str_printf(d->to, "  %s, thread ", e->role == STORY_FIRST ? "First" : e->role == STORY_SECOND ? "Second" : "Culprit");
	add_thread(d->to, d->s, e->thread);
	str_add(d->to, ":\n");
	draw_frames(d, e->stack);
}

/* "  Commits at its unlock of 'm':" and the frames; without a stack, its place. */
static void draw_moment(const struct drawing *d, const char *what, const struct story_event *e)
{
	str_printf(d->to, "  %s", what);
	if (e->word)
		add_own(d->to, e, true);
	if (is_placed(&e->place) && e->stack == STORY_NONE) {
		str_add(d->to, ", ");
		story_add_place(d->to, &e->place);
	}
	str_add(d->to, e->stack != STORY_NONE ? ":\n" : "\n");
	draw_frames(d, e->stack);
}

/* Where the block was entered, where it commits, and what cannot be moved back to there. */
static void draw_reduction(const struct drawing *d)
{
	draw_moment(d, "Block entered", &(struct story_event){.place = d->f->place, .stack = d->f->caller_stack});
	draw_moment(d, "Commits at ", story_event(d->f, STORY_FIRST));
	draw_moment(d, "Violation at ", story_event(d->f, STORY_SECOND));
	str_add(d->to, "\n  Why: what the block has done can be put off up to the commit and no further; what it does after\n"
		"       that would have to be possible at once, and the violation need not be: others may come first.\n");
}

/* A block that is not atomic is part of others that are not either. */
static void draw_enclosing(const struct drawing *d)
{
	for (size_t i = 0; i < d->f->enclosings; i++) {
		str_add(d->to, i ? ", " : "  Also not atomic because of it: ");
		put(d->to, d->f->enclosing[i]);
	}
	if (d->f->enclosings)
		str_char(d->to, '\n');
}

/* "sidetrack (AFTER at event 31)" */
static void add_evidence(const struct drawing *d, const struct story_evidence *e)
{
	put(d->to, e->check);
	str_add(d->to, " (");
	put(d->to, e->kind);
	if (d->f->trace < d->s->traces && !d->s->trace[d->f->trace].timed)
		str_printf(d->to, " at event %" PRIu64, e->event);
	str_add(d->to, ")");
}

static void draw_end(const struct drawing *d)
{
	const struct story_finding *f = d->f;

	draw_hindrance(d);
	draw_enclosing(d);
	str_add(d->to, "  Seen by: ");
	for (size_t i = 0; i < f->evidences; i++) {
		str_add(d->to, i ? ", " : "");
		add_evidence(d, &f->evidence[i]);
	}
	if (f->count > 1)
		str_printf(d->to, "; split %" PRIu64 " times", f->count);
	str_add(d->to, "\nSUMMARY: fission: atomicity violation ");
	story_add_place(d->to, &story_event(f, STORY_SECOND)->place);
	str_add(d->to, " in ");
	if (f->function.length)
		put(d->to, f->function);
	else
		str_add(d->to, f->declared ? "a declared block" : "a section of a lock");
	str_add(d->to, "\n==================\n");
}

static void draw(struct str *to, const struct story *s, const struct story_finding *f)
{
	struct drawing d = {.to = to, .s = s, .f = f};

	if (!story_event(f, STORY_FIRST) || !story_event(f, STORY_SECOND))
		return;
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
	for (size_t i = 0; i < f->events; i++)
		draw_stack(&d, &f->event[i]);
	draw_end(&d);
}

/* What a lenient run has mended, and what a cut file has lost, is never silent. */
static void add_notes(struct str *to, const struct story_trace *t)
{
	for (size_t i = 0; i < t->repairs; i++)
		str_printf(to, "fission: %s: repaired: %" PRIu64 " %s\n", t->path.at, t->repair[i].times, t->repair[i].what.at);
	if (t->skipped)
		str_printf(to, "fission: %s: skipped: %" PRIu64 " lines that could not be parsed\n", t->path.at,
			t->skipped);
	if (t->cut.length)
		str_printf(to, "fission: %s: cut off at %s; checked are the %" PRIu64 " events before that\n",
			t->path.at, t->cut.at, t->events);
}

/* What checks have left out. */
static void add_limits(struct str *to, const struct story_trace *t)
{
	for (size_t i = 0; i < t->limits; i++)
		str_printf(to, "fission: %s: left out: %s: %" PRIu64 "\n", t->path.at, t->limit[i].what.at, t->limit[i].times);
}

static void add_number(struct str *to, uint64_t n, const char *what)
{
	str_printf(to, "%" PRIu64 " %s%s", n, what, n == 1 ? "" : "s");
}

/* How many races and deadlocks there are, and the places of the first ones. */
static void add_hazards(struct str *to, const struct story *s)
{
	uint64_t races = story_hazards(s, HAZARD_RACE), deadlocks = story_hazards(s, HAZARD_DEADLOCK);
	size_t shown = 0;

	if (!races && !deadlocks)
		return;
	for (; shown < s->hazards && shown < HAZARDS_MOST; shown++) {
		str_add(to, "  ");
		add_hazard(to, s, &s->hazard[shown]);
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
	uint64_t shown, events;
	bool whole;
};

static void draw_findings(struct str *to, const struct story *s, const struct look *look, struct totals *totals)
{
	for (size_t i = 0; i < s->findings; i++) {
		const struct story_finding *f = &s->finding[i];

		if (look_shows(look, s, f)) {
			draw(to, s, f);
			totals->verdicts[f->verdict]++;
			totals->shown++;
		}
	}
}

static void add_last_line(struct str *to, const struct story *s, const struct look *look, const struct totals *t)
{
	const char *separator = "fission: ";

	for (int v = VERDICTS - 1; v >= 0; v--)
		if (t->verdicts[v]) {
			str_printf(to, "%s%" PRIu64 " %s", separator, t->verdicts[v], verdict_text[v]);
			separator = ", ";
		}
	if (!t->shown)
		str_add(to, !t->whole ? "fission: nothing found before the error" :
			s->findings ? "fission: nothing to show" : "fission: no violation");
	str_printf(to, " in %" PRIu64 " events", t->events);
	hide_add_counts(to, s, look);
	str_char(to, '\n');
}

static void text_render(const struct story *s, const struct look *look, struct str *to)
{
	struct totals totals = {.whole = true};

	draw_findings(to, s, look, &totals);
	for (size_t i = 0; i < s->traces; i++) {
		add_notes(to, &s->trace[i]);
		add_limits(to, &s->trace[i]);
		totals.events += s->trace[i].events;
		totals.whole &= !s->trace[i].fault.length;
	}
	add_hazards(to, s);
	hide_add_notes(to, s);
	add_last_line(to, s, look, &totals);
}

const struct renderer render_text = {
	.name = "text",
	.render = text_render,
};
