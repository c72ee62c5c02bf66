/* SPDX-License-Identifier: MIT */
/*
 * The program under test: started with its own standard streams, and left alone but for its environment.
 */
#ifndef FISSION_COLLECT_PROGRAM_H
#define FISSION_COLLECT_PROGRAM_H

#include <signal.h>
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
	const char *path;    /* of its file; NULL: argv[0], which PATH may lead to */
	const char *channel; /* CHANNEL_VARIABLE */
	const sigset_t *mask; /* the signals that it is to have blocked */
	const char *preload; /* a library in front of all others; NULL: none */
	bool steady;         /* its addresses are to be the same each time, where the system allows that */
	char *const *env;    /* variables on top of its own, "NAME=value", NULL at the end; NULL: none */
	const int *streams;  /* three descriptors in place of its standard ones; NULL: it has ours */
};

/* At the start of the tool, before it changes what a program inherits: notes what it is to find as without us. */
void program_prepare(void);

/* Whether a program of this name lies in the working directory, where a name without a slash does not lead. */
bool program_is_here(const char *name);

/*
 * Before a command that runs a program opens anything: standard streams that are closed are kept from being taken by
 * files of the tool's own. The program does not inherit what keeps them.
 */
void program_hold_streams(void);

/* False with a fault if it cannot be started. */
bool program_start(struct program *p, const struct program_setup *setup, struct fault *fault);

/* Whether it has ended; does not wait. */
bool program_ended(struct program *p);

/* The status that a shell would show: its own, or 128 and the signal. */
int program_status(const struct program *p);

/* What a thread is at: 'R' runs, 'S' sleeps, as under /proc; 0: it has ended. */
char program_thread(int pid, int tid);

#endif
