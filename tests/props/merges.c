/* SPDX-License-Identifier: MIT */
/*
 * Merging is a union: merges [--count N] [--seed N]
 *
 * Random results, some of them twice, some of a unit of which another copy differs, some lost and found after all, are
 * merged at once, and in another order, with repetitions, by way of packs of packs: the same pack, and the same report,
 * byte for byte. What the union has to hold is counted by itself, too: each unit, each finding once, the surest
 * verdict. The last line is 'N passed, M failed'.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/rng.h"
#include "base/str.h"
#include "random_story.h"
#include "report/look.h"
#include "report/report.h"
#include "report/story.h"
#include "scale/join.h"
#include "scale/pack.h"
#include "scale/record.h"
#include "scale/results.h"

enum { RESULTS = 8, STORIES = 5 };

static unsigned passed, failed;

static void verdict(bool good, const char *what, uint64_t seed)
{
	passed += good;
	failed += !good;
	if (!good)
		printf("seed %llu: %s\n", (unsigned long long)seed, what);
}

/* One thing that a results directory may hold. */
struct piece {
	enum result_kind kind;
	struct address id;
	struct text bytes;
};

struct world {
	struct arena arena;
	struct rng rng;
	struct piece piece[4 * RESULTS];
	size_t count;
};

static void add(struct world *w, enum result_kind kind, struct address id, struct text bytes)
{
	w->piece[w->count++] = (struct piece){kind, id, bytes};
}

/* A few stories for all results: so ids meet, with other verdicts. */
static struct text result_of(struct world *w, uint32_t number, uint64_t story_seed)
{
	struct str r, json;
	struct story s;
	char name[32];

	random_story(&s, &w->arena, story_seed, false);
	for (size_t i = 0; i < s.findings; i++)
		s.finding[i].verdict = (enum verdict)rng_below(&w->rng, VERDICTS);
	str_init(&json, &w->arena);
	renderer_named("json")->render(&s, &look_plain, &json);
	str_init(&r, &w->arena);
	snprintf(name, sizeof name, "trace-%u", (unsigned)(number % 3));
	record_put_word(&r, "fission-result", "1");
	record_put_word(&r, "name", name);
	record_put(&r, "story", (struct text){json.at, json.length});
	return (struct text){r.at, r.length};
}

static void make_world(struct world *w, uint64_t seed)
{
	static const char lost[] = "given up\n";

	*w = (struct world){.rng = {seed}};
	arena_init(&w->arena);
	for (uint32_t i = 0; i < RESULTS; i++) {
		struct address id = address_of((struct text){(const char *)&i, sizeof i});
		struct text bytes = result_of(w, i, seed * STORIES + rng_below(&w->rng, STORIES));

		if (rng_below(&w->rng, 4) == 0)
			add(w, RESULT_LOST, id, (struct text){lost, sizeof lost - 1});
		if (rng_below(&w->rng, 8) == 0)
			continue;
		add(w, RESULT_DONE, id, bytes);
		if (rng_below(&w->rng, 4) == 0)
			add(w, RESULT_DONE, id, result_of(w, i, seed * STORIES + rng_below(&w->rng, STORIES)));
		if (rng_below(&w->rng, 8) == 0)
			add(w, RESULT_DONE, id, result_of(w, i, seed * STORIES + rng_below(&w->rng, STORIES)));
	}
}

/* The report and the pack of a set. */
static struct text told(struct world *w, struct results *r)
{
	struct join join;
	struct story story;
	struct str to;

	results_settle(r);
	join_init(&join, &w->arena);
	for (size_t i = 0; i < r->count; i++)
		if (r->at[i].kind == RESULT_DONE)
			join_add(&join, &r->at[i]);
	join_tell(&join, &story);
	str_init(&to, &w->arena);
	renderer_named("json")->render(&story, &look_plain, &to);
	results_pack(r, &to);
	return (struct text){to.at, to.length};
}

static void take(struct results *r, const struct piece *p)
{
	results_add(r, p->kind, (struct text){p->id.hex, ADDRESS}, p->bytes);
}

static struct text at_once(struct world *w, struct results *r)
{
	results_init(r, &w->arena);
	for (size_t i = 0; i < w->count; i++)
		take(r, &w->piece[i]);
	return told(w, r);
}

/* Some of the pieces, drawn with repetitions, as a pack; nested packs are made of packs. */
static void merge_into(struct world *w, struct results *to, struct results *from)
{
	struct pack_entry e;
	struct str pack;
	struct text rest;

	results_settle(from);
	str_init(&pack, &w->arena);
	results_pack(from, &pack);
	rest = (struct text){pack.at, pack.length};
	if (!pack_open(&rest))
		return;
	while (pack_next(&rest, &e))
		results_add(to, text_is(e.kind, "lost") ? RESULT_LOST : text_is(e.kind, "result") ? RESULT_DONE : RESULT_CAMPAIGN,
			e.name, e.bytes);
}

static struct text some_way(struct world *w)
{
	struct results part[3], half, whole;
	size_t order[4 * RESULTS];

	for (size_t i = 0; i < w->count; i++)
		order[i] = i;
	for (size_t i = w->count; i-- > 1;) {
		size_t k = rng_below(&w->rng, (uint32_t)i + 1), was = order[i];

		order[i] = order[k];
		order[k] = was;
	}
	for (int i = 0; i < 3; i++)
		results_init(&part[i], &w->arena);
	for (size_t i = 0; i < w->count; i++)
		for (uint32_t again = rng_below(&w->rng, 3) + 1; again > 0; again--)
			take(&part[rng_below(&w->rng, 3)], &w->piece[order[i]]);
	results_init(&half, &w->arena);
	merge_into(w, &half, &part[2]);
	merge_into(w, &half, &part[0]);
	results_init(&whole, &w->arena);
	merge_into(w, &whole, &part[1]);
	merge_into(w, &whole, &half);
	merge_into(w, &whole, &half);
	return told(w, &whole);
}

/* What must be in it, counted without any of that. */
static bool holds(const struct world *w, const struct results *r)
{
	for (size_t i = 0; i < w->count; i++) {
		const struct piece *p = &w->piece[i];
		const struct result *found = results_find(r, p->id.hex);
		size_t others = 0;

		for (size_t k = 0; k < w->count; k++)
			others += w->piece[k].kind == RESULT_DONE && strcmp(w->piece[k].id.hex, p->id.hex) == 0 &&
				!text_same(w->piece[k].bytes, p->bytes);
		if (p->kind == RESULT_DONE && (!found || found->differs != (others > 0)))
			return false;
	}
	for (size_t i = 0; i < r->count; i++)
		if (r->at[i].kind == RESULT_LOST && results_find(r, r->at[i].id))
			return false;
	return true;
}

/* The surest verdict of an id among all results, where a unit of two minds has nothing reproduced. */
static enum verdict surest(struct world *w, const struct results *r, struct text id)
{
	enum verdict best = VERDICT_SUSPECTED;

	for (size_t i = 0; i < r->count; i++) {
		struct fault fault = {0};
		struct story s;

		if (r->at[i].kind != RESULT_DONE || !story_parse(&s, &w->arena, record_get(r->at[i].bytes, "story"), &fault))
			continue;
		for (size_t k = 0; k < s.findings; k++) {
			enum verdict v = s.finding[k].verdict;

			v = r->at[i].differs && v > VERDICT_OBSERVED ? VERDICT_OBSERVED : v;
			if (text_same(s.finding[k].id, id) && v > best)
				best = v;
		}
	}
	return best;
}

static bool is_surest(struct world *w, struct results *r)
{
	struct join join;
	struct story s;

	join_init(&join, &w->arena);
	for (size_t i = 0; i < r->count; i++)
		if (r->at[i].kind == RESULT_DONE)
			join_add(&join, &r->at[i]);
	join_tell(&join, &s);
	for (size_t i = 0; i < s.findings; i++) {
		for (size_t k = 0; k < i; k++)
			if (text_same(s.finding[k].id, s.finding[i].id))
				return false;
		if (s.finding[i].verdict != surest(w, r, s.finding[i].id))
			return false;
	}
	return true;
}

static void try_seed(uint64_t seed)
{
	struct world w;
	struct results all;
	struct text once;

	make_world(&w, seed);
	once = at_once(&w, &all);
	verdict(holds(&w, &all), "the union has not what it should", seed);
	verdict(is_surest(&w, &all), "a finding twice, or not with its surest verdict", seed);
	for (int i = 0; i < 3; i++)
		verdict(text_same(once, some_way(&w)), "another order, repetitions and nesting make another merge", seed);
	arena_free(&w.arena);
}

int main(int argc, char **argv)
{
	unsigned long count = 200, seed = 1;

	for (int i = 1; i + 1 < argc; i++) {
		count = strcmp(argv[i], "--count") == 0 ? strtoul(argv[i + 1], NULL, 10) : count;
		seed = strcmp(argv[i], "--seed") == 0 ? strtoul(argv[i + 1], NULL, 10) : seed;
	}
	for (uint64_t i = seed; i < seed + count; i++)
		try_seed(i);
	printf("%u passed, %u failed\n", passed, failed);
	return failed > 0;
}
