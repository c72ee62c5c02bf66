/* SPDX-License-Identifier: MIT */
#include "text_last.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "policy/rank.h"
#include "policy/suppressions.h"
#include "report/hide.h"
#include "report/text_why.h"

enum { HAZARDS_MOST = 20, SUPPRESSIONS_MOST = 20 };

static void begin_note(struct pen *p, const struct story_trace *t, const char *what)
{
	pen_add(p, "fission: ");
	pen_name(p, t->path, 0);
	pen_add(p, what);
}

static void draw_limits(struct pen *p, const struct story_trace *t)
{
	for (size_t i = 0; i < t->limits; i++) {
		begin_note(p, t, ": left out: ");
		pen_name(p, t->limit[i].what, 0);
		pen_printf(p, ": %" PRIu64, t->limit[i].times);
		pen_line(p);
	}
}

static void draw_repairs(struct pen *p, const struct story_trace *t)
{
	for (size_t i = 0; i < t->repairs; i++) {
		begin_note(p, t, ": repaired: ");
		pen_printf(p, "%" PRIu64 " ", t->repair[i].times);
		pen_name(p, t->repair[i].what, 0);
		pen_line(p);
	}
	if (t->skipped) {
		begin_note(p, t, ": skipped: ");
		pen_printf(p, "%" PRIu64 " lines that could not be parsed", t->skipped);
		pen_line(p);
	}
}

void last_draw_notes(struct pen *p, const struct story_trace *t)
{
	draw_repairs(p, t);
	if (t->cut.length) {
		begin_note(p, t, ": cut off at ");
		pen_name(p, t->cut, 0);
		pen_printf(p, "; checked are the %" PRIu64 " events before that", t->events);
		pen_line(p);
	}
	draw_limits(p, t);
}

void last_draw_failure(struct pen *p, const struct story_failure *f)
{
	static const char banner[] = "==================";
	struct str words;

	pen_add(p, banner);
	pen_line(p);
	pen_add(p, "WARNING: fission: ");
	pen_name(p, f->what, 0);
	pen_add(p, " (REPRODUCED)  ");
	pen_name(p, f->id, 0);
	pen_line(p);
	str_init(&words, p->to->arena);
	for (size_t i = 0; i < f->lines; i++) {
		str_clear(&words);
		harmless_add(&words, f->line[i], pen_manner(p->look));
		pen_add(p, "  ");
		pen_prose(p, 4, &words);
	}
	pen_add(p, "  Reproduce: fission replay ");
	pen_name(p, f->id, 0);
	pen_line(p);
	pen_add(p, "SUMMARY: fission: ");
	pen_name(p, f->what, 0);
	pen_line(p);
	pen_add(p, banner);
	pen_line(p);
}

void last_draw_hazards(struct pen *p, const struct story *s)
{
	size_t shown = s->hazards < HAZARDS_MOST ? s->hazards : HAZARDS_MOST;
	struct str words;

	str_init(&words, p->to->arena);
	for (size_t i = 0; i < shown; i++) {
		str_clear(&words);
		why_add_hazard(&words, s, &s->hazard[i], pen_manner(p->look));
		pen_add(p, "  ");
		pen_prose(p, 6, &words);
	}
	if (shown < s->hazards) {
		pen_printf(p, "  and %zu more", s->hazards - shown);
		pen_line(p);
	}
}

static void draw_suppression(struct pen *p, const struct story_suppression *l)
{
	pen_add(p, "fission: ");
	pen_name(p, l->place, 0);
	pen_add(p, l->expired ? ": expired: " : ": unused: ");
	pen_name(p, l->rule, 0);
	if (l->expired) {
		pen_add(p, " held until ");
		pen_name(p, l->expires, 0);
	}
	if (l->expired && l->owner.length) {
		pen_add(p, ", owner ");
		pen_name(p, l->owner, 0);
	}
	if (!l->expired)
		pen_add(p, " matches no finding of this run");
	else if (l->used)
		pen_printf(p, "; it no longer hides %" PRIu64 " finding%s", l->used, l->used == 1 ? "" : "s");
	else
		pen_add(p, "; it matches nothing any more");
	pen_line(p);
}

void last_draw_suppressions(struct pen *p, const struct story *s)
{
	uint64_t notes = 0;

	for (size_t i = 0; i < s->suppressions; i++)
		if ((s->suppression[i].expired || !s->suppression[i].used) && notes++ < SUPPRESSIONS_MOST)
			draw_suppression(p, &s->suppression[i]);
	if (notes > SUPPRESSIONS_MOST) {
		pen_printf(p, "fission: and %" PRIu64 " more suppressions that have expired or match nothing",
			notes - SUPPRESSIONS_MOST);
		pen_line(p);
	}
}

/* What the last line says. */
struct totals {
	uint64_t verdicts[VERDICTS]; /* of the findings that are shown */
	uint64_t *rules;             /* those that their rank hides, by the rule that decided; the last is none of ours */
	uint64_t by[HIDINGS], events;
	bool whole;
};

static size_t rule_number(const struct story_finding *f)
{
	size_t i = 0;

	while (i < rank_rule_count && !(f->reasons && text_is(f->reason[0].rule, rank_rules[i].name)))
		i++;
	return i;
}

/* Each finding is counted once, by the first reason to hide it. */
static void count_finding(struct totals *t, const struct story *s, const struct look *look, const struct story_finding *f)
{
	enum hiding why = look_hides(look, s, f);

	t->by[why]++;
	if (why == HIDE_NOT)
		t->verdicts[f->verdict]++;
	if (why == HIDE_RULE || why == HIDE_RANK)
		t->rules[rule_number(f)]++;
}

static void count_all(struct totals *t, const struct story *s, const struct look *look, struct arena *a)
{
	*t = (struct totals){.whole = true};
	t->rules = arena_alloc(a, (rank_rule_count + 1) * sizeof *t->rules);
	for (size_t i = 0; i < s->findings; i++)
		count_finding(t, s, look, &s->finding[i]);
	for (size_t i = 0; i < s->traces; i++) {
		t->events += s->trace[i].events;
		t->whole &= s->trace[i].fault.length == 0;
	}
}

static void add_unshown(struct pen *p, const struct totals *t)
{
	uint64_t by_rank = t->by[HIDE_RULE] + t->by[HIDE_RANK];
	const char *separator = ": ";

	if (t->by[HIDE_AGAIN])
		pen_printf(p, "; %" PRIu64 " more in the same code", t->by[HIDE_AGAIN]);
	if (by_rank)
		pen_printf(p, "; not shown: %" PRIu64 " by rank", by_rank);
	for (size_t i = 0; i < rank_rule_count; i++)
		if (t->rules[i]) {
			pen_printf(p, "%s%" PRIu64 " %s", separator, t->rules[i], rank_rules[i].name);
			separator = ", ";
		}
	pen_add(p, t->by[HIDE_AGAIN] || by_rank ? " (--show-hidden)" : "");
}

static void add_number(struct pen *p, uint64_t n, const char *one, const char *many)
{
	if (n)
		pen_printf(p, "; %" PRIu64 " %s", n, n == 1 ? one : many);
}

static void add_shown(struct pen *p, const struct story *s, const struct totals *t)
{
	const char *separator = "fission: ";

	for (int v = VERDICTS - 1; v >= 0; v--)
		if (t->verdicts[v]) {
			pen_printf(p, "%s%" PRIu64 " %s", separator, t->verdicts[v], verdict_text[v]);
			separator = ", ";
		}
	if (!t->by[HIDE_NOT])
		pen_add(p, !t->whole ? "fission: nothing found before the error" :
			s->findings ? "fission: nothing to show" : "fission: no violation");
	pen_printf(p, " in %" PRIu64 " event%s", t->events, t->events == 1 ? "" : "s");
}

/* Locks. */

/* The lock that a finding without data is about: those that were made at one place, "lock@pool.c:12#3", are one kind. */
static struct text lock_of(const struct story_finding *f)
{
	size_t n = f->lock.length;

	if (f->data || n < 5 || memcmp(f->lock.at, "lock@", 5) != 0)
		return f->data ? (struct text){"", 0} : f->lock;
	while (n > 0 && f->lock.at[n - 1] >= '0' && f->lock.at[n - 1] <= '9')
		n--;
	return n > 0 && n < f->lock.length && f->lock.at[n - 1] == '#' ? (struct text){f->lock.at, n - 1} : f->lock;
}

static bool is_about(const struct story_finding *f, struct text lock)
{
	struct text its = lock_of(f);

	return its.length == lock.length && memcmp(its.at, lock.at, lock.length) == 0;
}

/* How many of those shown, from number i on; 0 if an earlier one is about it, too. *others: some have a number. */
static size_t count_about(const struct pen *p, const struct story *s, size_t i, bool *others)
{
	struct text lock = lock_of(&s->finding[i]);
	size_t n = 0;

	*others = false;
	for (size_t k = 0; k < s->findings; k++) {
		const struct story_finding *f = &s->finding[k];

		if (look_hides(p->look, s, f) != HIDE_NOT || !is_about(f, lock))
			continue;
		if (k < i)
			return 0;
		*others |= f->lock.length != lock.length;
		n++;
	}
	return n;
}

void last_draw_locks(struct pen *p, const struct story *s)
{
	for (size_t i = 0; i < s->findings; i++) {
		struct text lock = lock_of(&s->finding[i]);
		bool others;
		size_t n = lock.length && look_hides(p->look, s, &s->finding[i]) == HIDE_NOT ? count_about(p, s, i, &others) : 0;

		if (n < 2)
			continue;
		pen_printf(p, "fission: %zu findings are about one lock. Suppress: atomicity_lock:", n);
		pen_name(p, suppression_pattern(p->to->arena, lock), 0);
		pen_add(p, others ? "*" : "");
		pen_line(p);
	}
}

void last_draw_counts(struct pen *p, const struct story *s)
{
	struct totals t;

	count_all(&t, s, p->look, p->to->arena);
	add_shown(p, s, &t);
	add_unshown(p, &t);
	add_number(p, s->failures, "crash, hang or deadlock", "crashes, hangs or deadlocks");
	add_number(p, story_hazards(s, HAZARD_RACE), "data race", "data races");
	add_number(p, story_hazards(s, HAZARD_DEADLOCK), "potential deadlock", "potential deadlocks");
	add_number(p, t.by[HIDE_SUPPRESSED], "suppressed", "suppressed");
	add_number(p, t.by[HIDE_KNOWN], "known from the baseline", "known from the baseline");
	pen_line(p);
}
