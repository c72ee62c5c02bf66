/* SPDX-License-Identifier: MIT */
/* Completion for zsh: one function a command, with its options as _arguments wants them. */
#include <ctype.h>
#include <string.h>

#include "base/opts.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/generate.h"
#include "cli/start.h"
#include "cli/takes.h"

static const char *const action[] = {
	[TAKES_ANYTHING] = " ", [TAKES_FILES] = "_files", [TAKES_DIRECTORIES] = "_files -/",
	[TAKES_PROGRAM] = "_command_names -e", [TAKES_IDS] = "_fission_ids", [TAKES_COMMAND] = "_fission_commands",
};

static const char head[] =
	"#compdef fission\n"
	"# Completion of fission for zsh; made from the tables of its commands.\n"
	"\n"
	"_fission_ids() {\n"
	"  compadd - ${(f)\"$(fission list --ids 2>/dev/null)\"}\n"
	"}\n"
	"\n"
	"_fission_help() {\n"
	"  _arguments '1:command:_fission_commands'\n"
	"}\n";

/* Inside single quotes, in a text of _arguments or _describe. */
static void add(struct str *to, const char *text)
{
	for (; *text; text++)
		if (*text == '\'')
			str_add(to, "'\\''");
		else if (strchr("[]:\\", *text))
			str_printf(to, "\\%c", *text);
		else
			str_char(to, *text);
}

/* A command as part of a function's name. */
static void add_function(struct str *to, const char *name)
{
	str_add(to, "_fission_");
	for (; *name; name++)
		str_char(to, isalnum((unsigned char)*name) ? *name : *name == '+' ? 'x' : '_');
}

static void add_values(struct str *to, const struct opt *o)
{
	const char *word;

	str_add(to, o->many ? "_values -s , value" : "(");
	for (size_t i = 0; (word = o->values(i, NULL)); i++)
		str_printf(to, "%s%s", i || o->many ? " " : "", word);
	str_add(to, o->many ? "" : ")");
}

static void add_option(struct str *to, const struct opt *o)
{
	str_add(to, " \\\n    ");
	if (o->letter)
		str_printf(to, "'(-%c --%s)'{-%c,--%s%s}'[", o->letter, o->name, o->letter, o->name, o->argument ? "=" : "");
	else
		str_printf(to, "'--%s%s[", o->name, o->argument ? "=" : "");
	add(to, o->help);
	str_char(to, ']');
	if (o->argument) {
		str_char(to, ':');
		add(to, o->argument);
		str_char(to, ':');
		if (o->values)
			add_values(to, o);
		else
			str_add(to, action[takes_of(o->argument)]);
	}
	str_char(to, '\'');
}

/* What follows the options. */
static void add_words(struct str *to, const struct command *c)
{
	if (!c->words)
		return;
	if (c->leading)
		str_printf(to, " \\\n    '1:program:%s' '*::arguments:_normal'", action[TAKES_PROGRAM]);
	else
		str_printf(to, " \\\n    '*:word:%s'", action[takes_of(c->words)]);
}

/* The choice of a command, and then the function of that. `name` is empty for the tool as a whole. */
static void add_choice(struct str *to, const struct command *const *commands, const char *name)
{
	str_add(to, "\n");
	add_function(to, *name ? name : "commands");
	str_add(to, *name ? "_commands() {\n" : "() {\n");
	str_add(to, "  local -a names=(\n");
	for (const struct command *const *c = commands; *c; c++) {
		if ((*c)->hidden)
			continue;
		str_add(to, "    '");
		add(to, (*c)->name);
		str_char(to, ':');
		add(to, (*c)->summary);
		str_add(to, "'\n");
	}
	str_add(to, "  )\n  _describe -t commands command names\n}\n");
}

static void add_dispatch(struct str *to, const char *name)
{
	str_add(to, "  if (( CURRENT == 2 )); then\n    ");
	add_function(to, *name ? name : "commands");
	str_add(to, *name ? "_commands\n" : "\n    [[ $PREFIX == */* ]] && _files\n");
	str_add(to, "    return\n  fi\n  local called=");
	add_function(to, *name ? name : "");
	str_add(to, *name ? "_" : "");
	str_add(to, "${${words[2]//+/x}//[^a-zA-Z0-9]/_}\n"
		"  shift words\n"
		"  (( CURRENT-- ))\n"
		"  if (( $+functions[$called] )); then $called; else _files; fi\n"
		"}\n");
}

static void add_command(struct str *to, const struct command *c, const char *name)
{
	struct opt_group groups[START_GROUPS];

	if (c->commands)
		add_choice(to, c->commands, name);
	str_char(to, '\n');
	add_function(to, name);
	str_add(to, "() {\n");
	if (c->commands) {
		add_dispatch(to, name);
		return;
	}
	str_add(to, "  _arguments -s -S");
	start_groups(c, groups);
	for (const struct opt_group *g = groups; g->table; g++)
		for (const struct opt *o = g->table; o->name; o++)
			if (!o->hidden)
				add_option(to, o);
	add_words(to, c);
	str_add(to, "\n}\n");
}

void complete_zsh(struct str *to)
{
	str_add(to, head);
	add_choice(to, command_all.commands, "");
	generate_each(to, add_command);
	str_add(to, "\n_fission() {\n");
	add_dispatch(to, "");
	str_add(to, "\n_fission \"$@\"\n");
}
