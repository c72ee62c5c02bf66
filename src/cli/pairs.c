/* SPDX-License-Identifier: MIT */
/* fission pairs: which operations of a library are atomic with each other. */
#include "commands.h"

#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/output.h"
#include "base/str.h"
#include "chase/chase.h"
#include "chase/judge.h"
#include "chase/pairs.h"
#include "chase/tell.h"
#include "cli/accept.h"
#include "cli/kept.h"
#include "cli/manner.h"
#include "cli/plan.h"
#include "collect/program.h"
#include "report/report.h"

static struct {
	const char *output, *format, *out, *only, *shard;
	unsigned long seeds;
	bool no_out;
} options = {.output = "-", .format = "text", .out = RUN_DIR, .seeds = 3};

static const struct {
	const char *name, *about;
	void (*render)(const struct pairs *p, const struct look *look, struct str *to);
} forms[] = {
	{"text", "a character a pair, and a line for each that is not atomic", pairs_text},
	{"html", "a heat map, for the browser", pairs_html},
	{"json", "for programs", pairs_json},
};

enum { FORMS = sizeof forms / sizeof *forms };

static const char *form_names(size_t i, const char **about)
{
	if (about)
		*about = i < FORMS ? forms[i].about : NULL;
	return i < FORMS ? forms[i].name : NULL;
}

struct session {
	struct arena arena;
	struct plan plan;
	struct pairs pairs;
	struct progress progress;
	struct map known; /* ids that a search before has found */
	struct report_trace *trace;
	size_t traces, trace_room;
	struct story_failure *failure;
	struct text *failure_replay;
	size_t failures, failure_room, replay_room;
	struct chase **kept; /* searches that traces and failures are of */
	size_t kepts, kept_room;
};

static bool is_new(struct session *s, struct text id)
{
	uint32_t *known = map_put(&s->known, hash_bytes(id.at, id.length));
	bool fresh = !*known;

	*known = 1;
	return fresh;
}

/* What no other pair has had yet. Returns whether there is any. */
static bool take_hits(struct session *s, const struct chase *c)
{
	struct chase fresh = *c;
	struct report_trace *to = arena_alloc(&s->arena, (c->hits + 1) * sizeof *to);
	size_t n;

	fresh.hits = 0;
	fresh.hit = arena_alloc(&s->arena, (c->hits + 1) * sizeof *fresh.hit);
	for (size_t i = 0; i < c->hits; i++)
		if (is_new(s, c->hit[i].replay.finding))
			fresh.hit[fresh.hits++] = c->hit[i];
	n = chase_traces(&fresh, to, &s->arena);
	for (size_t i = 0; i < n; i++) {
		s->trace = arena_reserve(&s->arena, s->trace, &s->trace_room, s->traces, sizeof *s->trace);
		s->trace[s->traces++] = to[i];
	}
	return n != 0;
}

static bool take_failures(struct session *s, const struct chase *c)
{
	size_t before = s->failures;

	for (size_t i = 0; i < c->failures; i++) {
		if (!is_new(s, c->failure[i].story.id))
			continue;
		s->failure = arena_reserve(&s->arena, s->failure, &s->failure_room, s->failures, sizeof *s->failure);
		s->failure_replay = arena_reserve(&s->arena, s->failure_replay, &s->replay_room, s->failures,
			sizeof *s->failure_replay);
		s->failure[s->failures] = c->failure[i].story;
		s->failure_replay[s->failures++] = c->failure[i].file;
	}
	return s->failures != before;
}

static void take(void *self, struct chase *c, struct pairs *p)
{
	struct session *s = self;
	bool kept = take_hits(s, c);

	if (take_failures(s, c) || kept) {
		s->kept = arena_reserve(&s->arena, s->kept, &s->kept_room, s->kepts, sizeof *s->kept);
		s->kept[s->kepts++] = c;
	} else {
		chase_free(c);
	}
	if (progress_due(&s->progress))
		progress_show(&s->progress, "%llu of %zu pairs%s%llu not atomic", (unsigned long long)p->tried,
			p->count * (p->count + 1) / 2, s->progress.between, (unsigned long long)pairs_with(p, PAIRS_SPLIT));
}

/* What the story knows of a finding: its variable, and whether somebody has accepted it. */
static void complete(struct pairs_finding *f, const struct story *story)
{
	for (size_t i = 0; i < story->findings; i++) {
		const struct story_finding *told = &story->finding[i];

		if (!text_same(told->id, f->id))
			continue;
		f->accepted = told->suppressed.length || told->known;
		f->variable = told->variables ? told->variable[0] : f->variable;
	}
}

static void complete_cell(struct pairs_cell *c, const struct story *story)
{
	bool accepted = c->state & PAIRS_SPLIT;

	for (size_t i = 0; i < c->findings; i++) {
		complete(&c->finding[i], story);
		accepted &= c->finding[i].accepted || c->finding[i].state != PAIRS_SPLIT;
	}
	c->state |= accepted ? PAIRS_ACCEPTED : 0;
}

static void tell(struct session *s, struct story *story, char **program)
{
	struct report r = {.trace = s->trace, .count = s->traces, .rank = s->plan.rank, .command = "pairs",
		.program = program, .fail_on = check_options.fail_on, .failure = s->failure, .failures = s->failures,
		.failure_replay = s->failure_replay};

	story_tell(story, &s->arena, &r);
	accept_apply(&s->plan.accepted, story);
	story->status = plan_fails(&s->plan, story) || story->failures ? (int)check_options.exitcode : STATUS_CLEAN;
	for (size_t i = 0; i < s->pairs.count * s->pairs.count; i++)
		complete_cell(&s->pairs.cell[i], story);
}

static void write_matrix(struct session *s)
{
	struct look look = look_for(options.output, false);
	struct output out;
	struct str text;
	size_t form = 0;

	while (strcmp(forms[form].name, options.format) != 0)
		form++;
	str_init(&text, &s->arena);
	forms[form].render(&s->pairs, &look, &text);
	if (output_open(&out, options.output))
		output_write(&out, text.at, text.length);
	if (fault_is_set(&out.fault) || !output_commit(&out))
		die(out.fault.status, "%s", out.fault.text);
}

/* An operation that is not in the table is a mistake, and no reason to try nothing. */
static void check_name(struct session *s, struct text name)
{
	const char **names = arena_alloc(&s->arena, s->pairs.count * sizeof *names);

	for (size_t i = 0; i < s->pairs.count; i++) {
		names[i] = s->pairs.operation[i].name.at;
		if (text_same(s->pairs.operation[i].name, name))
			return;
	}
	if (name.length)
		opts_unknown("operation", arena_text(&s->arena, name.at, name.length), names, s->pairs.count, "fission pairs");
}

/* --only=A, --only=A/B */
static void take_only(struct pairs_setup *setup)
{
	size_t n = options.only ? strcspn(options.only, "/") : 0;

	setup->only[0] = (struct text){options.only, n};
	if (n && options.only[n])
		setup->only[1] = (struct text){options.only + n + 1, strlen(options.only + n + 1)};
}

static void search(struct session *s, struct pairs_setup *setup)
{
	struct fault fault = {0};

	take_only(setup);
	if (options.shard)
		shard_parse(options.shard, &setup->shard);
	if (!pairs_list(&s->pairs, &s->arena, setup, &fault))
		die(fault.status, "%s", fault.text);
	check_name(s, setup->only[0]);
	check_name(s, setup->only[1]);
	progress_start(&s->progress, manner_progress(true), manner_utf8());
	if (!pairs_search(&s->pairs, &s->arena, setup, &fault))
		die(fault.status, "%s", fault.text);
	progress_clear();
}

static int pairs_main(int argc, char **argv)
{
	static struct session s;
	struct pairs_setup setup = {.program = argv[argc - 1], .policy = &s.plan.policy, .seeds = options.seeds, .to = &s,
		.take = take};
	struct story story;

	program_hold_streams();
	arena_init(&s.arena);
	map_init(&s.known, &s.arena);
	kept_check_output(options.output);
	if (!options.no_out)
		kept_check(options.out);
	check_options.atomic = check_options.atomic ? check_options.atomic : "annotated";
	plan_make(&s.plan, &s.arena, "pairs");
	search(&s, &setup);
	tell(&s, &story, argv + 1);
	if (!options.no_out)
		kept_write(&story, options.out);
	write_matrix(&s);
	for (size_t i = 0; i < s.kepts; i++)
		chase_free(s.kept[i]);
	return story.status;
}

static const struct opt own[] = {
	{"format", 0, OPT_TEXT, &options.format, "FORM", "the form of the matrix (default: text)", .values = form_names},
	{"output", 'o', OPT_TEXT, &options.output, "FILE", "where the matrix goes (default: standard output)"},
	{"only", 0, OPT_TEXT, &options.only, "A[/B]", "only pairs with the operation A, or only A with B"},
	{"seeds", 0, OPT_COUNT, &options.seeds, "N", "free executions of each pair at most (default: 3)"},
	{"shard", 0, OPT_TEXT, &options.shard, "K/N", "the K-th of N parts of the pairs", .right = shard_right},
	{"out", 0, OPT_TEXT, &options.out, "DIR", "where findings and replays are kept (default: " RUN_DIR ")"},
	{"no-out", 0, OPT_FLAG, &options.no_out, NULL, "do not keep them"},
	{0},
};

static const struct opt policy[] = {
	{"atomic", 0, OPT_TEXT, &check_options.atomic, "POLICY",
		"what is expected to be atomic (default: annotated, the operations); see docs/policy.md"},
	{"config", 0, OPT_TEXT, &check_options.config, "FILES", "configuration files, with commas"},
	{"fail-on", 0, OPT_TEXT, &check_options.fail_on, "VERDICT[,RANK]",
		"what makes the exit status 66 (default: predicted,2)",
		.values = fail_on_verdicts, .first = true, .right = fail_on_right},
	{0},
};

const struct command command_pairs = {
	.name = "pairs",
	.summary = "which operations of a library are atomic with each other",
	.run = pairs_main,
	.words = "PROGRAM",
	.least = 1,
	.most = 1,
	.about = "Runs every two operations of a library against each other, on objects that they share, in the orders that "
		"could split one of them, and prints the matrix of those that are not atomic with each other.\n"
		"\n"
		"The program is a table of operations in C, of a few lines: see fission/pairs.h. It is built with fission-cc. What "
		"is marked has happened, and happened once more when it was replayed; 'fission show' has the pictures, and "
		"'fission replay' the runs.",
	.options = (const struct opt_group[]){{"Options", own}, {"Policy", policy}, {"What is accepted", accept_options}, {0}},
	.examples = (const struct command_example[]){
		{"fission-cc -pthread queue_pairs.c queue.c -o queue_pairs && fission pairs ./queue_pairs", NULL},
		{"fission pairs --format=html -o pairs.html ./queue_pairs", NULL},
		{"fission pairs --only=push/pop ./queue_pairs", NULL},
		{0},
	},
	.statuses = (const struct command_status[]){
		{"0", "nothing was found, or it is accepted"},
		{"66", "some pair is not atomic, or deadlocks, crashes or hangs"},
		{"64", "a mistake in the command line, or the program has no table"},
		{"69", "the program cannot be controlled, or a file could not be written"},
		{"78", "a mistake in a configuration"},
		{0},
	},
	.see = (const char *const[]){"chase", "replay", "show", "report", NULL},
};
