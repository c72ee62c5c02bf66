/* SPDX-License-Identifier: MIT */
#include "opts.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

enum { LONGEST = 63, MOST_NAMES = 128 };

/* Levenshtein's distance of two short words; long ones are infinitely far apart. */
static size_t distance(const char *a, const char *b)
{
	size_t row[LONGEST + 1], n = strlen(b);

	if (strlen(a) > LONGEST || n > LONGEST)
		return SIZE_MAX;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (; *a; a++) {
		size_t corner = row[0]++;

		for (size_t j = 1; j <= n; j++) {
			size_t best = corner + (*a != b[j - 1]);

			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			corner = row[j];
			row[j] = best;
		}
	}
	return row[n];
}

const char *opts_nearest(const char *word, const char *const *names, size_t n)
{
	size_t limit = strlen(word) / 3 + 1;
	const char *best = NULL;

	for (size_t i = 0; i < n; i++) {
		size_t d = distance(word, names[i]);

		if (d <= limit && (!best || d < distance(word, best)))
			best = names[i];
	}
	return best;
}

void opts_unknown(const char *what, const char *word, const char *const *names, size_t n, const char *help)
{
	const char *near = opts_nearest(word, names, n);

	if (near)
		die(STATUS_USAGE, "unknown %s '%s'; did you mean '%s'?", what, word, near);
	die(STATUS_USAGE, "unknown %s '%s'; '%s --help' lists them", what, word, help);
}

_Noreturn static void unknown(const struct opt *table, const char *command, const char *word)
{
	const char *names[MOST_NAMES], *near;
	size_t n = 0;

	for (; table->name && n < MOST_NAMES; table++)
		names[n++] = table->name;
	near = opts_nearest(word, names, n);
	if (near)
		die(STATUS_USAGE, "%s: unknown option --%s; did you mean --%s?", command, word, near);
	die(STATUS_USAGE, "%s: unknown option --%s; 'fission %s --help' lists them", command, word,
		command);
}

static unsigned long count_of(const struct opt *o, const char *command, const char *value)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(value, &end, 10);
	if (*value < '0' || *value > '9' || *end || errno)
		die(STATUS_USAGE, "%s: --%s takes a number, not '%s'", command, o->name, value);
	return n;
}

static void set(const struct opt *o, const char *command, const char *value)
{
	switch (o->kind) {
	case OPT_FLAG: *(bool *)o->to = true; break;
	case OPT_TEXT: *(const char **)o->to = value; break;
	case OPT_COUNT: *(unsigned long *)o->to = count_of(o, command, value); break;
	}
}

static const struct opt *find_long(const struct opt *table, const char *name, size_t n)
{
	for (; table->name; table++)
		if (strlen(table->name) == n && memcmp(table->name, name, n) == 0)
			return table;
	return NULL;
}

static const struct opt *find_letter(const struct opt *table, char c)
{
	for (; table->name; table++)
		if (table->letter == c)
			return table;
	return NULL;
}

/* One option at argv[i]; returns the index of the last word that it took. */
static int take(const struct opt *table, const char *command, int i, int argc, char **argv)
{
	char *word = argv[i];
	char *value = NULL;
	const struct opt *o;

	if (word[1] == '-') {
		size_t n = strcspn(word + 2, "=");

		o = find_long(table, word + 2, n);
		value = word[2 + n] ? word + 2 + n + 1 : NULL;
		word[2 + n] = 0;
		if (!o)
			unknown(table, command, word + 2);
	} else {
		o = find_letter(table, word[1]);
		value = word[2] ? word + 2 : NULL;
		if (!o)
			die(STATUS_USAGE, "%s: unknown option %s; 'fission %s --help' lists them", command,
				word, command);
	}
	if (o->kind == OPT_FLAG && value)
		die(STATUS_USAGE, "%s: --%s takes no value", command, o->name);
	if (o->kind != OPT_FLAG && !value) {
		if (++i >= argc)
			die(STATUS_USAGE, "%s: --%s needs a value: %s", command, o->name, o->argument);
		value = argv[i];
	}
	set(o, command, value);
	return i;
}

static int parse(const struct opt *table, const char *command, int argc, char **argv, bool leading)
{
	bool ended = false;
	int operands = 0;

	for (int i = 1; i < argc; i++) {
		if (!ended && strcmp(argv[i], "--") == 0) {
			ended = true;
		} else if (!ended && argv[i][0] == '-' && argv[i][1]) {
			i = take(table, command, i, argc, argv);
		} else {
			ended |= leading;
			argv[++operands] = argv[i];
		}
	}
	argv[operands + 1] = NULL;
	return operands;
}

int opts_parse(const struct opt *table, const char *command, int argc, char **argv)
{
	return parse(table, command, argc, argv, false);
}

int opts_parse_leading(const struct opt *table, const char *command, int argc, char **argv)
{
	return parse(table, command, argc, argv, true);
}

void opts_help(const struct opt *table)
{
	for (; table->name; table++) {
		char left[64];
		int n = snprintf(left, sizeof left, "%s%c%s--%s%s%s", table->letter ? "-" : "  ",
			table->letter ? table->letter : ' ', table->letter ? ", " : " ", table->name,
			table->argument ? "=" : "", table->argument ? table->argument : "");

		printf("  %-30s%s%s\n", left, n > 29 ? "\n                                " : "", table->help);
	}
}
