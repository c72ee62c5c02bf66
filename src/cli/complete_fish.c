/* SPDX-License-Identifier: MIT */
/* Completion for fish: a line for each command and for each option of it. */
#include "base/opts.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/generate.h"
#include "cli/start.h"
#include "cli/takes.h"

static const char *const flags[] = {
	[TAKES_ANYTHING] = "-x", [TAKES_FILES] = "-r -F", [TAKES_DIRECTORIES] = "-x -a '(__fish_complete_directories)'",
	[TAKES_PROGRAM] = "-x -a '(__fish_complete_command)'", [TAKES_IDS] = "-x -a '(fission list --ids 2>/dev/null)'",
	[TAKES_COMMAND] = "-x",
};

static const char head[] =
	"# Completion of fission for fish; made from the tables of its commands.\n"
	"\n"
	"# Whether these words, and then at least one other, or the one that is being written, follow the tool's name.\n"
	"function __fission_follows\n"
	"    set -l words (commandline -opc)\n"
	"    test (count $words) -gt (count $argv); or return 1\n"
	"    for i in (seq (count $argv))\n"
	"        set -l next (math $i + 1)\n"
	"        test \"$words[$next]\" = \"$argv[$i]\"; or return 1\n"
	"    end\n"
	"end\n"
	"\n"
	"# The same, and nothing else yet.\n"
	"function __fission_ends\n"
	"    test (count (commandline -opc)) -eq (math (count $argv) + 1); and __fission_follows $argv\n"
	"end\n"
	"\n"
	"complete -c fission -n '__fission_ends' -l help -d 'the commands'\n"
	"complete -c fission -n '__fission_ends' -l version -d 'the version'\n";

/* Inside single quotes. */
static void add(struct str *to, const char *text)
{
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			str_char(to, '\\');
		str_char(to, *text);
	}
}

static void add_values(struct str *to, const struct opt *o)
{
	const char *word;

	str_add(to, o->many ? " -x -a '(__fish_append ," : " -x -a '");
	for (size_t i = 0; (word = o->values(i, NULL)); i++)
		str_printf(to, "%s%s", i || o->many ? " " : "", word);
	str_add(to, o->many ? ")'" : "'");
}

static void add_option(struct str *to, const struct opt *o, const char *name)
{
	str_printf(to, "complete -c fission -n '__fission_follows %s' -l %s", name, o->name);
	if (o->letter)
		str_printf(to, " -s %c", o->letter);
	if (o->values)
		add_values(to, o);
	else if (o->argument)
		str_printf(to, " %s", flags[takes_of(o->argument)]);
	str_add(to, " -d '");
	add(to, o->help);
	str_add(to, "'\n");
}

static void add_choice(struct str *to, const struct command *const *commands, const char *name)
{
	for (; *commands; commands++) {
		if ((*commands)->hidden)
			continue;
		str_printf(to, "complete -c fission -n '__fission_ends%s%s' -f -a %s -d '", *name ? " " : "", name,
			(*commands)->name);
		add(to, (*commands)->summary);
		str_add(to, "'\n");
	}
}

static void add_command(struct str *to, const struct command *c, const char *name)
{
	struct opt_group groups[START_GROUPS];

	str_char(to, '\n');
	if (c->commands)
		add_choice(to, c->commands, name);
	start_groups(c, groups);
	for (const struct opt_group *g = groups; g->table; g++)
		for (const struct opt *o = g->table; o->name; o++)
			if (!o->hidden)
				add_option(to, o, name);
	if (takes_of(c->words) == TAKES_IDS)
		str_printf(to, "complete -c fission -n '__fission_follows %s' -f -a '(fission list --ids 2>/dev/null)'\n", name);
}

void complete_fish(struct str *to)
{
	str_add(to, head);
	add_choice(to, command_all.commands, "");
	add_choice(to, command_all.commands, "help");
	generate_each(to, add_command);
}
