/* SPDX-License-Identifier: MIT */
/*
 * Replay files: one execution of a program, so that it can be had again. Text, to be read and kept beside the sources:
 *
 *   fission-replay 1
 *   program ./bank 10 5
 *   stdin "7\n"
 *   env MODE "fast"
 *   file bank.conf "limit = 5\n"
 *   input bob "\x05\x00\x00\x00"
 *   module bank 3f2a9c0e
 *   found pos 7
 *   finding fsn-7c1f0a2b
 *   block withdraw
 *   expect exit 0
 *   stdout 9 9ae16a3b2f90404f
 *   first 2 r bank+0x1234 1 balance = 20 at bank.c:5
 *   culprit 3 w bank+0x1260 1 balance = 5 at bank.c:8
 *   second 2 w bank+0x1260 1 balance = 10 at bank.c:8
 *   steps 2
 *   2 9 r bank+0x1234 1 = 20 # bank.c:5
 *   3 4 w bank+0x1260 1 culprit # bank.c:8
 *   end
 *
 * A step line is a segment: the thread, by creation, does so many steps, the last of which is the operation that is
 * named, at that place ("-": not known) for the so-many-th time (0: any); "= N" is what it saw. Then the next line's
 * thread goes on. Behind a # stands a comment. A word with blanks or other bytes is quoted as in C.
 *
 * Nothing in such a file is trusted. Reading costs its length, and a mistake is told with its place.
 */
#ifndef FISSION_CHASE_REPLAY_FILE_H
#define FISSION_CHASE_REPLAY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"
#include "chase/inputs.h"
#include "finding/finding.h"
#include "sched/order.h"

struct arena;
struct fault;
struct str;

/* How a line begins that gives the program something; by enum inputs_kind. */
extern const char *const replay_given[INPUTS_KINDS];

enum {
	REPLAY_VERSION = 1,
	REPLAY_MODULES_MOST = 4096,
	REPLAY_INPUT_MOST = 1 << 22, /* bytes of standard input that a file keeps */
};

/* The operation of a step in one word, as in text traces; NULL if there is none of that number. */
const char *replay_kind(uint32_t kind);

/* How an execution ended. */
enum ending { ENDING_EXIT, ENDING_SIGNAL, ENDING_DEADLOCK, ENDING_HANG, ENDINGS };

extern const char *const ending_text[ENDINGS];

/* What can be seen of an execution from outside. */
struct outcome {
	enum ending ending;
	uint32_t status;      /* the exit status, or the signal */
	uint64_t bytes, hash; /* of standard output */
};

/* Whether it ended in the same way; the output is another question. */
static inline bool outcome_same(const struct outcome *a, const struct outcome *b)
{
	return a->ending == b->ending && a->status == b->status;
}

/* One of the three operations of a violation. */
struct replay_mark {
	struct order_step step; /* thread 0: there is no such operation */
	bool valued;
	uint64_t value;
	struct text variable, place;
};

enum { MARK_FIRST, MARK_CULPRIT, MARK_SECOND, MARKS };

struct replay {
	char **argv; /* NULL at the end */
	size_t argc;
	struct text input; /* standard input */
	struct inputs_more more; /* and what else it is given */
	struct text strategy; /* that it was found by */
	uint64_t seed;
	struct text finding; /* "fsn-7c1f0a2b"; empty: none */
	struct text block;   /* the function; may be empty */
	struct outcome outcome;
	struct replay_mark mark[MARKS];
	struct order *order;       /* of the strategy "replay" */
	const struct text *places; /* of its steps, for people; NULL: not known */
};

/* An order with so many modules and steps, in the arena; the caller fills them in. */
struct order *replay_order(struct arena *a, uint32_t modules, uint32_t steps);

/* The order's own modules and steps, to be written. */
struct order_module *replay_module(struct order *o, uint32_t i);
struct order_step *replay_step(struct order *o, uint32_t i);

/* Appends what the file says. */
void replay_text(const struct replay *r, struct str *to);

/* Writes the file. False with a fault. */
bool replay_write(const struct replay *r, struct arena *a, const char *path, struct fault *fault);

/* Reads one. False with a fault: STATUS_USAGE if the file cannot be read, STATUS_TRACE if it is malformed. */
bool replay_read(struct replay *r, struct arena *a, const char *path, struct fault *fault);

#endif
