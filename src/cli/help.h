/* SPDX-License-Identifier: MIT */
/* A command's table as the text of its --help. */
#ifndef FISSION_CLI_HELP_H
#define FISSION_CLI_HELP_H

#include <stdio.h>

struct command;

/* What commands that read FISSION_OPTIONS say of it. */
extern const char help_variable[];

/* `name` is how the user calls it: "trace convert"; empty for the tool as a whole. */
void help_print(FILE *to, const struct command *c, const char *name);

#endif
