/* SPDX-License-Identifier: MIT */
/* fission list: the findings of a run, a line each. */
#include "commands.h"


#include "base/arena.h"
#include "cli/kept.h"
#include "cli/plan.h"
#include "report/report.h"
#include "report/story.h"

static int list_main(int argc, char **argv)
{
	struct arena arena;
	struct story story;

	(void)argc;
	(void)argv;
	arena_init(&arena);
	kept_read(&story, &arena);
	print_report(&render_list, &story, look_for("-", kept_options.show_hidden), "-");
	arena_free(&arena);
	return 0;
}

const struct command command_list = {
	.name = "list",
	.summary = "list the findings of the last run, a line each",
	.run = list_main,
	.most = 0,
	.about = "Lists the findings of a run, best rank first: id, verdict, rank, function, variables, the place of the second "
		"access, and how often the block was split. The last line says how many there are.",
	.options = (const struct opt_group[]){{"Options", kept_opts}, {0}},
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
		{0},
	},
	.see = (const char *const[]){"show", "report", "run", NULL},
};
