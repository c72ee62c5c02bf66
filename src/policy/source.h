/* SPDX-License-Identifier: MIT */
/*
 * A file that a person has written, whole in memory, with the place of each of its bytes.
 *
 * `line[k]` is where line k + 1 starts in the text, so a place is a binary search. Where lines that end with a
 * backslash were joined, as C does before everything else, the bytes are gone from the text and the places of the
 * others are still those in the file.
 */
#ifndef FISSION_POLICY_SOURCE_H
#define FISSION_POLICY_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"

struct arena;
struct fault;

struct source {
	const char *name; /* for messages */
	char *at;         /* with a NUL behind it; there may be others in it */
	size_t length;
	size_t *line;
	size_t lines, capacity;
	struct arena *arena;
};

/* A longer file is refused: it is none that a person has written, and 32 bits are enough for every number in it. */
enum { SOURCE_MOST = 1 << 24 };

/*
 * Reads the file, into memory of the arena. False with a fault if it cannot be read, STATUS_USAGE, or is too long,
 * STATUS_CONFIG.
 */
bool source_read(struct source *s, struct arena *a, const char *path, struct fault *fault);

/* The same of a text that is in memory, which is copied. */
void source_take(struct source *s, struct arena *a, struct text text);

/* Joins the lines that end with a backslash with the next ones. */
void source_join(struct source *s);

/* The line of the byte, from 1. */
uint64_t source_line(const struct source *s, size_t at);

/* A mistake at that byte: sets the fault, STATUS_CONFIG, with the place in front. Always false. */
bool source_wrong(const struct source *s, size_t at, struct fault *fault, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#endif
