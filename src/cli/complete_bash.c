/* SPDX-License-Identifier: MIT */
/*
 * Completion for bash: a table in a case, and one function that knows what to do with it.
 *
 * The keys of the table are a command, "run": its options; a command and a slash, "trace /": what follows the options;
 * a command and an option, "run --format" or "run -o": what it takes. It needs no library of completions. Bash takes "="
 * for a word of its own, which is why the function looks two words back.
 */
#include "base/opts.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/generate.h"
#include "cli/start.h"
#include "cli/takes.h"

static const char *const kind[] = {
	[TAKES_ANYTHING] = "anything", [TAKES_FILES] = "files", [TAKES_DIRECTORIES] = "directories",
	[TAKES_PROGRAM] = "program", [TAKES_IDS] = "ids", [TAKES_COMMAND] = "commands",
};

static const char head[] =
	"# Completion of fission for bash; made from the tables of its commands.\n"
	"\n"
	"_fission_table()\n"
	"{\n"
	"    case $1 in\n";

static const char tail[] =
	"    esac\n"
	"}\n"
	"\n"
	"# _fission_reply KIND WORDS...: what fits to $cur\n"
	"_fission_reply()\n"
	"{\n"
	"    local kind=$1 prefix=\n"
	"    shift\n"
	"    case $kind in\n"
	"    one) mapfile -t COMPREPLY < <(compgen -W \"$*\" -- \"$cur\") ;;\n"
	"    list)\n"
	"        [[ $cur == *,* ]] && prefix=${cur%,*},\n"
	"        mapfile -t COMPREPLY < <(compgen -P \"$prefix\" -W \"$*\" -- \"${cur##*,}\")\n"
	"        compopt -o nospace 2>/dev/null ;;\n"
	"    files)\n"
	"        compopt -o filenames 2>/dev/null\n"
	"        mapfile -t COMPREPLY < <(compgen -f -- \"$cur\") ;;\n"
	"    directories)\n"
	"        compopt -o filenames 2>/dev/null\n"
	"        mapfile -t COMPREPLY < <(compgen -d -- \"$cur\") ;;\n"
	"    program)\n"
	"        compopt -o filenames 2>/dev/null\n"
	"        mapfile -t COMPREPLY < <(compgen -c -- \"$cur\"; compgen -f -- \"$cur\") ;;\n"
	"    ids) mapfile -t COMPREPLY < <(compgen -W \"$(fission list --ids 2>/dev/null)\" -- \"$cur\") ;;\n"
	"    commands) mapfile -t COMPREPLY < <(compgen -W \"$(_fission_table '')\" -- \"$cur\") ;;\n"
	"    esac\n"
	"}\n"
	"\n"
	"# Whether a word that is no option stands between the command and the cursor.\n"
	"_fission_has_word()\n"
	"{\n"
	"    local i\n"
	"    for ((i = $1; i < COMP_CWORD; i++)); do\n"
	"        case ${COMP_WORDS[i]} in\n"
	"        --) ((i + 1 < COMP_CWORD)); return ;;\n"
	"        -*)\n"
	"            if [[ ${COMP_WORDS[i + 1]} == = ]]; then ((i += 2))\n"
	"            elif [[ -n $(_fission_table \"$command ${COMP_WORDS[i]}\") ]]; then ((i++))\n"
	"            fi ;;\n"
	"        *) return 0 ;;\n"
	"        esac\n"
	"    done\n"
	"    return 1\n"
	"}\n"
	"\n"
	"_fission()\n"
	"{\n"
	"    local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} option= first=2\n"
	"    local command=${COMP_WORDS[1]} takes\n"
	"    COMPREPLY=()\n"
	"    if ((COMP_CWORD == 1)); then\n"
	"        _fission_reply one \"$(_fission_table '') help --help --version\"\n"
	"        [[ $cur == */* ]] && _fission_reply program\n"
	"        return\n"
	"    fi\n"
	"    takes=$(_fission_table \"$command /\")\n"
	"    if [[ $takes == one* ]]; then\n"
	"        ((COMP_CWORD == 2)) && { _fission_reply $takes --help; return; }\n"
	"        command=\"$command ${COMP_WORDS[2]}\" first=3\n"
	"        takes=$(_fission_table \"$command /\")\n"
	"    fi\n"
	"    if [[ -z $takes ]] || { [[ $takes == program ]] && _fission_has_word $first; }; then\n"
	"        _fission_reply files\n"
	"        return\n"
	"    fi\n"
	"    if [[ $cur == = ]]; then option=$before cur=\n"
	"    elif [[ $before == = ]]; then option=${COMP_WORDS[COMP_CWORD - 2]}\n"
	"    elif [[ $before == -* && $before != -- ]]; then option=$before\n"
	"    fi\n"
	"    [[ -n $option ]] && option=$(_fission_table \"$command $option\")\n"
	"    if [[ -n $option ]]; then\n"
	"        _fission_reply $option\n"
	"    elif [[ $cur == -* ]]; then\n"
	"        _fission_reply one \"$(_fission_table \"$command\")\"\n"
	"        [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null\n"
	"    else\n"
	"        _fission_reply $takes\n"
	"    fi\n"
	"}\n"
	"\n"
	"complete -F _fission fission\n";

static void add_values(struct str *to, const struct opt *o)
{
	const char *word;

	str_add(to, o->many ? "list" : "one");
	for (size_t i = 0; (word = o->values(i, NULL)); i++)
		str_printf(to, " %s", word);
}

static void add_option(struct str *to, const struct opt *o, const char *name)
{
	if (o->kind == OPT_FLAG || o->hidden)
		return;
	str_printf(to, "    '%s --%s'", name, o->name);
	if (o->letter)
		str_printf(to, " | '%s -%c'", name, o->letter);
	str_add(to, ") echo '");
	if (o->values)
		add_values(to, o);
	else
		str_add(to, kind[takes_of(o->argument)]);
	str_add(to, "' ;;\n");
}

static void add_options(struct str *to, const struct opt_group *groups, const char *name)
{
	str_printf(to, "    '%s') echo '", name);
	for (const struct opt_group *g = groups; g->table; g++)
		for (const struct opt *o = g->table; o->name; o++)
			if (!o->hidden)
				str_printf(to, "--%s%s ", o->name, o->kind == OPT_FLAG ? "" : "=");
	str_add(to, "' ;;\n");
	for (const struct opt_group *g = groups; g->table; g++)
		for (const struct opt *o = g->table; o->name; o++)
			add_option(to, o, name);
}

static void add_names(struct str *to, const struct command *const *commands)
{
	for (; *commands; commands++)
		if (!(*commands)->hidden)
			str_printf(to, " %s", (*commands)->name);
}

static void add_command(struct str *to, const struct command *c, const char *name)
{
	struct opt_group groups[START_GROUPS];

	str_printf(to, "    '%s /') echo '", name);
	if (c->commands) {
		str_add(to, "one");
		add_names(to, c->commands);
	} else {
		str_add(to, kind[takes_of(c->words)]);
	}
	str_add(to, "' ;;\n");
	if (start_groups(c, groups))
		add_options(to, groups, name);
}

void complete_bash(struct str *to)
{
	str_add(to, head);
	str_add(to, "    '') echo '");
	add_names(to, command_all.commands);
	str_add(to, "' ;;\n    'help /') echo commands ;;\n");
	generate_each(to, add_command);
	str_add(to, tail);
}
