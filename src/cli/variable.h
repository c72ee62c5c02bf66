/* SPDX-License-Identifier: MIT */
/*
 * FISSION_OPTIONS="key=value:key=value": options of run, record and check from the environment.
 *
 * A key is an option's long name with "_" for "-", or one of the sanitizers' names for the same thing (log_path,
 * verbosity). A flag takes 1 or 0. A value in quotes may hold colons. The command line is read afterwards, and wins. One
 * variable serves all three commands: a key that only another one of them knows is passed over.
 */
#ifndef FISSION_CLI_VARIABLE_H
#define FISSION_CLI_VARIABLE_H

struct command;

/* Sets the command's options. A mistake ends the tool with STATUS_CONFIG and the place: "FISSION_OPTIONS:17: ...". */
void variable_read(const struct command *c);

#endif
