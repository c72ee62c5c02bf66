/* SPDX-License-Identifier: MIT */
#include "text_last.h"

#include <inttypes.h>

#include "base/arena.h"
#include "base/str.h"
#include "policy/rank.h"
#include "report/look.h"
#include "report/text_why.h"

enum { HAZARDS_MOST = 20 };

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

/* What the last line says. */
struct totals {
	uint64_t verdicts[VERDICTS]; /* of the findings that are shown */
	uint64_t *rules;             /* those that are not shown, by the rule that decided; the last is none of ours */
	uint64_t shown, unshown, again, suppressed, known, events;
	bool whole;
};

static size_t rule_number(const struct story_finding *f)
{
	size_t i = 0;

	while (i < rank_rule_count && !(f->reasons && text_is(f->reason[0].rule, rank_rules[i].name)))
		i++;
	return i;
}

/* Each finding is counted once, by what comes first: shown, suppressed, known, the same code again, its rank. */
static void count_finding(struct totals *t, const struct story *s, const struct look *look, const struct story_finding *f)
{
	if (look_shows(look, s, f)) {
		t->verdicts[f->verdict]++;
		t->shown++;
	} else if (f->suppressed.length) {
		t->suppressed++;
	} else if (look->new_only && f->known) {
		t->known++;
	} else if (f->again && !f->hidden && f->rank <= s->rank) {
		t->again++;
	} else {
		t->rules[rule_number(f)]++;
		t->unshown++;
	}
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
	const char *separator = ": ";

	if (t->again)
		pen_printf(p, "; %" PRIu64 " more in the same code", t->again);
	if (t->unshown)
		pen_printf(p, "; not shown: %" PRIu64 " by rank", t->unshown);
	for (size_t i = 0; i < rank_rule_count; i++)
		if (t->rules[i]) {
			pen_printf(p, "%s%" PRIu64 " %s", separator, t->rules[i], rank_rules[i].name);
			separator = ", ";
		}
	pen_add(p, t->again || t->unshown ? " (--show-hidden)" : "");
}

static void add_number(struct pen *p, uint64_t n, const char *one, const char *many)
{
	if (n)
		pen_printf(p, "; %" PRIu64 " %s", n, n == 1 ? one : many);
}

static bool hides_any(const struct totals *t)
{
	return t->unshown || t->again || t->suppressed || t->known;
}

static void add_shown(struct pen *p, const struct totals *t)
{
	const char *separator = "fission: ";

	for (int v = VERDICTS - 1; v >= 0; v--)
		if (t->verdicts[v]) {
			pen_printf(p, "%s%" PRIu64 " %s", separator, t->verdicts[v], verdict_text[v]);
			separator = ", ";
		}
	if (!t->shown)
		pen_add(p, !t->whole ? "fission: nothing found before the error" :
			hides_any(t) ? "fission: nothing to show" : "fission: no violation");
	pen_printf(p, " in %" PRIu64 " event%s", t->events, t->events == 1 ? "" : "s");
}

void last_draw_counts(struct pen *p, const struct story *s)
{
	struct totals t;

	count_all(&t, s, p->look, p->to->arena);
	add_shown(p, &t);
	add_unshown(p, &t);
	add_number(p, story_hazards(s, HAZARD_RACE), "data race", "data races");
	add_number(p, story_hazards(s, HAZARD_DEADLOCK), "potential deadlock", "potential deadlocks");
	add_number(p, t.suppressed, "suppressed", "suppressed");
	add_number(p, t.known, "known from the baseline", "known from the baseline");
	pen_line(p);
}
