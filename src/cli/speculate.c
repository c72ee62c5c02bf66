/* SPDX-License-Identifier: MIT */
/* fission speculate: what could be split if a branch went the other way, from one run of a program. */
#include "commands.h"

#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/output.h"
#include "base/str.h"
#include "chase/execute.h"
#include "cli/cc_flags.h"
#include "cli/live.h"
#include "cli/manner.h"
#include "cli/plan.h"
#include "collect/program.h"
#include "symbolic/supposed.h"

enum { HELPER_TIME = 120000, RANK_SHOWN = 3 };

static const int64_t WALK_BYTES = (int64_t)1 << 30;

static struct {
	const char *format, *output, *time;
	unsigned long seed;
	bool all, rungs;
} options = {.format = "text", .output = "-", .time = "60s", .seed = 1};

static const char *formats(size_t i, const char **about)
{
	static const char *const words[] = {"text", "json", NULL};

	return opts_word(words, i, about);
}

/* A file without a name for the walk, by a path that the program can open. It takes the room that is written to. */
static const char *make_walk(struct arena *a)
{
	int fd = memfd_create("fission-walk", MFD_CLOEXEC);
	struct str s;

	if (fd < 0 || ftruncate(fd, WALK_BYTES) != 0)
		die(STATUS_UNFIT, "there is no memory for the walk of the program");
	str_init(&s, a);
	str_printf(&s, "/proc/%d/fd/%d", (int)getpid(), fd);
	return s.at;
}

static void run_program(char **argv, const char *walk, const struct policy *policy, struct arena *a)
{
	struct execute_setup setup = {.argv = argv, .walk = walk, .order = execute_freely(a, "pos", options.seed),
		.policy = policy, .seconds = live_seconds(options.time)};
	struct fault fault = {0};
	struct execution x;

	if (!execute_input(&setup.input, a, &fault) || !execute(&x, &setup, &fault))
		die(fault.status, "%s", fault.text);
	if (x.outcome.ending != ENDING_EXIT && !manner.quiet)
		warn("the program did not end by itself; what it did until then is looked at");
	execution_free(&x);
}

static const char *helper_path(struct arena *a)
{
	struct str s;

	str_init(&s, a);
	str_printf(&s, "%s/fission-speculate", cc_flags_directory(a));
	if (access(s.at, X_OK) != 0)
		die(STATUS_UNFIT, "%s is not there; install the package fission-symbolic, or LLVM 14 (tools/deps.sh symbolic) and build "
			"Fission again", s.at);
	return s.at;
}

static void show_access(struct str *to, const struct supposed_access *x)
{
	str_printf(to, "    T%-3" PRIu64 " %-6s %s in %s()%s%s%s\n", x->thread, x->operation, x->where, x->function,
		*x->locks ? ", holds " : ", holds nothing", x->locks, x->supposed ? "; did not run" : "");
}

/* The first one of its group, which are sorted, stands for it. */
static bool is_first(const struct supposed *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (s->at[i].group == s->at[n].group)
			return false;
	return true;
}

/* How many more there are of its group. */
static uint64_t count_more(const struct supposed *s, size_t n)
{
	uint64_t more = s->at[n].more;

	for (size_t i = n + 1; i < s->count; i++)
		if (s->at[i].group == s->at[n].group)
			more += 1 + s->at[i].more;
	return more;
}

static void show_candidate(struct str *to, const struct supposed *s, size_t n)
{
	const struct supposed_candidate *c = &s->at[n];
	uint64_t more = count_more(s, n);

	str_printf(to, "suspected (speculative: needs %s to go the other way), rank %u: %s\n", c->needs.where,
		c->rank, c->why);
	str_printf(to, "  '%s' can change in between, if %s() does:\n", c->variable, c->needs.function);
	for (int i = 0; i < 3; i++)
		show_access(to, &c->access[i]);
	if (more)
		str_printf(to, "    and %" PRIu64 " more of %s() and this variable\n", more, c->needs.function);
	str_char(to, '\n');
}

static void show_counts(struct str *to, const struct supposed_count *at, size_t count)
{
	for (size_t i = 0; i < count; i++)
		str_printf(to, "%10" PRIu64 "  %s\n", at[i].count, at[i].name);
}

static size_t show(struct str *to, const struct supposed *s)
{
	size_t shown = 0;

	for (size_t i = 0; i < s->count; i++)
		if ((options.all || s->at[i].rank <= RANK_SHOWN) && is_first(s, i)) {
			show_candidate(to, s, i);
			shown++;
		}
	if (options.rungs) {
		str_add(to, "candidates that have passed each rule, one after the other:\n");
		show_counts(to, s->rung, s->rungs);
		str_add(to, "what was looked at:\n");
		show_counts(to, s->limit, s->limits);
	}
	return shown;
}

static void write_out(struct text text)
{
	struct output o;

	if (!output_open(&o, options.output))
		die(o.fault.status, "%s", o.fault.text);
	output_write(&o, text.at, text.length);
	if (!output_commit(&o))
		die(o.fault.status, "%s", o.fault.text);
}

static void report(const struct supposed *s, struct arena *a)
{
	struct str text;
	size_t shown;

	if (strcmp(options.format, "json") == 0) {
		write_out(s->json);
		return;
	}
	str_init(&text, a);
	str_add(&text, "");
	shown = show(&text, s);
	write_out((struct text){text.at, text.length});
	if (!manner.quiet)
		warn("%zu shown of %zu candidates from branches that were not taken%s; fission chase tries to reach them", shown,
			s->count, options.all ? "" : ", without what is written first (--all)");
}

static int speculate_main(int argc, char **argv)
{
	static struct plan plan;
	struct supposed_setup setup = {.milliseconds = HELPER_TIME};
	struct fault fault = {0};
	struct supposed s;
	struct arena arena;

	(void)argc;
	program_hold_streams();
	arena_init(&arena);
	plan_make(&plan, &arena, "speculate");
	setup.helper = helper_path(&arena);
	setup.program = live_path(argv[1], &arena);
	setup.walk = make_walk(&arena);
	run_program(argv + 1, setup.walk, &plan.policy, &arena);
	if (!supposed_ask(&s, &setup, &arena, &fault))
		die(fault.status, "%s", fault.text);
	report(&s, &arena);
	arena_free(&arena);
	return STATUS_CLEAN;
}

static const struct opt own[] = {
	{"all", 'a', OPT_FLAG, &options.all, NULL, "show the lowest rank, too: what is written first"},
	{"rungs", 0, OPT_FLAG, &options.rungs, NULL, "how many candidates each rule has left"},
	{"format", 0, OPT_TEXT, &options.format, "FORMAT", "of what is told", .values = formats},
	{"output", 'o', OPT_TEXT, &options.output, "FILE", "where it goes (default: standard output)"},
	{"time", 0, OPT_TEXT, &options.time, "SECONDS", "how long the program may run: 90, 90s or 5m (default: 60s)",
		.right = live_time_right},
	{"seed", 0, OPT_COUNT, &options.seed, "N", "of the order in which its threads run (default: 1)"},
	{0},
};

const struct command command_speculate = {
	.name = "speculate",
	.summary = "what could be split if a branch went the other way",
	.run = speculate_main,
	.words = "PROGRAM [ARGUMENTS...]",
	.least = 1,
	.leading = true,
	.about = "Runs a program that was built with fission-cc --symbolic once, one thread at a time, and looks at the "
		"branches that it did not take: what they would read and write, under which locks, and what other threads did to the same "
		"memory. What is told is suspected and no more: the branch may never go that way. fission chase tries to make it.",
	.options = (const struct opt_group[]){{"Options", own}, {0}},
	.examples = (const struct command_example[]){
		{"fission speculate ./bank", NULL},
		{"fission speculate --rungs -- ./server --once", "and what each rule has left"},
		{"fission speculate --format=json -o cold.json ./bank", NULL},
		{0},
	},
	.statuses = (const struct command_status[]){
		{"0", "whatever was found: nothing of it is sure"},
		{"64", "a mistake in the command line, or the program could not be started"},
		{"69", "the program cannot be controlled, or was not built for it; or there is no fission-speculate"},
		{"70", "fission-speculate has failed"},
		{0},
	},
	.see = (const char *const[]){"chase", "cc", NULL},
};
