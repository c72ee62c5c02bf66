/* SPDX-License-Identifier: MIT */
#include "pairs.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "chase/chase.h"
#include "chase/execute.h"
#include "chase/judge.h"
#include "chase/turns.h"
#include "chase/waits.h"

enum { FIRST_SECONDS = 60 };

/* The list. */

static bool is_name(struct text t)
{
	for (size_t i = 0; i < t.length; i++) {
		char c = t.at[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
			(c && strchr("_.-:<>()~", c))))
			return false;
	}
	return t.length && t.length <= PAIRS_NAME_MOST && t.at[0] != '-';
}

/* Takes the next line off the text. */
static struct text next_line(struct text *of)
{
	const char *end = memchr(of->at, '\n', of->length);
	struct text line = {of->at, end ? (size_t)(end - of->at) : of->length};
	size_t gone = line.length + (end != NULL);

	of->at += gone;
	of->length -= gone;
	return line;
}

/* What follows the word and a blank; no text (at is NULL) if the line does not begin so. */
static struct text behind(struct text line, const char *word)
{
	size_t n = strlen(word);

	if (line.length <= n || memcmp(line.at, word, n) != 0 || line.at[n] != ' ')
		return (struct text){NULL, 0};
	return (struct text){line.at + n + 1, line.length - n - 1};
}

static struct text keep(struct arena *a, struct text t)
{
	return (struct text){arena_text(a, t.at, t.length), t.length};
}

static bool is_there(const struct pairs *p, struct text name)
{
	for (size_t i = 0; i < p->count; i++)
		if (text_same(p->operation[i].name, name))
			return true;
	return false;
}

/* "push alone", "add_all other". Returns what is wrong with it, or NULL. */
static const char *take_operation(struct pairs *p, struct arena *a, struct text line)
{
	const char *blank = memrchr(line.at, ' ', line.length);
	struct text name = {line.at, blank ? (size_t)(blank - line.at) : line.length};
	struct text kind = {name.at + name.length + 1, blank ? line.length - name.length - 1 : 0};

	if (!is_name(name) || !(text_is(kind, "other") || text_is(kind, "alone")))
		return "an operation's name has letters, digits and _.-:<>()~, 63 at most";
	if (is_there(p, name))
		return "two operations have the same name";
	if (p->count == PAIRS_MOST)
		return "there are too many operations";
	p->operation[p->count++] = (struct pairs_operation){keep(a, name), text_is(kind, "other")};
	return NULL;
}

/* Returns what is wrong with the list, or NULL. */
static const char *take_list(struct pairs *p, struct arena *a, struct text list)
{
	struct text object;
	const char *wrong = NULL;

	if (!text_is(next_line(&list), "fission-pairs 1"))
		return "it has no table of operations; fission/pairs.h shows how to write one";
	object = behind(next_line(&list), "object");
	if (!object.at || object.length > PAIRS_NAME_MOST)
		return "the table's name is missing, or longer than 63 bytes";
	p->object = keep(a, object);
	p->operation = arena_alloc(a, PAIRS_MOST * sizeof *p->operation);
	while (!wrong) {
		struct text line = next_line(&list), operation = behind(line, "operation");

		if (!operation.at)
			return text_is(line, "end") ? p->count ? NULL : "its table is empty" : "its list of operations is cut off";
		wrong = take_operation(p, a, operation);
	}
	return wrong;
}

bool pairs_list(struct pairs *p, struct arena *a, const struct pairs_setup *setup, struct fault *fault)
{
	char list[] = "list", *argv[] = {setup->program, list, NULL};
	struct execute_setup how = {.argv = argv, .input = {"", 0}, .order = execute_freely(a, "plan", 0),
		.seconds = FIRST_SECONDS};
	struct execution x;
	const char *wrong;

	*p = (struct pairs){.program = {setup->program, strlen(setup->program)}};
	if (!execute(&x, &how, fault))
		return false;
	wrong = take_list(p, a, x.output);
	execution_free(&x);
	if (wrong)
		fault_set(fault, STATUS_USAGE, "%s: %s", setup->program, wrong);
	p->cell = arena_alloc(a, p->count * p->count * sizeof *p->cell);
	memset(p->cell, 0, p->count * p->count * sizeof *p->cell);
	return !wrong;
}

/* The search. */

struct searcher {
	struct pairs *p;
	struct arena *arena;
	const struct pairs_setup *setup;
	size_t one, two; /* the pair */
	bool crossed;
};

static void learn(const struct searcher *s, struct pairs_cell *c, unsigned state, struct text id)
{
	c->state |= state;
	for (size_t i = 0; i < c->findings; i++)
		if (c->finding[i].crossed == s->crossed && text_same(c->finding[i].id, id))
			return;
	c->finding = arena_grow(s->arena, c->finding, c->findings * sizeof *c->finding,
		(c->findings + 1) * sizeof *c->finding);
	c->finding[c->findings++] = (struct pairs_finding){.id = keep(s->arena, id), .state = state, .crossed = s->crossed};
}

/*
 * Which of the two was split. A block has the name of its operation; one that the library itself has declared, within
 * an operation, goes by its thread: 2 is the first that the program makes.
 */
static bool is_second(const struct searcher *s, const struct chase_hit *h)
{
	const struct finding *f = &h->judged->findings.at[h->finding];
	struct text name = tables_name(&h->judged->execution->tables, TABLE_CODE, f->block.code);
	struct text one = s->p->operation[s->one].name, two = s->p->operation[s->two].name;

	if (text_same(name, one) || text_same(name, two))
		return !text_same(name, one);
	return judged_thread(h->judged, f->block.thread) > 2;
}

static void learn_failure(const struct searcher *s, const struct chase_failure *f)
{
	unsigned state = text_is(f->story.what, "deadlock") ? PAIRS_DEADLOCK : PAIRS_FAILED;

	learn(s, pairs_at(s->p, s->one, s->two), state, f->story.id);
	if (s->one != s->two)
		learn(s, pairs_at(s->p, s->two, s->one), state, f->story.id);
}

static void learn_all(const struct searcher *s, const struct chase *c)
{
	pairs_at(s->p, s->one, s->two)->state |= PAIRS_TRIED;
	pairs_at(s->p, s->two, s->one)->state |= PAIRS_TRIED;
	s->p->executions += c->executions;
	for (size_t i = 0; i < c->hits; i++) {
		bool second = is_second(s, &c->hit[i]);

		learn(s, pairs_at(s->p, second ? s->two : s->one, second ? s->one : s->two), PAIRS_SPLIT,
			c->hit[i].replay.finding);
	}
	for (size_t i = 0; i < c->failures; i++)
		learn_failure(s, &c->failure[i]);
}

/* What the first executions of a pair tell, one operation after the other; what the search is for may be ruled out. */
struct prospect {
	bool conflict; /* the two touch the same memory, and one of them writes it, or do more than take locks */
	struct order *wait[WAITS_MOST];
	size_t waits;
	struct order *reversed; /* the second operation comes first */
	struct turns one, two;  /* the first operation split by the second; the other way round */
};

/* Who has touched a location: the first thread to do so, and whether anybody has written it. */
struct touch {
	uint32_t thread; /* + 1; 0: nobody yet */
	bool written;
};

static bool is_conflict(struct touch *t, const struct step *s)
{
	bool other = t->thread && t->thread != s->thread + 1, found;

	t->written |= step_writes(s);
	found = other && t->written;
	t->thread = t->thread ? t->thread : s->thread + 1;
	return found;
}

/* The thread that makes the objects, number 0, is there before the others and after them. */
static bool has_conflict(const struct whole *w, struct arena *a)
{
	struct touch *touch = arena_alloc(a, (w->locs + 1) * sizeof *touch);

	memset(touch, 0, (w->locs + 1) * sizeof *touch);
	for (uint32_t i = 0; i < w->steps; i++) {
		const struct step *s = &w->step[i];

		if (s->thread == 0)
			continue;
		if (s->waits || (!step_is_access(s) && s->kind != STEP_ACQUIRE && s->kind != STEP_RELEASE))
			return true;
		for (uint32_t k = 0; step_is_access(s) && k < s->locs; k++)
			if (is_conflict(&touch[s->object + k], s))
				return true;
	}
	return false;
}

/* The program's first thread is 1; FIRST and SECOND are those of the two operations. */
enum { FIRST = 2, SECOND = 3 };

static struct execute_setup first_setup(const struct searcher *s, char **argv, struct order *o)
{
	return (struct execute_setup){.argv = argv, .input = {"", 0}, .policy = s->setup->policy, .order = o,
		.seconds = FIRST_SECONDS};
}

/* The orders live in the arena. */
static bool look_ahead(const struct searcher *s, char **argv, struct prospect *to, struct fault *fault)
{
	struct execute_setup how = first_setup(s, argv, execute_freely(s->arena, "plan", 0));
	struct execution x;
	struct judged j;

	if (!execute(&x, &how, fault))
		return false;
	s->p->executions++;
	judge(&j, &x, s->setup->policy);
	*to = (struct prospect){.one = {FIRST, SECOND}, .two = {SECOND, FIRST}};
	to->conflict = x.outcome.ending != ENDING_EXIT || has_conflict(&j.whole, &x.arena);
	to->waits = waits_orders(&j, s->setup->policy, s->arena, to->wait);
	to->reversed = turns_begin(&j, SECOND, s->arena);
	turns_between(&to->one, &j, s->arena);
	execution_free(&x);
	return true;
}

/* The same with the second operation first. */
static bool look_back(const struct searcher *s, char **argv, struct prospect *to, struct fault *fault)
{
	struct execute_setup how = first_setup(s, argv, to->reversed);
	struct execution x;
	struct judged j;

	if (!to->reversed || s->one == s->two)
		return true;
	if (!execute(&x, &how, fault))
		return false;
	s->p->executions++;
	judge(&j, &x, s->setup->policy);
	turns_between(&to->two, &j, s->arena);
	execution_free(&x);
	return true;
}

static bool is_split(const struct searcher *s, const struct chase *c, bool second)
{
	for (size_t i = 0; i < c->hits; i++)
		if (s->one == s->two || is_second(s, &c->hit[i]) == second)
			return true;
	return false;
}

static bool try_turns(const struct searcher *s, struct chase *c, const struct turns *t, struct fault *fault)
{
	for (size_t i = 0; i < t->count && !is_split(s, c, t->thread == SECOND); i++)
		if (!chase_try(c, t->order[i], fault))
			return false;
	return true;
}

/*
 * If the two have nothing in common but locks, every order of them gives each what it gets alone, and nothing is
 * searched but deadlocks. (A lock that is only tried, in vain, does not show in the first execution.)
 */
static bool search_in(const struct searcher *s, struct chase *c, const struct chase_setup *setup, struct fault *fault)
{
	struct prospect ahead;
	bool good;

	*c = (struct chase){0};
	arena_init(&c->arena);
	if (!look_ahead(s, setup->argv, &ahead, fault))
		return false;
	if (!ahead.conflict && !ahead.waits)
		return true;
	good = (!ahead.conflict || look_back(s, setup->argv, &ahead, fault)) && chase_search(c, setup, fault);
	for (size_t i = 0; good && i < ahead.waits; i++)
		good = chase_try(c, ahead.wait[i], fault);
	return good && (!ahead.conflict || (try_turns(s, c, &ahead.one, fault) && try_turns(s, c, &ahead.two, fault)));
}

static bool search(const struct searcher *s, struct fault *fault)
{
	char **argv = arena_alloc(s->arena, 5 * sizeof *argv);
	struct chase *c = arena_alloc(s->arena, sizeof *c);
	const char *sharing = s->crossed ? "crossed" : "same";
	struct chase_setup *setup = arena_alloc(s->arena, sizeof *setup);

	argv[0] = s->setup->program;
	argv[1] = arena_text(s->arena, sharing, strlen(sharing));
	argv[2] = (char *)s->p->operation[s->one].name.at;
	argv[3] = (char *)s->p->operation[s->two].name.at;
	argv[4] = NULL;
	*setup = (struct chase_setup){.argv = argv, .input = {"", 0}, .policy = s->setup->policy, .seeds = s->setup->seeds,
		.jobs = 1};
	if (!search_in(s, c, setup, fault))
		return false;
	learn_all(s, c);
	s->setup->take(s->setup->to, c, s->p);
	return true;
}

/* Both ways of sharing. */
static bool search_pair(struct searcher *s, struct fault *fault)
{
	s->p->tried++;
	s->crossed = false;
	if (!search(s, fault))
		return false;
	s->crossed = true;
	return !(s->p->operation[s->one].other || s->p->operation[s->two].other) || search(s, fault);
}

static bool is_named(const struct searcher *s, size_t i, struct text name)
{
	return !name.length || text_same(s->p->operation[i].name, name);
}

static bool is_wanted(const struct searcher *s)
{
	const struct text *only = s->setup->only;

	return (is_named(s, s->one, only[0]) && is_named(s, s->two, only[1])) ||
		(is_named(s, s->one, only[1]) && is_named(s, s->two, only[0]));
}

static bool is_ours(const struct searcher *s)
{
	char name[2 * PAIRS_NAME_MOST + 2];
	int n = snprintf(name, sizeof name, "%s/%s", s->p->operation[s->one].name.at, s->p->operation[s->two].name.at);

	return is_wanted(s) && shard_has(s->setup->shard, (struct text){name, (size_t)n});
}

bool pairs_search(struct pairs *p, struct arena *a, const struct pairs_setup *setup, struct fault *fault)
{
	struct searcher s = {.p = p, .arena = a, .setup = setup};

	for (s.one = 0; s.one < p->count; s.one++)
		for (s.two = s.one; s.two < p->count; s.two++)
			if (is_ours(&s) && !search_pair(&s, fault))
				return false;
	return true;
}
