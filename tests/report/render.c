/* SPDX-License-Identifier: MIT */
/*
 * Renders a story that is read from a file, in one form: render FORM FILE [WORD...]. The words are `utf8`, `colour`,
 * `verbose`, `hidden`, `new` and a number of columns. With the word `time` it prints instead of the report: the seconds of
 * CPU time that reading took and rendering, the bytes, and the peak of memory. `render forms` prints the names of all
 * forms.
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

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* In kilobytes; of this program alone, which getrusage() would not say after an exec. */
static unsigned long peak(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	unsigned long most = 0;
	char line[256];

	while (status && fgets(line, sizeof line, status))
		sscanf(line, "VmHWM: %lu", &most);
	if (status)
		fclose(status);
	return most;
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

static int list_forms(void)
{
	for (size_t i = 0; renderers_all[i]; i++)
		puts(renderers_all[i]->name);
	return 0;
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

	if (argc == 2 && strcmp(argv[1], "forms") == 0)
		return list_forms();
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
		printf("%f %f %zu %lu\n", read - start, rendered - read, out.length, peak());
	else
		fwrite(out.at, 1, out.length, stdout);
	arena_free(&arena);
	return fflush(stdout) ? STATUS_UNFIT : 0;
}
