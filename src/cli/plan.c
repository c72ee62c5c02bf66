/* SPDX-License-Identifier: MIT */
#include "plan.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/output.h"
#include "base/str.h"
#include "check/check.h"
#include "report/look.h"
#include "report/report.h"

/* The command that lists what there is. */
static const char *help_of(const struct check_options *o)
{
	return strcmp(o->command, "run") == 0 ? "fission run" : "fission check";
}

static void print_refinements(const struct refinement *r)
{
	for (; r && r->name; r++)
		printf("              %-16s%s\n", r->name, r->summary);
}

_Noreturn static void unknown_check(const struct check_options *o, const char *name, size_t n)
{
	const char *names[CHECKS_MOST];
	char word[64];
	size_t count = 0;

	snprintf(word, sizeof word, "%.*s", (int)n, name);
	for (size_t i = 0; checks_all[i] && i < CHECKS_MOST; i++)
		names[count++] = checks_all[i]->name;
	opts_unknown("check", word, names, count, help_of(o));
}

size_t parse_checks(const struct check_options *o, const char *list, const struct check **to)
{
	size_t count = 0, n;

	for (;; list += n + 1) {
		const struct check *c;
		size_t i = 0;

		n = strcspn(list, ",");
		c = check_named(list, n);
		if (!c)
			unknown_check(o, list, n);
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
	for (const struct refinement *r = c->refinements; r->name; r++)
		if (strlen(r->name) == n && memcmp(r->name, name, n) == 0)
			return r;
	return NULL;
}

_Noreturn static void unknown_refinement(const struct check_options *o, const struct check *c, const char *name, size_t n)
{
	const char *names[32];
	char word[64], what[64];
	size_t count = 0;

	snprintf(word, sizeof word, "%.*s", (int)n, name);
	snprintf(what, sizeof what, "word in --%s=", c->name);
	for (const struct refinement *r = c->refinements; r->name && count < 32; r++)
		names[count++] = r->name;
	opts_unknown(what, word, names, count, help_of(o));
}

/* The bits of a list with commas; the check's standard if there is none. */
static unsigned parse_refinements(const struct check_options *o, const struct check *c, const char *list)
{
	unsigned bits = 0;
	size_t n;

	if (!list)
		return c->standard;
	for (;; list += n + 1) {
		const struct refinement *r;

		n = strcspn(list, ",");
		r = refinement_named(c, list, n);
		if (!r)
			unknown_refinement(o, c, list, n);
		bits |= r->bits;
		if (!list[n])
			return bits;
	}
}

enum { RANKS = 4, RANK_SHOWN = 2 };

static unsigned rank_of(const struct check_options *o, const char *option, const char *word)
{
	if (word[0] < '1' || word[0] > '0' + RANKS || word[1])
		die(STATUS_USAGE, "%s: --%s takes a rank from 1 to %d, not '%s'", o->command, option, RANKS, word);
	return (unsigned)(word[0] - '0');
}

static enum verdict verdict_of(const struct check_options *o, const char *name, size_t n)
{
	char word[64];

	for (int v = 0; v < VERDICTS; v++)
		if (strlen(verdict_text[v]) == n && memcmp(verdict_text[v], name, n) == 0)
			return (enum verdict)v;
	snprintf(word, sizeof word, "%.*s", (int)n, name);
	opts_unknown("verdict", word, verdict_text, VERDICTS, help_of(o));
}

/* VERDICT[,RANK] */
static struct threshold parse_fail_on(const struct check_options *o, const char *words)
{
	size_t n = strcspn(words, ",");
	struct threshold t = {verdict_of(o, words, n), RANK_SHOWN};

	if (words[n])
		t.rank = rank_of(o, "fail-on", words + n + 1);
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

static void policy_make(struct policy *p, struct arena *a, const struct check_options *o)
{
	struct fault fault = {0};

	policy_init(p, a);
	if (o->atomic && !policy_parse(p, o->atomic, &fault))
		die(fault.status, "%s", fault.text);
	read_configs(p, o->config);
	read_files(p, o->source, policy_scan);
	if (policy_lacks_exported(p))
		die(STATUS_USAGE, "%s: --atomic=exported needs 'exported NAME' lines in a configuration file (--config); "
			"a trace does not say which functions have external linkage", o->command);
}

static void choose_refinements(struct plan *p, const struct check_options *o)
{
	for (size_t i = 0; checks_all[i]; i++) {
		unsigned bits = parse_refinements(o, checks_all[i], o->refinements[i]);

		for (size_t k = 0; k < p->count; k++)
			if (p->checks[k] == checks_all[i])
				p->refinements[k] = bits;
	}
}

void plan_make(struct plan *p, struct arena *a, const struct check_options *o)
{
	p->options = o;
	p->fail_on = parse_fail_on(o, o->fail_on);
	p->rank = rank_of(o, "rank", o->rank);
	p->renderer = renderer_named(o->format);
	if (!p->renderer)
		die(STATUS_USAGE, "%s: unknown format '%s'; there are text, json and sarif", o->command, o->format);
	p->count = parse_checks(o, o->checks, p->checks);
	choose_refinements(p, o);
	policy_make(&p->policy, a, o);
}

void print_report(const struct renderer *renderer, const struct story *story, const struct look *look, const char *path)
{
	struct str text;
	struct output out;

	str_init(&text, story->arena);
	renderer->render(story, look, &text);
	if (output_open(&out, path))
		output_write(&out, text.at, text.length);
	if (fault_is_set(&out.fault) || !output_commit(&out))
		die(out.fault.status, "%s", out.fault.text);
}

/* Appends an option for each check that has refinements. */
static void add_refinements(struct opt *to, struct check_options *o)
{
	while (to->name)
		to++;
	for (size_t i = 0; checks_all[i]; i++)
		if (checks_all[i]->refinements)
			*to++ = (struct opt){checks_all[i]->name, 0, OPT_TEXT, &o->refinements[i], "LIST",
				"which parts of that check, with commas"};
}

struct check_options check_options_for(const char *command, const char *checks)
{
	return (struct check_options){
		.command = command, .checks = checks, .format = "text", .rank = "2", .fail_on = "predicted,2",
	};
}

void plan_options(struct opt *table, struct check_options *o)
{
	const struct opt common[] = {
		{"checks", 0, OPT_TEXT, &o->checks, "LIST", "which checks, with commas"},
		{"format", 0, OPT_TEXT, &o->format, "FORM", "text (default), json or sarif"},
		{"atomic", 0, OPT_TEXT, &o->atomic, "POLICY",
			"what is expected to be atomic (default: functions); see docs/policy.md"},
		{"config", 0, OPT_TEXT, &o->config, "FILES", "configuration files, with commas"},
		{"source", 0, OPT_TEXT, &o->source, "FILES", "C sources with annotations in comments, with commas"},
		{"rank", 0, OPT_TEXT, &o->rank, "N", "show findings of rank 1 to N (default: 2); they are all counted"},
		{"show-hidden", 0, OPT_FLAG, &o->show_hidden, NULL, "show every finding, also those that a rule hides"},
		{"fail-on", 0, OPT_TEXT, &o->fail_on, "VERDICT[,RANK]", "what makes the exit status 66 (default: predicted,2)"},
		{"help", 'h', OPT_FLAG, &o->help, NULL, "this text"},
	};
	struct opt *to = table;

	while (to->name)
		to++;
	memcpy(to, common, sizeof common);
	add_refinements(table, o);
}

void plan_help(void)
{
	puts("\nChecks:");
	for (size_t i = 0; checks_all[i]; i++) {
		printf("  %-12s%s\n", checks_all[i]->name, checks_all[i]->summary);
		print_refinements(checks_all[i]->refinements);
	}
}
