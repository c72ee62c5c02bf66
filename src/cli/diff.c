/* SPDX-License-Identifier: MIT */
/* fission diff: what is new, gone and still there between two runs. */
#include "commands.h"

#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/opts.h"
#include "base/output.h"
#include "base/str.h"
#include "cli/accept.h"
#include "cli/kept.h"
#include "cli/plan.h"
#include "report/diff.h"
#include "report/story.h"

static struct {
	const char *format, *fail_on;
	bool show_hidden;
} options = {.format = "text", .fail_on = "predicted,2"};

static const char *forms(size_t i, const char **about)
{
	static const char *const words[] = {"text", "json", NULL};

	return opts_word(words, i, about);
}

static void render(const struct diff *d, struct arena *a)
{
	struct look look = look_for("-", options.show_hidden);
	struct str text;
	struct output out;

	str_init(&text, a);
	if (strcmp(options.format, "json") == 0)
		diff_json(d, &text);
	else
		diff_text(d, &look, &text);
	if (output_open(&out, "-"))
		output_write(&out, text.at, text.length);
	if (fault_is_set(&out.fault) || !output_commit(&out))
		die(out.fault.status, "%s", out.fault.text);
}

static void read_run(struct story *s, struct arena *a, const char *path)
{
	struct fault fault = {0};

	if (!run_dir_read(s, a, path, &fault))
		die(fault.status, "%s", fault.text);
}

static int diff_main(int argc, char **argv)
{
	struct threshold fail_on = parse_fail_on(options.fail_on);
	struct arena arena;
	struct story before, after;
	struct accepted accepted;
	struct diff d;
	bool fails;

	(void)argc;
	arena_init(&arena);
	accept_read(&accepted, &arena, NULL);
	read_run(&before, &arena, argv[1]);
	read_run(&after, &arena, argv[2]);
	accept_apply(&accepted, &before);
	accept_apply(&accepted, &after);
	diff_make(&d, &arena, &before, &after);
	render(&d, &arena);
	fails = diff_reaches(&d, fail_on);
	arena_free(&arena);
	return fails ? STATUS_FINDINGS : STATUS_CLEAN;
}

static const struct opt table[] = {
	{"format", 0, OPT_TEXT, &options.format, "FORM", "the form (default: text)", .values = forms},
	{"fail-on", 0, OPT_TEXT, &options.fail_on, "VERDICT[,RANK]",
		"which new findings make the exit status 66 (default: predicted,2)",
		.values = fail_on_verdicts, .first = true, .right = fail_on_right},
	{"show-hidden", 0, OPT_FLAG, &options.show_hidden, NULL,
		"show every finding, also those that are hidden in both runs"},
	{"suppressions", 0, OPT_TEXT, &accept_chosen.suppressions, "FILES",
		"files of suppressions, with commas (default: " SUPPRESSIONS_FILE ", if it exists)"},
	{0},
};

const struct command command_diff = {
	.name = "diff",
	.summary = "what is new, gone and still there between two runs",
	.run = diff_main,
	.words = "A B",
	.least = 2,
	.most = 2,
	.about = "Compares the findings of two runs, A before B, each a directory as fission.out, or its findings as JSON. A "
		"finding is the same one if its id is: line numbers, addresses, threads and the schedule do not count.",
	.options = (const struct opt_group[]){{"Options", table}, {0}},
	.examples = (const struct command_example[]){
		{"fission diff fission.out.old fission.out", NULL},
		{"fission diff --format=json main.json branch.json", NULL},
		{"fission diff --fail-on=suspected,3 main.json fission.out", NULL},
		{0},
	},
	.statuses = (const struct command_status[]){
		{"0", "nothing new at or above --fail-on"},
		{"66", "new findings at or above --fail-on"},
		{"64", "a mistake in the command line, or no such run"},
		{"65", "a run's findings cannot be read"},
		{"78", "a mistake in suppressions"},
		{0},
	},
	.see = (const char *const[]){"baseline", "report", NULL},
};
