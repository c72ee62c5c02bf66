/* SPDX-License-Identifier: MIT */
/*
 * Stories survive: stories [--count N] [--seed N]
 *
 * A random story is written as JSON, read, and written again: the same bytes. If its texts are plain, every form of the
 * report is the same before and after. The JSON cut off anywhere, or with bytes of it changed, is refused or read, and
 * what is read can be rendered in every form; a sanitized build says if that is not so. The last line is 'N passed, M failed'.
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

static char file[] = "/tmp/stories.XXXXXX";
static unsigned passed, failed;

static void put(const char *bytes, size_t n)
{
	FILE *f = fopen(file, "wb");

	if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
		die(STATUS_UNFIT, "%s: cannot be written", file);
}

static void render(const struct renderer *r, const struct story *s, struct str *to)
{
	static const struct look all = {.columns = 120, .utf8 = true, .verbose = true, .show_hidden = true};

	str_init(to, s->arena);
	r->render(s, &all, to);
}

static void verdict(bool good, const char *what, uint64_t seed)
{
	passed += good;
	failed += !good;
	if (!good)
		printf("seed %llu: %s\n", (unsigned long long)seed, what);
}

static bool same(const struct str *a, const struct str *b)
{
	return a->length == b->length && memcmp(a->at, b->at, a->length) == 0;
}

static void try_forms(const struct story *s, const struct story *again, uint64_t seed)
{
	for (size_t i = 0; renderers_all[i]; i++) {
		struct str before, after;

		render(renderers_all[i], s, &before);
		render(renderers_all[i], again, &after);
		verdict(same(&before, &after), renderers_all[i]->name, seed);
	}
}

/* Whole, and told again. */
static void try_whole(struct arena *a, uint64_t seed, bool hostile)
{
	const struct renderer *json = renderer_named("json");
	struct story s, again;
	struct str before, after;
	struct fault fault = {0};

	random_story(&s, a, seed, hostile);
	render(json, &s, &before);
	put(before.at, before.length);
	if (!story_read(&again, a, file, &fault)) {
		verdict(false, fault.text, seed);
		return;
	}
	render(json, &again, &after);
	verdict(same(&before, &after), "the JSON is another one when it is written again", seed);
	if (!hostile)
		try_forms(&s, &again, seed);
}

static size_t mutate(struct rng *r, char *bytes, size_t n)
{
	static const char chosen[] = "\"{}[],:0129-.e\\ntu\x80\xff";

	if (rng_below(r, 2))
		return rng_below(r, (uint32_t)n);
	for (uint32_t i = rng_below(r, 4) + 1; i > 0; i--)
		bytes[rng_below(r, (uint32_t)n)] = chosen[rng_below(r, sizeof chosen - 1)];
	return n;
}

/* Broken: a fault that names the file, or a story. */
static void try_broken(struct arena *a, uint64_t seed)
{
	struct rng r = {seed};
	struct story s, again;
	struct str text;
	struct fault fault = {0};

	random_story(&s, a, seed, true);
	render(renderer_named("json"), &s, &text);
	put(text.at, mutate(&r, text.at, text.length));
	if (!story_read(&again, a, file, &fault)) {
		verdict(fault.status == STATUS_TRACE && strncmp(fault.text, file, strlen(file)) == 0, fault.text, seed);
		return;
	}
	for (size_t i = 0; renderers_all[i]; i++)
		render(renderers_all[i], &again, &text);
	verdict(true, "", seed);
}

static unsigned long option(int argc, char **argv, const char *name, unsigned long otherwise)
{
	for (int i = 1; i + 1 < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return strtoul(argv[i + 1], NULL, 10);
	return otherwise;
}

int main(int argc, char **argv)
{
	unsigned long count = option(argc, argv, "--count", 300), seed = option(argc, argv, "--seed", 1);

	close(mkstemp(file));
	for (uint64_t i = seed; i < seed + count; i++) {
		struct arena a;

		arena_init(&a);
		try_whole(&a, i, i % 2);
		try_broken(&a, i);
		arena_free(&a);
	}
	unlink(file);
	printf("%u passed, %u failed\n", passed, failed);
	return failed > 0;
}
