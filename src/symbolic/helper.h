/* SPDX-License-Identifier: MIT */
/* A program of our own beside the tool, run for what it says on standard output. */
#ifndef FISSION_SYMBOLIC_HELPER_H
#define FISSION_SYMBOLIC_HELPER_H

struct str;

enum helper_end { HELPER_NONE, HELPER_LATE, HELPER_DONE };

/*
 * Adds all that it says. Its other streams are /dev/null. HELPER_NONE if it could not be started, HELPER_LATE if it was
 * killed because its time was over; how it ended otherwise does not matter, only what it has said.
 */
enum helper_end helper_run(char **words, long milliseconds, struct str *to);

#endif
