/* SPDX-License-Identifier: MIT */
/* fission show: one finding of a run, with all that is known of it. */
#include "commands.h"

#include "base/arena.h"
#include "cli/kept.h"
#include "cli/plan.h"
#include "report/report.h"
#include "report/story.h"

/* A story of that finding alone, with what stands in its way. */
static struct story story_of(const struct story *s, const struct story_finding *f)
{
	struct story_finding *one = arena_alloc(s->arena, sizeof *one);
	struct story to = *s;

	*one = *f;
	to.finding = one;
	to.findings = 1;
	to.hazards = f->hazard != STORY_NONE;
	to.hazard = to.hazards ? &s->hazard[f->hazard] : NULL;
	one->hazard = to.hazards ? 0 : STORY_NONE;
	return to;
}

static int show_main(int argc, char **argv)
{
	struct look look = look_for("-", true);
	struct arena arena;
	struct story story;

	look.verbose = true;
	arena_init(&arena);
	kept_read(&story, &arena);
	for (int i = 1; i < argc; i++)
		kept_find(&story, argv[i]);
	for (int i = 1; i < argc; i++) {
		struct story one = story_of(&story, kept_find(&story, argv[i]));

		print_report(renderer_named("text"), &one, look, "-");
	}
	arena_free(&arena);
	return 0;
}

static const struct opt table[] = {
	KEPT_FROM,
	{0},
};

const struct command command_show = {
	.name = "show",
	.summary = "show findings of the last run with all details",
	.run = show_main,
	.words = "ID...",
	.least = 1,
	.about = "Shows findings of a run, with all that is known of them. The beginning of an id is enough, if no other begins "
		"so: fsn-7c1f0a2b is also fsn-7c and 7c.",
	.options = (const struct opt_group[]){{"Options", table}, {0}},
	.examples = (const struct command_example[]){
		{"fission show fsn-7c1f0a2b", NULL},
		{"fission show 7c", NULL},
		{"fission show --from=findings.json 7c 89", NULL},
		{0},
	},
	.statuses = (const struct command_status[]){
		{"0", "they were shown"},
		{"64", "there is no such finding, or no such directory"},
		{"65", "it holds no report that can be read"},
		{0},
	},
	.see = (const char *const[]){"list", "report", NULL},
};
