/* SPDX-License-Identifier: MIT */
/* A program of our own beside the tool, run for what it says on standard output. */
#ifndef FISSION_SYMBOLIC_HELPER_H
#define FISSION_SYMBOLIC_HELPER_H

#include <stdbool.h>

struct str;

/*
 * Adds all that it says. Its other streams are /dev/null. False if it could not be started, or if it was killed because
 * its time was over; how it ended otherwise does not matter, only what it has said.
 */
bool helper_run(char **words, unsigned milliseconds, struct str *to);

#endif
