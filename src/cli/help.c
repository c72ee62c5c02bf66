/* SPDX-License-Identifier: MIT */
#include "help.h"

#include <stdio.h>
#include <string.h>

#include "base/opts.h"
#include "cli/commands.h"
#include "cli/start.h"

const char help_variable[] =
	"FISSION_OPTIONS=\"key=value:key=value\" in the environment has the same options, with _ for - and 1 or 0 for those "
	"without a value; the command line wins.";

enum { COLUMNS = 100, HELP_AT = 30, VALUE_AT = 16 };

/* The words of a text up to a newline, in lines from column `from` on; the cursor is at `at`. Returns what follows. */
static const char *print_wrapped(FILE *to, const char *text, int from, int at)
{
	while (*text && *text != '\n') {
		int n = (int)strcspn(text, " \n");

		if (at > from && at + 1 + n > COLUMNS) {
			fprintf(to, "\n%*s", from, "");
			at = from;
		} else if (at > from) {
			at += fprintf(to, " ");
		}
		at += fprintf(to, "%.*s", n, text);
		text += n;
		text += strspn(text, " ");
	}
	fputc('\n', to);
	return *text ? text + 1 : text;
}

static void print_paragraphs(FILE *to, const char *text)
{
	while (text && *text)
		text = print_wrapped(to, text, 0, 0);
}

/* What stands left, and the text in its own column, on a line of its own if there is no room. */
static void print_entry(FILE *to, const char *left, const char *text, int column)
{
	int at = fprintf(to, "  %s", left);

	if (at >= column)
		fprintf(to, "\n%*s", column, "");
	else
		fprintf(to, "%*s", column - at, "");
	print_wrapped(to, text, column, column);
}

static void print_group(FILE *to, const struct opt_group *g)
{
	char left[64], about[512];

	fprintf(to, "\n%s:\n", g->title ? g->title : "Options");
	for (const struct opt *o = g->table; o->name; o++) {
		opts_title(o, left, sizeof left);
		opts_about(o, about, sizeof about);
		if (!o->hidden)
			print_entry(to, left, about, HELP_AT);
	}
}

/* The values of an option that are worth a line each. */
static void print_values(FILE *to, const struct opt *o)
{
	const char *about, *word = o->values ? o->values(0, &about) : NULL;

	if (o->hidden || !word || !about)
		return;
	fprintf(to, "\nValues of --%s:\n", o->name);
	for (size_t i = 0; (word = o->values(i, &about)); i++)
		print_entry(to, word, about ? about : "", VALUE_AT + 4);
}

static void print_commands(FILE *to, const struct command *const *c)
{
	if (!c)
		return;
	fputs("\nCommands:\n", to);
	for (; *c; c++)
		if (!(*c)->hidden)
			print_entry(to, (*c)->name, (*c)->summary, VALUE_AT);
}

static void print_options(FILE *to, const struct command *c)
{
	struct opt_group groups[START_GROUPS];

	start_groups(c, groups);
	for (const struct opt_group *g = groups; g->table; g++)
		print_group(to, g);
	for (const struct opt_group *g = groups; g->table; g++)
		for (const struct opt *o = g->table; o->name; o++)
			print_values(to, o);
}

static void print_examples(FILE *to, const struct command_example *e)
{
	fputs("\nExamples:\n", to);
	for (; e->line; e++)
		if (e->about)
			fprintf(to, "  %-58s # %s\n", e->line, e->about);
		else
			fprintf(to, "  %s\n", e->line);
}

void help_print(FILE *to, const struct command *c, const char *name)
{
	const char *options = c->commands ? " COMMAND [options]" : c->options ? " [options]" : "";

	fprintf(to, "usage: fission%s%s%s%s%s\n\n", *name ? " " : "", name, options, c->words ? " " : "",
		c->words ? c->words : "");
	print_paragraphs(to, c->about);
	print_commands(to, c->commands);
	print_options(to, c);
	if (c->more)
		fputc('\n', to);
	print_paragraphs(to, c->more);
	if (c->variable) {
		fputc('\n', to);
		print_paragraphs(to, help_variable);
	}
	if (c->statuses)
		fputs("\nExit status:\n", to);
	for (const struct command_status *s = c->statuses; s && s->status; s++)
		print_entry(to, s->status, s->about, VALUE_AT);
	if (c->examples)
		print_examples(to, c->examples);
}
