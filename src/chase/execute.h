/* SPDX-License-Identifier: MIT */
/*
 * One controlled execution of the program: what it did, how it ended, what it wrote, and the order that it took.
 *
 * Everything of it lives in its own arena, so that a search can let go of executions that brought nothing. The
 * program's standard input is the same bytes each time; what it writes is kept back and compared, and its beginning
 * kept for people. Events come with values and in the very order in which they happened: one thread runs at a time.
 */
#ifndef FISSION_CHASE_EXECUTE_H
#define FISSION_CHASE_EXECUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "chase/inputs.h"
#include "chase/replay_file.h"
#include "collect/collect.h"
#include "event/tables.h"
#include "symbols/namer.h"

struct order;
struct policy;

/* Of what the program writes so much is kept. */
enum { EXECUTE_KEEPS = 1 << 20 };

struct execute_setup {
	char *const *argv;
	const char *path;            /* of the program's file; NULL: as argv[0] says */
	struct text input;           /* standard input */
	const struct inputs_more *more; /* other inputs; NULL: none */
	const char *walk;            /* where a program that was built for it writes its walk; NULL: nowhere */
	const struct order *order;   /* what it is to do */
	const struct policy *policy; /* may name lock functions; NULL: none */
	double seconds;              /* after so long it hangs */
};

struct execution {
	struct arena arena;
	struct tables tables;
	struct namer namer;
	struct event *event;
	size_t events, capacity;
	struct collected collected;
	struct outcome outcome;
	struct text output, errors; /* their beginnings */
	struct order *taken;        /* the order that it took, to be replayed; without steps if that is not known */
	struct text *places;        /* of its steps */
	struct inputs_way way;      /* what it was handed */
	double seconds;             /* that it took */
};

/* False with a fault if the program could not be started; nothing is to be freed then. */
bool execute(struct execution *x, const struct execute_setup *setup, struct fault *fault);

void execution_free(struct execution *x);

/* An order without steps: the strategy alone decides. In the arena. */
struct order *execute_freely(struct arena *a, const char *strategy, uint64_t seed);

/*
 * All of standard input, for every execution; nothing if it is a terminal. False with a fault if it is longer than a
 * replay file can keep.
 */
bool execute_input(struct text *to, struct arena *a, struct fault *fault);

/* A file without a name that holds the input; -1 if there is none to be had. */
int execute_input_file(struct text input);

#endif
