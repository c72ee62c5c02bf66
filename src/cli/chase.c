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
#include "chase/judge.h"
#include "chase/save.h"
#include "cli/accept.h"
#include "cli/kept.h"
#include "cli/live.h"
#include "cli/manner.h"
#include "cli/plan.h"
#include "collect/program.h"
#include "policy/rank.h"
#include "report/report.h"

static struct {
	const char *output, *time, *out, *save;
	unsigned long seeds, jobs;
	bool no_out;
} options = {.output = "/dev/stderr", .out = RUN_DIR, .time = "60s", .seeds = 10};

/* One search and what is told of it. */
struct session {
	struct arena arena;
	struct plan plan;
	struct chase chase;
	struct progress progress;
	struct tables tables;     /* of no execution: what is said of all of them */
	struct findings findings;
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

static uint32_t facts_of(const struct chase_hit *h)
{
	return FACT_REPRODUCED | (h->harm ? FACT_HARM : 0);
}

/* Of the execution's findings those that were reproduced, and as such. */
static void keep_hits(const struct chase *c, struct judged *j)
{
	size_t kept = 0;

	for (size_t i = 0; i < j->findings.count; i++)
		for (size_t k = 0; k < c->hits; k++)
			if (c->hit[k].judged == j && c->hit[k].finding == i) {
				findings_testify(&j->findings, i, (struct evidence){.check = "chase", .kind = "replayed",
					.seq = j->findings.at[i].path[j->findings.at[i].links - 1].to.seq});
				j->findings.at[i].verdict = VERDICT_REPRODUCED;
				findings_learn(&j->findings, i, j->findings.at[i].facts | facts_of(&c->hit[k]));
				j->findings.at[kept++] = j->findings.at[i];
			}
	j->findings.count = kept;
	j->findings.hazards = 0;
}

static struct report_trace trace_of(const struct chase *c, struct judged *j, struct arena *a)
{
	struct report_chased *chased = arena_alloc(a, c->hits * sizeof *chased);
	struct report_trace t = {.path = c->setup->argv[0], .tables = &j->execution->tables, .findings = &j->findings,
		.variables = j->variables, .chased = chased};

	for (size_t i = 0; i < c->hits; i++)
		if (c->hit[i].judged == j)
			chased[t.chases++] = (struct report_chased){j->findings.at[c->hit[i].finding].id, c->hit[i].then,
				c->hit[i].outcome, c->hit[i].outcomes, c->hit[i].file};
	keep_hits(c, j);
	return t;
}

/* Best rank first. */
static int compare(const void *left, const void *right)
{
	const struct report_trace *a = left, *b = right;
	unsigned x = a->findings->count ? a->findings->at[0].rank : 0, y = b->findings->count ? b->findings->at[0].rank : 0;

	return x < y ? -1 : x > y;
}

/* A trace for all executions together, and one for each that something was reproduced in. */
static size_t make_traces(struct session *s, struct report_trace *to)
{
	const struct chase *c = &s->chase;
	size_t n = 0;

	tables_init(&s->tables, &s->arena);
	findings_init(&s->findings, &s->arena, &s->tables);
	to[n++] = (struct report_trace){.path = c->setup->argv[0], .tables = &s->tables, .findings = &s->findings,
		.events = c->events};
	for (size_t i = 0; i < c->hits; i++)
		if (!i || c->hit[i].judged != c->hit[i - 1].judged)
			to[n++] = trace_of(c, c->hit[i].judged, &s->arena);
	qsort(to + 1, n - 1, sizeof *to, compare);
	return n;
}

static void tell_failures(struct session *s, struct report *r)
{
	const struct chase *c = &s->chase;
	struct text *file = arena_alloc(&s->arena, c->failures * sizeof *file);

	r->failure = arena_alloc(&s->arena, c->failures * sizeof *r->failure);
	r->failure_replay = file;
	for (; r->failures < c->failures; r->failures++) {
		r->failure[r->failures] = c->failure[r->failures].story;
		file[r->failures] = c->failure[r->failures].file;
	}
}

/* The search in one line: what was done, and why it ended. */
static void sum_up(const struct chase *c)
{
	if (manner.quiet)
		return;
	warn("candidates: %llu, feasible: %llu, tried: %llu; executions: %llu; reproduced: %zu; %s",
		(unsigned long long)c->candidates, (unsigned long long)c->feasible, (unsigned long long)c->tried,
		(unsigned long long)c->executions, c->hits, c->over ? "the time is over (--time)" : "nothing is left to try");
	if (c->repeats)
		warn("%llu more happened and could not be repeated: something outside of the schedule decides",
			(unsigned long long)c->repeats);
	for (size_t i = 0; manner.verbose && i < c->hits; i++)
		warn("%.*s: reproduced in execution %llu", (int)c->hit[i].replay.finding.length, c->hit[i].replay.finding.at,
			(unsigned long long)c->hit[i].executions);
}

static int report(struct session *s)
{
	const struct chase *c = &s->chase;
	struct report_trace *traces = arena_alloc(&s->arena, (c->hits + 1) * sizeof *traces);
	struct report r = {.trace = traces, .rank = s->plan.rank, .command = "chase", .program = c->setup->argv,
		.fail_on = check_options.fail_on};
	struct look look = look_for(options.output, check_options.show_hidden);
	struct story story;

	r.count = make_traces(s, traces);
	tell_failures(s, &r);
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

static void save(const struct session *s)
{
	const struct chase *c = &s->chase;
	struct fault fault = {0};
	bool good = true;

	for (size_t i = 0; good && i < c->hits; i++)
		good = save_replay(options.save, c->hit[i].replay.finding, c->hit[i].file, &fault);
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

static int chase_main(int argc, char **argv)
{
	static struct session s;
	struct chase_setup setup = {.argv = argv + 1, .policy = &s.plan.policy, .seconds = live_seconds(options.time),
		.seeds = options.seeds, .jobs = options.jobs, .to = &s, .tell = tell};
	struct fault fault = {0};
	int status;

	program_hold_streams();
	arena_init(&s.arena);
	if (is_id(argv[1]) && argc == 2)
		chase_finding(&setup, argv[1], &s.arena);
	kept_check_output(options.output);
	if (!options.no_out)
		kept_check(options.out);
	if ((options.save && !save_open(options.save, &fault)) || !execute_input(&setup.input, &s.arena, &fault))
		die(fault.status, "%s", fault.text);
	plan_make(&s.plan, &s.arena, "chase");
	progress_start(&s.progress, manner_progress(true), manner_utf8());
	if (!chase_search(&s.chase, &setup, &fault))
		die(fault.status, "%s", fault.text);
	progress_clear();
	if (options.save)
		save(&s);
	status = report(&s);
	sum_up(&s.chase);
	chase_free(&s.chase);
	return status;
}

static const struct opt own[] = {
	{"time", 0, OPT_TEXT, &options.time, "SECONDS", "how long at most: 90, 90s or 5m (default: 60s)",
		.right = live_time_right},
	{"seeds", 0, OPT_COUNT, &options.seeds, "N", "free executions at most, beside those by plans (default: 10)"},
	{"jobs", 'j', OPT_COUNT, &options.jobs, "N", "threads that make plans (default: as many as there are cores)"},
	{"save", 0, OPT_TEXT, &options.save, "DIR", "write replay files there as tests, with lists for CMake and make",
		.line_only = true},
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
	.about = "Runs a program that was built with fission-cc again and again, one thread at a time, in orders that would "
		"split a block of it. What then happens, and happens once more, is reported as reproduced, with a replay file.\n"
		"\n"
		"Instead of a program, the id of a finding chases that one: fission chase fsn-7c1f. Standard input is read once and "
		"given to each execution; what the program writes is kept back and compared.",
	.options = (const struct opt_group[]){{"Options", own}, {"Policy and report", plan_options},
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
