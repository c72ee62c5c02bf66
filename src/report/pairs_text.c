/* SPDX-License-Identifier: MIT */
/*
 * The matrix in words: a character a cell, so that forty operations fit a terminal; below it, for each operation that
 * is split, what it is split by, and where to look.
 */
#include "pairs.h"

#include <inttypes.h>

#include "base/str.h"
#include "report/harmless.h"
#include "report/look.h"
#include "report/story.h"

enum { NAME_COLUMNS = 28, VARIABLE_COLUMNS = 60, LEAD = 4 /* "12  " */, INDENT = 18 };

struct writer {
	const struct pairs *p;
	const struct look *look;
	struct harmless how;
	struct str *to;
	unsigned width; /* of the longest name */
	const struct pairs_finding *finding; /* that is being told */
};

static unsigned width_of_names(const struct writer *w)
{
	unsigned most = 0;

	for (size_t i = 0; i < w->p->count; i++) {
		unsigned n = harmless_add(NULL, w->p->operation[i].name, w->how);

		most = n > most ? n : most;
	}
	return most;
}

static void pad(struct str *to, unsigned n)
{
	while (n--)
		str_char(to, ' ');
}

static void add_name(const struct writer *w, size_t i, bool padded)
{
	unsigned n = harmless_add(w->to, w->p->operation[i].name, w->how);

	if (padded)
		pad(w->to, w->width - n);
}

/* The columns' numbers, read from top to bottom; a digit that is 0 in front is a blank. */
static void add_digits(const struct writer *w, size_t unit)
{
	pad(w->to, LEAD + w->width + 1);
	for (size_t i = 1; i <= w->p->count; i++)
		str_char(w->to, i >= unit || unit == 1 ? (char)('0' + i / unit % 10) : ' ');
	str_char(w->to, '\n');
}

static void add_sign(const struct writer *w, const struct pairs_cell *c)
{
	bool loud = w->look->colour && pairs_tells(c);

	if (loud)
		str_add(w->to, pairs_sign(c->state) == 'o' ? "\033[2m" : "\033[1;31m");
	str_char(w->to, pairs_sign(c->state));
	if (loud)
		str_add(w->to, "\033[0m");
}

static void add_matrix(const struct writer *w)
{
	size_t n = w->p->count;

	for (size_t unit = n > 99 ? 100 : n > 9 ? 10 : 1; unit; unit /= 10)
		add_digits(w, unit);
	for (size_t i = 0; i < n; i++) {
		str_printf(w->to, "%3zu ", i + 1);
		add_name(w, i, true);
		str_char(w->to, ' ');
		for (size_t k = 0; k < n; k++)
			add_sign(w, pairs_at(w->p, i, k));
		str_char(w->to, '\n');
	}
}

/* Whether the cell has the finding, on objects that are shared in the same way. */
static bool has(const struct pairs_cell *c, const struct pairs_finding *f)
{
	for (size_t i = 0; i < c->findings; i++)
		if (text_same(c->finding[i].id, f->id) && c->finding[i].crossed == f->crossed)
			return true;
	return false;
}

/* On with the list: on the line that began at `*from`, or on a new one. */
static void add_between(const struct writer *w, size_t *from, size_t k)
{
	unsigned need = harmless_add(NULL, w->p->operation[k].name, w->how) + 2;

	str_char(w->to, ',');
	if (harmless_columns(w->to->at + *from, w->to->length - *from) + need > w->look->columns) {
		str_char(w->to, '\n');
		*from = w->to->length;
		pad(w->to, INDENT - 1);
	}
	str_char(w->to, ' ');
}

/* Everything in the row that has the finding, from column `by` on. */
static void add_partners(const struct writer *w, size_t i, size_t by, size_t from)
{
	const struct pairs_finding f = *w->finding;

	for (size_t k = by; k < w->p->count; k++) {
		if (!has(pairs_at(w->p, i, k), &f))
			continue;
		if (k != by)
			add_between(w, &from, k);
		add_name(w, k, false);
	}
}

/* "  # fsn-7c1f0a2b  v->element_count (crossed): clear, set_size" */
static void add_finding(struct writer *w, size_t i, size_t by, const struct pairs_finding *f)
{
	size_t from = w->to->length;

	for (size_t k = 0; k < by; k++)
		if (has(pairs_at(w->p, i, k), f))
			return;
	str_printf(w->to, "  %c %.*s  ", pairs_sign(pairs_state(f)), (int)f->id.length, f->id.at);
	if (f->variable.length)
		harmless_add(w->to, f->variable, (struct harmless){w->look->utf8, VARIABLE_COLUMNS});
	else
		str_add(w->to, pairs_word(f->state));
	str_add(w->to, f->crossed ? " (crossed): " : ": ");
	w->finding = f;
	add_partners(w, i, by, from);
	str_char(w->to, '\n');
}

static bool tells_row(const struct pairs *p, size_t i)
{
	for (size_t k = 0; k < p->count; k++)
		if (pairs_tells(pairs_at(p, i, k)))
			return true;
	return false;
}

static void add_rows(struct writer *w)
{
	for (size_t i = 0; i < w->p->count; i++) {
		if (!tells_row(w->p, i))
			continue;
		str_char(w->to, '\n');
		add_name(w, i, false);
		str_add(w->to, " with\n");
		for (size_t k = 0; k < w->p->count; k++)
			for (size_t n = 0; n < pairs_at(w->p, i, k)->findings; n++)
				add_finding(w, i, k, &pairs_at(w->p, i, k)->finding[n]);
	}
}

static void add_count(struct str *to, uint64_t n, const char *words)
{
	if (n)
		str_printf(to, ", %" PRIu64 " %s", n, words);
}

static void add_sum(const struct writer *w)
{
	const struct pairs *p = w->p;

	harmless_add(w->to, p->object, w->how);
	str_printf(w->to, ": %zu operations, %" PRIu64 " of %zu pairs tried in %" PRIu64 " executions; %" PRIu64
		" not atomic with each other", p->count, p->tried, p->count * (p->count + 1) / 2, p->executions,
		pairs_with(p, PAIRS_SPLIT));
	add_count(w->to, pairs_with(p, PAIRS_DEADLOCK), "deadlock");
	add_count(w->to, pairs_with(p, PAIRS_FAILED), "crash or hang");
	str_char(w->to, '\n');
}

void pairs_text(const struct pairs *p, const struct look *look, struct str *to)
{
	struct writer w = {p, look, {look->utf8, NAME_COLUMNS}, to, 0, NULL};

	w.width = width_of_names(&w);
	add_sum(&w);
	str_add(to, "row: what is split; column: what comes between\n");
	str_add(to, "# split   o split, accepted   D deadlock   ! crash or hang   . nothing was found\n\n");
	add_matrix(&w);
	add_rows(&w);
	if (pairs_with(p, PAIRS_SPLIT | PAIRS_DEADLOCK | PAIRS_FAILED))
		str_add(to, "\nThe picture: fission show ID   The run: fission replay --atomic=annotated ID\n");
}
