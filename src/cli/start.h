/* SPDX-License-Identifier: MIT */
/* From a command's table to the command: its options are parsed, its help is shown, its words are counted. */
#ifndef FISSION_CLI_START_H
#define FISSION_CLI_START_H

#include <stdbool.h>
#include <stddef.h>

struct command;
struct opt_group;

enum { START_GROUPS = 8 };

/*
 * The groups of a command with the common one, for START_GROUPS; none if its options are not ours. Returns how many,
 * and puts a group without a table behind them.
 */
size_t start_groups(const struct command *c, struct opt_group *to);

/* Runs the command. `name` is how the user calls it: "trace convert". Returns the exit status. */
int start(const struct command *c, const char *name, int argc, char **argv);

/* Whether the word asks for help, of a command or of the tool. */
bool start_is_help(const char *word);

/* The command of that name among some, NULL at their end; NULL if there is none. */
const struct command *start_find(const struct command *const *commands, const char *name);

/* The nearest of their names to a misspelt one, or NULL. */
const char *start_nearest(const struct command *const *commands, const char *word);

/* Ends the tool: there is no such command. `what` is "command", `help` the command that lists them. */
_Noreturn void start_unknown(const struct command *const *commands, const char *what, const char *word, const char *help);

#endif
