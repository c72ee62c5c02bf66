/* SPDX-License-Identifier: MIT */
/* fission list: the findings of a run, a line each. */
#include "commands.h"

#include <stdio.h>

#include "base/arena.h"
#include "cli/accept.h"
#include "cli/kept.h"
#include "cli/plan.h"
#include "report/report.h"
#include "report/story.h"

static bool ids;

/* For scripts, and for completion. */
static void print_ids(const struct story *s, struct look look)
{
	for (size_t i = 0; i < s->findings; i++)
		if (look_shows(&look, s, &s->finding[i]))
			printf("%.*s\n", (int)s->finding[i].id.length, s->finding[i].id.at);
}

static int list_main(int argc, char **argv)
{
	struct look look = look_for("-", kept_options.show_hidden);
	struct accepted accepted;
	struct arena arena;
	struct story story;

	(void)argc;
	(void)argv;
	arena_init(&arena);
	accept_read(&accepted, &arena, NULL);
	look.new_only = accepted.new_only;
	kept_read(&story, &arena);
	accept_apply(&accepted, &story);
	if (ids)
		print_ids(&story, look);
	else
		print_report(&render_list, &story, look, "-");
	arena_free(&arena);
	return 0;
}

static const struct opt own[] = {
	{"ids", 0, OPT_FLAG, &ids, NULL, "the ids alone"},
	{0},
};

const struct command command_list = {
	.name = "list",
	.summary = "list the findings of the last run, a line each",
	.run = list_main,
	.about = "Lists the findings of a run, best rank first: id, verdict, rank, function, variables, the place of the second "
		"access, and how often the block was split. The last line says how many there are.",
	.options = (const struct opt_group[]){{"Options", own}, {"Findings", kept_opts},
		{"What is accepted", accept_options}, {0}},
	.examples = (const struct command_example[]){
		{"fission list", NULL},
		{"fission list --show-hidden", NULL},
		{"fission list --from=fission.out.old", NULL},
		{0},
	},
	.statuses = (const struct command_status[]){
		{"0", "they were listed"},
		{"64", "there is no such directory"},
		{"65", "it holds no report that can be read"},
		{"78", "a mistake in suppressions or in a baseline"},
		{0},
	},
	.see = (const char *const[]){"show", "report", "run", NULL},
};
