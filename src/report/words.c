/* SPDX-License-Identifier: MIT */
#include "words.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/str.h"

static bool is_one_of(struct text t, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (text_is(t, words[i]))
			return true;
	return false;
}

size_t words_roles(const struct story_finding *f, enum story_role role)
{
	size_t n = 0;

	for (size_t i = 0; i < f->events; i++)
		n += f->event[i].role == role;
	return n;
}

bool words_writes(const struct story_event *e)
{
	return e->data && strcmp(e->word, "read") != 0 && strcmp(e->word, "atomic load") != 0;
}

bool words_is_reduction(const struct story_finding *f)
{
	return !story_event(f, STORY_CULPRIT);
}

/* Whether a check has seen the run itself go this way, by data or by locks. */
static bool is_proven(const struct story_finding *f)
{
	static const char *const proofs[] = {"split", "cycle", "IN"};

	for (size_t i = 0; i < f->evidences; i++)
		if (is_one_of(f->evidence[i].kind, proofs, 3))
			return true;
	return false;
}

enum mood words_mood(const struct story_finding *f)
{
	if (f->happened && is_proven(f))
		return MOOD_DOES;
	return f->verdict == VERDICT_SUSPECTED ? MOOD_MAY : MOOD_CAN;
}

void words_place(struct str *to, const struct story_place *p, struct harmless how)
{
	harmless_add(to, p->file, how);
	if (p->line)
		str_printf(to, "%s%" PRIu32, p->file.length ? ":" : "line ", p->line);
}

void words_operation(struct str *to, const struct story_event *e, struct harmless how)
{
	str_add(to, e->word);
	if (!e->object.length)
		return;
	str_add(to, " of '");
	harmless_add(to, e->object, how);
	str_char(to, '\'');
}

bool words_callable(struct text t)
{
	for (size_t i = 0; i < t.length; i++)
		if (!isalnum((unsigned char)t.at[i]) && !strchr("_:~<>, *&.$@", t.at[i]) && !((unsigned char)t.at[i] & 0x80))
			return false;
	return t.length > 0;
}

void words_function(struct str *to, struct text name, struct harmless how)
{
	harmless_add(to, name, how);
	str_add(to, words_callable(name) ? "()" : "");
}

static bool has_place(const struct story_place *p)
{
	return p->file.length || p->line;
}

void words_block(struct str *to, const struct story_finding *f, struct harmless how)
{
	bool known = has_place(&f->place);

	if (f->function.length) {
		if (f->declared)
			harmless_add(to, f->function, how);
		else
			words_function(to, f->function, how);
		str_add(to, !f->declared ? "" : known ? ", declared atomic at " : ", declared atomic,");
	} else {
		str_add(to, f->declared ? "the block declared atomic" : "the section of a lock");
		str_add(to, !known ? "" : f->declared ? " at " : " taken at ");
	}
	if (known && (f->declared || !f->function.length))
		words_place(to, &f->place, how);
	if (known && f->declared && f->function.length)
		str_char(to, ',');
}

/* Accesses of one variable that no serial order has in this order, and how it is said. */
static const struct pattern {
	bool first, culprit, second; /* whether it writes */
	const char *does, *can;      /* what becomes of the variable */
	const char *between;
} patterns[] = {
	{false, true, false, "changes", "change", "its check and its use"},
	{false, true, true, "changes", "change", "its check and its update"},
	{true, true, false, "is overwritten", "be overwritten", "its write and its use"},
	{true, true, true, "is overwritten", "be overwritten", "its two writes"},
	{true, false, true, "is read half-done", "be read half-done", "its two writes"},
};

static const struct pattern *pattern_by(const struct story_event *first, const struct story_event *culprit,
	const struct story_event *second)
{
	for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
		if (patterns[i].first == words_writes(first) && patterns[i].culprit == words_writes(culprit) &&
			patterns[i].second == words_writes(second))
			return &patterns[i];
	return NULL;
}

/* A culprit on the very variable of both own accesses: the case that reads best. */
static const struct pattern *pattern_of(const struct story_finding *f)
{
	const struct story_event *first = story_event(f, STORY_FIRST), *second = story_event(f, STORY_SECOND);
	const struct pattern *found = NULL;

	if (!first || !second || !first->data || !second->data || !text_same(first->object, second->object))
		return NULL;
	for (size_t i = 0; i < f->events && !found; i++)
		if (f->event[i].role == STORY_CULPRIT && f->event[i].data && text_same(first->object, f->event[i].object))
			found = pattern_by(first, &f->event[i], second);
	return found;
}

static const char *const modal[] = {[MOOD_DOES] = "", [MOOD_CAN] = "can ", [MOOD_MAY] = "may "};

static void add_pattern(struct str *to, const struct story_finding *f, const struct pattern *p, struct harmless how)
{
	enum mood mood = words_mood(f);

	str_char(to, '\'');
	harmless_add(to, story_event(f, STORY_FIRST)->object, how);
	str_printf(to, "' %s%s between %s.", modal[mood], mood == MOOD_DOES ? p->does : p->can, p->between);
}

static void add_path(struct str *to, const struct story_finding *f, struct harmless how)
{
	const struct story_event *first = story_event(f, STORY_FIRST), *second = story_event(f, STORY_SECOND);

	str_printf(to, "other threads %sget in", modal[words_mood(f)]);
	if (!first || !second) {
		str_char(to, '.');
		return;
	}
	str_add(to, " between its ");
	words_operation(to, first, how);
	str_add(to, " and its ");
	words_operation(to, second, how);
	str_char(to, '.');
}

static void add_reduction(struct str *to, const struct story_finding *f, struct harmless how)
{
	const struct story_event *first = story_event(f, STORY_FIRST), *second = story_event(f, STORY_SECOND);

	str_add(to, " may be split");
	if (first && second) {
		str_add(to, ": others can see it from its ");
		words_operation(to, first, how);
		str_add(to, " on, and it depends on them at its ");
		words_operation(to, second, how);
	}
	str_char(to, '.');
}

/* Where it was made to happen, others had the lock. */
static void add_reproduced_locks(struct str *to, const struct story_finding *f, struct harmless how)
{
	str_add(to, " was split, at lock level: ");
	harmless_add(to, f->lock, how);
	str_add(to, " was taken by another thread in between.");
}

static void add_locks_only(struct str *to, const struct story_finding *f, struct harmless how)
{
	if (f->verdict == VERDICT_REPRODUCED && f->lock.length) {
		add_reproduced_locks(to, f, how);
		return;
	}
	str_add(to, " can be split: ");
	if (f->lock.length) {
		harmless_add(to, f->lock, how);
		str_add(to, " is free in between");
	} else {
		str_add(to, "others can get in");
	}
	str_add(to, "; no data conflict seen.");
}

void words_sentence(struct str *to, const struct story_finding *f, struct harmless how)
{
	const struct pattern *pattern;

	words_block(to, f, how);
	if (words_is_reduction(f)) {
		add_reduction(to, f, how);
		return;
	}
	if (!f->data) {
		add_locks_only(to, f, how);
		return;
	}
	str_add(to, words_mood(f) == MOOD_MAY ? " may not be atomic: " : " is not atomic: ");
	pattern = pattern_of(f);
	if (pattern)
		add_pattern(to, f, pattern, how);
	else
		add_path(to, f, how);
}
