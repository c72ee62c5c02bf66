/* SPDX-License-Identifier: MIT */
#include "scale.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/str.h"
#include "cli/kept.h"
#include "cli/manner.h"
#include "cli/plan.h"
#include "report/report.h"
#include "report/story.h"
#include "scale/join.h"
#include "scale/pack.h"
#include "scale/record.h"
#include "scale/unit.h"

enum { LIMIT = 600 };

struct scale_options scale_options;

static const char *launcher_names(size_t i, const char **about)
{
	if (about)
		*about = launchers_all[i] ? launchers_all[i]->about : NULL;
	return launchers_all[i] ? launchers_all[i]->name : NULL;
}

static const char *small_right(const char *value)
{
	return strlen(value) <= 6 ? NULL : "takes a number below a million";
}

#define ENGINE \
	{"launcher", 0, OPT_TEXT, &scale_options.launcher, "NAME", "who starts the workers (default: local)", \
		.values = launcher_names, .line_only = true}, \
	{"hosts", 0, OPT_TEXT, &scale_options.hosts, "FILE", "the hosts of 'parallel', one a line, as ssh has them", \
		.line_only = true}, \
	{"jobs", 'j', OPT_COUNT, &scale_options.jobs, "N", "workers side by side, on each host", .right = small_right}

const struct opt scale_opts[] = {
	ENGINE,
	{"shard", 0, OPT_TEXT, &scale_options.shard, "K/N", "do the K-th of N parts; 'fission merge' puts them together",
		.right = shard_right, .line_only = true},
	{"emit-units", 0, OPT_TEXT, &scale_options.emit, "DIR", "write units there, for 'fission work', and run nothing",
		.line_only = true},
	{"campaign", 0, OPT_TEXT, &scale_options.campaign, "DIR", "keep units and results there (default: nowhere)",
		.line_only = true},
	{"resume", 0, OPT_FLAG, &scale_options.resume, NULL, "go on with what is in --campaign", .line_only = true},
	{"limit", 0, OPT_COUNT, &scale_options.limit, "SECONDS",
		"how long a unit of theirs may take: a trace 600, an execution 10", .right = small_right, .line_only = true},
	{0},
};

const struct opt scale_engine[] = {ENGINE, {0}};

bool scale_wanted(void)
{
	const struct scale_options *o = &scale_options;

	return o->emit || o->shard || o->launcher || o->hosts || o->campaign || o->jobs || o->resume;
}

struct shard scale_shard(void)
{
	struct shard s = {0};

	if (scale_options.shard)
		shard_parse(scale_options.shard, &s);
	return s;
}

static bool is_empty(const struct depot *d)
{
	struct results r;
	struct arena a;
	struct fault fault = {0};
	bool empty;

	arena_init(&a);
	results_init(&r, &a);
	results_take(&r, d->path, &fault);
	results_settle(&r);
	empty = !r.count || r.at[r.count - 1].kind != RESULT_DONE;
	arena_free(&a);
	return empty;
}

/* What does not go together. */
static void check_options_of(void)
{
	const struct scale_options *o = &scale_options;

	if (o->resume && !o->campaign)
		die(STATUS_USAGE, "--resume needs --campaign=DIR, where the results so far are");
	if (o->shard && !o->campaign && !o->emit)
		die(STATUS_USAGE, "--shard needs --campaign=DIR: 'fission merge' puts together what the shards leave there");
	if (o->hosts && (!o->launcher || strcmp(o->launcher, "parallel") != 0))
		die(STATUS_USAGE, "--hosts goes with --launcher=parallel");
	if (o->emit && (o->launcher || o->campaign))
		die(STATUS_USAGE, "--emit-units runs nothing: without --launcher and --campaign");
}

/* However the tool ends, what is nobody else's goes with it. */
static struct scale *to_be_closed;

static void close_at_exit(void)
{
	if (to_be_closed)
		scale_close(to_be_closed);
}

static void make_temporary(struct scale *s)
{
	const char *tmp = getenv("TMPDIR");
	char path[1024];
	struct fault fault = {0};

	snprintf(path, sizeof path, "%.900s/fission-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(path))
		die(STATUS_UNFIT, "%s: %s", path, strerror(errno));
	s->temporary = true;
	if (!to_be_closed)
		atexit(close_at_exit);
	to_be_closed = s;
	if (!depot_make(&s->depot, path, &fault))
		die(fault.status, "%s", fault.text);
}

/* Asked to end: what is nobody else's is removed first. */
static volatile sig_atomic_t asked;

static void note_signal(int which)
{
	asked = which;
}

/* Each time: output.h sets handlers of its own for what it writes, and does not take them back. */
static void heed_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		if (signal(signals[i], note_signal) == SIG_IGN)
			signal(signals[i], SIG_IGN);
}

static void end_if_asked(struct scale *s)
{
	if (!asked)
		return;
	scale_close(s);
	signal(asked, SIG_DFL);
	raise(asked);
}

/* A worker may have another working directory. */
static const char *absolute(struct arena *a, const char *path)
{
	char here[2048];
	struct str s;

	if (*path == '/' || !getcwd(here, sizeof here))
		return path;
	str_init(&s, a);
	str_printf(&s, "%s/%s", here, path);
	return s.at;
}

/* What makes the directory ours. */
static void mark(struct scale *s)
{
	static const char text[] = "fission-depot 1\n";
	struct fault fault = {0};
	char path[DEPOT_PATH];

	depot_path(&s->depot, "version", "", path);
	if (!pack_publish(path, (struct text){text, sizeof text - 1}, &fault))
		die(fault.status, "%s", fault.text);
}

void scale_open(struct scale *s)
{
	const struct scale_options *o = &scale_options;
	const char *dir = o->emit ? o->emit : o->campaign;
	struct fault fault = {0};

	*s = (struct scale){0};
	arena_init(&s->arena);
	check_options_of();
	if (!dir)
		make_temporary(s);
	else if (!depot_make(&s->depot, absolute(&s->arena, dir), &fault))
		die(fault.status, "%s", fault.text);
	mark(s);
	if (dir && !o->emit && !o->resume && !is_empty(&s->depot))
		die(STATUS_USAGE, "%s: has results already; --resume goes on with them", dir);
}

void scale_launch(struct scale *s)
{
	const struct scale_options *o = &scale_options;
	struct launch_setup setup = {launcher_named(o->launcher ? o->launcher : "local"), &s->depot, o->hosts, o->jobs};
	struct fault fault = {0};

	progress_start(&s->progress, manner_progress(true), manner_utf8());
	if (!launch_open(&s->launch, &setup, &fault))
		die(fault.status, "%s", fault.text);
	s->launched = true;
}

void scale_poll(struct scale *s)
{
	const struct launch *l = &s->launch;
	struct fault fault = {0};

	heed_signals();
	end_if_asked(s);
	if (!launch_poll(&s->launch, &fault))
		die(fault.status, "%s", fault.text);
	if (progress_due(&s->progress))
		progress_show(&s->progress, "%zu of %zu done%s%zu running%s%zu lost%s%zu found%s%.0f s left", l->done, l->tasks,
			s->progress.between, l->running, s->progress.between, l->lost, s->progress.between, s->found,
			s->progress.between, launch_eta(l));
}

void scale_wait(struct scale *s)
{
	while (launch_left(&s->launch))
		scale_poll(s);
	progress_clear();
}

static int remove_one(const char *path, const struct stat *st, int what, struct FTW *at)
{
	(void)st;
	(void)what;
	(void)at;
	return remove(path);
}

void scale_close(struct scale *s)
{
	if (s->launched)
		launch_close(&s->launch);
	s->launched = false;
	progress_clear();
	if (s->temporary)
		nftw(s->depot.path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	s->temporary = false;
}

/* Options of a unit. */

static void put_files(struct str *unit, const struct depot *d, const char *role, const char *list)
{
	struct fault fault = {0};
	char path[DEPOT_PATH];
	struct address address;

	for (size_t n; list; list = list[n] ? list + n + 1 : NULL) {
		n = strcspn(list, ",");
		snprintf(path, sizeof path, "%.*s", (int)n, list);
		if (!depot_put_file(d, path, &address, &fault))
			die(fault.status, "%s", fault.text);
		unit_put_file(unit, role, &address, path);
	}
}

static void put_option(struct str *unit, const struct opt *o)
{
	struct str word;

	str_init(&word, unit->arena);
	if (o->kind == OPT_FLAG && *(const bool *)o->to)
		str_printf(&word, "--%s", o->name);
	else if (o->kind == OPT_COUNT)
		str_printf(&word, "--%s=%lu", o->name, *(const unsigned long *)o->to);
	else if (o->kind == OPT_TEXT && *(const char *const *)o->to)
		str_printf(&word, "--%s=%s", o->name, *(const char *const *)o->to);
	if (word.length)
		record_put(unit, "option", (struct text){word.at, word.length});
}

void scale_put_options(struct str *unit, const struct depot *d, const struct opt_group *groups,
	const char *const *names)
{
	for (; *names; names++)
		put_option(unit, opts_named(groups, *names, strlen(*names)));
	put_files(unit, d, "config", check_options.config);
	put_files(unit, d, "source", check_options.source);
}

/* Traces. */

struct tracing {
	const struct scale_traces *t;
	struct scale scale;
	struct str campaign;
	size_t own, all;
};

/* A part of a trace's candidates, for `predict`. */
static void put_piece(struct str *unit, size_t piece, size_t pieces)
{
	struct str word;

	if (pieces < 2)
		return;
	str_init(&word, unit->arena);
	str_printf(&word, "--piece=%zu/%zu", piece + 1, pieces);
	record_put(unit, "option", (struct text){word.at, word.length});
}

static void make_unit(struct tracing *r, struct str *unit, const char *path, const struct address *trace)
{
	unit_begin(unit, r->t->command, scale_options.limit ? scale_options.limit : LIMIT);
	scale_put_options(unit, &r->scale.depot, r->t->groups, r->t->names);
	unit_put_file(unit, "trace", trace, path);
	record_put_word(unit, "name", path);
}

/* A unit is ours or another shard's; all of them are named, so that whoever merges knows what there is. */
static void emit_unit(struct tracing *r, const char *path, struct text unit)
{
	struct address id = address_of(unit);
	struct fault fault = {0};

	record_put_word(&r->campaign, "unit", id.hex);
	r->all++;
	if (!shard_has(scale_shard(), (struct text){path, strlen(path)}))
		return;
	r->own++;
	if (!depot_put_unit(&r->scale.depot, unit, &id, &fault))
		die(fault.status, "%s", fault.text);
	if (r->scale.launched)
		launch_submit(&r->scale.launch, &id, record_number(unit, "limit"));
}

static void emit_trace(struct tracing *r, const char *path)
{
	size_t pieces = r->t->pieces ? r->t->pieces(path) : 1;
	bool own = shard_has(scale_shard(), (struct text){path, strlen(path)});
	struct fault fault = {0};
	struct address trace;

	if (strcmp(path, "-") == 0)
		die(STATUS_USAGE, "standard input cannot be made a unit of; name a file");
	if (!(own ? depot_put_file(&r->scale.depot, path, &trace, &fault) : address_of_file(path, &trace, &fault)))
		die(fault.status, "%s", fault.text);
	for (size_t i = 0; i < pieces; i++) {
		struct str unit;

		str_init(&unit, &r->scale.arena);
		make_unit(r, &unit, path, &trace);
		put_piece(&unit, i, pieces);
		emit_unit(r, path, (struct text){unit.at, unit.length});
	}
}

static void emit_campaign(struct tracing *r)
{
	char path[DEPOT_PATH];
	struct fault fault = {0};

	depot_path(&r->scale.depot, "campaign", "", path);
	if (!pack_publish(path, (struct text){r->campaign.at, r->campaign.length}, &fault))
		die(fault.status, "%s", fault.text);
}

/* A trace that took longer than its unit may: of it nothing was told. Of a program that hangs it is the result. */
static bool is_cut_short(const struct result *r)
{
	return r->kind == RESULT_DONE && record_get(r->bytes, "name").at && text_is(record_get(r->bytes, "ending"), "limit");
}

bool scale_complain(const struct results *r)
{
	bool lost = false;

	for (size_t i = 0; i < r->count; i++) {
		const struct result *x = &r->at[i];

		if (x->kind == RESULT_LOST) {
			warn("unit %s is lost: %.*s", x->id, x->bytes.length ? (int)x->bytes.length - 1 : 0, x->bytes.at);
			lost = true;
		}
		if (is_cut_short(x)) {
			warn("unit %s ran into its limit, and of its trace nothing is known; --limit=SECONDS gives it more", x->id);
			lost = true;
		}
		if (x->differs && (!i || strcmp(x->id, x[-1].id) != 0))
			warn("unit %s: two results of it differ, so something outside of it decides; what it says was reproduced is "
				"called observed", x->id);
	}
	if (r->torn)
		warn("%zu results are torn off, and count as absent", r->torn);
	return lost;
}

/* The worst fault of a trace decides, since a verdict on half of the input is none. */
static int status_of(const struct scale_report *r, const struct story *story)
{
	for (size_t i = 0; i < r->results->count; i++) {
		uint64_t status = record_number(r->results->at[i].bytes, "status");

		if (r->results->at[i].kind == RESULT_DONE && status && status != STATUS_FINDINGS)
			return (int)status;
	}
	return plan_fails(r->plan, story) || story->failures ? (int)check_options.exitcode : STATUS_CLEAN;
}

int scale_report(const struct scale_report *r, struct story *story)
{
	struct look look = look_for(r->output, check_options.show_hidden);

	story->command = (struct text){r->command, strlen(r->command)};
	story->rank = r->plan->rank;
	story->fail_on = (struct text){check_options.fail_on, strlen(check_options.fail_on)};
	accept_apply(&r->plan->accepted, story);
	story->status = status_of(r, story);
	if (r->out)
		kept_write(story, r->out);
	look.new_only = r->plan->accepted.new_only;
	print_report(r->plan->renderer, story, look, r->output);
	return r->lost && story->status == STATUS_CLEAN ? STATUS_UNFIT : story->status;
}

static int tell(struct tracing *r)
{
	struct results results;
	struct join merge;
	struct plan plan;
	struct story story;
	struct fault fault = {0};
	struct scale_report report = {r->t->command, r->t->output, r->t->out, &plan, &results, false};

	results_init(&results, &r->scale.arena);
	if (!results_take(&results, r->scale.depot.path, &fault))
		die(fault.status, "%s", fault.text);
	results_settle(&results);
	report.lost = scale_complain(&results);
	join_init(&merge, &r->scale.arena);
	for (size_t i = 0; i < results.count; i++)
		if (results.at[i].kind == RESULT_DONE)
			join_add(&merge, &results.at[i]);
	join_tell(&merge, &story);
	plan_make(&plan, &r->scale.arena, r->t->command);
	return scale_report(&report, &story);
}

int scale_traces(const struct scale_traces *t)
{
	static struct tracing r;
	int status = STATUS_CLEAN;
	struct plan plan;

	r.t = t;
	arena_init(&r.scale.arena);
	plan_make(&plan, &r.scale.arena, t->command); /* mistakes are told before anything is done */
	scale_open(&r.scale);
	str_init(&r.campaign, &r.scale.arena);
	record_put_word(&r.campaign, "fission-campaign", "1");
	record_put_word(&r.campaign, "command", t->command);
	if (!scale_options.emit)
		scale_launch(&r.scale);
	for (size_t i = 0; i < t->count; i++)
		emit_trace(&r, t->paths[i]);
	emit_campaign(&r);
	if (r.scale.launched) {
		scale_wait(&r.scale);
		status = tell(&r);
	} else if (!manner.quiet) {
		warn("%zu units are in %s/units; 'fission work %s/units/*', then 'fission merge %s'", r.own, scale_options.emit,
			scale_options.emit, scale_options.emit);
	}
	scale_close(&r.scale);
	return status;
}
