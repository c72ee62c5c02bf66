/* SPDX-License-Identifier: MIT */
/*
 * A line a finding as gcc writes its warnings, with notes for the other accesses: what editors and CI read.
 *
 *   bank.c:15:7: warning: withdraw() is not atomic: 'balance' can change between its check and its update. [fsn-7c1f0a2b]
 *   bank.c:32:2: note: CULPRIT: write of 'balance' in thread T3
 *
 * Whatever a name holds, a line is a line: harmless texts have no line breaks.
 */
#include <inttypes.h>

#include "base/str.h"
#include "report/look.h"
#include "report/report.h"
#include "report/words.h"

/* A path is of no use if it is cut. */
enum { PATH_MOST = 4096 };

/* "bank.c:15:7: "; who speaks instead, if there is no place. */
static void add_place(struct str *to, const struct story_place *p, struct harmless how)
{
	if (!p->file.length) {
		str_add(to, "fission: ");
		return;
	}
	harmless_add(to, p->file, (struct harmless){how.utf8, PATH_MOST});
	if (p->line)
		str_printf(to, ":%" PRIu32, p->line);
	if (p->line && p->column)
		str_printf(to, ":%" PRIu32, p->column);
	str_add(to, ": ");
}

static void add_note(struct str *to, const struct story *s, const struct story_event *e, struct harmless how)
{
	static const char *const roles[STORY_ROLES] = {
		[STORY_FIRST] = "FIRST", [STORY_CULPRIT] = "CULPRIT", [STORY_SECOND] = "SECOND",
	};

	add_place(to, &e->place, how);
	str_printf(to, "note: %s: ", roles[e->role]);
	words_operation(to, e, how);
	str_add(to, " in thread ");
	harmless_add(to, e->thread < s->threads ? s->thread[e->thread].name : text_of("?"), how);
	str_char(to, '\n');
}

static void add_finding(struct str *to, const struct story *s, const struct story_finding *f, struct harmless how)
{
	const struct story_event *first = story_event(f, STORY_FIRST);

	add_place(to, first && first->place.file.length ? &first->place : &f->place, how);
	str_add(to, "warning: ");
	words_sentence(to, f, how);
	str_add(to, " [");
	harmless_add(to, f->id, how);
	str_add(to, "]\n");
	for (size_t i = 0; i < f->events; i++)
		if (f->event[i].role == STORY_CULPRIT || f->event[i].role == STORY_SECOND)
			add_note(to, s, &f->event[i], how);
}

static void gcc_render(const struct story *s, const struct look *look, struct str *to)
{
	struct harmless how = {.utf8 = look->utf8};

	for (size_t i = 0; i < s->findings; i++)
		if (look_shows(look, s, &s->finding[i]))
			add_finding(to, s, &s->finding[i], how);
}

const struct renderer render_gcc = {
	.name = "gcc",
	.render = gcc_render,
};
