/* SPDX-License-Identifier: MIT */
#include "random_story.h"

#include <string.h>

#include "base/arena.h"
#include "base/rng.h"
#include "report/source_lines.h"
#include "report/story.h"

enum { SOME = 4 };

struct author {
	struct story *s;
	struct rng rng;
	bool hostile;
};

static uint32_t below(struct author *w, uint32_t n)
{
	return rng_below(&w->rng, n);
}

static bool maybe(struct author *w)
{
	return below(w, 2);
}

static void *some(struct author *w, size_t element, size_t *count)
{
	*count = below(w, SOME);
	return arena_alloc(w->s->arena, *count * element);
}

/* Texts with every kind of byte, or with what is of meaning to one of the forms. */
static struct text bad_text(struct author *w)
{
	static const char *const bad[] = {"<script>alert(1)</script>", "\"'\\`&;", "\x1b[31m\r\n\t", "\xff\xfe\xc0\x80",
		"\xed\xa0\x80", "\xe2\x80\xae", "\xf4\x90\x80\x80", "]]>--%s%n"};
	size_t n = 1 + below(w, 40);
	char *at = arena_alloc(w->s->arena, n + 1);

	if (maybe(w)) {
		const char *chosen = bad[below(w, sizeof bad / sizeof *bad)];

		return (struct text){chosen, strlen(chosen)};
	}
	for (size_t i = 0; i < n; i++)
		at[i] = (char)(1 + below(w, 255));
	return (struct text){at, n};
}

static struct text word(struct author *w)
{
	static const char *const words[] = {"balance", "mu", "withdraw", "bank::transfer(int)", "T1", "bank.c", "x y", "\xc3\xa9t\xc3\xa9"};
	const char *chosen = words[below(w, sizeof words / sizeof *words)];

	return w->hostile && maybe(w) ? bad_text(w) : (struct text){chosen, strlen(chosen)};
}

static struct text maybe_word(struct author *w)
{
	return maybe(w) ? word(w) : (struct text){"", 0};
}

/* Small ones, and those at which numbers end. */
static uint64_t number(struct author *w)
{
	static const uint64_t ends[] = {0, 1, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX, UINT32_MAX};

	return maybe(w) ? below(w, 1000) : ends[below(w, sizeof ends / sizeof *ends)];
}

static uint32_t index_below(struct author *w, size_t count)
{
	return count && maybe(w) ? below(w, (uint32_t)count) : STORY_NONE;
}

static struct story_place place(struct author *w)
{
	struct story_place p = {maybe_word(w), 0, 0, STORY_NONE};

	p.line = maybe(w) ? 1 + below(w, 1000) : 0;
	p.column = p.line && maybe(w) ? 1 + below(w, 80) : 0;
	return p;
}

static struct text *texts(struct author *w, size_t *count)
{
	struct text *to = some(w, sizeof *to, count);

	for (size_t i = 0; i < *count; i++)
		to[i] = word(w);
	return to;
}

static void write_value(struct author *w, struct story_event *e)
{
	e->valued = maybe(w);
	if (!e->valued)
		return;
	e->value = number(w);
	e->is_unsigned = e->value > INT64_MAX && maybe(w);
}

static struct story_event event(struct author *w, enum story_role role)
{
	static const char *const kinds[] = {"read", "write", "lock", "unlock", "start", "atomic rmw"};
	struct story_event e = {.thread = below(w, (uint32_t)w->s->threads), .word = kinds[below(w, 6)], .object = maybe_word(w),
		.data = maybe(w), .locks = maybe(w), .unlocks = maybe(w), .size = below(w, 16), .place = place(w),
		.stack = index_below(w, w->s->stacks), .role = role, .seq = number(w), .skipped = number(w)};

	write_value(w, &e);
	return e;
}

/* FIRST and SECOND, and between, before and behind them whatever comes. */
static void write_events(struct author *w, struct story_finding *f)
{
	size_t before = below(w, 2), between = below(w, SOME);

	f->events = before + between + 2 + below(w, 2);
	f->event = arena_alloc(w->s->arena, f->events * sizeof *f->event);
	for (size_t i = 0; i < f->events; i++)
		f->event[i] = event(w, i == before ? STORY_FIRST : i == before + between + 1 ? STORY_SECOND :
			i > before && i <= before + between && maybe(w) ? STORY_CULPRIT : STORY_OTHER);
	f->window_from = between ? (uint32_t)before + 1 : STORY_NONE;
	f->window_to = between ? (uint32_t)(before + between) : STORY_NONE;
}

static void write_lists(struct author *w, struct story_finding *f)
{
	f->variable = texts(w, &f->variables);
	f->enclosing = texts(w, &f->enclosings);
	f->evidence = some(w, sizeof *f->evidence, &f->evidences);
	for (size_t i = 0; i < f->evidences; i++)
		f->evidence[i] = (struct story_evidence){word(w), word(w), number(w)};
	f->reason = some(w, sizeof *f->reason, &f->reasons);
	for (size_t i = 0; i < f->reasons; i++)
		f->reason[i] = (struct story_reason){word(w), word(w)};
	f->outcome = some(w, sizeof *f->outcome, &f->outcomes);
	for (size_t i = 0; i < f->outcomes; i++) {
		bool known = maybe(w);

		f->outcome[i] = (struct story_outcome){word(w), word(w), known ? (int64_t)number(w) : 0, known, maybe(w)};
	}
}

static struct story_fix fix(struct author *w)
{
	struct story_place from = place(w), to = place(w);

	if (!from.file.length)
		return (struct story_fix){.lock = {"", 0}, .from.source = STORY_NONE, .to.source = STORY_NONE};
	return (struct story_fix){maybe_word(w), from, to};
}

static void write_finding(struct author *w, struct story_finding *f)
{
	struct story *s = w->s;

	*f = (struct story_finding){
		.id = word(w), .trace = below(w, (uint32_t)s->traces), .verdict = (enum verdict)below(w, VERDICTS), .rank = 1 + below(w, 4),
		.hidden = maybe(w), .again = maybe(w), .happened = maybe(w), .count = number(w), .function = maybe_word(w),
		.place = place(w), .thread = below(w, (uint32_t)s->threads), .seq = number(w), .declared = maybe(w), .entered = maybe(w),
		.data = maybe(w), .lock = maybe_word(w), .block_stack = index_below(w, s->stacks),
		.caller_stack = index_below(w, s->stacks), .hindrance = maybe_word(w), .hazard = index_below(w, s->hazards),
		.guessed = maybe(w), .fix = fix(w), .suppressed = maybe_word(w), .reason_given = maybe_word(w), .known = maybe(w),
		.replay = maybe(w), .then = maybe_word(w),
	};
	write_events(w, f);
	write_lists(w, f);
}

static void write_stacks(struct author *w)
{
	struct story *s = w->s;

	s->stack = some(w, sizeof *s->stack, &s->stacks);
	for (size_t i = 0; i < s->stacks; i++) {
		s->stack[i].at = some(w, sizeof *s->stack[i].at, &s->stack[i].count);
		for (size_t k = 0; k < s->stack[i].count; k++)
			s->stack[i].at[k] = (struct story_frame){maybe_word(w), place(w), maybe(w), maybe(w)};
	}
	s->threads = 1 + below(w, SOME);
	s->thread = arena_alloc(s->arena, s->threads * sizeof *s->thread);
	for (size_t i = 0; i < s->threads; i++)
		s->thread[i] = (struct story_thread){word(w), index_below(w, s->threads), index_below(w, s->stacks)};
}

static void write_sources(struct author *w)
{
	struct story *s = w->s;

	s->source = some(w, sizeof *s->source, &s->sources);
	for (size_t i = 0; i < s->sources; i++) {
		struct story_source *to = &s->source[i];

		to->file = word(w);
		to->number = some(w, sizeof *to->number, &to->count);
		to->line = arena_alloc(s->arena, to->count * sizeof *to->line);
		for (size_t k = 0; k < to->count; k++) {
			to->number[k] = (k ? to->number[k - 1] : 0) + 1 + below(w, 9);
			to->line[k] = maybe_word(w);
		}
	}
}

static struct story_limit *limits(struct author *w, size_t *count)
{
	struct story_limit *to = some(w, sizeof *to, count);

	for (size_t i = 0; i < *count; i++)
		to[i] = (struct story_limit){word(w), number(w)};
	return to;
}

static void write_traces(struct author *w)
{
	struct story *s = w->s;

	s->traces = 1 + below(w, 2);
	s->trace = arena_alloc(s->arena, s->traces * sizeof *s->trace);
	for (size_t i = 0; i < s->traces; i++) {
		s->trace[i] = (struct story_trace){.path = word(w), .events = number(w), .variables = number(w), .repaired = number(w),
			.skipped = number(w), .threads = below(w, 9), .cut = maybe_word(w), .fault = maybe_word(w), .timed = maybe(w)};
		s->trace[i].repair = limits(w, &s->trace[i].repairs);
		s->trace[i].limit = limits(w, &s->trace[i].limits);
	}
}

/* Races before deadlocks; each has two accesses for a thread. */
static void write_hazards(struct author *w)
{
	struct story *s = w->s;
	size_t races;

	s->hazard = some(w, sizeof *s->hazard, &s->hazards);
	races = below(w, (uint32_t)s->hazards + 1);
	for (size_t i = 0; i < s->hazards; i++) {
		struct story_hazard *h = &s->hazard[i];

		*h = (struct story_hazard){.kind = i < races ? HAZARD_RACE : HAZARD_DEADLOCK, .trace = below(w, (uint32_t)s->traces),
			.object = i < races ? word(w) : (struct text){"", 0}, .times = number(w), .events = i < races ? 2 : 4};
		h->event = arena_alloc(s->arena, h->events * sizeof *h->event);
		for (size_t k = 0; k < h->events; k++)
			h->event[k] = event(w, STORY_OTHER);
	}
}

static void write_failures(struct author *w)
{
	struct story *s = w->s;

	s->failure = some(w, sizeof *s->failure, &s->failures);
	for (size_t i = 0; i < s->failures; i++) {
		struct story_failure *f = &s->failure[i];

		*f = (struct story_failure){.id = word(w), .what = word(w)};
		f->line = some(w, sizeof *f->line, &f->lines);
		for (size_t k = 0; k < f->lines; k++)
			f->line[k] = word(w);
	}
}

void random_story(struct story *s, struct arena *a, uint64_t seed, bool hostile)
{
	struct author w = {s, {seed}, hostile};

	*s = (struct story){.arena = a};
	s->program = maybe_word(&w);
	s->command = word(&w);
	s->status = (int)below(&w, 256);
	s->fail_on = word(&w);
	s->rank = below(&w, 5);
	write_stacks(&w);
	write_sources(&w);
	write_traces(&w);
	write_hazards(&w);
	write_failures(&w);
	s->finding = some(&w, sizeof *s->finding, &s->findings);
	for (size_t i = 0; i < s->findings; i++)
		write_finding(&w, &s->finding[i]);
	source_lines_link(s);
}
