/* SPDX-License-Identifier: MIT */
#include "units.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/opts.h"
#include "base/str.h"
#include "chase/chase.h"
#include "cli/scale.h"
#include "report/story.h"
#include "scale/builds.h"
#include "scale/depot.h"
#include "scale/record.h"
#include "scale/unit.h"
#include "sched/order.h"

enum { EACH = 10, TIMES = 4 }; /* seconds of an execution; executions that a unit has time for */

/* Of the environment: what programs and their libraries go by. */
static const char *const chosen[] = {"LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "LD_PRELOAD"};

static void put_environment(struct str *to)
{
	for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++) {
		const char *value = getenv(chosen[i]);
		struct str entry;

		if (!value)
			continue;
		str_init(&entry, to->arena);
		str_printf(&entry, "%s=%s", chosen[i], value);
		record_put(to, "env", (struct text){entry.at, entry.length});
	}
}

void units_environment(struct text unit, struct arena *a)
{
	struct record_field f;

	for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++)
		unsetenv(chosen[i]);
	while (record_next(&unit, &f))
		if (text_is(f.name, "env"))
			putenv(record_word(a, f.value));
}

static void put_program(struct str *to, const struct chase_setup *setup, const struct depot *d)
{
	const char *program = scale_program(to->arena, setup->argv[0]);
	struct address address;
	struct fault fault = {0};

	if (!program)
		die(STATUS_USAGE, "%s: there is no such program", setup->argv[0]);
	for (char **word = setup->argv; *word; word++)
		record_put_word(to, "word", *word);
	record_put_word(to, "path", setup->argv[0]);
	if (!scale_put_builds(to, program, &fault) || !depot_put_file(d, program, &address, &fault))
		die(fault.status, "%s", fault.text);
	unit_put_file(to, "program", &address, program);
}

void units_template(struct str *to, const struct chase_setup *setup, const struct depot *d,
	const struct opt_group *groups)
{
	unsigned long each = scale_options.limit ? scale_options.limit : EACH;

	unit_begin(to, "execute", TIMES * each);
	scale_put_options(to, d, groups, (const char *const[]){"atomic", NULL});
	put_program(to, setup, d);
	record_put(to, "stdin", setup->input);
	put_environment(to);
	record_put_number(to, "each", each);
	record_put_number(to, "only", setup->only);
	record_put(to, "function", setup->function);
}

struct text units_execution(struct text template, const struct order *o, struct arena *a)
{
	struct str unit;

	str_init(&unit, a);
	str_bytes(&unit, template.at, template.length);
	record_put(&unit, "order", (struct text){(const char *)o, order_bytes(o)});
	return (struct text){unit.at, unit.length};
}

static char **words_of(struct text unit, struct arena *a)
{
	struct text rest = unit;
	struct record_field f;
	size_t n = 0;
	char **words;

	while (record_next(&rest, &f))
		n += text_is(f.name, "word");
	words = arena_alloc(a, (n + 1) * sizeof *words);
	for (n = 0, rest = unit; record_next(&rest, &f);)
		if (text_is(f.name, "word"))
			words[n++] = record_word(a, f.value);
	return words;
}

void units_setup(struct text unit, struct arena *a, struct chase_setup *to)
{
	struct text function = record_get(unit, "function");

	*to = (struct chase_setup){.argv = words_of(unit, a), .input = record_get(unit, "stdin"),
		.each = (double)record_number(unit, "each"), .only = record_number(unit, "only"),
		.function = {record_word(a, function), function.length}};
	if (!to->argv[0])
		die(STATUS_TRACE, "a unit without a program");
	to->input.at = record_word(a, to->input);
}

struct address units_builds(struct text unit, struct arena *a)
{
	struct record_field f;
	struct str all;

	str_init(&all, a);
	while (record_next(&unit, &f))
		if (text_is(f.name, "build") || text_is(f.name, "path"))
			record_put(&all, "build", f.value);
	return address_of((struct text){all.at, all.length});
}
