/* SPDX-License-Identifier: MIT */
#include "text_lanes.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "report/look.h"

enum {
	LANES_MOST = 3,   /* threads that have a column each */
	RAILS_MOST = 12,  /* threads that have a rail each; others have none */
	VALUES_MOST = 3,  /* variables whose values stand at the right */
	VARIABLE_MOST = 16,
	GAP = 2,          /* between lanes; and between the parts of a cell, if there is room */
};

/* How much of a name is shown: what is sensible, and what is left where that does not fit. */
struct most {
	unsigned object, place, thread;
};

static const struct most mosts[] = {{40, 32, 24}, {24, 16, 12}};

/* What a cell holds, from left to right: "> WRITE balance = 20 bank.c:6 CULPRIT". */
enum part { PART_WORD, PART_OBJECT, PART_PLACE, PART_ROLE, PARTS };

struct lane {
	uint32_t thread;
	unsigned part[PARTS]; /* columns of the widest */
	unsigned at;          /* the column that it begins at */
};

struct value_column {
	struct text variable;
	unsigned width, at;
};

struct lanes {
	struct pen *pen;
	const struct story *s;
	const struct story_finding *f;
	struct most most;
	struct str *cell; /* in which a part is put together */
	struct lane *lane;
	size_t count;
	struct value_column value[VALUES_MOST];
	size_t found, values; /* that there are, and that are drawn */
	unsigned number;     /* columns of a step's number and the blank behind it */
	unsigned name;       /* of the longest thread's, for rails */
	bool rails;
	bool spilling; /* roles have no room of their own but in the last lane */
	bool tight;    /* the parts of a cell are a blank apart */
	size_t window_from, window_to; /* while the lock is free; none if the first is behind the last */
	unsigned width;
};

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static void grow(unsigned *width, unsigned to)
{
	if (to > *width)
		*width = to;
}

static struct text thread_name(const struct lanes *l, uint32_t thread)
{
	return thread < l->s->threads ? l->s->thread[thread].name : text_of("?");
}

static struct harmless manner(const struct lanes *l, unsigned most)
{
	return (struct harmless){l->pen->look->utf8, most};
}

static size_t lane_of(const struct lanes *l, uint32_t thread)
{
	size_t i = 0;

	while (i < l->count && l->lane[i].thread != thread)
		i++;
	return i;
}

static struct text base_name(struct text file)
{
	const char *slash = file.length ? memrchr(file.at, '/', file.length) : NULL;

	return slash ? (struct text){slash + 1, file.length - (size_t)(slash + 1 - file.at)} : file;
}

static void add_object(struct str *to, const struct lanes *l, const struct story_event *e)
{
	harmless_add(to, e->object, manner(l, l->most.object));
	if (e->valued) {
		str_add(to, " = ");
		story_add_value(to, e);
	}
}

static void add_place(struct str *to, const struct lanes *l, const struct story_event *e)
{
	harmless_add(to, base_name(e->place.file), manner(l, l->most.place));
	if (e->place.line)
		str_printf(to, "%s%" PRIu32, e->place.file.length ? ":" : "line ", e->place.line);
}

/* Accesses stand out from what is around them. */
static void add_word(struct str *to, const struct story_event *e)
{
	for (const char *w = e->word; *w; w++)
		str_char(to, e->data ? (char)toupper((unsigned char)*w) : *w);
}

static const char *const roles[STORY_ROLES] = {
	[STORY_OTHER] = "", [STORY_FIRST] = "FIRST", [STORY_CULPRIT] = "CULPRIT", [STORY_SECOND] = "SECOND",
};

/* The part in l->cell, harmless; returns its columns. */
static unsigned make_part(const struct lanes *l, const struct story_event *e, enum part part)
{
	struct str *to = l->cell;

	str_clear(to);
	if (part == PART_WORD)
		add_word(to, e);
	else if (part == PART_OBJECT)
		add_object(to, l, e);
	else if (part == PART_PLACE)
		add_place(to, l, e);
	else
		str_add(to, roles[e->role]);
	return harmless_columns(to->at, to->length);
}

/* The layout. */

static void find_threads(struct lanes *l)
{
	const struct story_finding *f = l->f;

	l->lane = arena_alloc(l->pen->to->arena, (f->events + 1) * sizeof *l->lane);
	l->lane[l->count++].thread = f->thread;
	for (size_t i = 0; i < f->events; i++)
		if (lane_of(l, f->event[i].thread) == l->count)
			l->lane[l->count++].thread = f->event[i].thread;
}

static void measure_names(struct lanes *l)
{
	l->name = 0;
	for (size_t i = 0; i < l->count; i++)
		grow(&l->name, harmless_add(NULL, thread_name(l, l->lane[i].thread), manner(l, l->most.thread)));
}

/* Words are as wide everywhere, so that objects stand below one another; the rest is each lane's own. */
static void measure_parts(struct lanes *l)
{
	unsigned word = 0;

	for (size_t i = 0; i < l->count; i++)
		memset(l->lane[i].part, 0, sizeof l->lane[i].part);
	for (size_t i = 0; i < l->f->events; i++) {
		struct lane *lane = &l->lane[lane_of(l, l->f->event[i].thread)];

		grow(&word, make_part(l, &l->f->event[i], PART_WORD));
		for (int p = PART_OBJECT; p < PARTS; p++)
			grow(&lane->part[p], make_part(l, &l->f->event[i], p));
	}
	for (size_t i = 0; i < l->count; i++)
		l->lane[i].part[PART_WORD] = word;
}

/* With rails all threads share one column of text. */
static void share_parts(struct lanes *l)
{
	for (size_t i = 1; i < l->count; i++)
		for (int p = 0; p < PARTS; p++)
			grow(&l->lane[0].part[p], l->lane[i].part[p]);
}

/*
 * A variable has a column if there is something to see in it: two values at least. In an order that did not happen it
 * would have others than those that the run had.
 */
static void find_values(struct lanes *l)
{
	for (size_t i = 0; i < l->f->variables && l->found < VALUES_MOST && l->f->happened; i++) {
		struct value_column *v = &l->value[l->found];
		size_t seen = 0;

		*v = (struct value_column){.variable = l->f->variable[i]};
		v->width = harmless_add(NULL, v->variable, manner(l, VARIABLE_MOST));
		for (size_t k = 0; k < l->f->events; k++)
			if (l->f->event[k].valued && text_same(l->f->event[k].object, v->variable)) {
				str_clear(l->cell);
				story_add_value(l->cell, &l->f->event[k]);
				grow(&v->width, (unsigned)l->cell->length);
				seen++;
			}
		l->found += seen > 1;
	}
}

static unsigned part_gap(const struct lanes *l)
{
	return l->tight ? 1 : GAP;
}

/* "> WRITE balance = 20  bank.c:6" and, if it has room, the role. */
static unsigned cell_width(const struct lanes *l, const struct lane *lane, bool role)
{
	unsigned width = 2 + lane->part[PART_WORD] + 1 + lane->part[PART_OBJECT];

	width += lane->part[PART_PLACE] ? part_gap(l) + lane->part[PART_PLACE] : 0;
	return width + (role && lane->part[PART_ROLE] ? part_gap(l) + lane->part[PART_ROLE] : 0);
}

static unsigned head_width(const struct lanes *l, const struct lane *lane)
{
	return 2 + 7 + harmless_add(NULL, thread_name(l, lane->thread), manner(l, l->most.thread));
}

static unsigned rails_width(const struct lanes *l)
{
	return l->count <= RAILS_MOST ? 2 * (unsigned)l->count : 0;
}

/* Places lanes and values from left to right; returns where they end. */
static unsigned place_all(struct lanes *l, size_t values)
{
	unsigned at = 2 + l->number + 2;

	for (size_t i = 0; i < (l->rails ? 1 : l->count); i++) {
		unsigned width = cell_width(l, &l->lane[i], !l->spilling || i + 1 == l->count);

		if (l->rails)
			at += rails_width(l) + 1 + l->name + 1;
		else
			grow(&width, head_width(l, &l->lane[i]));
		l->lane[i].at = at;
		at += width + GAP;
	}
	for (size_t i = 0; i < values; i++) {
		l->value[i].at = at;
		at += l->value[i].width + GAP;
	}
	return at - GAP;
}

static bool fits(const struct lanes *l)
{
	return l->width <= l->pen->look->columns;
}

/* The first of these that fits is taken; if none does, the last. */
static void choose_form(struct lanes *l)
{
	static const struct form {
		bool rails, spilling, tight, values;
	} forms[] = {
		{.values = true}, {.spilling = true, .values = true}, {.values = false}, {.spilling = true},
		{.spilling = true, .tight = true}, {.rails = true, .values = true}, {.rails = true},
	};

	l->rails = false;
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		const struct form *form = &forms[i];

		if (!form->rails && l->count > LANES_MOST)
			continue;
		if (form->rails && !l->rails)
			share_parts(l);
		l->rails = form->rails;
		l->spilling = form->spilling;
		l->tight = form->tight;
		l->values = form->values ? l->found : 0;
		l->width = place_all(l, l->values);
		if (fits(l))
			return;
	}
}

/* The window without what the block itself does at its ends to give the lock back, and to take it again. */
static void find_window(struct lanes *l)
{
	const struct story_finding *f = l->f;
	size_t from = f->window_from, to = f->window_to;

	l->window_from = SIZE_MAX;
	if (f->window_from == STORY_NONE || to >= f->events)
		return;
	while (from < to && f->event[from].thread == f->thread && !f->event[from].unlocks)
		from++;
	from = f->event[from].thread == f->thread && from < to ? from + 1 : f->window_from;
	while (to > from && f->event[to].thread == f->thread && !f->event[to].locks)
		to--;
	to = f->event[to].thread == f->thread && to > from ? to - 1 : f->window_to;
	l->window_from = from;
	l->window_to = to;
}

struct lanes *lanes_new(struct pen *pen, const struct story *s, const struct story_finding *f)
{
	struct lanes *l = arena_alloc(pen->to->arena, sizeof *l);
	char number[24];

	*l = (struct lanes){.pen = pen, .s = s, .f = f};
	l->cell = arena_alloc(pen->to->arena, sizeof *l->cell);
	str_init(l->cell, pen->to->arena);
	l->number = (unsigned)snprintf(number, sizeof number, "%zu ", f->events);
	find_threads(l);
	find_values(l);
	for (size_t i = 0; i < sizeof mosts / sizeof *mosts && (i == 0 || !fits(l)); i++) {
		l->most = mosts[i];
		measure_names(l);
		measure_parts(l);
		choose_form(l);
	}
	find_window(l);
	return l;
}

unsigned lanes_width(const struct lanes *l)
{
	return least(l->width, l->pen->look->columns);
}

/* The drawing. */

static void draw_heads(const struct lanes *l)
{
	struct pen *p = l->pen;

	if (l->rails && !l->values)
		return;
	for (size_t i = 0; i < l->count && !l->rails; i++) {
		pen_to(p, l->lane[i].at + 2);
		pen_add(p, "thread ");
		pen_name(p, thread_name(l, l->lane[i].thread), l->most.thread);
	}
	for (size_t i = 0; i < l->values; i++) {
		unsigned width = harmless_add(NULL, l->value[i].variable, manner(l, VARIABLE_MOST));

		pen_to(p, l->value[i].at + l->value[i].width - width);
		pen_name(p, l->value[i].variable, VARIABLE_MOST);
	}
	pen_line(p);
}

/* "+- - - vulnerable window: mu is free - - -", over the window; and under it, without words. */
static void draw_rule(const struct lanes *l, const char *corner, bool words)
{
	struct pen *p = l->pen;

	pen_to(p, 2 + l->number);
	pen_glyph(p, corner);
	for (int i = 0; i < 3; i++)
		pen_glyph(p, p->glyphs->rule);
	if (words) {
		pen_add(p, " vulnerable window");
		pen_add(p, l->f->lock.length ? ": " : "");
		pen_name(p, l->f->lock, l->most.object);
		pen_add(p, l->f->lock.length ? " is free" : "");
		pen_add(p, p->look->utf8 ? " " : "");
	}
	while (p->at + 2 <= p->width)
		pen_glyph(p, p->glyphs->rule);
	pen_line(p);
}

static bool in_window(const struct lanes *l, size_t i)
{
	return i >= l->window_from && i <= l->window_to;
}

/* The step's number, or blanks, and the side of the window. */
static void draw_margin(const struct lanes *l, size_t i, bool numbered)
{
	struct pen *p = l->pen;

	if (numbered)
		pen_printf(p, "  %*zu ", (int)l->number - 1, i + 1);
	else
		pen_to(p, 2 + l->number);
	if (in_window(l, i))
		pen_glyph(p, p->glyphs->side);
	else
		pen_add(p, " ");
}

static void draw_skipped(const struct lanes *l, size_t i)
{
	uint64_t n = l->f->event[i].skipped;

	draw_margin(l, i, false);
	pen_ink(l->pen, INK_DIM);
	pen_printf(l->pen, "   ... %" PRIu64 " more event%s ...", n, n == 1 ? "" : "s");
	pen_ink(l->pen, INK_PLAIN);
	pen_line(l->pen);
}

/* A rail a thread, a mark on that of the event's, and its name. */
static void draw_rails(const struct lanes *l, const struct story_event *e)
{
	struct pen *p = l->pen;

	for (size_t i = 0; i < l->count && l->count <= RAILS_MOST; i++) {
		bool own = l->lane[i].thread == e->thread;

		pen_add(p, " ");
		pen_ink(p, own ? INK_STRONG : INK_DIM);
		pen_glyph(p, own ? p->glyphs->event : p->glyphs->rail);
		pen_ink(p, INK_PLAIN);
	}
	pen_add(p, "  ");
	pen_name(p, thread_name(l, e->thread), l->most.thread);
}

static enum ink ink_of(const struct story_event *e)
{
	return e->role == STORY_CULPRIT ? INK_CULPRIT : e->role ? INK_BLOCK : INK_PLAIN;
}

static void draw_part(const struct lanes *l, const struct story_event *e, enum part part)
{
	unsigned columns = make_part(l, e, part);
	bool inked = e->role && part != PART_PLACE;

	if (inked)
		pen_ink(l->pen, ink_of(e));
	str_bytes(l->pen->to, l->cell->at, l->cell->length);
	l->pen->at += columns;
	if (inked)
		pen_ink(l->pen, INK_PLAIN);
}

static bool has_part(const struct story_event *e, enum part part)
{
	return part == PART_PLACE ? e->place.file.length || e->place.line : part == PART_ROLE ? e->role :
		part == PART_OBJECT ? e->object.length || e->valued : true;
}

static void draw_cell(const struct lanes *l, const struct story_event *e)
{
	const struct lane *lane = &l->lane[l->rails ? 0 : lane_of(l, e->thread)];
	unsigned at = lane->at;

	pen_to(l->pen, at);
	if (e->role)
		pen_glyph(l->pen, l->pen->glyphs->mark);
	at += 2;
	for (int part = 0; part < PARTS; part++) {
		if (has_part(e, part)) {
			pen_to(l->pen, at);
			draw_part(l, e, part);
		}
		at += lane->part[part] ? lane->part[part] + (part == PART_WORD ? 1 : part_gap(l)) : 0;
	}
}

static void draw_values(const struct lanes *l, const struct story_event *e)
{
	for (size_t i = 0; i < l->values; i++) {
		const struct value_column *v = &l->value[i];

		if (!e->valued || !text_same(e->object, v->variable))
			continue;
		str_clear(l->cell);
		story_add_value(l->cell, e);
		pen_to(l->pen, v->at + v->width - (unsigned)l->cell->length);
		pen_add(l->pen, l->cell->at);
	}
}

static void draw_row(const struct lanes *l, size_t i)
{
	const struct story_event *e = &l->f->event[i];

	if (e->skipped)
		draw_skipped(l, i);
	draw_margin(l, i, true);
	if (l->rails)
		draw_rails(l, e);
	draw_cell(l, e);
	draw_values(l, e);
	pen_line(l->pen);
}

/* The values of a row are those of the run at hand, also where the picture is of another one. */
static void draw_caution(const struct lanes *l)
{
	bool valued = false;

	for (size_t i = 0; i < l->f->events; i++)
		valued |= l->f->event[i].valued;
	if (!valued || l->f->happened)
		return;
	pen_to(l->pen, 2 + l->number + 2);
	pen_ink(l->pen, INK_DIM);
	pen_add(l->pen, "(values as in this run, which went in another order)");
	pen_ink(l->pen, INK_PLAIN);
	pen_line(l->pen);
}

void lanes_draw(struct lanes *l)
{
	const struct story_finding *f = l->f;

	draw_heads(l);
	for (size_t i = 0; i < f->events; i++) {
		if (l->window_from == i)
			draw_rule(l, l->pen->glyphs->top, true);
		draw_row(l, i);
		if (l->window_to == i)
			draw_rule(l, l->pen->glyphs->bottom, false);
	}
	draw_caution(l);
}
