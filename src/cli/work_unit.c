/* SPDX-License-Identifier: MIT */
#include "work_unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/str.h"
#include "chase/chase.h"
#include "chase/hit.h"
#include "chase/lesson.h"
#include "chase/tell.h"
#include "cli/plan.h"
#include "cli/units.h"
#include "report/look.h"
#include "report/report.h"
#include "scale/builds.h"
#include "scale/depot.h"
#include "scale/lesson_file.h"
#include "scale/record.h"
#include "sched/order.h"

/* Files. */

/* The first file of the role. */
static bool find_file(const struct work_unit *u, const char *role, char to[DEPOT_PATH])
{
	struct text rest = u->unit.record;
	struct record_field f;
	struct unit_file file;

	while (record_next(&rest, &f))
		if (text_is(f.name, "file") && unit_file(f.value, &file) && text_is(file.role, role)) {
			depot_file(u->depot, &file, to);
			return true;
		}
	return false;
}

static bool has_files(const struct work_unit *u, struct fault *fault)
{
	struct text rest = u->unit.record;
	struct record_field f;
	struct unit_file file;
	char path[DEPOT_PATH];

	while (record_next(&rest, &f)) {
		if (!text_is(f.name, "file"))
			continue;
		if (!unit_file(f.value, &file)) {
			fault_set(fault, STATUS_TRACE, "unit %s: a file of a strange name", u->unit.id.hex);
			return false;
		}
		depot_file(u->depot, &file, path);
		if (access(path, R_OK) != 0 && !text_is(file.role, "program")) {
			fault_set(fault, STATUS_UNFIT, "%s: %s; the unit's files are not all here", path, strerror(errno));
			return false;
		}
	}
	return true;
}

/* All files of a role, with commas between them; NULL if there are none. */
static const char *list_of(const struct work_unit *u, const char *role)
{
	struct text rest = u->unit.record;
	struct record_field f;
	struct unit_file file;
	char path[DEPOT_PATH];
	struct str list;

	str_init(&list, u->arena);
	while (record_next(&rest, &f))
		if (text_is(f.name, "file") && unit_file(f.value, &file) && text_is(file.role, role)) {
			depot_file(u->depot, &file, path);
			str_printf(&list, "%s%s", list.length ? "," : "", path);
		}
	return list.length ? list.at : NULL;
}

/* The program. */

static bool is_right(struct work_unit *u, const char *path, struct fault *fault)
{
	return path && scale_check_builds(u->unit.record, path, u->arena, fault);
}

/* Where it was when the unit was made, or the one that came along. Asked once for all units of a call. */
static bool find_program(struct work_unit *u, struct fault *fault)
{
	static char known[DEPOT_PATH];
	static struct address of;
	struct address builds = units_builds(u->unit.record, u->arena);
	const char *named = scale_program(u->arena, record_word(u->arena, record_get(u->unit.record, "path")));
	struct fault other = {0};
	char shipped[DEPOT_PATH];

	if (*known && strcmp(of.hex, builds.hex) == 0) {
		u->program = known;
		return true;
	}
	if (is_right(u, named, fault))
		u->program = named;
	else if (find_file(u, "program", shipped) && is_right(u, scale_program(u->arena, shipped), &other))
		u->program = scale_program(u->arena, shipped);
	if (!u->program) {
		fault_set(fault, STATUS_UNFIT, "%s: there is no such program here",
			record_word(u->arena, record_get(u->unit.record, "path")));
		return false;
	}
	snprintf(known, sizeof known, "%s", u->program);
	of = builds;
	*fault = (struct fault){0};
	return true;
}

bool work_prepare(struct work_unit *u, struct fault *fault)
{
	struct text rest = u->unit.record;
	struct record_field f;
	struct unit_file file;

	if (!has_files(u, fault))
		return false;
	while (record_next(&rest, &f))
		if (text_is(f.name, "file") && unit_file(f.value, &file) && text_is(file.role, "trace"))
			u->trace = file.address;
	return !text_is(u->unit.kind, "execute") || find_program(u, fault);
}

/* check, predict. */

static const char *joined(const struct work_unit *u, const char *option, const char *value)
{
	struct str s;

	str_init(&s, u->arena);
	str_printf(&s, "--%s=%s", option, value);
	return s.at;
}

int work_trace(struct work_unit *u)
{
	const char *config = list_of(u, "config"), *source = list_of(u, "source"), *argv[128];
	struct text rest = u->unit.record;
	char path[DEPOT_PATH], *slash;
	struct record_field f;
	size_t n = 0;

	argv[n++] = "fission";
	argv[n++] = record_word(u->arena, u->unit.kind);
	argv[n++] = "--format=json";
	argv[n++] = "--bare";
	argv[n++] = "--quiet";
	argv[n++] = "--suppressions=";
	if (config)
		argv[n++] = joined(u, "config", config);
	if (source)
		argv[n++] = joined(u, "source", source);
	while (record_next(&rest, &f) && n < sizeof argv / sizeof *argv - 3)
		if (text_is(f.name, "option"))
			argv[n++] = record_word(u->arena, f.value);
	if (!find_file(u, "trace", path))
		die(STATUS_TRACE, "the unit has no trace");
	slash = strrchr(path, '/');
	*slash = 0;
	if (chdir(path) != 0)
		die(STATUS_UNFIT, "%s: %s", path, strerror(errno));
	argv[n++] = "--";
	argv[n++] = slash + 1;
	argv[n] = NULL;
	execv("/proc/self/exe", (char **)argv);
	die(STATUS_UNFIT, "cannot start fission: %s", strerror(errno));
}

/* execute. */

static void set_policy(const struct work_unit *u)
{
	struct text rest = u->unit.record, value;
	struct record_field f;

	check_options.config = list_of(u, "config");
	check_options.source = list_of(u, "source");
	while (record_next(&rest, &f)) {
		value = f.value;
		if (text_is(f.name, "option") && value.length > 9 && memcmp(value.at, "--atomic=", 9) == 0)
			check_options.atomic = record_word(u->arena, (struct text){value.at + 9, value.length - 9});
	}
}

static struct order *order_of(const struct work_unit *u)
{
	struct text t = record_get(u->unit.record, "order");
	struct order *o = arena_alloc(u->arena, t.length + 1);

	memcpy(o, t.at ? t.at : "", t.length);
	if (order_check(o, t.length))
		die(STATUS_TRACE, "the unit's order is none: %s", order_check(o, t.length));
	return o;
}

/* Addresses are up to chance, and a unit's result is not. */
static void drop_addresses(struct story *s)
{
	for (size_t i = 0; i < s->findings; i++) {
		struct story_finding *f = &s->finding[i];

		for (size_t k = 0; k < f->events; k++)
			f->event[k].valued &= !hit_is_address(f->event[k].value);
		for (size_t k = 0; k < f->outcomes; k++)
			f->outcome[k].known &= !hit_is_address((uint64_t)f->outcome[k].value);
	}
}

static void write_story(const struct work_unit *u, struct chase *c, struct str *to)
{
	struct report r = {.rank = 4, .command = "chase", .program = c->setup->argv, .fail_on = "suspected,4", .bare = true};
	struct chase_told told;
	struct story story;
	struct str json;

	if (!c->hits)
		return;
	chase_tell(c, &told, &r, u->arena);
	story_tell(&story, u->arena, &r);
	drop_addresses(&story);
	str_init(&json, u->arena);
	renderer_named("json")->render(&story, &look_plain, &json);
	record_put(to, "story", (struct text){json.at, json.length});
}

int work_execution(struct work_unit *u)
{
	struct plan plan;
	struct chase_setup setup;
	struct chase c;
	struct lesson lesson;
	struct fault fault = {0};
	struct str out;

	set_policy(u);
	plan_make(&plan, u->arena, "work");
	units_setup(u->unit.record, u->arena, &setup);
	units_environment(u->unit.record, u->arena);
	setup.policy = &plan.policy;
	setup.path = u->program;
	setup.jobs = 1;
	if (!chase_once(&c, &setup, order_of(u), &fault))
		die(STATUS_UNFIT, "%s", fault.text);
	str_init(&out, u->arena);
	lesson_of(&lesson, &c);
	lesson_write(&out, &lesson);
	write_story(u, &c, &out);
	return fwrite(out.at, 1, out.length, stdout) == out.length ? STATUS_CLEAN : STATUS_UNFIT;
}
