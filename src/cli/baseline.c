/* SPDX-License-Identifier: MIT */
/* fission baseline: freezes the findings of a run, so that only new ones count. */
#include "commands.h"

#include <stdio.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/opts.h"
#include "base/output.h"
#include "base/str.h"
#include "cli/accept.h"
#include "cli/kept.h"
#include "report/story.h"

static struct {
	const char *output;
	bool update;
} options = {.output = BASELINE_FILE};

static void write_file(const struct baseline *b, const char *path)
{
	struct str text;
	struct output out;

	str_init(&text, b->arena);
	baseline_write(b, &text);
	if (output_open(&out, path))
		output_write(&out, text.at, text.length);
	if (fault_is_set(&out.fault) || !output_commit(&out))
		die(out.fault.status, "%s", out.fault.text);
}

/* A baseline is not replaced without a word: what this run did not show may be known all the same. */
static void read_old(struct baseline *b, const char *path)
{
	struct fault fault = {0};

	if (access(path, F_OK) != 0)
		return;
	if (!options.update)
		die(STATUS_USAGE, "baseline: %s exists; add what is new with --update, or remove it to start afresh", path);
	if (!baseline_read(b, path, &fault))
		die(fault.status, "%s", fault.text);
}

/* Which of those that were known are not in the run. */
static size_t gone(const struct baseline *b, size_t known, const struct story *s)
{
	struct map seen;
	size_t n = 0;

	map_init(&seen, s->arena);
	for (size_t i = 0; i < s->findings; i++)
		*map_put(&seen, baseline_index(b, s->finding[i].id)) = 1;
	for (size_t i = 0; i < known; i++)
		n += !map_get(&seen, i + 1);
	return n;
}

/* Not among the lines of the baseline itself. */
static void say(const struct baseline *b, size_t added, size_t lost)
{
	if (output_stream(options.output) == STDOUT_FILENO)
		return;
	printf("%s: %zu finding%s, %zu of them new", options.output, b->count, b->count == 1 ? "" : "s", added);
	if (lost)
		printf("; %zu were not in this run, and stay", lost);
	putchar('\n');
}

static int baseline_main(int argc, char **argv)
{
	struct arena arena;
	struct story story;
	struct baseline b;
	size_t known, added, lost;

	(void)argc;
	(void)argv;
	arena_init(&arena);
	kept_read(&story, &arena);
	baseline_init(&b, &arena);
	output_lock(options.output); /* until the tool ends */
	read_old(&b, options.output);
	known = b.count;
	added = baseline_add(&b, &story);
	lost = gone(&b, known, &story);
	write_file(&b, options.output);
	say(&b, added, lost);
	arena_free(&arena);
	return STATUS_CLEAN;
}

static const struct opt table[] = {
	{"output", 'o', OPT_TEXT, &options.output, "FILE", "the baseline (default: " BASELINE_FILE ")"},
	KEPT_FROM,
	{"update", 0, OPT_FLAG, &options.update, NULL, "add what is new to a baseline that exists; nothing is removed"},
	{0},
};

const struct command command_baseline = {
	.name = "baseline",
	.summary = "freeze the known findings",
	.run = baseline_main,
	.about = "Writes the ids of all findings of a run, shown or not, into a file. With --baseline=FILE --new-only, run, "
		"check, list and report then speak of others only.",
	.options = (const struct opt_group[]){{"Options", table}, {0}},
	.examples = (const struct command_example[]){
		{"fission baseline", NULL},
		{"fission baseline --update -o ci/fission.baseline", NULL},
		{"fission baseline && fission run --new-only ./bank", NULL},
		{0},
	},
	.statuses = (const struct command_status[]){
		{"0", "the file is written"},
		{"64", "a mistake in the command line, no such run, or the file exists"},
		{"65", "the run's findings cannot be read"},
		{"69", "the file could not be written"},
		{"78", "a mistake in the baseline"},
		{0},
	},
	.see = (const char *const[]){"suppress", "diff", "report", NULL},
};
