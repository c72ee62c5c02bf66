/* SPDX-License-Identifier: MIT */
/* fission replay: runs one execution again, in the very order that was found. */
#include "commands.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/fail.h"
#include "chase/builds.h"
#include "chase/chase.h"
#include "chase/debug.h"
#include "chase/execute.h"
#include "chase/hit.h"
#include "chase/judge.h"
#include "cli/live.h"
#include "cli/manner.h"
#include "cli/plan.h"
#include "collect/program.h"
#include "report/run_dir.h"

enum { REPRODUCED = 0, NOT = 1, DIVERGED = 2, PATH_MOST = 4096 };

static struct {
	const char *expect, *from, *time, *inputs;
	unsigned long count;
	bool gdb;
} options = {.expect = NULL, .from = RUN_DIR, .time = "30s", .count = 1};

struct session {
	struct arena arena;
	struct plan plan;
	struct replay replay;
	const char *name; /* of the finding, or of the file */
};

static const char *expectations(size_t i, const char **about)
{
	static const char *const words[] = {"present", "absent", NULL};

	return opts_word(words, i, about);
}

static bool wants_absent(void)
{
	return options.expect && strcmp(options.expect, "absent") == 0;
}

/* The file. */

static bool begins(const char *name, const char *id)
{
	return strncmp(name, id, strlen(id)) == 0 || (strncmp(name, "fsn-", 4) == 0 && strncmp(name + 4, id, strlen(id)) == 0);
}

/* The one replay file of the latest chase whose name begins with the id. */
static void find_by_id(char *path, const char *id)
{
	char dir[PATH_MOST - 300], found[256] = "";
	DIR *list;
	struct dirent *entry;

	snprintf(dir, sizeof dir, "%s/replays", options.from);
	list = opendir(dir);
	while (list && (entry = readdir(list)))
		if (strstr(entry->d_name, ".replay") && begins(entry->d_name, id)) {
			if (*found)
				die(STATUS_USAGE, "'%s' begins more than one id of %s: %.40s, %.40s", id, dir, found, entry->d_name);
			snprintf(found, sizeof found, "%s", entry->d_name);
		}
	if (list)
		closedir(list);
	if (!*found)
		die(STATUS_USAGE, "no replay of '%s' in %s; 'fission chase PROGRAM' makes them, and a file can be named as well", id,
			dir);
	snprintf(path, PATH_MOST, "%s/%s", dir, found);
}

static void read_replay(struct session *s, const char *word)
{
	char path[PATH_MOST];
	struct fault fault = {0};

	if (strchr(word, '/') || strstr(word, ".replay") || access(word, F_OK) == 0)
		snprintf(path, sizeof path, "%s", word);
	else
		find_by_id(path, word);
	if (!replay_read(&s->replay, &s->arena, arena_text(&s->arena, path, strlen(path)), &fault))
		die(fault.status, "%s", fault.text);
	s->name = s->replay.finding.length ? s->replay.finding.at : word;
}

/* Another program, or the same with other arguments, in place of the replay's own. */
static void take_program(struct session *s, int argc, char **argv)
{
	if (argc <= 2)
		return;
	s->replay.argv = argv + 2;
	s->replay.argc = (size_t)argc - 2;
}

/* Once in the very order. */

static void write_out(const struct execution *x)
{
	fwrite(x->output.at, 1, x->output.length, stdout);
	fflush(stdout);
	fwrite(x->errors.at, 1, x->errors.length, stderr);
}

/* Where the thread was last, for people. */
static const char *last_place(const struct judged *j, uint32_t thread)
{
	for (size_t i = j->whole.count; i-- > 0;) {
		const struct event *e = &j->whole.event[i];

		if (e->site && judged_thread(j, e->thread) == thread)
			return tables_name(&j->execution->tables, TABLE_SITE, e->site).at;
	}
	return "its start";
}

/* Where the order could not be followed: the step that did not come. */
static void tell_divergence(const struct session *s, const struct judged *j)
{
	const struct execution *x = j->execution;
	const struct gated *g = &x->collected.gate;
	const struct order *o = s->replay.order;
	uint32_t i = g->done < o->steps ? g->done : o->steps - 1;
	const struct order_step *p = order_step(o, i);
	struct text place = s->replay.places[i];

	warn("%s: diverged at step %llu of the run: thread T%u did not come to its '%s'%s%s (segment %u of %u); its "
		"last place is %s", s->name, (unsigned long long)g->diverged_at, p->thread, replay_kind(p->kind),
		place.length ? " at " : "", place.length ? place.at : "", i + 1, o->steps, last_place(j, p->thread));
}

static int replay_once(struct session *s)
{
	struct execute_setup setup = {.argv = s->replay.argv, .input = s->replay.input, .more = &s->replay.more,
		.order = s->replay.order,
		.policy = &s->plan.policy, .seconds = live_seconds(options.time)};
	struct execution x;
	struct judged j;
	struct fault fault = {0};
	const char *why;
	int result;

	if (!execute(&x, &setup, &fault))
		die(fault.status, "%s", fault.text);
	judge(&j, &x, &s->plan.policy);
	result = hit_same(&s->replay, &j, &why) ? REPRODUCED : x.collected.gate.diverged ? DIVERGED : NOT;
	if (options.count == 1)
		write_out(&x);
	if (result == DIVERGED)
		tell_divergence(s, &j);
	else if (result == NOT && !manner.quiet)
		warn("%s: %s", s->name, why);
	if (result == REPRODUCED && (x.outcome.bytes != s->replay.outcome.bytes || x.outcome.hash != s->replay.outcome.hash))
		warn("%s: what the program wrote is not the same", s->name);
	execution_free(&x);
	return result;
}

static int replay_all(struct session *s)
{
	unsigned long times[3] = {0};

	for (unsigned long i = 0; i < options.count; i++)
		times[replay_once(s)]++;
	if (!manner.quiet)
		warn("%s: reproduced %lu of %lu times", s->name, times[REPRODUCED], options.count);
	if (wants_absent())
		return times[REPRODUCED] ? NOT : times[DIVERGED] ? DIVERGED : REPRODUCED;
	return times[DIVERGED] ? DIVERGED : times[NOT] ? NOT : REPRODUCED;
}

/* Another build: the steps are not its own, and the finding is looked for by its name. */

/* A failure is there again if the program ends like that in any order. */
static bool is_there(const struct session *s, const struct chase *c)
{
	if (c->setup->only)
		return c->hits > 0;
	for (size_t i = 0; i < c->failures; i++)
		if (text_is(c->failure[i].story.what, s->replay.outcome.ending == ENDING_SIGNAL ? "crash" :
			ending_text[s->replay.outcome.ending]))
			return true;
	return false;
}

static int chase_other_build(struct session *s)
{
	bool block = s->replay.mark[MARK_FIRST].step.thread;
	struct chase_setup setup = {.argv = s->replay.argv, .input = s->replay.input, .more = &s->replay.more, .policy = &s->plan.policy,
		.seconds = live_seconds(options.time), .seeds = 10, .function = s->replay.block,
		.only = block ? strtoull(s->replay.finding.at + 4, NULL, 16) : 0};
	struct chase c;
	struct fault fault = {0};
	bool there, reached;

	if (!chase_search(&c, &setup, &fault))
		die(fault.status, "%s", fault.text);
	there = is_there(s, &c);
	reached = c.reached;
	if (!manner.quiet)
		warn("%s: another build, so the finding was chased in it: %s after %llu executions", s->name,
			there ? "it is there" : "it is not there", (unsigned long long)c.executions);
	chase_free(&c);
	if (block && !reached) {
		warn("%s: diverged: %.*s() was never called; nothing is known about it", s->name, (int)s->replay.block.length,
			s->replay.block.at);
		return DIVERGED;
	}
	return there == !wants_absent() ? REPRODUCED : NOT;
}

/* Before anything runs. Returns whether it is the very build. */
static bool check_build(const struct session *s)
{
	struct text id;
	const char *program = s->replay.argv[0];

	switch (builds_match(&s->replay, program, (struct arena *)&s->arena, &id)) {
	case BUILD_FOREIGN:
		die(STATUS_UNFIT, "%s is a replay of another program than %s; name the right one: fission replay %s -- PROGRAM",
			s->name, program, s->name);
	case BUILD_OTHER:
		if (!options.expect)
			die(STATUS_UNFIT, "%s is a replay of another build of %s than %s; with --expect present or absent the finding is "
				"chased in this build", s->name, program, id.at);
		return false;
	default:
		return true;
	}
}

static int debug(struct session *s)
{
	struct fault fault = {0};
	int status;

	if (!debug_replay(&s->replay, &s->arena, &status, &fault))
		die(fault.status, "%s", fault.text);
	return status;
}

/* --inputs: nothing is run. */
static int write_inputs(struct session *s)
{
	struct inputs in = {s->replay.argv, s->replay.input, s->replay.more};
	struct fault fault = {0};

	if (!inputs_write(&in, options.inputs, &s->arena, &fault))
		die(fault.status, "%s", fault.text);
	if (!manner.quiet)
		warn("%s: %s/run.sh starts the program with them", s->name, options.inputs);
	return REPRODUCED;
}

static int replay_main(int argc, char **argv)
{
	static struct session s;

	program_hold_streams();
	arena_init(&s.arena);
	read_replay(&s, argv[1]);
	take_program(&s, argc, argv);
	if (options.inputs)
		return write_inputs(&s);
	plan_make(&s.plan, &s.arena, "replay");
	if (!check_build(&s))
		return chase_other_build(&s);
	return options.gdb ? debug(&s) : replay_all(&s);
}

static const struct opt own[] = {
	{"count", 0, OPT_COUNT, &options.count, "N", "so many times (default: 1)"},
	{"expect", 0, OPT_TEXT, &options.expect, "WHAT", "whether it is to happen, or not to", .values = expectations},
	{"gdb", 0, OPT_FLAG, &options.gdb, NULL, "under gdb, stopped before the culprit"},
	{"inputs", 0, OPT_TEXT, &options.inputs, "DIR", "run nothing; write what the program is given there, as files and a script",
		.line_only = true},
	{"time", 0, OPT_TEXT, &options.time, "SECONDS", "for an execution, or for the chase in another build (default: 30s)",
		.right = live_time_right},
	{"from", 0, OPT_TEXT, &options.from, "DIR", "the run's directory (default: " RUN_DIR ")"},
	{"atomic", 0, OPT_TEXT, &check_options.atomic, "POLICY", "what is expected to be atomic, if it was said to chase"},
	{"config", 0, OPT_TEXT, &check_options.config, "FILES", "configuration files, likewise"},
	{0},
};

const struct command command_replay = {
	.name = "replay",
	.summary = "run one found execution again",
	.run = replay_main,
	.words = "ID|FILE [PROGRAM [ARGUMENTS...]]",
	.least = 1,
	.about = "Runs a program again in the order of a replay file, which 'fission chase' has written: FILE, or the one of "
		"the latest chase whose id begins with ID. The program and its arguments are those of the file, unless others "
		"follow.\n"
		"\n"
		"A program that was changed has other code, and its steps are others. With --expect the finding is then chased in "
		"it: after a fix, 'fission replay --expect absent' is the test that it stays away.",
	.options = (const struct opt_group[]){{"Options", own}, {0}},
	.examples = (const struct command_example[]){
		{"fission replay fsn-7c1f", NULL},
		{"fission replay fsn-7c1f --gdb", NULL},
		{"fission replay --expect absent tests/replays/fsn-7c1f0a2b.replay -- build/bank 10 5", NULL},
		{0},
	},
	.statuses = (const struct command_status[]){
		{"0", "it was reproduced each time; with --expect absent, never"},
		{"1", "it was not; with --expect absent, it was"},
		{"2", "the program took another way; the message says where"},
		{"64", "a mistake in the command line, or there is no such replay"},
		{"65", "the file is malformed"},
		{"69", "it is of another program, or of another build, or there is no gdb"},
		{0},
	},
	.see = (const char *const[]){"chase", "show", "gdb(1)", NULL},
};
