/* SPDX-License-Identifier: MIT */
#include "story.h"

#include <inttypes.h>
#include <string.h>

#include "base/str.h"
#include "report/look.h"

const char *const story_role_text[STORY_ROLES] = {
	[STORY_OTHER] = "", [STORY_FIRST] = "first", [STORY_CULPRIT] = "culprit", [STORY_SECOND] = "second",
};

const char *const story_hazard_text[] = {[HAZARD_RACE] = "race", [HAZARD_DEADLOCK] = "deadlock"};

const struct look look_plain = {.columns = 100};

bool text_is(struct text t, const char *word)
{
	return text_same(t, (struct text){word, strlen(word)});
}

bool text_same(struct text a, struct text b)
{
	return a.length == b.length && (a.length == 0 || memcmp(a.at, b.at, a.length) == 0);
}

const struct story_event *story_event(const struct story_finding *f, enum story_role role)
{
	for (size_t i = 0; i < f->events; i++)
		if (f->event[i].role == role)
			return &f->event[i];
	return NULL;
}

void story_add_place(struct str *to, const struct story_place *p)
{
	str_bytes(to, p->file.at, p->file.length);
	if (p->line)
		str_printf(to, "%s%" PRIu32, p->file.length ? ":" : "", p->line);
	if (p->line && p->column)
		str_printf(to, ":%" PRIu32, p->column);
}

void story_add_value(struct str *to, const struct story_event *e)
{
	if (e->is_unsigned)
		str_printf(to, "%" PRIu64, e->value);
	else
		str_printf(to, "%" PRId64, (int64_t)e->value);
}

uint64_t story_hazards(const struct story *s, enum hazard_kind kind)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->hazards; i++)
		n += s->hazard[i].kind == kind;
	return n;
}
