/* SPDX-License-Identifier: MIT */
/*
 * The baseline: the ids of findings that were there when somebody began to look, one a line, in a file that is kept
 * with the source. docs/baseline.md is the definition.
 *
 *   fsn-7c1f0a2b # withdraw: balance
 *
 * Sorted by id and without dates, counts or line numbers, so that two branches that add findings merge. A line belongs
 * to people: when the file is updated, what they wrote behind an id, or above it, stays.
 *
 * Representation: a map of ids, and the text of each entry. Cost of a question: one probe.
 */
#ifndef FISSION_REPORT_BASELINE_H
#define FISSION_REPORT_BASELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"
#include "base/map.h"

struct arena;
struct fault;
struct str;
struct story;

struct baseline_entry {
	uint32_t id;
	struct text text; /* the comments above it, and its line; whole lines */
};

struct baseline {
	struct arena *arena;
	struct map ids; /* to index + 1 */
	struct baseline_entry *at;
	size_t count, capacity;
	struct text head, tail; /* comments before and behind all of them */
};

void baseline_init(struct baseline *b, struct arena *a);

/*
 * Adds what the file says. False with a fault, STATUS_CONFIG; a mistake has its place and the remedy. An id that is
 * there twice is no mistake: merging makes such files.
 */
bool baseline_read(struct baseline *b, const char *path, struct fault *fault);

bool baseline_has(const struct baseline *b, struct text id);

/* 1 more than where it is in `at`; 0 if it is not. */
uint32_t baseline_index(const struct baseline *b, struct text id);

/* Adds all findings, shown or not. Returns how many were not there yet. */
size_t baseline_add(struct baseline *b, const struct story *s);

/* Appends the whole file. */
void baseline_write(const struct baseline *b, struct str *to);

#endif
