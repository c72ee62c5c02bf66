/* SPDX-License-Identifier: MIT */
/*
 * Renders a story that is read from a file, in one form: render FORM FILE [WORD...]. The words are `utf8`, `colour`,
 * `verbose`, `hidden`, `new` and a number of columns. With the word `time` it prints the seconds that reading and
 * rendering took, and the bytes, instead of the report.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "report/look.h"
#include "report/report.h"
#include "report/story.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct look look_from(char **words)
{
	struct look look = look_plain;

	for (; *words; words++) {
		look.utf8 |= strcmp(*words, "utf8") == 0;
		look.colour |= strcmp(*words, "colour") == 0;
		look.verbose |= strcmp(*words, "verbose") == 0;
		look.show_hidden |= strcmp(*words, "hidden") == 0;
		look.new_only |= strcmp(*words, "new") == 0;
		if (atoi(*words))
			look.columns = (unsigned)atoi(*words);
	}
	return look;
}

static bool is_timed(char **words)
{
	while (*words && strcmp(*words, "time") != 0)
		words++;
	return *words;
}

int main(int argc, char **argv)
{
	const struct renderer *form = argc > 2 ? renderer_named(argv[1]) : NULL;
	struct story story = {0};
	struct fault fault = {0};
	struct arena arena;
	struct look look;
	struct str out;
	double start = now(), read, rendered;

	if (!form)
		die(STATUS_USAGE, "usage: render FORM FILE [WORD...]");
	look = look_from(argv + 3);
	arena_init(&arena);
	if (!story_read(&story, &arena, argv[2], &fault))
		die(fault.status, "%s", fault.text);
	read = now();
	str_init(&out, &arena);
	form->render(&story, &look, &out);
	rendered = now();
	if (is_timed(argv + 3))
		printf("%f %f %zu\n", read - start, rendered - read, out.length);
	else
		fwrite(out.at, 1, out.length, stdout);
	arena_free(&arena);
	return fflush(stdout) ? STATUS_UNFIT : 0;
}
