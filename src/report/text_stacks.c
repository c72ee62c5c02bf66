/* SPDX-License-Identifier: MIT */
#include "text_stacks.h"

#include <inttypes.h>

#include "base/arena.h"
#include "base/str.h"
#include "report/look.h"
#include "report/words.h"

enum { FRAMES_MOST = 16, FUNCTION_COLUMN = 32, PLACE_COLUMN = 40, GAP = 2, SOURCE_LEAST = 12 };

/* The line's text without the blanks around it; empty if it is not known. */
static struct text source_line(const struct story *s, const struct story_place *p)
{
	const struct story_source *of = p->source < s->sources ? &s->source[p->source] : NULL;
	struct text t = {"", 0};

	for (size_t i = 0; of && i < of->count && of->number[i] <= p->line; i++)
		if (of->number[i] == p->line)
			t = of->line[i];
	for (; t.length && (*t.at == ' ' || *t.at == '\t'); t.at++)
		t.length--;
	while (t.length && (t.at[t.length - 1] == ' ' || t.at[t.length - 1] == '\r' || t.at[t.length - 1] == '\t'))
		t.length--;
	return t;
}

/* Where the program's own code ends: what called it from outside says nothing. */
static size_t own_frames(const struct pen *p, const struct story_stack *stack)
{
	size_t n = stack->count;

	if (p->look->verbose)
		return n;
	while (n > 1 && stack->at[n - 1].foreign)
		n--;
	return n < FRAMES_MOST ? n : FRAMES_MOST;
}

/* How wide the numbers, functions and places of a stack are, up to what is sensible. */
struct columns {
	unsigned number, function, place;
};

static unsigned grown(unsigned width, unsigned to, unsigned most)
{
	return to > most ? width > most ? width : most : to > width ? to : width;
}

static unsigned place_columns(const struct pen *p, const struct story_place *place)
{
	struct str words;

	str_init(&words, p->to->arena);
	words_place(&words, place, pen_manner(p->look));
	return harmless_columns(words.at ? words.at : "", words.length);
}

static struct columns measure(const struct pen *p, const struct story_stack *stack, size_t count)
{
	struct columns c = {.number = count > 100 ? 3 : count > 10 ? 2 : 1};

	for (size_t i = 0; i < count; i++) {
		const struct story_frame *f = &stack->at[i];
		unsigned name = harmless_add(NULL, f->function, pen_manner(p->look));

		c.function = grown(c.function, name + (f->inlined ? 10 : 0), FUNCTION_COLUMN);
		c.place = grown(c.place, place_columns(p, &f->place), PLACE_COLUMN);
	}
	return c;
}

static void add_place(struct pen *p, const struct story_place *place)
{
	pen_name(p, place->file, 0);
	if (place->line)
		pen_printf(p, "%s%" PRIu32, place->file.length ? ":" : "line ", place->line);
}

/* Tabs inside of a line are one blank wide, and no controls. */
static struct text without_tabs(const struct pen *p, struct text line)
{
	char *to = arena_text(p->to->arena, line.at, line.length);

	for (size_t i = 0; i < line.length; i++)
		to[i] = to[i] == '\t' ? ' ' : to[i];
	return (struct text){to, line.length};
}

static void draw_source(struct pen *p, const struct story *s, const struct story_place *place, unsigned column)
{
	struct text line = source_line(s, place);
	unsigned columns = p->look->columns;

	if (!line.length)
		return;
	if (p->at + GAP > column)
		column = p->at + GAP;
	if (column + SOURCE_LEAST > columns)
		return;
	pen_to(p, column);
	pen_ink(p, INK_DIM);
	pen_name(p, without_tabs(p, line), columns - column);
	pen_ink(p, INK_PLAIN);
}

/* What stands behind the frame's number. */
static void draw_frame(struct pen *p, const struct story *s, const struct story_frame *f, struct columns c)
{
	unsigned at = p->at;

	pen_name(p, f->function, 0);
	pen_add(p, f->inlined ? " (inlined)" : "");
	if (f->place.file.length || f->place.line) {
		if (p->at > at)
			pen_to(p, at + c.function + GAP);
		add_place(p, &f->place);
	}
	draw_source(p, s, &f->place, at + c.function + GAP + c.place + GAP);
	pen_line(p);
}

/* Whether the only frame fits behind what the line has already. */
static bool fits_behind(const struct pen *p, const struct story *s, const struct story_stack *stack)
{
	struct columns c = measure(p, stack, 1);
	struct harmless how = {p->look->utf8, p->look->columns};

	unsigned source = harmless_add(NULL, source_line(s, &stack->at->place), how);

	return p->at + 3 + 3 + c.function + GAP + c.place + GAP + source <= p->look->columns;
}

/* Ends the line: with a colon and the frames below, or with the only one there is. */
static void draw_frames(struct pen *p, const struct story *s, uint32_t number)
{
	const struct story_stack *stack = number < s->stacks ? &s->stack[number] : NULL;
	size_t shown = stack ? own_frames(p, stack) : 0;
	bool behind = shown == 1 && fits_behind(p, s, stack);
	struct columns c;

	pen_add(p, shown ? ":" : "");
	if (!behind)
		pen_line(p);
	if (!shown)
		return;
	c = measure(p, stack, shown);
	for (size_t i = 0; i < shown; i++) {
		pen_printf(p, "%s#%-*zu ", behind ? "  " : "    ", (int)c.number, i);
		draw_frame(p, s, &stack->at[i], c);
	}
	for (size_t i = shown; i < stack->count; i++)
		if (!stack->at[i].foreign) {
			pen_printf(p, "    ... %zu more frames (--verbose)", stack->count - shown);
			pen_line(p);
			break;
		}
}

/* The frames; of an operation without a stack, its place. */
static void draw_whereabouts(struct pen *p, const struct story *s, const struct story_event *e)
{
	bool known = e->stack < s->stacks && s->stack[e->stack].count, placed = e->place.file.length || e->place.line;

	if (!known && placed) {
		pen_add(p, ", ");
		add_place(p, &e->place);
		draw_source(p, s, &e->place, p->at + GAP);
	}
	draw_frames(p, s, known ? e->stack : STORY_NONE);
}

static void add_thread(struct pen *p, const struct story *s, uint32_t thread)
{
	pen_name(p, thread < s->threads ? s->thread[thread].name : text_of("?"), 0);
}

/* The locks that the thread holds when it comes to the event, as far as the events before tell. */
static void add_held(struct pen *p, const struct story_finding *f, const struct story_event *at)
{
	const struct story_event **held = arena_alloc(p->to->arena, (f->events + 1) * sizeof *held);
	size_t n = 0, k;

	for (const struct story_event *e = f->event; e < at; e++) {
		if (e->thread != at->thread || (!e->locks && !e->unlocks))
			continue;
		for (k = n; k > 0 && !text_same(held[k - 1]->object, e->object);)
			k--;
		if (e->locks)
			held[n++] = e;
		else if (k > 0)
			for (n--; k <= n; k++)
				held[k - 1] = held[k];
	}
	for (k = 0; k < n; k++) {
		pen_add(p, k ? ", " : ", holding ");
		pen_name(p, held[k]->object, 0);
	}
}

static const char *const titles[STORY_ROLES] = {
	[STORY_FIRST] = "First", [STORY_CULPRIT] = "Culprit", [STORY_SECOND] = "Second",
};

static void draw_access(struct pen *p, const struct story *s, const struct story_finding *f, const struct story_event *e)
{
	struct str words;

	str_init(&words, p->to->arena);
	words_operation(&words, e, pen_manner(p->look));
	pen_add(p, "  ");
	pen_ink(p, e->role == STORY_CULPRIT ? INK_CULPRIT : INK_BLOCK);
	pen_add(p, titles[e->role]);
	pen_ink(p, INK_PLAIN);
	pen_add(p, ", ");
	str_bytes(p->to, words.at, words.length);
	p->at += harmless_columns(words.at, words.length);
	pen_add(p, ", thread ");
	add_thread(p, s, e->thread);
	add_held(p, f, e);
	draw_whereabouts(p, s, e);
}

static bool knows_creation(const struct story *s, uint32_t thread)
{
	const struct story_thread *t = thread < s->threads ? &s->thread[thread] : NULL;

	return t && (t->creator < s->threads || t->creation < s->stacks);
}

static void draw_creation(struct pen *p, const struct story *s, uint32_t thread)
{
	const struct story_thread *t = &s->thread[thread];

	pen_add(p, "  Thread ");
	add_thread(p, s, thread);
	pen_add(p, " was created");
	if (t->creator < s->threads) {
		pen_add(p, " by ");
		add_thread(p, s, t->creator);
	}
	draw_frames(p, s, t->creation);
}

/* Whether an event with a role before this one is of the same thread. */
static bool is_told(const struct story_finding *f, const struct story_event *at)
{
	for (const struct story_event *e = f->event; e < at; e++)
		if (e->role && e->thread == at->thread)
			return true;
	return false;
}

void stacks_draw(struct pen *p, const struct story *s, const struct story_finding *f)
{
	for (size_t i = 0; i < f->events; i++)
		if (f->event[i].role)
			draw_access(p, s, f, &f->event[i]);
	for (size_t i = 0; i < f->events; i++)
		if (f->event[i].role && !is_told(f, &f->event[i]) && knows_creation(s, f->event[i].thread))
			draw_creation(p, s, f->event[i].thread);
}

/* "  Commits at its unlock of 'm':" and the frames. */
static void draw_moment(struct pen *p, const struct story *s, const char *what, const struct story_event *e)
{
	struct str words;

	str_init(&words, p->to->arena);
	words_operation(&words, e, pen_manner(p->look));
	pen_add(p, what);
	str_bytes(p->to, words.at, words.length);
	p->at += harmless_columns(words.at, words.length);
	draw_whereabouts(p, s, e);
}

static const struct story_event *commit_of(const struct story_finding *f, const struct story_event *first)
{
	for (const struct story_event *e = first; e < f->event + f->events; e++)
		if (e->thread == f->thread && e->unlocks)
			return e;
	return first;
}

static const struct story_event *violation_of(const struct story_finding *f, const struct story_event *second)
{
	const struct story_event *first = story_event(f, STORY_FIRST);

	for (const struct story_event *e = second; e > first; e--)
		if (e->thread == f->thread && e->locks)
			return e;
	return second;
}

void stacks_draw_reduction(struct pen *p, const struct story *s, const struct story_finding *f)
{
	const struct story_event *first = story_event(f, STORY_FIRST), *second = story_event(f, STORY_SECOND);
	uint32_t entered = f->caller_stack < s->stacks ? f->caller_stack : f->block_stack;

	if (!first || !second)
		return;
	if (!words_is_reduction(f)) {
		first = commit_of(f, first);
		second = violation_of(f, second);
	}
	pen_add(p, "  Block entered");
	draw_whereabouts(p, s, &(struct story_event){.place = f->place, .stack = entered});
	draw_moment(p, s, "  Commits at its ", first);
	draw_moment(p, s, "  Violation at its ", second);
}

static void draw_pattern_line(struct pen *p, const struct story *s, const struct story_event *e)
{
	pen_add(p, "    ");
	add_thread(p, s, e->thread);
	pen_add(p, ": ");
	pen_add(p, !e->data ? e->word : words_writes(e) ? "W" : "R");
	if (!e->data && e->object.length) {
		pen_add(p, " ");
		pen_name(p, e->object, 0);
	}
	if (e->place.file.length || e->place.line) {
		pen_add(p, " @ ");
		add_place(p, &e->place);
	}
	pen_line(p);
}

void stacks_draw_pattern(struct pen *p, const struct story *s, const struct story_finding *f)
{
	pen_add(p, f->variables ? "  Unserializable pattern on " : "  Unserializable pattern");
	for (size_t i = 0; i < f->variables; i++) {
		pen_add(p, i ? ", " : "");
		pen_name(p, f->variable[i], 0);
	}
	pen_add(p, ":");
	pen_line(p);
	for (size_t i = 0; i < f->events; i++)
		if (f->event[i].role)
			draw_pattern_line(p, s, &f->event[i]);
}
