/* SPDX-License-Identifier: MIT */
/* fission report: the findings of a run, in any form. */
#include "commands.h"

#include "base/arena.h"
#include "base/fail.h"
#include "cli/accept.h"
#include "cli/kept.h"
#include "cli/plan.h"
#include "report/report.h"
#include "report/story.h"

static struct {
	const char *format, *output;
	bool races, deadlocks;
} options = {.format = "text", .output = "-"};

/* Only hazards, and of these only the kinds that are asked for. */
static void keep_hazards(struct story *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->hazards; i++)
		if (s->hazard[i].kind == HAZARD_RACE ? options.races : options.deadlocks)
			s->hazard[n++] = s->hazard[i];
	s->hazards = n;
	s->findings = 0;
}

/* In words, hazards have a form of their own; the lines for editors are about findings. */
static const struct renderer *renderer(void)
{
	const struct renderer *r = renderer_named(options.format);

	if (!options.races && !options.deadlocks)
		return r;
	if (r == renderer_named("gcc"))
		die(STATUS_USAGE, "report: there are no %s as --format=gcc; take text, json, sarif or html",
			options.races ? "races" : "deadlocks");
	return r == renderer_named("text") ? &render_hazards : r;
}

static int report_main(int argc, char **argv)
{
	struct look look = look_for(options.output, kept_options.show_hidden);
	const struct renderer *form = renderer();
	struct accepted accepted;
	struct arena arena;
	struct story story;

	(void)argc;
	(void)argv;
	kept_check_output(options.output);
	arena_init(&arena);
	accept_read(&accepted, &arena, NULL);
	look.new_only = accepted.new_only;
	kept_read(&story, &arena);
	accept_apply(&accepted, &story);
	if (options.races || options.deadlocks)
		keep_hazards(&story);
	print_report(form, &story, look, options.output);
	arena_free(&arena);
	return 0;
}

static const struct opt own[] = {
	{"format", 0, OPT_TEXT, &options.format, "FORM", "the form of the report (default: text)", .values = renderer_names},
	{"output", 'o', OPT_TEXT, &options.output, "FILE", "where the report goes (default: standard output)"},
	{"races", 0, OPT_FLAG, &options.races, NULL, "the data races of the run instead of its findings"},
	{"deadlocks", 0, OPT_FLAG, &options.deadlocks, NULL, "its potential deadlocks"},
	{0},
};

const struct command command_report = {
	.name = "report",
	.summary = "write a report of the last run, in any form",
	.run = report_main,
	.about = "Writes the findings of a run in another form, without running the program again.",
	.options = (const struct opt_group[]){{"Options", own}, {"Findings", kept_opts},
		{"What is accepted", accept_options}, {0}},
	.examples = (const struct command_example[]){
		{"fission report", NULL},
		{"fission report --format=json -o findings.json", NULL},
		{"fission report --races", NULL},
		{0},
	},
	.statuses = (const struct command_status[]){
		{"0", "the report was written"},
		{"64", "a mistake in the command line, or there is no such directory"},
		{"65", "it holds no report that can be read"},
		{"69", "the report could not be written"},
		{"78", "a mistake in suppressions or in a baseline"},
		{0},
	},
	.see = (const char *const[]){"list", "show", "run", NULL},
};
