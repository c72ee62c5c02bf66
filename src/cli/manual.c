/* SPDX-License-Identifier: MIT */
/* A command's table as a man page, in roff with the macros of man(7). */
#include <ctype.h>
#include <string.h>

#include "base/opts.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/generate.h"
#include "cli/help.h"
#include "cli/start.h"

/* A text without meaning for roff. The first character of a line is never one of control. */
static void add_bytes(struct str *to, const char *text, size_t n)
{
	if (n && (*text == '.' || *text == '\''))
		str_add(to, "\\&");
	for (; n--; text++)
		switch (*text) {
		case '\\': str_add(to, "\\e"); break;
		case '-': str_add(to, "\\-"); break;
		case '\'': str_add(to, "\\(aq"); break;
		case '`': str_add(to, "\\(ga"); break;
		case '^': str_add(to, "\\(ha"); break;
		case '~': str_add(to, "\\(ti"); break;
		default: str_char(to, *text);
		}
}

static void add(struct str *to, const char *text)
{
	add_bytes(to, text, strlen(text));
}

/* Names of arguments, which are in capitals, stand out. */
static void add_words(struct str *to, const char *words)
{
	while (*words) {
		size_t n = 0;

		while (isupper((unsigned char)words[n]) || (n && words[n] == '_'))
			n++;
		if (n) {
			str_add(to, "\\fI");
			add_bytes(to, words, n);
			str_add(to, "\\fR");
		} else {
			n = 1;
			add_bytes(to, words, 1);
		}
		words += n;
	}
}

/* An empty line in the text is a new paragraph. */
static void add_paragraphs(struct str *to, const char *text)
{
	while (text && *text) {
		size_t n = strcspn(text, "\n");

		if (n)
			add_bytes(to, text, n);
		str_add(to, n ? "\n" : ".PP\n");
		text += n + (text[n] == '\n');
	}
}

static void add_option(struct str *to, const struct opt *o)
{
	char about[512];

	opts_about(o, about, sizeof about);
	str_add(to, ".TP\n");
	if (o->letter)
		str_printf(to, "\\fB\\-%c\\fR, ", o->letter);
	str_add(to, "\\fB\\-\\-");
	add(to, o->name);
	str_add(to, "\\fR");
	if (o->argument) {
		str_char(to, '=');
		add_words(to, o->argument);
	}
	str_char(to, '\n');
	add(to, about);
	str_char(to, '\n');
}

static void add_values(struct str *to, const struct opt *o)
{
	const char *about, *word = o->values ? o->values(0, &about) : NULL;

	if (!word || !about)
		return;
	str_add(to, ".RS\n");
	for (size_t i = 0; (word = o->values(i, &about)); i++) {
		str_add(to, ".TP\n.B ");
		add(to, word);
		str_char(to, '\n');
		add(to, about ? about : "");
		str_char(to, '\n');
	}
	str_add(to, ".RE\n");
}

static void add_groups(struct str *to, const struct command *c)
{
	struct opt_group groups[START_GROUPS];

	if (start_groups(c, groups))
		str_add(to, ".SH OPTIONS\n");
	for (const struct opt_group *g = groups; g->table; g++) {
		str_printf(to, ".SS \"%s\"\n", g->title ? g->title : "Options");
		for (const struct opt *o = g->table; o->name; o++) {
			if (o->hidden)
				continue;
			add_option(to, o);
			add_values(to, o);
		}
	}
}

static void add_commands(struct str *to, const struct command *const *commands)
{
	if (commands)
		str_add(to, ".SH COMMANDS\n");
	for (; commands && *commands; commands++) {
		if ((*commands)->hidden)
			continue;
		str_add(to, ".TP\n.B ");
		add(to, (*commands)->name);
		str_char(to, '\n');
		add(to, (*commands)->summary);
		str_char(to, '\n');
	}
}

static void add_statuses(struct str *to, const struct command_status *s)
{
	if (s)
		str_add(to, ".SH \"EXIT STATUS\"\n");
	for (; s && s->status; s++) {
		str_printf(to, ".TP\n.B %s\n", s->status);
		add(to, s->about);
		str_char(to, '\n');
	}
}

static void add_examples(struct str *to, const struct command_example *e)
{
	if (e)
		str_add(to, ".SH EXAMPLES\n");
	for (const char *space = ""; e && e->line; e++, space = ".PP\n") {
		str_add(to, space);
		if (e->about) {
			add(to, e->about);
			str_add(to, ":\n");
		}
		str_add(to, ".nf\n.RS\n");
		add(to, e->line);
		str_add(to, "\n.RE\n.fi\n");
	}
}

/* "run" is fission-run(1); "gcc(1)" is itself. */
static void add_page_name(struct str *to, const char *name)
{
	size_t n = strcspn(name, "(");

	str_add(to, "\\fB");
	if (!name[n])
		str_add(to, "fission\\-");
	add_bytes(to, name, n);
	str_printf(to, "\\fR%s", name[n] ? name + n : "(1)");
}

static void add_dashed(struct str *to, const char *name, int (*letter)(int))
{
	for (; *name; name++)
		if (*name == ' ' || *name == '-')
			str_add(to, "\\-");
		else
			str_char(to, (char)letter(*name));
}

static int same(int c)
{
	return c;
}

static void add_see(struct str *to, const struct command *c, const char *name)
{
	const char *comma = "";

	str_add(to, ".SH \"SEE ALSO\"\n");
	if (*name) {
		str_add(to, "\\fBfission\\fR(1)");
		comma = ",\n";
	}
	for (const struct command *const *s = c->commands; s && *s; s++) {
		if ((*s)->hidden)
			continue;
		str_printf(to, "%s\\fBfission\\-", comma);
		add_dashed(to, name, same);
		str_add(to, *name ? "\\-" : "");
		str_printf(to, "%s\\fR(1)", (*s)->name);
		comma = ",\n";
	}
	for (const char *const *s = c->see; s && *s; s++) {
		str_add(to, comma);
		add_page_name(to, *s);
		comma = ",\n";
	}
	str_char(to, '\n');
}

static void add_head(struct str *to, const struct command *c, const char *name)
{
	str_add(to, ".\\\" Made from the tables of the commands.\n.TH FISSION");
	str_add(to, *name ? "\\-" : "");
	add_dashed(to, name, toupper);
	str_add(to, " 1 \"\" \"fission " FISSION_VERSION "\" \"Fission\"\n.nh\n.ad l\n.SH NAME\nfission");
	str_add(to, *name ? "\\-" : "");
	add_dashed(to, name, same);
	str_add(to, " \\- ");
	add(to, c->summary);
	str_add(to, "\n.SH SYNOPSIS\n.B fission");
	str_add(to, *name ? " " : "");
	add(to, name);
	str_add(to, c->commands ? "\n\\fICOMMAND\\fR [options]" : c->options ? "\n[options]" : "");
	str_char(to, '\n');
	if (c->words)
		add_words(to, c->words);
	str_add(to, c->words ? "\n" : "");
}

void manual_page(struct str *to, const struct command *c, const char *name)
{
	add_head(to, c, name);
	str_add(to, ".SH DESCRIPTION\n");
	add_paragraphs(to, c->about);
	add_commands(to, c->commands);
	add_groups(to, c);
	if (c->more) {
		str_add(to, ".SH NOTES\n");
		add_paragraphs(to, c->more);
	}
	if (c->variable) {
		str_add(to, ".SH ENVIRONMENT\n");
		add_paragraphs(to, help_variable);
	}
	add_statuses(to, c->statuses);
	add_examples(to, c->examples);
	add_see(to, c, name);
}
