/* SPDX-License-Identifier: MIT */
/* fission work: units in, results out. */
#include "commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "cli/manner.h"
#include "cli/work_unit.h"
#include "report/story.h"
#include "scale/depot.h"
#include "scale/pack.h"
#include "scale/record.h"
#include "scale/results.h"
#include "scale/supervise.h"
#include "scale/unit.h"

static struct {
	const char *output;
} options;

/* One call: what was done, and what could not be. */
struct work {
	struct arena arena;
	struct depot from, to; /* where units' files are; where results go, unless it is a pack */
	bool packed;
	struct str pack, sides;
	size_t done, failed;
};

static int run_command(void *self)
{
	struct work_unit *u = self;

	unsetenv("FISSION_OPTIONS");
	setenv("LC_ALL", "C", 1);
	return work_trace(u);
}

static int run_execution(void *self)
{
	unsetenv("FISSION_OPTIONS");
	return work_execution(self);
}

/* For measurements, and for tests of launchers: takes its time, and finds nothing. */
static int run_nap(void *self)
{
	const struct work_unit *u = self;
	uint64_t ms = record_number(u->unit.record, "milliseconds");

	nanosleep(&(struct timespec){(time_t)(ms / 1000), (long)(ms % 1000) * 1000000}, NULL);
	return STATUS_CLEAN;
}

/* What may be in a unit. */
static const struct {
	const char *name;
	int (*run)(void *unit);
} kinds[] = {{"check", run_command}, {"predict", run_command}, {"execute", run_execution},
	{"nap", run_nap}};

/* Who made it, and in what time: beside the result, since another one would have it otherwise. */
static void note_side(struct work *w, const struct work_unit *u, const struct supervised *s)
{
	char host[256] = "", path[DEPOT_PATH], name[ADDRESS + 300];
	struct fault fault = {0};
	struct str text;

	gethostname(host, sizeof host - 1);
	str_init(&text, &w->arena);
	str_printf(&text, "{\"unit\": \"%s\", \"host\": \"%s\", \"pid\": %d, \"ended\": %lld, \"seconds\": %.3f}\n", u->unit.id.hex,
		host, (int)getpid(), (long long)time(NULL), s->seconds);
	if (w->packed) {
		str_bytes(&w->sides, text.at, text.length);
		return;
	}
	snprintf(name, sizeof name, "%s.%s.%d", u->unit.id.hex, host, (int)getpid());
	depot_path(&w->to, "sides", name, path);
	pack_leave(path, (struct text){text.at, text.length}, &fault);
}

static bool publish(struct work *w, const struct work_unit *u, struct text result, struct fault *fault)
{
	if (!w->packed)
		return depot_publish(&w->to, u->unit.id.hex, result, fault);
	pack_add(&w->pack, "result", (struct text){u->unit.id.hex, ADDRESS}, result);
	return true;
}

/* The result of a unit that has ended. Nothing in it depends on when, where or by whom. */
static struct text result_of(struct work *w, const struct work_unit *u, const struct supervised *s)
{
	struct text name = record_get(u->unit.record, "name");
	bool execution = text_is(u->unit.kind, "execute");
	struct str r;

	str_init(&r, &w->arena);
	record_put_word(&r, "fission-result", "1");
	record_put_word(&r, "unit", u->unit.id.hex);
	record_put_word(&r, "ending", s->timed_out ? "limit" : "done");
	record_put_number(&r, "status", s->timed_out ? 0 : (uint64_t)s->status);
	if (name.at)
		record_put(&r, "name", name);
	if (name.at)
		record_put(&r, "trace", u->trace);
	if (execution && !s->timed_out)
		str_bytes(&r, s->output.at, s->output.length);
	else if (!s->timed_out)
		record_put(&r, "story", s->output);
	return (struct text){r.at, r.length};
}

/* What a process of ours may end with, and have said all that there is to say. */
static bool is_answer(const struct supervised *s)
{
	return s->timed_out || s->status == STATUS_CLEAN || s->status == STATUS_FINDINGS || s->status == STATUS_TRACE;
}

static void tell_failure(const struct work_unit *u, const struct supervised *s)
{
	struct text said = s->errors;

	while (said.length && said.at[said.length - 1] == '\n')
		said.length--;
	warn("unit %s: %.*s", u->unit.id.hex, said.length ? (int)said.length : 80,
		said.length ? said.at : "its process has ended without a word");
}

static bool run_unit(struct work *w, struct work_unit *u, struct fault *fault)
{
	struct supervised s = {.self = u, .limit = u->unit.limit};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (text_is(u->unit.kind, kinds[i].name))
			s.run = kinds[i].run;
	if (!s.run) {
		fault_set(fault, STATUS_TRACE, "unit %s: there is no such kind of unit", u->unit.id.hex);
		return false;
	}
	if (!work_prepare(u, fault) || !supervise(&s, &w->arena, fault))
		return false;
	if (!is_answer(&s)) {
		tell_failure(u, &s);
		return false;
	}
	if (!publish(w, u, result_of(w, u, &s), fault))
		return false;
	note_side(w, u, &s);
	return true;
}

static bool is_done(struct work *w, const struct work_unit *u)
{
	struct text result;

	return !w->packed && depot_result(&w->to, &w->arena, u->unit.id.hex, &result);
}

/* A unit's file has the name of what is in it; a pack has another one. */
static bool is_named(const char *path, const struct unit *u)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return !address_is((struct text){name, strlen(name)}) || strcmp(name, u->id.hex) == 0;
}

/* One that fails does not keep the others from being done. */
static void do_unit(struct work *w, struct text record, const char *name)
{
	struct work_unit u = {.arena = &w->arena, .depot = &w->from};
	struct fault fault = {0};

	if (unit_parse(&u.unit, record, name, &fault) && !is_named(name, &u.unit))
		fault_set(&fault, STATUS_TRACE, "%s: not the unit of that name, so it was changed or cut off; emit it again", name);
	if (fault_is_set(&fault))
		die(fault.status, "%s", fault.text);
	if (is_done(w, &u))
		return;
	if (run_unit(w, &u, &fault)) {
		w->done++;
		return;
	}
	w->failed++;
	if (fault_is_set(&fault))
		warn("%s", fault.text);
}

/* A pack: its files go to a store of their own, then its units are done. */

static void unpack_file(struct work *w, const struct pack_entry *e)
{
	struct fault fault = {0};
	struct text name = {e->name.at, e->name.length};

	if (memchr(name.at, '/', name.length) || *name.at == '.')
		die(STATUS_TRACE, "a pack with a file of a strange name; make it again");
	if (!depot_put_bytes(&w->from, record_word(&w->arena, name), e->bytes, &fault))
		die(fault.status, "%s", fault.text);
}

static void do_entries(struct work *w, struct text pack, const char *path, const char *kind)
{
	struct pack_entry e;

	pack_open(&pack);
	while (pack_next(&pack, &e)) {
		if (!text_is(e.kind, kind))
			continue;
		if (text_is(e.kind, "file"))
			unpack_file(w, &e);
		else
			do_unit(w, e.bytes, path);
	}
	if (pack.length)
		die(STATUS_TRACE, "%s: is torn off; copy it again", path);
}

/* Beside the pack, once for all packs of a campaign: files are found by what they are. */
static void open_store(struct work *w, const char *path)
{
	struct str dir;
	struct fault fault = {0};
	const char *slash = strrchr(path, '/');

	str_init(&dir, &w->arena);
	str_printf(&dir, "%.*sfission-store", slash ? (int)(slash - path) + 1 : 0, path);
	if (!depot_make(&w->from, dir.at, &fault))
		die(fault.status, "%s", fault.text);
}

/* files.pack beside it has what all packs of a campaign need. */
static void do_common(struct work *w, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct fault fault = {0};
	struct str common;
	struct text pack;

	str_init(&common, &w->arena);
	str_printf(&common, "%.*sfiles.pack", slash ? (int)(slash - path) + 1 : 0, path);
	if (access(common.at, R_OK) == 0 && pack_slurp(&pack, &w->arena, common.at, &fault))
		do_entries(w, pack, common.at, "file");
}

static void do_pack(struct work *w, struct text pack, const char *path)
{
	open_store(w, path);
	do_common(w, path);
	do_entries(w, pack, path, "file");
	do_entries(w, pack, path, "unit");
}

/* DIR of DIR/units/ID. */
static const char *depot_of(struct work *w, const char *path)
{
	const char *slash = strrchr(path, '/'), *up = slash;

	while (up && up > path && *--up != '/')
		;
	if (!slash || up == slash)
		return "..";
	return up == path && *up != '/' ? "." : arena_text(&w->arena, path, (size_t)(up - path));
}

static void do_file(struct work *w, const char *path)
{
	struct fault fault = {0};
	struct text bytes, rest;

	if (!pack_slurp(&bytes, &w->arena, path, &fault))
		die(fault.status, "%s", fault.text);
	rest = bytes;
	if (pack_open(&rest)) {
		do_pack(w, bytes, path);
		return;
	}
	if (!depot_make(&w->from, depot_of(w, path), &fault) ||
		(!options.output && !depot_make(&w->to, w->from.path, &fault)))
		die(fault.status, "%s", fault.text);
	do_unit(w, bytes, path);
}

static void open_output(struct work *w)
{
	size_t n = options.output ? strlen(options.output) : 0;
	struct fault fault = {0};

	w->packed = n > 5 && strcmp(options.output + n - 5, ".pack") == 0;
	if (w->packed) {
		str_init(&w->pack, &w->arena);
		str_init(&w->sides, &w->arena);
		pack_begin(&w->pack);
	} else if (options.output && !depot_make(&w->to, options.output, &fault)) {
		die(fault.status, "%s", fault.text);
	}
}

static void close_output(struct work *w)
{
	struct fault fault = {0};
	struct str side;

	if (!w->packed)
		return;
	str_init(&side, &w->arena);
	str_printf(&side, "%s.side", options.output);
	if (!pack_leave(side.at, (struct text){w->sides.at ? w->sides.at : "", w->sides.length}, &fault) ||
		!pack_publish(options.output, (struct text){w->pack.at, w->pack.length}, &fault))
		die(fault.status, "%s", fault.text);
}

static int work_main(int argc, char **argv)
{
	static struct work w;

	supervise_with_parent();
	arena_init(&w.arena);
	open_output(&w);
	for (int i = 1; i < argc; i++)
		do_file(&w, argv[i]);
	close_output(&w);
	if (manner.verbose)
		warn("%zu units done, %zu failed", w.done, w.failed);
	return w.failed ? STATUS_UNFIT : STATUS_CLEAN;
}

static const struct opt own[] = {
	{"output", 'o', OPT_TEXT, &options.output, "RESULTS",
		"where results go: a directory, or a file that ends with .pack (default: the directory that the unit is of)",
		.line_only = true},
	{0},
};

const struct command command_work = {
	.name = "work",
	.summary = "do units of work, and leave their results",
	.run = work_main,
	.words = "UNIT...",
	.least = 1,
	.about = "Does units that --emit-units has written, or packs of them, and publishes a result for each: whole, or not at "
		"all. A unit that has a result is done. A program that crashes or hangs is a result; that nothing could be found out "
		"is none, and the status then is 69.\n"
		"\n"
		"It ends when whoever has started it does.",
	.options = (const struct opt_group[]){{"Options", own}, {0}},
	.examples = (const struct command_example[]){
		{"fission check --emit-units=work traces/*.ftr && fission work work/units/*", NULL},
		{"fission work -o results batch.pack", NULL},
		{"ls work/units/* | xargs -P8 -n4 fission work && fission merge work", NULL},
		{0},
	},
	.statuses = (const struct command_status[]){
		{"0", "every unit has a result"},
		{"64", "a mistake in the command line, or there is no such unit"},
		{"65", "it is no unit"},
		{"69", "a unit could not be done here: another build of the program, no space, no process"},
		{0},
	},
	.see = (const char *const[]){"merge", "chase", "check", NULL},
};
