/* SPDX-License-Identifier: MIT */
/* What a word of a command line can be, by its name in the help: for completion. */
#ifndef FISSION_CLI_TAKES_H
#define FISSION_CLI_TAKES_H

enum takes { TAKES_ANYTHING, TAKES_FILES, TAKES_DIRECTORIES, TAKES_PROGRAM, TAKES_IDS, TAKES_COMMAND };

/* "FILE", "[FILE...]", "PROGRAM [ARGUMENTS...]": the first name decides. NULL: nothing at all. */
enum takes takes_of(const char *words);

#endif
