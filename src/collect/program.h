/* SPDX-License-Identifier: MIT */
/*
 * The program under test: started with its own standard streams, and left alone but for its environment.
 */
#ifndef FISSION_COLLECT_PROGRAM_H
#define FISSION_COLLECT_PROGRAM_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/fail.h"

struct program {
	pid_t pid;
	bool ended;
	int status; /* as waitpid gives it */
};

/* What the program is given besides its own environment. */
struct program_setup {
	char *const *argv;
	const char *channel; /* CHANNEL_VARIABLE */
	const char *preload; /* a library in front of all others; NULL: none */
};

/* At the tool's start, before it changes what signals do to itself: the program is to find them so. */
void program_inherits(void);

/* False with a fault if it cannot be started. */
bool program_start(struct program *p, const struct program_setup *setup, struct fault *fault);

/* Whether it has ended; does not wait. */
bool program_ended(struct program *p);

/* The status that a shell would show: its own, or 128 and the signal. */
int program_status(const struct program *p);

/* Whether a process of that id exists and is no zombie. */
bool program_lives(int pid);

#endif
