/* SPDX-License-Identifier: MIT */
/* The seam for commands: one file each, listed in main.c. */
#ifndef FISSION_CLI_COMMANDS_H
#define FISSION_CLI_COMMANDS_H

struct command {
	const char *name;
	const char *summary; /* one line */
	/* argv[0] is the command's name, or the link fission-NAME it was called by. Returns the exit status. */
	int (*run)(int argc, char **argv);
};

extern const struct command command_cc, command_check, command_cxx, command_record, command_run, command_trace;

#endif
