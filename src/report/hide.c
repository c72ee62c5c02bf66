/* SPDX-License-Identifier: MIT */
#include "hide.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/str.h"
#include "report/baseline.h"
#include "report/look.h"
#include "report/story.h"

/* A rank that is not asked for is only not shown: --fail-on names a rank of its own. */
const struct hiding_info hiding_info[HIDINGS] = {
	[HIDE_NOT] = {"no", "it is shown", true},
	[HIDE_SUPPRESSED] = {"suppressed", "a line of the suppression file accepts it", false},
	[HIDE_KNOWN] = {"known", "it is in the baseline", false},
	[HIDE_RULE] = {"rule", "a rule of its rank hides it", false},
	[HIDE_RANK] = {"rank", "its rank is not asked for", true},
	[HIDE_AGAIN] = {"again", "the same code is shown with another variable", true},
};

/* Without what the other findings say. With rank 0, every rank was asked for, and each finding for itself. */
static enum hiding why_alone(const struct story *s, const struct story_finding *f, bool new_only)
{
	if (f->suppressed.length)
		return HIDE_SUPPRESSED;
	if (new_only && f->known)
		return HIDE_KNOWN;
	if (f->hidden)
		return HIDE_RULE;
	return s->rank && f->rank > s->rank ? HIDE_RANK : HIDE_NOT;
}

enum hiding hide_why(const struct story *s, const struct story_finding *f, bool new_only)
{
	enum hiding why = why_alone(s, f, new_only);

	return why == HIDE_NOT && s->rank && f->again && !f->stands_in ? HIDE_AGAIN : why;
}

bool story_shows(const struct story *s, const struct story_finding *f)
{
	return hide_why(s, f, false) == HIDE_NOT;
}

/* Hidden ones can be asked for; together with new ones only, that is hidden ones among the new. */
enum hiding look_hides(const struct look *look, const struct story *s, const struct story_finding *f)
{
	if (look->show_hidden)
		return look->new_only && f->known ? HIDE_KNOWN : HIDE_NOT;
	return hide_why(s, f, look->new_only);
}

bool look_shows(const struct look *look, const struct story *s, const struct story_finding *f)
{
	return look_hides(look, s, f) == HIDE_NOT;
}

bool hide_counts(const struct story *s, const struct story_finding *f, struct threshold t, bool new_only)
{
	return f->verdict >= t.verdict && f->rank <= t.rank && hiding_info[hide_why(s, f, new_only)].counts;
}

bool hide_reaches(const struct story *s, struct threshold t, bool new_only)
{
	for (size_t i = 0; i < s->findings; i++)
		if (hide_counts(s, &s->finding[i], t, new_only))
			return true;
	return false;
}

bool hide_reached(const struct findings *f, struct threshold t)
{
	for (size_t i = 0; i < f->count; i++)
		if (f->at[i].verdict >= t.verdict && f->at[i].rank <= t.rank && !f->at[i].hidden)
			return true;
	return false;
}

/* The same code: the same function of the same trace. */
static uint64_t code_of(const struct story_finding *f)
{
	return hash_pair(hash_bytes(f->function.at, f->function.length), f->trace);
}

void hide_settle(struct story *s, bool new_only)
{
	struct map shown;

	map_init(&shown, s->arena);
	for (size_t i = 0; i < s->findings; i++) {
		struct story_finding *f = &s->finding[i];
		bool first = !map_get(&shown, code_of(f)), alone = why_alone(s, f, new_only) == HIDE_NOT;

		f->stands_in = f->again && alone && first;
		if (alone)
			*map_put(&shown, code_of(f)) = 1;
	}
}

/* ---- What a line of suppression looks at. */

/* The file in which the block itself stands: by its function's frame where the first access was made. */
static struct text file_of(const struct story *s, const struct story_finding *f)
{
	const struct story_event *e = story_event(f, STORY_FIRST);
	const struct story_stack *stack = e && e->stack < s->stacks ? &s->stack[e->stack] : NULL;

	for (size_t i = 0; stack && i < stack->count; i++)
		if (text_same(stack->at[i].function, f->function) && stack->at[i].place.file.length)
			return stack->at[i].place.file;
	return e && e->place.file.length ? e->place.file : f->place.file;
}

/* Where no data conflicts, what the finding is about are locks. */
static struct text variable_of(const struct story_finding *f, size_t *at)
{
	return f->data && *at < f->variables ? f->variable[(*at)++] : (struct text){NULL, 0};
}

static struct text lock_of(const struct story_finding *f, size_t *at)
{
	size_t i = (*at)++;

	if (f->lock.length && i-- == 0)
		return f->lock;
	return !f->data && i < f->variables ? f->variable[i] : (struct text){NULL, 0};
}

struct text hide_name(const struct story *s, const struct story_finding *f, enum suppression_kind kind, size_t *at)
{
	const struct text none = {NULL, 0};

	switch (kind) {
	case SUPPRESS_FUNCTION:
		return (*at)++ ? none : f->function;
	case SUPPRESS_VARIABLE:
		return variable_of(f, at);
	case SUPPRESS_LOCK:
		return lock_of(f, at);
	case SUPPRESS_FILE:
		return (*at)++ ? none : file_of(s, f);
	default:
		return (*at)++ ? none : f->id;
	}
}

bool hide_matches(const struct story *s, const struct story_finding *f, const struct suppression *line)
{
	struct text name;

	for (size_t at = 0; (name = hide_name(s, f, line->kind, &at)).length;)
		if (suppression_matches(line, name))
			return true;
	return false;
}

/* The first line that holds is the one that is told; all that match are of use. */
static void suppress(struct story *s, struct story_finding *f, struct suppressions *list)
{
	f->suppressed = f->reason_given = (struct text){NULL, 0};
	for (size_t i = 0; i < list->count; i++) {
		struct suppression *line = &list->at[i];

		if (!hide_matches(s, f, line))
			continue;
		line->used++;
		if (!line->expired && !f->suppressed.length) {
			f->suppressed = line->place;
			f->reason_given = line->reason;
		}
	}
}

static struct text copy(struct arena *a, struct text t)
{
	return (struct text){arena_text(a, t.at ? t.at : "", t.length), t.length};
}

/* "atomicity:withdraw" */
static struct text rule_of(struct arena *a, const struct suppression *line)
{
	struct str s;

	str_init(&s, a);
	str_printf(&s, "%s:", suppression_word[line->kind]);
	str_bytes(&s, line->pattern.at, line->pattern.length);
	return (struct text){s.at, s.length};
}

static struct story_suppression told(struct arena *a, const struct suppression *line)
{
	struct story_suppression to = {.place = copy(a, line->place), .rule = rule_of(a, line),
		.reason = copy(a, line->reason), .owner = copy(a, line->owner), .expired = line->expired, .used = line->used};
	char day[DATE_LENGTH + 1];

	if (line->expires) {
		date_write(line->expires, day);
		to.expires = copy(a, (struct text){day, DATE_LENGTH});
	}
	return to;
}

void hide_suppressed(struct story *s, struct suppressions *list)
{
	for (size_t i = 0; i < list->count; i++)
		list->at[i].used = 0;
	for (size_t i = 0; i < s->findings; i++)
		suppress(s, &s->finding[i], list);
	s->suppression = arena_alloc(s->arena, list->count * sizeof *s->suppression + 1);
	s->suppressions = list->count;
	for (size_t i = 0; i < list->count; i++)
		s->suppression[i] = told(s->arena, &list->at[i]);
}

void hide_known(struct story *s, const struct baseline *b)
{
	for (size_t i = 0; i < s->findings; i++)
		s->finding[i].known = baseline_has(b, s->finding[i].id);
}
