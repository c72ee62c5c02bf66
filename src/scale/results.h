/* SPDX-License-Identifier: MIT */
/*
 * Results from anywhere, as a set: by unit, and of each unit every copy that differs from the others.
 *
 * Taking more is a union of sets, so order, repetition and nesting do not matter: merge(merge(a, b), c) is merge(c, b,
 * a, b). A unit decides its result, so there is one copy of each. Two that differ mean that something outside of the
 * unit has decided, too. The first two by (length, hash) are kept, which is as good as keeping them all.
 *
 * Representation: an array, sorted and cleaned by results_settle(). Cost of a million: docs/scale.md.
 */
#ifndef FISSION_SCALE_RESULTS_H
#define FISSION_SCALE_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"
#include "base/map.h"
#include "scale/address.h"

struct arena;
struct fault;
struct str;

enum result_kind { RESULT_CAMPAIGN, RESULT_LOST, RESULT_DONE, RESULT_KINDS };

struct result {
	enum result_kind kind;
	char id[ADDRESS + 1]; /* of the unit, or of the campaign */
	struct text bytes;
	uint64_t hash;
	bool differs; /* there is another one of the same unit */
};

struct results {
	struct arena *arena;
	struct result *at;
	size_t count, room;
	struct map index; /* of a unit's id to its number + 1, of results alone */
	size_t torn;      /* files that were cut off, or are none of ours */
};

void results_init(struct results *r, struct arena *a);

/* A depot, a directory of results, or a pack. False with a fault if there is none. */
bool results_take(struct results *r, const char *path, struct fault *fault);

void results_add(struct results *r, enum result_kind kind, struct text id, struct text bytes);

/* Sorts and drops repetitions, and what was lost and is there after all. To be called before what follows. */
void results_settle(struct results *r);

/* The result of a unit; NULL if there is none. */
const struct result *results_find(const struct results *r, const char *id);

/* All of it as a pack. */
void results_pack(const struct results *r, struct str *to);

#endif
