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

static size_t longer(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);

	return n > m ? n : m;
}

/* A name of which nothing is left, as 1 for 2, is not near. */
const char *opts_nearest(const char *word, const char *const *names, size_t n)
{
	size_t limit = strlen(word) / 3 + 1;
	const char *best = NULL;

	for (size_t i = 0; i < n; i++) {
		size_t d = distance(word, names[i]);

		if (d <= limit && d < longer(word, names[i]) && (!best || d < distance(word, best)))
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

_Noreturn static void unknown(const struct opt_group *groups, const struct opts_source *source, const char *word)
{
	const char *names[MOST_NAMES], *near;
	size_t n = 0;

	for (const struct opt_group *g = groups; g->table; g++)
		for (const struct opt *o = g->table; o->name && n < MOST_NAMES; o++)
			if (!o->hidden)
				names[n++] = o->name;
	near = opts_nearest(word, names, n);
	if (near)
		die(source->status, "%s: unknown option --%s; did you mean --%s?", source->name, word, near);
	die(source->status, "%s: unknown option --%s; '%s --help' lists them", source->name, word, source->help);
}

static unsigned long count_of(const struct opt *o, const struct opts_source *source, const char *value)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(value, &end, 10);
	if (*value < '0' || *value > '9' || *end || errno)
		die(source->status, "%s: %s%s takes a number, not '%s'", source->name, source->dash, o->name, value);
	return n;
}

const char *opts_word(const char *const *words, size_t i, const char **about)
{
	if (about)
		*about = NULL;
	return words[i];
}

/* "text, json and gcc", as far as there is room. */
static void join(opt_values *values, char *to, size_t size)
{
	size_t used = 0;
	const char *word;

	*to = 0;
	for (size_t i = 0; (word = values(i, NULL)) && used < size; i++)
		used += (size_t)snprintf(to + used, size - used, "%s%s", !i ? "" : values(i + 1, NULL) ? ", " : " and ", word);
}

static void unknown_value(const struct opt *o, const struct opts_source *source, const char *word)
{
	const char *names[MOST_NAMES], *near;
	char all[512];
	size_t n = 0;

	while (n < MOST_NAMES && (names[n] = o->values(n, NULL)))
		n++;
	near = opts_nearest(word, names, n);
	if (near)
		die(source->status, "%s: %s%s: unknown value '%s'; did you mean '%s'?", source->name, source->dash, o->name,
			word, near);
	join(o->values, all, sizeof all);
	die(source->status, "%s: %s%s: unknown value '%s'; there are %s ('%s --help')", source->name, source->dash, o->name,
		word, all, source->help);
}

static void check_value(const struct opt *o, const struct opts_source *source, const char *value)
{
	char word[128];
	size_t n;

	do {
		size_t i = 0;
		const char *name;

		n = o->many || o->first ? strcspn(value, ",") : strlen(value);
		while ((name = o->values(i, NULL)) && (strlen(name) != n || memcmp(name, value, n) != 0))
			i++;
		snprintf(word, sizeof word, "%.*s", (int)n, value);
		if (!name)
			unknown_value(o, source, word);
		value += n + 1;
	} while (value[-1] && o->many);
}

static void check_right(const struct opt *o, const struct opts_source *source, const char *value)
{
	const char *takes = o->right(value);

	if (takes)
		die(source->status, "%s: %s%s %s, not '%s'", source->name, source->dash, o->name, takes, value);
}

void opts_set(const struct opt *o, const struct opts_source *source, const char *value)
{
	if (o->values && value)
		check_value(o, source, value);
	if (o->right && value)
		check_right(o, source, value);
	switch (o->kind) {
	case OPT_FLAG: *(bool *)o->to = true; break;
	case OPT_TEXT: *(const char **)o->to = value; break;
	case OPT_COUNT: *(unsigned long *)o->to = count_of(o, source, value); break;
	}
}

const struct opt *opts_named(const struct opt_group *groups, const char *name, size_t n)
{
	for (; groups->table; groups++)
		for (const struct opt *o = groups->table; o->name; o++)
			if (strlen(o->name) == n && memcmp(o->name, name, n) == 0)
				return o;
	return NULL;
}

static const struct opt *find_letter(const struct opt_group *groups, char c)
{
	for (; groups->table; groups++)
		for (const struct opt *o = groups->table; o->name; o++)
			if (o->letter == c)
				return o;
	return NULL;
}

/* The option that the word names. Cuts the word behind the name; *value is what stands behind that, or NULL. */
static const struct opt *find(const struct opt_group *groups, const struct opts_source *source, char *word, char **value)
{
	const struct opt *o;

	if (word[1] == '-') {
		size_t n = strcspn(word + 2, "=");

		o = opts_named(groups, word + 2, n);
		*value = word[2 + n] ? word + 2 + n + 1 : NULL;
		word[2 + n] = 0;
		if (!o)
			unknown(groups, source, word + 2);
		return o;
	}
	o = find_letter(groups, word[1]);
	*value = word[2] ? word + 2 : NULL;
	if (!o)
		die(source->status, "%s: unknown option %s; '%s --help' lists them", source->name, word, source->help);
	return o;
}

/* One option at *word; returns the last word that it took. */
static char **take(const struct opt_group *groups, const struct opts_source *source, char **word)
{
	char *value;
	const struct opt *o = find(groups, source, *word, &value);

	if (o->kind == OPT_FLAG && value)
		die(source->status, "%s: --%s takes no value", source->name, o->name);
	if (o->kind != OPT_FLAG && !value) {
		value = *++word;
		if (!value)
			die(source->status, "%s: --%s needs a value: %s", source->name, o->name, o->argument);
	}
	opts_set(o, source, value);
	return word;
}

int opts_parse_groups(const struct opt_group *groups, const char *command, bool leading, char **argv)
{
	char help[64];
	struct opts_source source = {command, "--", help, STATUS_USAGE};
	bool ended = false;
	int operands = 0;

	snprintf(help, sizeof help, "fission %s", command);
	for (char **word = argv + 1; *word; word++) {
		if (!ended && strcmp(*word, "--") == 0) {
			ended = true;
		} else if (!ended && word[0][0] == '-' && word[0][1]) {
			word = take(groups, &source, word);
		} else {
			ended |= leading;
			argv[++operands] = *word;
		}
	}
	argv[operands + 1] = NULL;
	return operands;
}

int opts_parse(const struct opt *table, const char *command, int argc, char **argv)
{
	(void)argc;
	return opts_parse_groups((const struct opt_group[]){{NULL, table}, {0}}, command, false, argv);
}

void opts_about(const struct opt *o, char *to, size_t size)
{
	const char *about = NULL;
	char all[256] = "";

	if (o->values && o->values(0, &about) && !about)
		join(o->values, all, sizeof all);
	snprintf(to, size, "%s%s%s", o->help, *all ? "; there are " : "", all);
}

void opts_title(const struct opt *o, char *to, size_t size)
{
	snprintf(to, size, "%s%c%s--%s%s%s", o->letter ? "-" : "  ", o->letter ? o->letter : ' ', o->letter ? ", " : " ",
		o->name, o->argument ? "=" : "", o->argument ? o->argument : "");
}

void opts_help(const struct opt *table)
{
	for (; table->name; table++) {
		char left[64];

		opts_title(table, left, sizeof left);
		if (!table->hidden)
			printf("  %-30s%s%s\n", left, strlen(left) > 29 ? "\n                                " : "", table->help);
	}
}
