/* SPDX-License-Identifier: MIT */
#include "plan.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/output.h"
#include "base/str.h"
#include "check/check.h"
#include "cli/commands.h"
#include "cli/manner.h"
#include "report/look.h"
#include "report/hide.h"
#include "report/report.h"
#include "report/story.h"

enum { RANKS = 4, RANK_SHOWN = 2 };

#define CHECKS "causal,aerodrome,sidetrack,races,deadlocks"

static const char standard_checks[] = CHECKS, standard_rank[] = "2";

struct check_options check_options = {
	.checks = standard_checks, .format = "text", .rank = standard_rank, .fail_on = "predicted,2",
	.exitcode = STATUS_FINDINGS,
};

static const char *check_names(size_t i, const char **about)
{
	if (about)
		*about = checks_all[i] ? checks_all[i]->summary : NULL;
	return checks_all[i] ? checks_all[i]->name : NULL;
}

static const char *refinement_names(const char *check, size_t i, const char **about)
{
	const struct refinement *r = &check_named(check, strlen(check))->refinements[i];

	if (about)
		*about = r->summary;
	return r->name;
}

static const char *atomizer_parts(size_t i, const char **about)
{
	return refinement_names("atomizer", i, about);
}

static const char *reduction_parts(size_t i, const char **about)
{
	return refinement_names("reduction", i, about);
}

static const char *blocks_parts(size_t i, const char **about)
{
	return refinement_names("blocks", i, about);
}

static const char *ranks(size_t i, const char **about)
{
	static const char *const words[RANKS + 1] = {"1", "2", "3", "4", NULL};

	return opts_word(words, i, about);
}

const char *fail_on_verdicts(size_t i, const char **about)
{
	if (about)
		*about = NULL;
	return i < VERDICTS ? verdict_text[i] : NULL;
}

const char *fail_on_right(const char *value)
{
	const char *comma = strchr(value, ',');

	if (!comma || (comma[1] >= '1' && comma[1] <= '0' + RANKS && !comma[2]))
		return NULL;
	return "takes a verdict and a rank from 1 to 4, as predicted,2";
}

static const char *exitcode_right(const char *value)
{
	return strlen(value) <= 3 && strtoul(value, NULL, 10) <= 255 ? NULL : "takes a number from 0 to 255";
}

const struct opt plan_options[] = {
	{"checks", 0, OPT_TEXT, &check_options.checks, "LIST", "which checks, with commas (default: " CHECKS ")",
		.values = check_names, .many = true},
	{"format", 0, OPT_TEXT, &check_options.format, "FORM", "the form of the report (default: text)",
		.values = renderer_names},
	{"atomic", 0, OPT_TEXT, &check_options.atomic, "POLICY",
		"what is expected to be atomic (default: functions); see docs/policy.md"},
	{"config", 0, OPT_TEXT, &check_options.config, "FILES", "configuration files, with commas"},
	{"source", 0, OPT_TEXT, &check_options.source, "FILES", "C sources with annotations in comments, with commas"},
	{"rank", 0, OPT_TEXT, &check_options.rank, "N", "show findings of rank 1 to N (default: 2); they are all counted",
		.values = ranks},
	{"show-hidden", 0, OPT_FLAG, &check_options.show_hidden, NULL, "show every finding, also those that a rule hides"},
	{"fail-on", 0, OPT_TEXT, &check_options.fail_on, "VERDICT[,RANK]",
		"what makes the exit status 66 (default: predicted,2)",
		.values = fail_on_verdicts, .first = true, .right = fail_on_right},
	{"exitcode", 0, OPT_COUNT, &check_options.exitcode, "N",
		"the exit status then, instead of 66; 0: as without findings",
		.right = exitcode_right},
	{"bare", 0, OPT_FLAG, &check_options.bare, NULL, "without lines of sources", .hidden = true, .line_only = true},
	{0},
};

/* An option for each check that has refinements, and by its name. */
const struct opt plan_refinements[] = {
	{"atomizer", 0, OPT_TEXT, &check_options.atomizer, "LIST", "which of its rules, with commas",
		.values = atomizer_parts, .many = true},
	{"reduction", 0, OPT_TEXT, &check_options.reduction, "LIST", "up to which of its steps", .values = reduction_parts,
		.many = true},
	{"blocks", 0, OPT_TEXT, &check_options.blocks, "LIST", "which pairs, by which knowledge, with commas",
		.values = blocks_parts, .many = true},
	{0},
};

/* The option has checked that there are such checks. */
static size_t parse_checks(const char *list, const struct check **to)
{
	size_t count = 0, n;

	for (;; list += n + 1) {
		const struct check *c;
		size_t i = 0;

		n = strcspn(list, ",");
		c = check_named(list, n);
		assert(c);
		while (i < count && to[i] != c)
			i++;
		if (i == count)
			to[count++] = c;
		if (!list[n])
			return count;
	}
}

static const struct refinement *refinement_named(const struct check *c, const char *name, size_t n)
{
	const struct refinement *r = c->refinements;

	while (strlen(r->name) != n || memcmp(r->name, name, n) != 0)
		r++;
	return r;
}

/* The bits of a list with commas; the check's standard if there is none. */
static unsigned parse_refinements(const struct check *c)
{
	const struct opt_group group[] = {{NULL, plan_refinements}, {0}};
	const struct opt *o = opts_named(group, c->name, strlen(c->name));
	const char *list = o ? *(const char **)o->to : NULL;
	unsigned bits = 0;

	assert(!o == !c->refinements);
	if (!list)
		return c->standard;
	for (size_t n; list; list = list[n] ? list + n + 1 : NULL) {
		n = strcspn(list, ",");
		bits |= refinement_named(c, list, n)->bits;
	}
	return bits;
}

/* VERDICT[,RANK], which the option has checked. */
struct threshold parse_fail_on(const char *words)
{
	size_t n = strcspn(words, ",");
	struct threshold t = {0, RANK_SHOWN};

	for (int v = 0; v < VERDICTS; v++)
		if (strlen(verdict_text[v]) == n && memcmp(verdict_text[v], words, n) == 0)
			t.verdict = (enum verdict)v;
	if (words[n])
		t.rank = (unsigned)(words[n + 1] - '0');
	return t;
}

/* Reads each file of a list with commas. */
static void read_files(struct policy *p, const char *list, bool (*read)(struct policy *, const char *, struct fault *))
{
	char path[4096];
	struct fault fault = {0};

	for (size_t n; list; list = list[n] ? list + n + 1 : NULL) {
		n = strcspn(list, ",");
		snprintf(path, sizeof path, "%.*s", (int)n, list);
		if (!read(p, path, &fault))
			die(fault.status, "%s", fault.text);
	}
}

void read_configs(struct policy *p, const char *list)
{
	read_files(p, list, policy_read);
}

static void policy_make(struct policy *p, struct arena *a, const char *command)
{
	const struct check_options *o = &check_options;
	struct fault fault = {0};

	policy_init(p, a);
	if (o->atomic && !policy_parse(p, o->atomic, &fault))
		die(fault.status, "%s", fault.text);
	read_configs(p, o->config);
	read_files(p, o->source, policy_scan);
	if (policy_lacks_exported(p))
		die(STATUS_USAGE, "%s: --atomic=exported needs 'exported NAME' lines in a configuration file (--config); "
			"a trace does not say which functions have external linkage", command);
}

void plan_for_locks(void)
{
	if (check_options.checks == standard_checks)
		check_options.checks = "sidetrack,deadlocks";
	if (check_options.rank == standard_rank)
		check_options.rank = "3";
}

void plan_make(struct plan *p, struct arena *a, const char *command)
{
	p->fail_on = parse_fail_on(check_options.fail_on);
	p->rank = (unsigned)(check_options.rank[0] - '0');
	p->renderer = renderer_named(check_options.format);
	p->count = parse_checks(check_options.checks, p->checks);
	for (size_t i = 0; i < p->count; i++)
		p->refinements[i] = parse_refinements(p->checks[i]);
	policy_make(&p->policy, a, command);
	accept_read(&p->accepted, a, &p->policy.rules);
}

bool plan_fails(const struct plan *p, const struct story *s)
{
	return hide_reaches(s, p->fail_on, p->accepted.new_only);
}

/* With --quiet a report in words that shows nothing is not written. */
static bool is_silent(const struct renderer *renderer, const struct story *story, const struct look *look)
{
	if (!manner.quiet || strcmp(renderer->name, "text") != 0)
		return false;
	for (size_t i = 0; i < story->findings; i++)
		if (look_shows(look, story, &story->finding[i]))
			return false;
	return true;
}

void print_report(const struct renderer *renderer, const struct story *story, struct look look, const char *path)
{
	struct str text;
	struct output out;

	str_init(&text, story->arena);
	if (!is_silent(renderer, story, &look))
		renderer->render(story, &look, &text);
	if (output_open(&out, path))
		output_write(&out, text.at, text.length);
	if (fault_is_set(&out.fault) || !output_commit(&out))
		die(out.fault.status, "%s", out.fault.text);
}

const struct command_status plan_statuses[] = {
	{"0", "nothing was found at or above --fail-on"},
	{"66", "findings at or above --fail-on"},
	{"64", "a mistake in the command line, or a trace that cannot be opened"},
	{"65", "a trace is malformed"},
	{"69", "the output could not be written"},
	{"78", "a mistake in a configuration, in suppressions or in a baseline"},
	{0},
};
