/* SPDX-License-Identifier: MIT */
/*
 * The inputs of the program, from inside: what the tool wants it to find instead of what is there (struct walk_given),
 * and, if a walk is written, which bytes of memory came from where.
 *
 * Bytes that were read become inputs one by one, and it is remembered which expressions they are: a function that
 * takes a text for a number then finds out where that text stands. Arguments are inputs from the start, with the NUL
 * behind them, so that they can grow; variables of the environment when somebody asks for them; files that the program
 * opens by name, unless they belong to the system; and standard input.
 *
 * Only the thread whose turn it is comes here while a walk is written. Before that, and without one, given things are
 * only looked up, and nothing is kept.
 */
#ifndef FISSION_RUNTIME_INPUTS_H
#define FISSION_RUNTIME_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/symbolic.h"

enum { INPUTS_BYTES_MOST = 1 << 16 }; /* of one source; what is behind is concrete */

/* A byte of a source. */
struct place {
	enum walk_source source;
	uint64_t index;
	uint32_t offset;
};

/* The process begins. */
void inputs_start(int argc, char **argv);

/* So many bytes at an address have been read from there. */
void inputs_mark(const void *at, size_t bytes, struct place from);

/* A byte that is not there yet: behind the end of a text that may grow, where it would be 0. */
expr_id inputs_beyond(struct place p);
bool inputs_grows(struct place p);

/* Where the byte comes from that is this expression and nothing else. */
bool inputs_origin(expr_id e, struct place *to);

/* The index of a name, which is told if it is new. */
uint64_t inputs_name(enum walk_source source, const char *name);

/* Which source a descriptor reads; false: one that is no input. */
bool inputs_descriptor(int fd, struct place *to);

/* Behind a call that has read from a descriptor: where it was before, or -1, and how much came. */
void inputs_have_read(int fd, int64_t at, const void *to, int64_t bytes);
/* Where that is; -1: nowhere, or nobody wants to know. */
int64_t inputs_position(int fd);

/* The program opens a file by that name: the name of the one that is to be opened, and then, what came of it. */
const char *inputs_path(const char *path);
void inputs_opened(int fd, const char *path);

#endif
