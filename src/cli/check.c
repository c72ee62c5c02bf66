/* SPDX-License-Identifier: MIT */
/* fission check: traces in, findings out. */
#include "commands.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/opts.h"
#include "base/output.h"
#include "base/str.h"
#include "check/check.h"
#include "check/oracle.h"
#include "check/run.h"
#include "event/trace.h"
#include "finding/finding.h"
#include "policy/policy.h"
#include "report/report.h"

static const char default_checks[] = "causal,aerodrome,sidetrack,races,deadlocks";

static const char usage[] =
	"usage: fission check [options] FILE...\n"
	"\n"
	"Checks traces, text or binary, for code that another thread has split. '-' is standard input.\n"
	"\n";

static const char examples[] =
	"\n"
	"Exit status: 0 nothing at or above --fail-on, 66 findings, 64 usage or unreadable file,\n"
	"65 malformed trace, 69 the output could not be written, 78 a mistake in a configuration.\n"
	"\n"
	"Examples:\n"
	"  fission check examples/bank.std\n"
	"  fission check --checks=velodrome --format=json run.ftr\n"
	"  zcat trace.std.gz | fission check --lenient -\n";

struct check_options {
	const char *checks, *format, *rank, *fail_on;
	const char *refinements[CHECKS_MOST]; /* by check, in the order of checks_all; NULL: its standard */
	const char *atomic, *config, *source; /* the policy: words, and files with commas; NULL: none */
	bool lenient, once, show_hidden, help;
};

/* What makes the exit status 66. */
struct threshold {
	enum verdict verdict; /* at least */
	unsigned rank;        /* at most */
};

/* What is run over each trace. */
struct plan {
	const struct check *checks[CHECKS_MOST];
	unsigned refinements[CHECKS_MOST];
	size_t count;
	const struct check_options *options;
	struct policy policy;
};

/* One trace and everything that was found in it. */
struct job {
	struct arena arena;
	struct tables tables;
	struct findings findings;
	struct policy policy;
	struct trace trace;
	struct fault fault;
	uint64_t events; /* of this time through */
	bool can_repeat; /* the trace can be gone through again */
	struct report_trace report;
};

static void print_refinements(const struct refinement *r)
{
	for (; r && r->name; r++)
		printf("              %-16s%s\n", r->name, r->summary);
}

static void print_help(const struct opt *table)
{
	fputs(usage, stdout);
	opts_help(table);
	puts("\nChecks:");
	for (size_t i = 0; checks_all[i]; i++) {
		printf("  %-12s%s\n", checks_all[i]->name, checks_all[i]->summary);
		print_refinements(checks_all[i]->refinements);
	}
	fputs(examples, stdout);
}

_Noreturn static void unknown_check(const char *name, size_t n)
{
	const char *names[CHECKS_MOST];
	char word[64];
	size_t count = 0;

	snprintf(word, sizeof word, "%.*s", (int)n, name);
	for (size_t i = 0; checks_all[i] && i < CHECKS_MOST; i++)
		names[count++] = checks_all[i]->name;
	opts_unknown("check", word, names, count, "fission check");
}

/* The checks of a list with commas, each once, NULL at the end. Returns how many. */
static size_t parse_checks(const char *list, const struct check **to)
{
	size_t count = 0, n;

	for (;; list += n + 1) {
		const struct check *c;
		size_t i = 0;

		n = strcspn(list, ",");
		c = check_named(list, n);
		if (!c)
			unknown_check(list, n);
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

_Noreturn static void unknown_refinement(const struct check *c, const char *name, size_t n)
{
	const char *names[32];
	char word[64], what[64];
	size_t count = 0;

	snprintf(word, sizeof word, "%.*s", (int)n, name);
	snprintf(what, sizeof what, "word in --%s=", c->name);
	for (const struct refinement *r = c->refinements; r->name && count < 32; r++)
		names[count++] = r->name;
	opts_unknown(what, word, names, count, "fission check");
}

/* The bits of a list with commas; the check's standard if there is none. */
static unsigned parse_refinements(const struct check *c, const char *list)
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
			unknown_refinement(c, list, n);
		bits |= r->bits;
		if (!list[n])
			return bits;
	}
}

enum { RANKS = 4, RANK_SHOWN = 2 };

static unsigned rank_of(const char *option, const char *word)
{
	if (word[0] < '1' || word[0] > '0' + RANKS || word[1])
		die(STATUS_USAGE, "check: --%s takes a rank from 1 to %d, not '%s'", option, RANKS, word);
	return (unsigned)(word[0] - '0');
}

static enum verdict verdict_of(const char *name, size_t n)
{
	char word[64];

	for (int v = 0; v < VERDICTS; v++)
		if (strlen(verdict_text[v]) == n && memcmp(verdict_text[v], name, n) == 0)
			return (enum verdict)v;
	snprintf(word, sizeof word, "%.*s", (int)n, name);
	opts_unknown("verdict", word, verdict_text, VERDICTS, "fission check");
}

/* VERDICT[,RANK] */
static struct threshold parse_fail_on(const char *words)
{
	size_t n = strcspn(words, ",");
	struct threshold t = {verdict_of(words, n), RANK_SHOWN};

	if (words[n])
		t.rank = rank_of("fail-on", words + n + 1);
	return t;
}

static void plan_make(struct plan *p, const struct check_options *o)
{
	p->count = parse_checks(o->checks, p->checks);
	p->options = o;
	for (size_t i = 0; checks_all[i]; i++) {
		unsigned bits = parse_refinements(checks_all[i], o->refinements[i]);

		for (size_t k = 0; k < p->count; k++)
			if (p->checks[k] == checks_all[i])
				p->refinements[k] = bits;
	}
}

/* A rule that the events broke: its place is the event's. */
static void rule_fault(struct job *j, const struct run *run, size_t index)
{
	char place[4200];

	trace_place(&j->trace, index, run_field(run), place, sizeof place);
	fault_set(&j->fault, STATUS_TRACE, "%s: %s", place, run_wellformed(run)->why);
}

static void feed(struct job *j, struct run *run)
{
	struct event events[TRACE_BATCH];
	size_t n, taken;

	while ((n = trace_next(&j->trace, events, TRACE_BATCH)) > 0) {
		taken = run_events(run, events, n);
		j->events += taken;
		if (taken < n) {
			rule_fault(j, run, taken);
			return;
		}
	}
	if (fault_is_set(&j->trace.fault))
		j->fault = j->trace.fault;
}

static void refuse_large(struct job *j, const struct run *run)
{
	const void *oracle = run_check_state(run, "oracle");

	if (oracle && oracle_refuses(oracle))
		fault_set(&j->fault, STATUS_USAGE,
			"%s: more than %d transactions (or %d events) are too many for the oracle; use velodrome",
			j->trace.input.name, ORACLE_NODES_MOST, ORACLE_EVENTS_MOST);
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

static void policy_make(struct policy *p, struct arena *a, const struct check_options *o)
{
	struct fault fault = {0};

	policy_init(p, a);
	if (o->atomic && !policy_parse(p, o->atomic, &fault))
		die(fault.status, "%s", fault.text);
	read_files(p, o->config, policy_read);
	read_files(p, o->source, policy_scan);
	if (policy_lacks_exported(p))
		die(STATUS_USAGE, "check: --atomic=exported needs 'exported NAME' lines in a configuration file (--config); "
			"a trace does not say which functions have external linkage");
}

static void job_start(struct job *j, const char *path, const struct plan *p)
{
	arena_init(&j->arena);
	tables_init(&j->tables, &j->arena);
	findings_init(&j->findings, &j->arena, &j->tables);
	j->policy = policy_copy(&p->policy, &j->arena);
	j->report = (struct report_trace){.path = path, .tables = &j->tables, .findings = &j->findings};
}

/* What the report says of the trace itself: of the first time through, with all checks. */
static void describe(struct job *j, const struct run *run, bool lenient)
{
	j->report.events = j->events;
	j->report.variables = run_variables(run);
	if (lenient)
		memcpy(j->report.repaired, run_wellformed(run)->count, sizeof j->report.repaired);
	j->report.skipped = j->trace.skipped;
	j->report.cut = j->trace.incomplete ? j->trace.incomplete_at : NULL;
}

/* Once through the trace. */
static bool job_round(struct job *j, const struct run_setup *setup)
{
	struct run *run;

	if (!trace_open(&j->trace, j->report.path, &j->tables, setup->lenient)) {
		j->fault = j->trace.fault;
		return false;
	}
	j->events = 0;
	j->can_repeat = j->trace.input.regular;
	run = run_new(&j->arena, &j->tables, &j->findings, setup);
	feed(j, run);
	run_finish(run);
	refuse_large(j, run);
	if (!j->findings.round)
		describe(j, run, setup->lenient);
	trace_close(&j->trace);
	return !fault_is_set(&j->fault);
}

static bool is_exact(const struct check *c)
{
	return c->on[ON_BEGIN] && c->on[ON_END] && c->edge;
}

/* A span of a lock goes by its function's name, which is not its own. */
static bool is_named(const struct block *b)
{
	return b->entered || b->declared;
}

/* The blamed blocks leave the policy. Returns whether any of them had not left yet. */
static bool leave_blamed(struct job *j)
{
	bool any = false;

	for (size_t i = 0; i < j->findings.count; i++) {
		const struct finding *f = &j->findings.at[i];
		struct text name = tables_name(&j->tables, TABLE_CODE, f->block.code);
		bool cycle = false;

		for (size_t k = 0; k < f->evidence_count; k++)
			cycle |= strcmp(f->evidence[k].kind, "cycle") == 0;
		if (cycle && f->block.code && is_named(&f->block) && !policy_has_left(&j->policy, name)) {
			policy_leave(&j->policy, name);
			any = true;
		}
	}
	return any;
}

/*
 * Automatic refinement: a block that was blamed may hide others, around it, in it, or on the same cycle. It leaves
 * the policy, and the checks that take blocks together go through the trace again, until nothing new is blamed.
 */
static void refine(struct job *j, struct run_setup setup)
{
	const struct check *exact[CHECKS_MOST];
	unsigned refinements[CHECKS_MOST];
	size_t count = 0;

	for (size_t i = 0; i < setup.count; i++)
		if (is_exact(setup.checks[i])) {
			refinements[count] = setup.refinements[i];
			exact[count++] = setup.checks[i];
		}
	setup.checks = exact;
	setup.count = count;
	setup.refinements = refinements;
	while (count && leave_blamed(j)) {
		j->findings.round++;
		if (!job_round(j, &setup))
			break;
	}
}

static void job_run(struct job *j, const char *path, const struct plan *p)
{
	struct run_setup setup = {p->checks, p->count, p->options->lenient, &j->policy, p->refinements};

	job_start(j, path, p);
	if (job_round(j, &setup) && !p->options->once && j->can_repeat)
		refine(j, setup);
	findings_finish(&j->findings);
	if (fault_is_set(&j->fault)) {
		j->report.fault = j->fault.text;
		warn("%s", j->fault.text);
	}
}

/* The first fault decides, since a verdict on half of the input is none; then what was found. */
static int status_of(const struct job *jobs, size_t n, struct threshold fail_on)
{
	int status = STATUS_CLEAN;

	for (size_t i = 0; i < n; i++) {
		if (fault_is_set(&jobs[i].fault))
			return jobs[i].fault.status;
		if (findings_reach(&jobs[i].findings, fail_on.verdict, fail_on.rank))
			status = STATUS_FINDINGS;
	}
	return status;
}

static void print_report(const struct renderer *renderer, const struct report *report, struct arena *a)
{
	struct str text;
	struct output out;

	str_init(&text, a);
	renderer->render(report, &text);
	if (output_open(&out, "-"))
		output_write(&out, text.at, text.length);
	if (fault_is_set(&out.fault) || !output_commit(&out))
		die(out.fault.status, "%s", out.fault.text);
}

static int check_files(char **paths, size_t n, const struct check_options *o)
{
	struct plan plan;
	struct threshold fail_on = parse_fail_on(o->fail_on);
	struct report report = {.rank = rank_of("rank", o->rank), .hidden = o->show_hidden};
	const struct renderer *renderer = renderer_named(o->format);
	struct arena arena;
	struct job *jobs;
	struct report_trace *traces;
	int status;

	if (!renderer)
		die(STATUS_USAGE, "check: unknown format '%s'; there are text and json", o->format);
	arena_init(&arena);
	plan_make(&plan, o);
	policy_make(&plan.policy, &arena, o);
	jobs = arena_alloc(&arena, n * sizeof *jobs);
	traces = arena_alloc(&arena, n * sizeof *traces);
	for (size_t i = 0; i < n; i++) {
		job_run(&jobs[i], paths[i], &plan);
		traces[i] = jobs[i].report;
	}
	report.trace = traces;
	report.count = n;
	print_report(renderer, &report, &arena);
	status = status_of(jobs, n, fail_on);
	for (size_t i = 0; i < n; i++)
		arena_free(&jobs[i].arena);
	arena_free(&arena);
	return status;
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

static int check_main(int argc, char **argv)
{
	struct check_options o = {.checks = default_checks, .format = "text", .rank = "2", .fail_on = "predicted,2"};
	struct opt table[16 + CHECKS_MOST] = {
		{"checks", 0, OPT_TEXT, &o.checks, "LIST", "which checks, with commas (default: causal,aerodrome,sidetrack,races,deadlocks)"},
		{"format", 0, OPT_TEXT, &o.format, "FORM", "text (default) or json"},
		{"atomic", 0, OPT_TEXT, &o.atomic, "POLICY",
			"what is expected to be atomic (default: functions); see docs/policy.md"},
		{"config", 0, OPT_TEXT, &o.config, "FILES", "configuration files, with commas"},
		{"source", 0, OPT_TEXT, &o.source, "FILES", "C sources with annotations in comments, with commas"},
		{"no-refine", 0, OPT_FLAG, &o.once, NULL, "go through the trace once, even if blamed blocks may hide others"},
		{"lenient", 0, OPT_FLAG, &o.lenient, NULL, "repair what can be repaired in the trace, and count it"},
		{"rank", 0, OPT_TEXT, &o.rank, "N", "show findings of rank 1 to N (default: 2); they are all counted"},
		{"show-hidden", 0, OPT_FLAG, &o.show_hidden, NULL, "show every finding, also those that a rule hides"},
		{"fail-on", 0, OPT_TEXT, &o.fail_on, "VERDICT[,RANK]", "what makes the exit status 66 (default: predicted,2)"},
		{"help", 'h', OPT_FLAG, &o.help, NULL, "this text"},
	};
	int operands;

	add_refinements(table, &o);
	operands = opts_parse(table, "check", argc, argv);

	if (o.help) {
		print_help(table);
		return STATUS_CLEAN;
	}
	if (operands == 0)
		die(STATUS_USAGE, "check: no trace given; 'fission check --help' shows how");
	return check_files(argv + 1, (size_t)operands, &o);
}

const struct command command_check = {
	.name = "check",
	.summary = "check traces, binary or text",
	.run = check_main,
};
