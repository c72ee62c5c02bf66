/* SPDX-License-Identifier: MIT */
#include "variable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/opts.h"
#include "cli/commands.h"
#include "cli/manner.h"
#include "cli/start.h"

#define VARIABLE "FISSION_OPTIONS"

enum { MOST_KEYS = 128, LONGEST = 64 };

static unsigned long verbosity;

/* Keys that are no option of the command line. */
static const struct opt own[] = {
	{"verbosity", 0, OPT_COUNT, &verbosity, "N", "1 or more: --verbose"},
	{0},
};

/* The sanitizers' names of options that have another one here. */
static const struct {
	const char *key, *option;
} alias[] = {{"log_path", "output"}};

static const struct command *const readers[] = {&command_run, &command_record, &command_check};

/* One piece of the variable. */
struct piece {
	const char *key, *value; /* value NULL: there is no "=" */
	size_t column;           /* from 1 */
};

static void key_of(const struct opt *o, char *to)
{
	snprintf(to, LONGEST, "%s", o->name);
	for (; *to; to++)
		if (*to == '-')
			*to = '_';
}

/* --help is no setting. */
static bool is_key(const struct opt *o)
{
	return o->to != &manner.help && !o->line_only;
}

static const struct opt *find_in(const struct opt_group *groups, const char *key)
{
	char name[LONGEST];

	for (size_t i = 0; i < sizeof alias / sizeof *alias; i++)
		if (strcmp(key, alias[i].key) == 0)
			key = alias[i].option;
	for (; groups->table; groups++)
		for (const struct opt *o = groups->table; o->name; o++) {
			key_of(o, name);
			if (is_key(o) && strcmp(name, key) == 0)
				return o;
		}
	return NULL;
}

static const struct opt *find(const struct command *c, const char *key)
{
	const struct opt_group mine[] = {{NULL, own}, {0}};
	struct opt_group groups[START_GROUPS];
	const struct opt *o = find_in(mine, key);

	start_groups(c, groups);
	return o ? o : find_in(groups, key);
}

static size_t add_names(const struct opt *o, char (*names)[LONGEST], size_t n)
{
	for (; o->name && n < MOST_KEYS; o++)
		if (!o->hidden && is_key(o))
			key_of(o, names[n++]);
	return n;
}

/* Of all commands that read the variable. */
static size_t all_names(char (*names)[LONGEST])
{
	struct opt_group groups[START_GROUPS];
	size_t n = add_names(own, names, 0);

	for (size_t i = 0; i < sizeof alias / sizeof *alias; i++)
		snprintf(names[n++], LONGEST, "%s", alias[i].key);
	for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
		start_groups(readers[i], groups);
		for (const struct opt_group *g = groups; g->table; g++)
			n = add_names(g->table, names, n);
	}
	return n;
}

/* Fine if another command knows the key. */
static void unknown(const struct piece *p)
{
	static char names[MOST_KEYS][LONGEST];
	const char *list[MOST_KEYS], *near;
	size_t n;

	for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
		if (find(readers[i], p->key))
			return;
	n = all_names(names);
	for (size_t i = 0; i < n; i++)
		list[i] = names[i];
	near = opts_nearest(p->key, list, n);
	if (near)
		die(STATUS_CONFIG, VARIABLE ":%zu: unknown key '%s'; did you mean '%s'?", p->column, p->key, near);
	die(STATUS_CONFIG, VARIABLE ":%zu: unknown key '%s'; the keys are the options of 'fission run --help', with _ for -",
		p->column, p->key);
}

static void set_flag(const struct opt *o, const struct piece *p)
{
	static const char *const words[] = {"0", "1", "false", "true", "no", "yes"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(p->value, words[i]) == 0) {
			*(bool *)o->to = i % 2;
			return;
		}
	die(STATUS_CONFIG, VARIABLE ":%zu: %s takes 1 or 0, not '%s'", p->column, p->key, p->value);
}

static void set(const struct command *c, const struct piece *p)
{
	char name[LONGEST], help[LONGEST];
	struct opts_source source = {name, "", help, STATUS_CONFIG};
	const struct opt *o = find(c, p->key);
	struct opt shown;

	if (!o) {
		unknown(p);
		return;
	}
	if (!p->value)
		die(STATUS_CONFIG, VARIABLE ":%zu: '%s' has no value; write %s=%s", p->column, p->key, p->key,
			o->kind == OPT_FLAG ? "1" : o->argument);
	snprintf(name, sizeof name, VARIABLE ":%zu", p->column);
	snprintf(help, sizeof help, "fission %s", c->name);
	shown = *o;
	shown.name = p->key;
	if (o->kind == OPT_FLAG)
		set_flag(o, p);
	else
		opts_set(&shown, &source, p->value);
}

/* Where the piece at `text` ends: at a colon that is not in quotes. */
static char *end_of(char *text, size_t column)
{
	char *value = text + strcspn(text, ":=");
	char quote = *value == '=' ? value[1] : 0, *close;

	if (quote != '"' && quote != '\'')
		return text + strcspn(text, ":");
	close = strchr(value + 2, quote);
	if (!close || (close[1] && close[1] != ':'))
		die(STATUS_CONFIG, VARIABLE ":%zu: the quote is not closed; 'key=\"value\":key=value'",
			column + (size_t)(value + 1 - text));
	memmove(value + 1, value + 2, (size_t)(close - value - 2));
	memset(close - 1, 0, 2);
	return close + 1;
}

static void take(const struct command *c, char *text, size_t column)
{
	char *equals = strchr(text, '=');

	if (equals)
		*equals = 0;
	if (!*text)
		die(STATUS_CONFIG, VARIABLE ":%zu: a key is missing; write key=value:key=value", column);
	set(c, &(struct piece){text, equals ? equals + 1 : NULL, column});
}

void variable_read(const struct command *c)
{
	static char *copy; /* what texts point into, as long as the tool runs */
	const char *given = getenv(VARIABLE);
	char *end;
	bool last;

	if (!given || !*given)
		return;
	copy = strdup(given);
	if (!copy)
		die(STATUS_UNFIT, "out of memory");
	for (char *text = copy; *text; text = end + !last) {
		size_t column = (size_t)(text - copy) + 1;

		end = end_of(text, column);
		last = !*end;
		*end = 0;
		take(c, text, column);
	}
	manner.verbose |= verbosity > 0;
}
