/* SPDX-License-Identifier: MIT */
#include "baseline.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "policy/lines.h"
#include "policy/suppressions.h"
#include "report/story.h"

static const char default_head[] =
	"# Findings that are known: with --baseline=FILE --new-only they are not shown and do not fail a build.\n"
	"# Made by 'fission baseline', which sorts it. One id a line; what stands behind # is for people.\n"
	"\n";

enum { NAME_MOST = 100 };

void baseline_init(struct baseline *b, struct arena *a)
{
	*b = (struct baseline){.arena = a};
	map_init(&b->ids, a);
}

/* The digits of a good id. */
static uint32_t number_of(struct text id)
{
	uint32_t n = 0;

	for (size_t i = 4; i < id.length; i++)
		n = n << 4 | (uint32_t)(id.at[i] <= '9' ? id.at[i] - '0' : id.at[i] - 'a' + 10);
	return n;
}

uint32_t baseline_index(const struct baseline *b, struct text id)
{
	return id_is_good(id, ID_DIGITS) ? map_get(&b->ids, number_of(id)) : 0;
}

bool baseline_has(const struct baseline *b, struct text id)
{
	return baseline_index(b, id) > 0;
}

/* The text is kept. */
static void add(struct baseline *b, uint32_t id, struct text text)
{
	b->at = arena_reserve(b->arena, b->at, &b->capacity, b->count, sizeof *b->at);
	b->at[b->count] = (struct baseline_entry){id, text};
	*map_put(&b->ids, id) = (uint32_t)++b->count;
}

/* ---- Reading. */

/* Marks that git leaves in a file; "=======" and the like are no ids, but this helps more than saying so. */
static bool is_conflict(struct text word)
{
	return word.length == 7 && memchr("<=>|", *word.at, 4) && memcmp(word.at, word.at + 1, 6) == 0;
}

static bool id_line(struct lines *l, struct text word)
{
	struct text more;

	if (is_conflict(word))
		return lines_wrong(l, word, "a merge conflict; keep the lines of both sides and remove the marks");
	if (!id_is_good(word, ID_DIGITS))
		return lines_wrong(l, word, "'%.60s' is no id; write fsn- and %d hexadecimal digits, such as fsn-7c1f0a2b",
			lines_copy(l, word), ID_DIGITS);
	more = lines_word(l);
	if (more.length)
		return lines_wrong(l, more, "'%.60s' is one word too many; write # before what is for people",
			lines_copy(l, more));
	return true;
}

/* The bytes of whole lines, from line number `first` up to but without `end`, both from 0. */
static struct text lines_between(const struct baseline *b, const struct lines *l, size_t first, size_t end)
{
	size_t from = l->source.line[first], to = end < l->source.lines ? l->source.line[end] : l->source.length;
	struct str s;

	str_init(&s, b->arena);
	for (size_t i = from; i < to; i++)
		if (l->source.at[i] != '\r')
			str_char(&s, l->source.at[i]);
	if (s.length && s.at[s.length - 1] != '\n')
		str_char(&s, '\n');
	return (struct text){s.at, s.length};
}

/* Comments belong to the id below them; those at the top, up to an empty line, to the file. */
static bool all_lines(struct baseline *b, struct lines *l)
{
	size_t start = 0;
	bool top = true;

	while (lines_next(l)) {
		bool blank = l->at == l->end;
		struct text word = lines_word(l);

		if (!word.length && top && blank) {
			b->head = lines_between(b, l, 0, l->next);
			start = l->next;
		}
		top = top && !word.length && !blank;
		if (!word.length)
			continue;
		if (!id_line(l, word))
			return false;
		if (!map_get(&b->ids, number_of(word)))
			add(b, number_of(word), lines_between(b, l, start, l->next));
		start = l->next;
	}
	b->tail = lines_between(b, l, start, l->source.lines);
	return !fault_is_set(l->fault);
}

bool baseline_read(struct baseline *b, const char *path, struct fault *fault)
{
	struct arena scratch;
	struct lines l;
	bool good;

	arena_init(&scratch);
	good = lines_open(&l, &scratch, path, fault) && all_lines(b, &l);
	if (!good)
		fault->status = STATUS_CONFIG;
	arena_free(&scratch);
	return good;
}

/* ---- Writing. */

/* A name in a comment, which must stay one line and is there to be recognised, not to be whole. */
static void add_name(struct str *to, struct text name)
{
	for (size_t i = 0; i < name.length && i < NAME_MOST; i++)
		str_char(to, (unsigned char)name.at[i] < 32 || name.at[i] == 127 ? '?' : name.at[i]);
	if (name.length > NAME_MOST)
		str_add(to, "...");
}

static struct text entry_of(struct arena *a, const struct story_finding *f)
{
	struct str s;

	str_init(&s, a);
	str_bytes(&s, f->id.at, f->id.length);
	str_add(&s, " # ");
	if (f->function.length)
		add_name(&s, f->function);
	else
		add_name(&s, f->place.file);
	for (size_t i = 0; i < f->variables && i < 3; i++) {
		str_add(&s, i ? ", " : ": ");
		add_name(&s, f->variable[i]);
	}
	str_char(&s, '\n');
	return (struct text){s.at, s.length};
}

size_t baseline_add(struct baseline *b, const struct story *s)
{
	size_t before = b->count;

	for (size_t i = 0; i < s->findings; i++) {
		const struct story_finding *f = &s->finding[i];

		if (id_is_good(f->id, ID_DIGITS) && !baseline_has(b, f->id))
			add(b, number_of(f->id), entry_of(b->arena, f));
	}
	return b->count - before;
}

static int by_id(const void *left, const void *right)
{
	const struct baseline_entry *a = left, *b = right;

	return a->id < b->id ? -1 : a->id > b->id;
}

void baseline_write(const struct baseline *b, struct str *to)
{
	struct baseline_entry *sorted = arena_alloc(b->arena, b->count * sizeof *sorted + 1);

	if (b->count) {
		memcpy(sorted, b->at, b->count * sizeof *sorted);
		qsort(sorted, b->count, sizeof *sorted, by_id);
	}
	if (b->head.length)
		str_bytes(to, b->head.at, b->head.length);
	else
		str_add(to, default_head);
	for (size_t i = 0; i < b->count; i++)
		str_bytes(to, sorted[i].text.at, sorted[i].text.length);
	if (b->tail.length)
		str_bytes(to, b->tail.at, b->tail.length);
}
