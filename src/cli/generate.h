/* SPDX-License-Identifier: MIT */
/*
 * What else is made from the tables of commands, when Fission is built: the man pages and the completion of three shells.
 *
 *     fission --generate man DIR        fission(1), fission-run(1), ...
 *     fission --generate bash|zsh|fish  on standard output
 *     fission --generate names          one command a line, for tests
 */
#ifndef FISSION_CLI_GENERATE_H
#define FISSION_CLI_GENERATE_H

struct command;
struct str;

/* Returns the exit status. */
int generate(int argc, char **argv);

/* Calls `make` for every command that is not hidden, and for those that they consist of. `name` is "trace convert". */
typedef void generate_one(struct str *to, const struct command *c, const char *name);
void generate_each(struct str *to, generate_one *make);

/* The page of a command, in roff; `name` is empty for the tool as a whole. */
void manual_page(struct str *to, const struct command *c, const char *name);

void complete_bash(struct str *to);
void complete_zsh(struct str *to);
void complete_fish(struct str *to);

#endif
