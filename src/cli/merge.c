/* SPDX-License-Identifier: MIT */
/* fission merge: results in, findings out, and units where a search goes on. */
#include "commands.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "cli/accept.h"
#include "cli/hunt.h"
#include "cli/kept.h"
#include "cli/manner.h"
#include "cli/plan.h"
#include "cli/scale.h"
#include "report/report.h"
#include "report/story.h"
#include "scale/join.h"
#include "scale/pack.h"
#include "scale/record.h"

static struct {
	const char *out, *report;
} options = {.report = "-"};

struct merging {
	struct arena arena;
	struct results all;
	struct join merge;
	struct depot out;
	struct hunt *hunt; /* the last search among the campaigns; NULL: there is none */
	struct scale scale;
	const char *command;
	size_t missing;
	bool partial; /* there are results that nobody has made: a verdict on the others is none */
};

static bool is_lost(const struct results *r, struct text id)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->at[i].kind == RESULT_LOST && memcmp(r->at[i].id, id.at, ADDRESS) == 0)
			return true;
	return false;
}

/* Units that the campaign names and that nobody has done. */
static void count_missing(struct merging *m, struct text campaign)
{
	struct record_field f;

	while (record_next(&campaign, &f))
		if (text_is(f.name, "unit") && address_is(f.value) && !results_find(&m->all, record_word(&m->arena, f.value)) &&
			!is_lost(&m->all, f.value)) {
			m->partial = true;
			if (!m->missing++ || manner.verbose)
				warn("unit %.*s has no result%s", (int)f.value.length, f.value.at, manner.verbose ? "" :
					"; --verbose names them all");
		}
}

static void write_left(struct merging *m)
{
	struct fault fault = {0};
	struct address id;

	m->missing += m->hunt->lefts;
	for (size_t i = 0; options.out && i < m->hunt->lefts; i++)
		if (!depot_put_unit(&m->out, m->hunt->left[i], &id, &fault))
			die(fault.status, "%s", fault.text);
}

static void search(struct merging *m, struct text campaign)
{
	struct fault fault = {0};

	m->hunt = arena_alloc(&m->arena, sizeof *m->hunt);
	hunt_of_campaign(m->hunt, &m->arena, campaign);
	m->hunt->known = &m->all;
	m->hunt->scale = m->scale.launched ? &m->scale : NULL;
	if (!hunt_search(m->hunt, &fault))
		die(fault.status, "%s", fault.text);
	write_left(m);
	hunt_merge(m->hunt, &m->merge);
}

static void take_campaigns(struct merging *m)
{
	for (size_t i = 0; i < m->all.count && m->all.at[i].kind == RESULT_CAMPAIGN; i++) {
		struct text bytes = m->all.at[i].bytes, command = record_get(bytes, "command");

		if (!record_is(bytes, "fission-campaign", "1"))
			continue;
		m->command = record_word(&m->arena, command);
		if (text_is(command, "chase"))
			search(m, bytes);
		else
			count_missing(m, bytes);
	}
}

/* Results of traces; those of executions are a search's. */
static void take_traces(struct merging *m)
{
	for (size_t i = 0; i < m->all.count; i++)
		if (m->all.at[i].kind == RESULT_DONE && record_get(m->all.at[i].bytes, "name").at)
			join_add(&m->merge, &m->all.at[i]);
}

static void write_results(struct merging *m)
{
	struct fault fault = {0};
	char path[DEPOT_PATH];
	struct str pack;

	str_init(&pack, &m->arena);
	results_pack(&m->all, &pack);
	depot_path(&m->out, "results", "all.pack", path);
	if (!pack_publish(path, (struct text){pack.at, pack.length}, &fault))
		die(fault.status, "%s", fault.text);
}

/* What is left of a search is done here and now. */
static void open_engine(struct merging *m)
{
	if (!scale_options.launcher && !scale_options.jobs)
		return;
	scale_options.campaign = options.out;
	scale_options.resume = options.out != NULL;
	scale_open(&m->scale);
	scale_launch(&m->scale);
}

static int tell(struct merging *m)
{
	char findings[DEPOT_PATH];
	struct plan plan;
	struct story story;
	struct scale_report report = {m->command, options.report, options.out ? findings : NULL, &plan, &m->all, false};

	depot_path(&m->out, "findings", "", findings);
	report.lost = scale_complain(&m->all);
	plan_make(&plan, &m->arena, "merge");
	join_tell(&m->merge, &story);
	if (m->hunt)
		hunt_tell(m->hunt, &story);
	if (m->merge.unread)
		warn("%zu results cannot be read, and are left out", m->merge.unread);
	return scale_report(&report, &story);
}

static int merge_main(int argc, char **argv)
{
	static struct merging m;
	struct fault fault = {0};
	int status;

	arena_init(&m.arena);
	m.command = "merge";
	kept_check_output(options.report);
	results_init(&m.all, &m.arena);
	for (int i = 1; i < argc; i++)
		if (!results_take(&m.all, argv[i], &fault))
			die(fault.status, "%s", fault.text);
	results_settle(&m.all);
	if (options.out && !depot_make(&m.out, options.out, &fault))
		die(fault.status, "%s", fault.text);
	open_engine(&m);
	join_init(&m.merge, &m.arena);
	take_campaigns(&m);
	take_traces(&m);
	if (options.out)
		write_results(&m);
	status = tell(&m);
	if (m.missing && !manner.quiet)
		warn("%zu units are left%s%s%s", m.missing, options.out && m.hunt && m.hunt->lefts ? ", in " : "",
			options.out && m.hunt && m.hunt->lefts ? options.out : "",
			options.out && m.hunt && m.hunt->lefts ? "/units: the search goes on with them" : "");
	scale_close(&m.scale);
	return m.partial && status == STATUS_CLEAN ? STATUS_UNFIT : status;
}

static const char *ranks(size_t i, const char **about)
{
	static const char *const words[] = {"1", "2", "3", "4", NULL};

	return opts_word(words, i, about);
}

static const struct opt own[] = {
	{"out", 'o', OPT_TEXT, &options.out, "DIR", "keep all results there, the findings, and the units that are left",
		.line_only = true},
	{"report", 0, OPT_TEXT, &options.report, "FILE", "where the report goes (default: standard output)",
		.line_only = true},
	{"format", 0, OPT_TEXT, &check_options.format, "FORM", "the form of the report (default: text)",
		.values = renderer_names},
	{"rank", 0, OPT_TEXT, &check_options.rank, "N", "show findings of rank 1 to N (default: 2); they are all counted",
		.values = ranks},
	{"show-hidden", 0, OPT_FLAG, &check_options.show_hidden, NULL, "show every finding, also those that a rule hides"},
	{"fail-on", 0, OPT_TEXT, &check_options.fail_on, "VERDICT[,RANK]",
		"what makes the exit status 66 (default: predicted,2)",
		.values = fail_on_verdicts, .first = true, .right = fail_on_right},
	{0},
};

const struct command command_merge = {
	.name = "merge",
	.summary = "put results of units and shards together",
	.run = merge_main,
	.words = "RESULTS...",
	.least = 1,
	.about = "Puts together what 'fission work', shards and campaigns have left: directories, or packs. In which order they "
		"come, and how often, makes no difference.\n"
		"\n"
		"Where a search is not at its end, -o gets the units that it goes on with; -j has them done at once.",
	.options = (const struct opt_group[]){{"Options", own}, {"What is left of a search", scale_engine},
		{"What is accepted", accept_options}, {0}},
	.examples = (const struct command_example[]){
		{"fission merge shard-1 shard-2 shard-3", NULL},
		{"fission merge --format=sarif --report=fission.sarif shard-*", NULL},
		{"fission merge -j4 -o all shard-*", "and what the shards have left of a search"},
		{0},
	},
	.statuses = (const struct command_status[]){
		{"0", "nothing at or above --fail-on was found"},
		{"66", "something was, or a program crashed, hung or deadlocked"},
		{"64", "a mistake in the command line, or there are no such results"},
		{"65", "a trace was malformed"},
		{"69", "units were lost or are not done yet, or a file could not be written"},
		{"78", "a mistake in suppressions or in a baseline"},
		{0},
	},
	.see = (const char *const[]){"work", "chase", "check", "report", NULL},
};
