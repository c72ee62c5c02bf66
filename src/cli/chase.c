/* SPDX-License-Identifier: MIT */
/* fission chase: drives a program into what could go wrong, until it does. */
#include "commands.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "chase/chase.h"
#include "chase/execute.h"
#include "chase/save.h"
#include "chase/steer.h"
#include "chase/tell.h"
#include "cli/accept.h"
#include "cli/cc_flags.h"
#include "cli/hunt.h"
#include "cli/kept.h"
#include "cli/live.h"
#include "cli/manner.h"
#include "cli/plan.h"
#include "cli/scale.h"
#include "cli/stock.h"
#include "cli/units.h"
#include "collect/program.h"
#include "report/report.h"
#include "scale/join.h"
#include "scale/pack.h"
#include "symbolic/search.h"

static struct {
	const char *output, *time, *out, *save, *without;
	unsigned long seeds;
	bool no_out;
} options = {.output = "/dev/stderr", .out = RUN_DIR, .time = "60s", .seeds = 10};

/* One search and what is told of it. */
struct session {
	struct arena arena;
	struct plan plan;
	struct chase chase;
	struct progress progress;
	struct chase_told told;
	struct search search;     /* for inputs */
};

/* --verbose: a line for each execution. */
static void tell_last(const struct chase *c)
{
	const struct chase_last *l = &c->last;

	warn("execution %llu: %s %llu, %u of %u steps%s; %s %u; split: %zu, counts: %zu, by conditions: %zu; "
		"new candidates: %zu, plans: %zu; %.3f s",
		(unsigned long long)c->executions, l->by->strategy, (unsigned long long)l->by->seed, l->done, l->by->steps,
		l->diverged ? ", diverged" : "", ending_text[l->outcome.ending], l->outcome.status, l->split, l->counts,
		l->fast, l->candidates, l->plans, l->seconds);
}

static void tell(void *self, const struct chase *c)
{
	struct session *s = self;
	const char *dot = s->progress.between;

	if (manner.verbose)
		tell_last(c);
	if (progress_due(&s->progress))
		progress_show(&s->progress, "%llu candidates%s%llu feasible%s%llu tried%s%zu reproduced%s%.0f s left",
			(unsigned long long)c->candidates, dot, (unsigned long long)c->feasible, dot, (unsigned long long)c->tried, dot,
			c->hits, dot, chase_left(c));
}

/* The report. */

/* The search in one line: what was done, and why it ended. */
static void sum_up(struct session *s)
{
	const struct chase *c = &s->chase;
	struct str inputs;

	if (manner.quiet)
		return;
	warn("candidates: %llu, feasible: %llu, tried: %llu; executions: %llu; reproduced: %zu; %s",
		(unsigned long long)c->candidates, (unsigned long long)c->feasible, (unsigned long long)c->tried,
		(unsigned long long)c->executions, c->hits, c->over ? "the time is over (--time)" : "nothing is left to try");
	if (c->repeats)
		warn("%llu more happened and could not be repeated: something outside of the schedule decides",
			(unsigned long long)c->repeats);
	str_init(&inputs, &s->arena);
	search_tell(&s->search, &inputs);
	if (inputs.length)
		warn("%s", inputs.at);
	for (size_t i = 0; manner.verbose && i < c->hits; i++)
		warn("%.*s: reproduced in execution %llu", (int)c->hit[i].replay.finding.length, c->hit[i].replay.finding.at,
			(unsigned long long)c->hit[i].executions);
}

static int report(struct session *s)
{
	struct chase *c = &s->chase;
	struct report r = {.rank = s->plan.rank, .command = "chase", .program = c->setup->argv,
		.fail_on = check_options.fail_on};
	struct look look = look_for(options.output, check_options.show_hidden);
	struct story story;

	chase_tell(c, &s->told, &r, &s->arena);
	story_tell(&story, &s->arena, &r);
	accept_apply(&s->plan.accepted, &story);
	story.status = plan_fails(&s->plan, &story) || story.failures ? (int)check_options.exitcode : STATUS_CLEAN;
	if (!options.no_out)
		kept_write(&story, options.out);
	look.new_only = s->plan.accepted.new_only;
	print_report(s->plan.renderer, &story, look, options.output);
	return story.status;
}

/* --save */

/* Beside the replay, for people: a directory with the inputs that it takes. */
static bool save_inputs(const struct chase_hit *h, struct arena *a, struct fault *fault)
{
	struct str dir;

	str_init(&dir, a);
	str_printf(&dir, "%s/%.*s.inputs", options.save, (int)h->replay.finding.length, h->replay.finding.at);
	return inputs_write(h->inputs, dir.at, a, fault);
}

static void save(const struct session *s)
{
	const struct chase *c = &s->chase;
	struct fault fault = {0};
	bool good = true;

	for (size_t i = 0; good && i < c->hits; i++)
		good = save_replay(options.save, c->hit[i].replay.finding, c->hit[i].file, &fault) &&
			(!c->hit[i].inputs || save_inputs(&c->hit[i], (struct arena *)&s->arena, &fault));
	for (size_t i = 0; good && i < c->failures; i++)
		good = save_replay(options.save, c->failure[i].story.id, c->failure[i].file, &fault);
	if (!good || !save_lists(options.save, (struct arena *)&s->arena, &fault))
		die(fault.status, "%s", fault.text);
}

/* One finding of the latest run. */

/* The words of a line for a shell, as story_tell has quoted them. */
static char **words_of(struct text line, struct arena *a)
{
	char **words = arena_alloc(a, (line.length + 2) * sizeof *words), *to = arena_alloc(a, line.length + 2);
	bool quoted = false;
	size_t n = 0;

	words[0] = to;
	for (size_t i = 0; i < line.length; i++) {
		char ch = line.at[i];

		if (ch == '\'') {
			quoted = !quoted;
		} else if (ch == ' ' && !quoted) {
			*to++ = 0;
			words[++n] = to;
		} else {
			if (ch == '\\' && !quoted && i + 1 < line.length)
				ch = line.at[++i];
			*to++ = ch;
		}
	}
	return words;
}

static bool is_id(const char *word)
{
	return strncmp(word, "fsn-", 4) == 0 && !program_is_here(word);
}

static void chase_finding(struct chase_setup *setup, const char *id, struct arena *a)
{
	struct story *story = arena_alloc(a, sizeof *story);
	const struct story_finding *f;

	kept_read(story, a);
	f = kept_find(story, id);
	if (!story->program.length)
		die(STATUS_USAGE, "%s comes from a trace, which has no program to run; name it: fission chase PROGRAM", id);
	setup->argv = words_of(story->program, a);
	setup->function = f->function;
	setup->only = strtoull(f->id.at + 4, NULL, 16);
}

/* --without */

static const char *halves(size_t i, const char **about)
{
	static const char *const words[] = {"inputs", "plans", NULL};

	return opts_word(words, i, about);
}

static bool leaves_out(const char *half)
{
	return options.without && strcmp(options.without, half) == 0;
}

static const char *helper_path(struct arena *a, const char *name)
{
	struct str s;

	str_init(&s, a);
	str_printf(&s, "%s/%s", cc_flags_directory(a), name);
	return s.at;
}

static void start_search(struct session *s, const char *program)
{
	struct search_setup setup = {helper_path(&s->arena, "fission-solve"), helper_path(&s->arena, "fission-speculate"),
		program};

	search_init(&s->search, &setup);
}

/* By units. */

static void tell_unit(void *self, const struct chase *c)
{
	(void)self;
	if (manner.verbose)
		tell_last(c);
}

static void emit(const struct hunt *h, struct scale *scale)
{
	struct text unit = units_execution(h->template, execute_freely(h->arena, "plan", 0), h->arena);
	struct text campaign = hunt_campaign(h);
	struct fault fault = {0};
	struct address id;
	char path[DEPOT_PATH];

	depot_path(&scale->depot, "campaign", "", path);
	if (!pack_publish(path, campaign, &fault) || !depot_put_unit(&scale->depot, unit, &id, &fault))
		die(fault.status, "%s", fault.text);
	if (scale_options.emit && !manner.quiet)
		warn("the first unit is in %s/units; 'fission work %s/units/*', then 'fission merge -o %s %s', which writes those that "
			"follow from it, and so on", scale_options.emit, scale_options.emit, scale_options.emit, scale_options.emit);
}

static int report_units(struct session *s, struct hunt *h, struct scale *scale)
{
	struct results all;
	struct join merge;
	struct story story;
	struct fault fault = {0};
	struct scale_report report = {"chase", options.output, options.no_out ? NULL : options.out, &s->plan, &all, false};

	results_init(&all, &s->arena);
	if (!results_take(&all, scale->depot.path, &fault))
		die(fault.status, "%s", fault.text);
	results_settle(&all);
	report.lost = scale_complain(&all);
	join_init(&merge, &s->arena);
	hunt_merge(h, &merge);
	join_tell(&merge, &story);
	hunt_tell(h, &story);
	return scale_report(&report, &story);
}

static int chase_by_units(struct session *s, const struct chase_setup *setup)
{
	static struct hunt h;
	static struct scale scale;
	struct fault fault = {0};
	struct str template;
	int status;

	h = (struct hunt){.arena = &s->arena, .setup = *setup, .scale = &scale};
	h.setup.tell = tell_unit;
	h.setup.shard = scale_shard();
	scale_open(&scale);
	str_init(&template, &s->arena);
	units_template(&template, setup, &scale.depot, command_chase.options);
	h.template = (struct text){template.at, template.length};
	emit(&h, &scale);
	if (scale_options.emit)
		return STATUS_CLEAN;
	scale_launch(&scale);
	if (!hunt_search(&h, &fault))
		die(fault.status, "%s", fault.text);
	launch_close(&scale.launch);
	scale.launched = false;
	progress_clear();
	s->chase = h.chase;
	if (options.save)
		save(s);
	status = report_units(s, &h, &scale);
	sum_up(s);
	scale_close(&scale);
	return status;
}

static int chase_main(int argc, char **argv)
{
	static struct session s;
	struct chase_setup setup = {.argv = argv + 1, .policy = &s.plan.policy, .seconds = live_seconds(options.time),
		.seeds = options.seeds, .to = &s, .tell = tell};
	struct steer steer;
	struct fault fault = {0};
	int status;

	program_hold_streams();
	arena_init(&s.arena);
	if (is_id(argv[1]) && argc == 2)
		chase_finding(&setup, argv[1], &s.arena);
	setup.preload = stock_library(&s.arena, setup.argv[0]);
	if (setup.preload) {
		stock_say_chase(setup.argv[0]);
		plan_for_locks();
	}
	kept_check_output(options.output);
	if (!options.no_out)
		kept_check(options.out);
	if ((options.save && !save_open(options.save, &fault)) || !execute_input(&setup.input, &s.arena, &fault))
		die(fault.status, "%s", fault.text);
	plan_make(&s.plan, &s.arena, "chase");
	if (scale_wanted() && setup.preload)
		die(STATUS_USAGE, "chase: %s was not built with fission-cc, and is chased by one process only", setup.argv[0]);
	if (scale_wanted())
		return chase_by_units(&s, &setup);
	start_search(&s, live_path(setup.argv[0], &s.arena));
	steer = search_steer(&s.search);
	setup.steer = leaves_out("inputs") ? NULL : &steer;
	setup.planless = leaves_out("plans");
	progress_start(&s.progress, manner_progress(true), manner_utf8());
	if (!chase_search(&s.chase, &setup, &fault))
		die(fault.status, "%s", fault.text);
	progress_clear();
	if (options.save)
		save(&s);
	status = report(&s);
	sum_up(&s);
	chase_free(&s.chase);
	search_free(&s.search);
	return status;
}

static const struct opt own[] = {
	{"time", 0, OPT_TEXT, &options.time, "SECONDS", "how long at most: 90, 90s or 5m (default: 60s)",
		.right = live_time_right},
	{"seeds", 0, OPT_COUNT, &options.seeds, "N", "free executions at most, beside those by plans (default: 10)"},
	{"save", 0, OPT_TEXT, &options.save, "DIR", "write replay files there as tests, with lists for CMake and make",
		.line_only = true},
	{"without", 0, OPT_TEXT, &options.without, "HALF", "leave one half of the search out: inputs or plans",
		.values = halves},
	{"output", 'o', OPT_TEXT, &options.output, "FILE", "where the report goes (default: standard error)"},
	{"out", 0, OPT_TEXT, &options.out, "DIR", "where findings and replays are kept (default: " RUN_DIR ")"},
	{"no-out", 0, OPT_FLAG, &options.no_out, NULL, "do not keep them"},
	{0},
};

const struct command command_chase = {
	.name = "chase",
	.summary = "drive a program into what could go wrong, until it does",
	.run = chase_main,
	.words = "PROGRAM [ARGUMENTS...]",
	.least = 1,
	.variable = true,
	.leading = true,
	.about = "Runs a program again and again, one thread at a time, in orders that would split a block of it: with all its "
		"accesses if it was built with fission-cc, otherwise at its locks. What then happens, and happens once more, is "
		"reported as reproduced, with a replay file.\n"
		"\n"
		"Instead of a program, the id of a finding chases that one: fission chase fsn-7c1f. Standard input is read once and "
		"given to each execution; what the program writes is kept back and compared.\n"
		"\n"
		"A program that was built with fission-cc --symbolic is also given other inputs: arguments, variables, standard "
		"input, files and what it names by fission_input(), so that it goes ways that it would not go by itself. What it takes "
		"is said, and is part of the replay.",
	.options = (const struct opt_group[]){{"Options", own}, {"Beyond one process", scale_opts},
		{"Policy and report", plan_options},
		{"What is accepted", accept_options}, {0}},
	.examples = (const struct command_example[]){
		{"fission chase ./bank", NULL},
		{"fission chase --time=5m --save=tests/replays -- ./server --once", NULL},
		{"fission chase fsn-7c1f", "one finding of the latest run"},
		{0},
	},
	.statuses = (const struct command_status[]){
		{"0", "nothing at or above --fail-on was reproduced"},
		{"66", "something was, or the program crashed, hung or deadlocked"},
		{"64", "a mistake in the command line, or the program could not be started"},
		{"69", "the program cannot be controlled, or a file could not be written"},
		{"78", "a mistake in a configuration"},
		{0},
	},
	.see = (const char *const[]){"replay", "run", "record", NULL},
};
