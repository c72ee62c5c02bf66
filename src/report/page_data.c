/* SPDX-License-Identifier: MIT */
#include "page_data.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/intern.h"
#include "base/str.h"
#include "report/hide.h"
#include "report/json_out.h"
#include "report/look.h"
#include "report/story.h"

enum { PAGE_VERSION = 1 };

/* What an event is, as bits. */
enum { EVENT_DATA = 1, EVENT_LOCKS = 2, EVENT_UNLOCKS = 4 };
enum { FRAME_INLINED = 1, FRAME_FOREIGN = 2 };

/* A place as the bytes that tell it from others. */
struct place_key {
	uint32_t file, line, source;
};

struct writer {
	struct str *to;
	const struct story *s;
	const struct look *look;
	struct intern texts;  /* number 0 is the text that is not known */
	struct intern places; /* struct place_key as bytes; number 0 is nowhere */
};

static uint32_t text_number(struct writer *w, struct text t)
{
	return t.length ? intern_add(&w->texts, t.at, t.length) : 0;
}

static uint32_t word_number(struct writer *w, const char *word)
{
	return text_number(w, (struct text){word, strlen(word)});
}

static uint32_t place_number(struct writer *w, const struct story_place *p)
{
	struct place_key key = {text_number(w, p->file), p->line, p->source};

	return key.file ? intern_add(&w->places, (const char *)&key, sizeof key) : 0;
}

/* An index as a number from 1, 0 if there is none. */
static uint32_t index_number(uint32_t index)
{
	return index == STORY_NONE ? 0 : index + 1;
}

/* Appends "[1,2,3" or ",2,3": numbers behind one another. */
static void add_numbers(struct str *to, const char *before, const uint64_t *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		str_add(to, i ? "," : before);
		str_number(to, list[i]);
	}
}

static void put_text(struct writer *w, const char *name, struct text t)
{
	if (t.length)
		str_printf(w->to, ",\"%s\":%" PRIu32, name, text_number(w, t));
}

static void put_texts(struct writer *w, const char *name, const struct text *list, size_t n)
{
	if (n == 0)
		return;
	str_printf(w->to, ",\"%s\":[", name);
	for (size_t i = 0; i < n; i++)
		str_printf(w->to, "%s%" PRIu32, i ? "," : "", text_number(w, list[i]));
	str_char(w->to, ']');
}

static void put_number(struct writer *w, const char *name, uint64_t n)
{
	if (n)
		str_printf(w->to, ",\"%s\":%" PRIu64, name, n);
}

/* The value as a text of digits: a script's numbers are too short for it. */
static uint32_t value_number(struct writer *w, const struct story_event *e)
{
	char digits[24];
	int n = snprintf(digits, sizeof digits, e->is_unsigned ? "%" PRIu64 : "%" PRId64, e->value);

	return e->valued ? intern_add(&w->texts, digits, (size_t)n) : 0;
}

static void add_event(struct writer *w, const struct story_event *e)
{
	uint64_t bits = (e->data ? EVENT_DATA : 0) | (e->locks ? EVENT_LOCKS : 0) | (e->unlocks ? EVENT_UNLOCKS : 0);
	uint64_t list[] = {index_number(e->thread), word_number(w, e->word), text_number(w, e->object), bits,
		value_number(w, e), place_number(w, &e->place), index_number(e->stack), e->role, e->skipped};

	add_numbers(w->to, "[", list, sizeof list / sizeof *list);
	str_char(w->to, ']');
}

static void put_events(struct writer *w, const struct story_event *e, size_t n)
{
	str_add(w->to, ",\"events\":[");
	for (size_t i = 0; i < n; i++) {
		str_add(w->to, i ? "," : "");
		add_event(w, &e[i]);
	}
	str_char(w->to, ']');
}

static void put_reasons(struct writer *w, const struct story_finding *f)
{
	str_add(w->to, ",\"reasons\":[");
	for (size_t i = 0; i < f->reasons; i++)
		str_printf(w->to, "%s[%" PRIu32 ",%" PRIu32 "]", i ? "," : "", text_number(w, f->reason[i].rule),
			text_number(w, f->reason[i].why));
	str_add(w->to, "],\"evidence\":[");
	for (size_t i = 0; i < f->evidences; i++)
		str_printf(w->to, "%s[%" PRIu32 ",%" PRIu32 "]", i ? "," : "", text_number(w, f->evidence[i].check),
			text_number(w, f->evidence[i].kind));
	str_char(w->to, ']');
}

static void put_outcomes(struct writer *w, const struct story_finding *f)
{
	if (f->outcomes == 0)
		return;
	str_add(w->to, ",\"outcomes\":[");
	for (size_t i = 0; i < f->outcomes; i++) {
		const struct story_outcome *o = &f->outcome[i];
		struct story_event value = {.valued = o->known, .value = (uint64_t)o->value};

		str_printf(w->to, "%s[%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%d]", i ? "," : "", text_number(w, o->order),
			text_number(w, o->variable), value_number(w, &value), o->serial);
	}
	str_char(w->to, ']');
}

static void put_fix(struct writer *w, const struct story_fix *fix)
{
	uint64_t list[] = {text_number(w, fix->lock), place_number(w, &fix->from), place_number(w, &fix->to)};

	if (fix->from.file.length == 0)
		return;
	add_numbers(w->to, ",\"fix\":[", list, 3);
	str_char(w->to, ']');
}

/* Why it is not shown. What the baseline knows is a filter of the page; it fails no build if new ones are wanted. */
static void put_hiding(struct writer *w, const struct story_finding *f)
{
	enum hiding why = hide_why(w->s, f, false);

	if (why != HIDE_NOT)
		put_number(w, "unshown", word_number(w, hiding_info[why].word));
	put_number(w, "accepted", !hiding_info[hide_why(w->s, f, w->look->new_only)].counts);
}

static void put_judgement(struct writer *w, const struct story_finding *f)
{
	str_printf(w->to, ",\"verdict\":\"%s\",\"rank\":%u", verdict_text[f->verdict], f->rank);
	put_hiding(w, f);
	put_number(w, "happened", f->happened);
	put_number(w, "known", f->known);
	put_number(w, "declared", f->declared);
	put_number(w, "count", f->count);
	put_text(w, "hindrance", f->hindrance);
	put_text(w, "suppressed", f->suppressed);
	put_text(w, "given", f->reason_given);
}

static void add_finding(struct writer *w, const struct story_finding *f)
{
	str_printf(w->to, "{\"id\":%" PRIu32, text_number(w, f->id));
	put_judgement(w, f);
	put_text(w, "function", f->function);
	put_number(w, "place", place_number(w, &f->place));
	put_number(w, "thread", index_number(f->thread));
	put_number(w, "block", index_number(f->block_stack));
	put_texts(w, "variables", f->variable, f->variables);
	put_text(w, "lock", f->lock);
	put_texts(w, "enclosing", f->enclosing, f->enclosings);
	put_reasons(w, f);
	put_fix(w, &f->fix);
	put_outcomes(w, f);
	if (f->window_from != STORY_NONE)
		str_printf(w->to, ",\"window\":[%" PRIu32 ",%" PRIu32 "]", f->window_from, f->window_to);
	put_events(w, f->event, f->events);
	str_char(w->to, '}');
}

static void add_hazard(struct writer *w, const struct story_hazard *h)
{
	str_printf(w->to, "{\"kind\":%d", h->kind);
	put_text(w, "object", h->object);
	put_number(w, "times", h->times);
	put_events(w, h->event, h->events);
	str_char(w->to, '}');
}

static void add_trace(struct writer *w, const struct story_trace *t)
{
	str_printf(w->to, "{\"events\":%" PRIu64 ",\"threads\":%" PRIu32, t->events, t->threads);
	put_text(w, "path", t->path);
	put_text(w, "cut", t->cut);
	put_text(w, "fault", t->fault);
	str_add(w->to, ",\"left\":[");
	for (size_t i = 0; i < t->limits; i++)
		str_printf(w->to, "%s[%" PRIu32 ",%" PRIu64 "]", i ? "," : "", text_number(w, t->limit[i].what), t->limit[i].times);
	str_add(w->to, "]}");
}

static void add_stack(struct writer *w, const struct story_stack *s)
{
	str_char(w->to, '[');
	for (size_t i = 0; i < s->count; i++) {
		const struct story_frame *f = &s->at[i];
		uint64_t bits = (f->inlined ? FRAME_INLINED : 0) | (f->foreign ? FRAME_FOREIGN : 0);
		uint64_t list[] = {text_number(w, f->function), place_number(w, &f->place), bits};

		add_numbers(w->to, i ? ",[" : "[", list, 3);
		str_char(w->to, ']');
	}
	str_char(w->to, ']');
}

/* Lines that follow one another: the number of the first, then their texts. */
static void add_source(struct writer *w, const struct story_source *s)
{
	str_printf(w->to, "[%" PRIu32 ",[", text_number(w, s->file));
	for (size_t i = 0; i < s->count; i++) {
		bool on = i && s->number[i] == s->number[i - 1] + 1;

		if (!on)
			str_printf(w->to, "%s[%" PRIu32, i ? "]," : "", s->number[i]);
		str_printf(w->to, ",%" PRIu32, text_number(w, s->line[i]));
	}
	str_add(w->to, s->count ? "]]]" : "]]");
}

static void add_thread(struct writer *w, const struct story_thread *t)
{
	uint64_t list[] = {text_number(w, t->name), index_number(t->creator), index_number(t->creation)};

	add_numbers(w->to, "[", list, 3);
	str_char(w->to, ']');
}

/* Opens the array of that name, and closes it; items are behind one another by `next`. */
static void begin(struct writer *w, const char *name)
{
	str_printf(w->to, ",\n\"%s\":[", name);
}

static void next(struct writer *w, size_t i)
{
	str_add(w->to, i ? ",\n" : "");
}

static void add_tables(struct writer *w, const struct story *s)
{
	begin(w, "traces");
	for (size_t i = 0; i < s->traces; i++) {
		next(w, i);
		add_trace(w, &s->trace[i]);
	}
	str_char(w->to, ']');
	begin(w, "threads");
	for (size_t i = 0; i < s->threads; i++) {
		next(w, i);
		add_thread(w, &s->thread[i]);
	}
	str_char(w->to, ']');
	begin(w, "stacks");
	for (size_t i = 0; i < s->stacks; i++) {
		next(w, i);
		add_stack(w, &s->stack[i]);
	}
	str_char(w->to, ']');
	begin(w, "sources");
	for (size_t i = 0; i < s->sources; i++) {
		next(w, i);
		add_source(w, &s->source[i]);
	}
	str_char(w->to, ']');
}

static void add_findings(struct writer *w, const struct story *s)
{
	begin(w, "findings");
	for (size_t i = 0; i < s->findings; i++) {
		next(w, i);
		add_finding(w, &s->finding[i]);
	}
	str_char(w->to, ']');
	begin(w, "hazards");
	for (size_t i = 0; i < s->hazards; i++) {
		next(w, i);
		add_hazard(w, &s->hazard[i]);
	}
	str_char(w->to, ']');
}

static void add_places(struct writer *w)
{
	str_add(w->to, ",\n\"places\":[0");
	for (uint32_t i = 1; i <= w->places.count; i++) {
		struct place_key key;

		memcpy(&key, intern_text(&w->places, i).at, sizeof key);
		str_printf(w->to, ",[%" PRIu32 ",%" PRIu32 ",%" PRIu32 "]", key.file, key.line, index_number(key.source));
	}
	str_char(w->to, ']');
}

static void add_texts(struct writer *w)
{
	str_add(w->to, ",\n\"texts\":[\"\"");
	for (uint32_t i = 1; i <= w->texts.count; i++) {
		str_char(w->to, ',');
		json_quote(w->to, intern_text(&w->texts, i));
	}
	str_char(w->to, ']');
}

void page_data_add(struct str *to, const struct story *s, const struct look *look)
{
	struct writer w = {.to = to, .s = s, .look = look};

	intern_init(&w.texts, to->arena);
	intern_init(&w.places, to->arena);
	str_printf(to, "{\"version\":%d,\"status\":%d,\"rank\":%u,\"hidden\":%d,\"fresh\":%d", PAGE_VERSION, s->status, s->rank,
		look->show_hidden, look->new_only);
	put_text(&w, "program", s->program);
	put_text(&w, "command", s->command);
	put_text(&w, "fail_on", s->fail_on);
	add_tables(&w, s);
	add_findings(&w, s);
	add_places(&w);
	add_texts(&w);
	str_add(to, "}");
}
