/* SPDX-License-Identifier: MIT */
#include "text_why.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "policy/rank.h"
#include "report/look.h"
#include "report/words.h"

/* "  Why: ", and the words up to the width. */
static void draw_paragraph(struct pen *p, const char *label, const struct str *words)
{
	pen_add(p, "  ");
	pen_add(p, label);
	pen_add(p, " ");
	pen_prose(p, strlen(label) > 5 ? 4 : (unsigned)strlen(label) + 3, words);
}

static void add_thread(struct str *to, const struct story *s, uint32_t thread, struct harmless how)
{
	str_add(to, "thread ");
	harmless_add(to, thread < s->threads ? s->thread[thread].name : text_of("?"), how);
}

/* "T1, T2" as "T1 before T2" */
static void add_order(struct str *to, struct text order, struct harmless how)
{
	struct str words;

	str_init(&words, to->arena);
	harmless_add(&words, order, how);
	for (size_t i = 0; i < words.length; i++)
		if (words.at[i] == ',' && words.at[i + 1] == ' ')
			str_add(to, " before");
		else
			str_char(to, words.at[i]);
}

/* The outcome that was seen, if it and all serial ones are known and it is none of them. */
static const struct story_outcome *telling_outcome(const struct story_finding *f)
{
	const struct story_outcome *seen = f->outcomes > 1 ? &f->outcome[f->outcomes - 1] : NULL;

	if (!seen || !seen->known || seen->serial)
		return NULL;
	for (const struct story_outcome *o = f->outcome; o < seen; o++)
		if (!o->known || o->value == seen->value || !text_same(o->variable, seen->variable))
			return NULL;
	return seen;
}

/* "T1 before T2 ends with 'balance' = 20" */
static void add_outcome(struct str *to, const struct story_outcome *o, const char *ends, struct harmless how)
{
	add_order(to, o->order, how);
	str_printf(to, " %s with '", ends);
	harmless_add(to, o->variable, how);
	str_printf(to, "' = %" PRId64, o->value);
}

/* "T1 before T2 and T2 before T1 both end with 'balance' = 20; this order ends with -60." */
static void add_outcomes(struct str *to, const struct story_finding *f, struct harmless how)
{
	const struct story_outcome *o = f->outcome, *seen = &o[f->outcomes - 1];

	if (f->outcomes == 3 && o[0].value == o[1].value) {
		add_order(to, o[0].order, how);
		str_add(to, " and ");
		add_outcome(to, &o[1], "both end", how);
	} else {
		for (; o < seen; o++) {
			str_add(to, o == f->outcome ? "" : ", ");
			add_outcome(to, o, "ends", how);
		}
	}
	str_printf(to, "; this order %s with %" PRId64 ".", f->happened ? "ends" : "would end", seen->value);
}

static const char *culprits(const struct story_finding *f)
{
	return words_roles(f, STORY_CULPRIT) == 1 ? "CULPRIT" : "the CULPRITs";
}

/* What the block has been seen to do, in this run. */
static void add_seen(struct str *to, const struct story *s, const struct story_finding *f, struct harmless how)
{
	bool one = words_roles(f, STORY_CULPRIT) == 1;

	str_printf(to, "FIRST comes before %s, and %s before SECOND; so whatever else moves, the block of ", culprits(f),
		one ? "CULPRIT" : "they come");
	add_thread(to, s, f->thread, how);
	str_add(to, " cannot run in one piece. No serial order ");
	str_add(to, f->data ? "gives this run." : "takes the locks in this order; what that does to the data was not seen.");
}

/* What did not happen in this run: in another one it would, or nothing was seen that would keep it from happening. */
static void add_unseen(struct str *to, const struct story_finding *f)
{
	bool one = words_roles(f, STORY_CULPRIT) == 1;

	if (words_mood(f) == MOOD_CAN)
		str_printf(to, "nothing that came before either of them orders %s before FIRST or behind SECOND: another "
			"schedule of the same program puts %s between the two, and no serial order gives that run.",
			culprits(f), one ? "it" : "them");
	else
		str_printf(to, "no lock that the block holds from FIRST to SECOND keeps %s out. If %s between the two, no "
			"serial order gives that run. Whether that can be, this run does not prove.",
			culprits(f), one ? "it comes" : "they come");
}

static void add_irreducible(struct str *to)
{
	str_add(to, "what the block has done can be put off up to the commit and no further; what it does after that would have "
		"to be possible at once, and the violation need not be: others may come first.");
}

void why_draw(struct pen *p, const struct story *s, const struct story_finding *f)
{
	struct harmless how = pen_manner(p->look);
	struct str words;

	str_init(&words, p->to->arena);
	if (words_is_reduction(f))
		add_irreducible(&words);
	else if (telling_outcome(f))
		add_outcomes(&words, f, how);
	else if (words_mood(f) == MOOD_DOES)
		add_seen(&words, s, f, how);
	else
		add_unseen(&words, f);
	draw_paragraph(p, "Why:", &words);
}

/* What the values of the run say, by the kind of the evidence of check --values: docs/checks.md, "nonatomic". */
static const struct {
	const char *kind, *text;
} values_say[] = {
	{"value", "no serial order of the blocks explains what was read in this run."},
	{"final", "a serial order explains what was read in this run, but none leaves memory as this run did."},
	{"cycle", "a cycle, but a serial order would explain the values: what was read in this run, and what is left."},
};

void why_draw_values(struct pen *p, const struct story_finding *f)
{
	struct str words;

	for (size_t i = 0; i < f->evidences; i++)
		for (size_t k = 0; k < sizeof values_say / sizeof *values_say; k++)
			if (text_is(f->evidence[i].check, "nonatomic") && text_is(f->evidence[i].kind, values_say[k].kind)) {
				str_init(&words, p->to->arena);
				str_add(&words, values_say[k].text);
				draw_paragraph(p, "Values:", &words);
			}
}

/* "write a.c:7", and of a lock which one. */
static void add_access(struct str *to, const struct story *s, const struct story_event *e, struct harmless how)
{
	str_add(to, e->word);
	if (!e->data) {
		str_char(to, ' ');
		harmless_add(to, e->object, how);
	}
	if (e->place.file.length || e->place.line)
		str_char(to, ' ');
	words_place(to, &e->place, how);
	str_add(to, " in ");
	add_thread(to, s, e->thread, how);
}

void why_add_hazard(struct str *to, const struct story *s, const struct story_hazard *h, struct harmless how)
{
	str_add(to, h->kind == HAZARD_RACE ? "data race on '" : "potential deadlock: ");
	if (h->kind == HAZARD_RACE) {
		harmless_add(to, h->object, how);
		str_add(to, "': ");
	}
	for (size_t i = 0; i < h->events; i++) {
		str_add(to, i == 0 ? "" : h->kind == HAZARD_RACE ? ", " : i % 2 ? " then " : "; ");
		add_access(to, s, &h->event[i], how);
	}
}

/* What a hindrance is in words, where there is nothing to point at. */
static const struct hindrance {
	const char *name, *words;
} hindrances[] = {
	{"race", "there is a data race in its way"},
	{"deadlock", "there is a potential deadlock in its way"},
	{"incomplete", "events of the run are missing"},
	{"unchecked", "data races and deadlocks were not looked for, or not to the end"},
};

static const char *hindrance_words(struct text name)
{
	for (size_t i = 0; i < sizeof hindrances / sizeof *hindrances; i++)
		if (text_is(name, hindrances[i].name))
			return hindrances[i].words;
	return "something stands in its way";
}

void why_draw_hindrance(struct pen *p, const struct story *s, const struct story_finding *f)
{
	struct str words;

	if (!f->hindrance.length || f->verdict != VERDICT_SUSPECTED)
		return;
	str_init(&words, p->to->arena);
	if (f->hazard < s->hazards)
		why_add_hazard(&words, s, &s->hazard[f->hazard], pen_manner(p->look));
	else
		str_add(&words, hindrance_words(f->hindrance));
	str_add(&words, f->guessed ? ", whose order a recording does not show." : ".");
	draw_paragraph(p, f->guessed ? "Not observed:" : "Not predicted:", &words);
}

void why_draw_rank(struct pen *p, const struct story_finding *f)
{
	struct harmless how = pen_manner(p->look);
	struct str words;

	str_init(&words, p->to->arena);
	str_printf(&words, "%u%s", f->rank, f->reasons ? ", " : "");
	for (size_t i = 0; i < f->reasons; i++) {
		str_add(&words, i ? "; also " : "");
		harmless_add(&words, f->reason[i].why, how);
	}
	str_char(&words, '.');
	draw_paragraph(p, "Rank:", &words);
}

static bool is_evidence(struct text rule)
{
	for (size_t i = 0; i < rank_rule_count; i++)
		if (text_is(rule, rank_rules[i].name))
			return rank_rules[i].rank == 1 && rank_rules[i].facts != FACT_DECLARED;
	return false;
}

struct text why_headline(const struct story_finding *f)
{
	bool declared = f->reasons && text_is(f->reason[0].rule, "declared");

	if (declared && f->reasons > 1 && is_evidence(f->reason[1].rule))
		return f->reason[1].rule;
	return f->reasons ? f->reason[0].rule : text_of("");
}
