/* SPDX-License-Identifier: MIT */
#include "diff.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/str.h"
#include "report/harmless.h"
#include "report/hide.h"
#include "report/json_out.h"
#include "report/look.h"
#include "report/story.h"
#include "report/words.h"

enum { DIFF_VERSION = 1 };

static const char *const kind_text[DIFF_KINDS] = {
	[DIFF_NEW] = "new", [DIFF_GONE] = "gone", [DIFF_STILL] = "still",
};

static uint64_t key_of(const struct story_finding *f)
{
	return hash_bytes(f->id.at, f->id.length);
}

/* Ids to index + 1, of the first finding that has it. */
static void index_ids(struct map *m, struct arena *a, const struct story *s)
{
	map_init(m, a);
	for (size_t i = 0; i < s->findings; i++) {
		uint32_t *at = map_put(m, key_of(&s->finding[i]));

		if (!*at)
			*at = (uint32_t)i + 1;
	}
}

static const struct story_finding *found(const struct map *m, const struct story *s, const struct story_finding *f)
{
	uint32_t at = map_get(m, key_of(f));

	return at ? &s->finding[at - 1] : NULL;
}

static void add(struct diff *d, enum diff_kind kind, struct diff_row row)
{
	d->row[kind][d->count[kind]++] = row;
}

void diff_make(struct diff *d, struct arena *a, const struct story *before, const struct story *after)
{
	struct map old, new;

	*d = (struct diff){.before = before, .after = after};
	for (int k = 0; k < DIFF_KINDS; k++)
		d->row[k] = arena_alloc(a, (before->findings + after->findings + 1) * sizeof *d->row[k]);
	index_ids(&old, a, before);
	index_ids(&new, a, after);
	for (size_t i = 0; i < after->findings; i++) {
		const struct story_finding *f = &after->finding[i], *was = found(&old, before, f);

		if (found(&new, after, f) == f)
			add(d, was ? DIFF_STILL : DIFF_NEW, (struct diff_row){was, f});
	}
	for (size_t i = 0; i < before->findings; i++) {
		const struct story_finding *f = &before->finding[i];

		if (found(&old, before, f) == f && !found(&new, after, f))
			add(d, DIFF_GONE, (struct diff_row){f, NULL});
	}
}

bool diff_reaches(const struct diff *d, struct threshold t)
{
	for (size_t i = 0; i < d->count[DIFF_NEW]; i++)
		if (hide_counts(d->after, d->row[DIFF_NEW][i].after, t, false))
			return true;
	return false;
}

/* ---- For people. */

static bool has_changed(const struct diff_row *r)
{
	return r->before && r->after && (r->before->verdict != r->after->verdict || r->before->rank != r->after->rank);
}

/* Each finding is told for itself here: that the same code is shown already is no reason to leave it out. */
static bool is_shown(const struct story *s, const struct story_finding *f)
{
	enum hiding why = f ? hide_why(s, f, false) : HIDE_RULE;

	return why == HIDE_NOT || why == HIDE_AGAIN;
}

static bool row_shows(const struct diff *d, const struct diff_row *r, const struct look *look)
{
	return look->show_hidden || is_shown(d->before, r->before) || is_shown(d->after, r->after);
}

static void add_what(struct str *to, const struct story_finding *f, struct harmless how)
{
	if (f->function.length)
		words_function(to, f->function, how);
	else
		harmless_add(to, f->place.file.length ? f->place.file : text_of("code without a name"), how);
	for (size_t i = 0; i < f->variables && i < 3; i++) {
		str_add(to, i ? ", " : ": ");
		harmless_add(to, f->variable[i], how);
	}
	if (f->suppressed.length)
		str_add(to, " (suppressed)");
	else if (f->hidden)
		str_add(to, " (hidden by its rank)");
}

/* "new    fsn-7c1f0a2b  predicted, rank 1  withdraw(): balance" */
static void add_row(struct str *to, enum diff_kind kind, const struct diff_row *r, const struct look *look)
{
	const struct story_finding *f = r->after ? r->after : r->before;
	struct harmless how = {.utf8 = look->utf8};

	str_printf(to, "%-7s", kind_text[kind]);
	harmless_add(to, f->id, how);
	str_printf(to, "  %s, rank %u", verdict_text[f->verdict], f->rank);
	if (has_changed(r))
		str_printf(to, " (was %s, rank %u)", verdict_text[r->before->verdict], r->before->rank);
	str_add(to, "  ");
	add_what(to, f, how);
	str_char(to, '\n');
}

void diff_text(const struct diff *d, const struct look *look, struct str *to)
{
	size_t shown[DIFF_KINDS] = {0}, changed = 0, hidden = 0;

	for (int k = 0; k < DIFF_KINDS; k++)
		for (size_t i = 0; i < d->count[k]; i++) {
			const struct diff_row *r = &d->row[k][i];

			if (!row_shows(d, r, look)) {
				hidden++;
				continue;
			}
			add_row(to, (enum diff_kind)k, r, look);
			changed += has_changed(r);
			shown[k]++;
		}
	str_printf(to, "fission: %zu new, %zu gone, %zu still there", shown[DIFF_NEW], shown[DIFF_GONE], shown[DIFF_STILL]);
	if (changed)
		str_printf(to, ", %zu of them changed", changed);
	if (hidden)
		str_printf(to, "; not shown: %zu (--show-hidden)", hidden);
	str_char(to, '\n');
}

/* ---- For machines. */

static void json_state(struct json_out *j, const struct story_finding *f)
{
	json_word(j, "verdict", verdict_text[f->verdict]);
	json_number(j, "rank", f->rank);
	json_bool(j, "hidden", f->hidden);
	json_bool(j, "suppressed", f->suppressed.length > 0);
}

static void json_row(struct json_out *j, const struct diff_row *r)
{
	const struct story_finding *f = r->after ? r->after : r->before;

	json_open(j, NULL, '{');
	json_text(j, "id", f->id);
	json_state(j, f);
	json_text(j, "function", f->function);
	json_text(j, "file", f->place.file);
	json_open(j, "variables", '[');
	for (size_t i = 0; i < f->variables; i++)
		json_text(j, NULL, f->variable[i]);
	json_close(j, ']');
	if (r->before && r->after) {
		json_bool(j, "changed", has_changed(r));
		json_open(j, "before", '{');
		json_state(j, r->before);
		json_close(j, '}');
	}
	json_close(j, '}');
}

void diff_json(const struct diff *d, struct str *to)
{
	struct json_out j = {.to = to};

	json_open(&j, NULL, '{');
	json_number(&j, "version", DIFF_VERSION);
	json_open(&j, "counts", '{');
	for (int k = 0; k < DIFF_KINDS; k++)
		json_number(&j, kind_text[k], d->count[k]);
	json_close(&j, '}');
	for (int k = 0; k < DIFF_KINDS; k++) {
		json_open(&j, kind_text[k], '[');
		for (size_t i = 0; i < d->count[k]; i++)
			json_row(&j, &d->row[k][i]);
		json_close(&j, ']');
	}
	json_close(&j, '}');
	str_char(to, '\n');
}
