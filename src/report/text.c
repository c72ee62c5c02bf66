/* SPDX-License-Identifier: MIT */
/*
 * The report for people, one screen a finding: what is not atomic, the interleaving that splits it, a column a thread,
 * why no serial order gives it, who did it, and what to do about it.
 */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "report/look.h"
#include "report/pen.h"
#include "report/report.h"
#include "report/text_lanes.h"
#include "report/text_last.h"
#include "report/text_stacks.h"
#include "report/text_why.h"
#include "report/words.h"

static const char banner[] = "==================";

static enum ink ink_of(enum verdict v)
{
	return v == VERDICT_SUSPECTED ? INK_UNSURE : INK_SURE;
}

/* "stale-value" as "stale value" */
static void add_rule(struct pen *p, struct text rule)
{
	struct text words = {arena_text(p->to->arena, rule.at ? rule.at : "", rule.length), rule.length};

	for (char *c = strchr(words.at, '-'); c; c = strchr(c, '-'))
		*c = ' ';
	pen_add(p, rule.length ? ": " : "");
	pen_name(p, words, 0);
}

static void draw_title(struct pen *p, const struct story_finding *f)
{
	const char *verdict = verdict_text[f->verdict];

	pen_ink(p, INK_STRONG);
	pen_add(p, "WARNING: fission: atomicity violation (");
	pen_ink(p, INK_PLAIN);
	pen_ink(p, ink_of(f->verdict));
	for (; *verdict; verdict++)
		pen_add(p, (char[]){(char)toupper((unsigned char)*verdict), 0});
	pen_ink(p, INK_PLAIN);
	pen_printf(p, ", rank %u", f->rank);
	add_rule(p, why_headline(f));
	pen_add(p, f->hidden ? ", hidden" : "");
	pen_add(p, f->suppressed.length ? ", suppressed)" : ")");
}

static void draw_id(struct pen *p, const struct story_finding *f, unsigned columns)
{
	pen_to(p, p->width - columns);
	pen_name(p, f->id, 0);
}

/* The id stands at the right edge: behind the title, or above it where there is no room. */
static void draw_head(struct pen *p, const struct story_finding *f)
{
	unsigned id = harmless_add(NULL, f->id, pen_manner(p->look));
	struct str words;
	struct pen trial = *p;

	str_init(&words, p->to->arena);
	trial.to = &words;
	draw_title(&trial, f);
	pen_add(p, banner);
	if (trial.at + 2 + id > p->width)
		draw_id(p, f, id);
	pen_line(p);
	draw_title(p, f);
	if (p->at + 2 + id <= p->width)
		draw_id(p, f, id);
	pen_line(p);
}

static void draw_sentence(struct pen *p, const struct story_finding *f)
{
	struct str words;

	str_init(&words, p->to->arena);
	words_sentence(&words, f, pen_manner(p->look));
	pen_add(p, "  ");
	pen_prose(p, 2, &words);
	pen_line(p);
}

static void draw_enclosing(struct pen *p, const struct story_finding *f)
{
	struct str words;

	if (!f->enclosings)
		return;
	str_init(&words, p->to->arena);
	for (size_t i = 0; i < f->enclosings; i++) {
		str_add(&words, i ? ", " : "");
		words_function(&words, f->enclosing[i], pen_manner(p->look));
	}
	pen_add(p, "  Also not atomic because of it: ");
	pen_prose(p, 4, &words);
}

/* "sidetrack (AFTER at event 31), blocks (read-write-write); split 2 times" */
static void draw_evidence(struct pen *p, const struct story *s, const struct story_finding *f)
{
	bool timed = f->trace >= s->traces || s->trace[f->trace].timed;
	struct str words;

	if (!f->evidences)
		return;
	str_init(&words, p->to->arena);
	for (size_t i = 0; i < f->evidences; i++) {
		str_add(&words, i ? ", " : "");
		harmless_add(&words, f->evidence[i].check, pen_manner(p->look));
		str_add(&words, " (");
		harmless_add(&words, f->evidence[i].kind, pen_manner(p->look));
		if (!timed)
			str_printf(&words, " at event %" PRIu64, f->evidence[i].event);
		str_add(&words, ")");
	}
	if (f->count > 1)
		str_printf(&words, "; split %" PRIu64 " times", f->count);
	pen_add(p, "  Seen by: ");
	pen_prose(p, 4, &words);
}

static void draw_fix(struct pen *p, const struct story_finding *f)
{
	struct harmless how = pen_manner(p->look);
	struct str words;

	if (!f->fix.from.file.length)
		return;
	str_init(&words, p->to->arena);
	str_add(&words, "hold ");
	harmless_add(&words, f->fix.lock.length ? f->fix.lock : text_of("one lock"), how);
	str_add(&words, f->fix.from.line == f->fix.to.line ? " around " : " from ");
	words_place(&words, &f->fix.from, how);
	if (f->fix.from.line != f->fix.to.line) {
		str_add(&words, " to ");
		words_place(&words, &f->fix.to, how);
	}
	str_char(&words, '.');
	pen_add(p, "  Likely fix: ");
	pen_prose(p, 4, &words);
}

/* What can be done about a finding by typing it: the label, and what goes before and after the id. */
static const struct remedy {
	const char *label, *before, *after;
	enum { NOT_ACCEPTED, REPLAY, PROGRAM } when;
} remedies[] = {
	{"Reproduce", "fission replay ", "", REPLAY},
	{"Reproduce", "fission chase ", "", PROGRAM},
	{"Suppress", "fission suppress ", " --reason \"...\"", NOT_ACCEPTED},
};

/* What is suppressed need not be again; a replay needs its file; what has none can be chased, if it is of a program. */
static bool is_of_use(const struct remedy *r, const struct story *s, const struct story_finding *f)
{
	switch (r->when) {
	case NOT_ACCEPTED: return !f->suppressed.length;
	case REPLAY: return f->replay;
	default: return !f->replay && s->program.length && f->verdict < VERDICT_REPRODUCED;
	}
}

static void draw_remedies(struct pen *p, const struct story *s, const struct story_finding *f)
{
	for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++) {
		const struct remedy *r = &remedies[i];

		if (!is_of_use(r, s, f))
			continue;
		pen_printf(p, "  %s: %s", r->label, r->before);
		pen_name(p, f->id, 0);
		pen_add(p, r->after);
		pen_line(p);
	}
}

/* What the program did when it happened. */
static void draw_then(struct pen *p, const struct story_finding *f)
{
	struct str words;

	if (!f->then.length)
		return;
	str_init(&words, p->to->arena);
	harmless_add(&words, f->then, pen_manner(p->look));
	pen_add(p, "  Then: ");
	pen_prose(p, 4, &words);
}

/* Who has accepted it, and why. */
static void draw_acceptance(struct pen *p, const struct story_finding *f)
{
	if (f->suppressed.length) {
		pen_add(p, "  Suppressed by ");
		pen_name(p, f->suppressed, 0);
		pen_add(p, f->reason_given.length ? ": " : "");
		pen_name(p, f->reason_given, 0);
		pen_line(p);
	}
	if (f->known) {
		pen_add(p, "  Known: it is in the baseline.");
		pen_line(p);
	}
}

static void draw_summary(struct pen *p, const struct story_finding *f)
{
	const struct story_event *second = story_event(f, STORY_SECOND);
	struct str place;

	str_init(&place, p->to->arena);
	words_place(&place, second ? &second->place : &f->place, pen_manner(p->look));
	pen_add(p, "SUMMARY: fission: atomicity violation ");
	str_bytes(p->to, place.at, place.length);
	pen_add(p, place.length ? " in " : "in ");
	if (f->function.length)
		pen_name(p, f->function, 0);
	else
		pen_add(p, f->declared ? "a declared block" : "a section of a lock");
	pen_line(p);
	pen_add(p, banner);
	pen_line(p);
}

/* Accesses of the block alone are no interleaving: then the stacks say it all. */
static bool has_picture(const struct story_finding *f)
{
	return !words_is_reduction(f) || f->events > 2;
}

/* Other forms of the same come last, and only for who asks. */
static void draw_body(struct pen *p, const struct story *s, const struct story_finding *f)
{
	why_draw(p, s, f);
	why_draw_values(p, f);
	why_draw_hindrance(p, s, f);
	why_draw_rank(p, f);
	if (words_is_reduction(f))
		stacks_draw_reduction(p, s, f);
	else
		stacks_draw(p, s, f);
	if (p->look->verbose && !words_is_reduction(f)) {
		pen_add(p, "  By reduction, what cannot be moved together:");
		pen_line(p);
		stacks_draw_reduction(p, s, f);
		stacks_draw_pattern(p, s, f);
	}
	draw_then(p, f);
	draw_evidence(p, s, f);
	draw_enclosing(p, f);
	draw_fix(p, f);
	draw_acceptance(p, f);
	draw_remedies(p, s, f);
}

static void draw_finding(struct pen *p, const struct story *s, const struct story_finding *f)
{
	unsigned prose = p->width;
	struct lanes *lanes = lanes_new(p, s, f);

	if (lanes_width(lanes) > p->width)
		p->width = lanes_width(lanes);
	draw_head(p, f);
	draw_sentence(p, f);
	if (has_picture(f)) {
		lanes_draw(lanes);
		pen_line(p);
	}
	p->width = prose;
	draw_body(p, s, f);
	draw_summary(p, f);
}

static void text_render(const struct story *s, const struct look *look, struct str *to)
{
	struct pen pen;

	pen_init(&pen, to, look);
	for (size_t i = 0; i < s->findings; i++)
		if (look_shows(look, s, &s->finding[i]))
			draw_finding(&pen, s, &s->finding[i]);
	for (size_t i = 0; i < s->failures; i++)
		last_draw_failure(&pen, &s->failure[i]);
	for (size_t i = 0; i < s->traces; i++)
		last_draw_notes(&pen, &s->trace[i]);
	last_draw_hazards(&pen, s);
	last_draw_locks(&pen, s);
	last_draw_suppressions(&pen, s);
	last_draw_counts(&pen, s);
}

const struct renderer render_text = {
	.name = "text",
	.render = text_render,
};
