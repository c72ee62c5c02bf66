/* SPDX-License-Identifier: MIT */
/*
 * A depot: the directory of a campaign, and all the state that there is. What was emitted and has no result is yet to
 * do.
 *
 *   DIR/version             what makes it ours
 *   DIR/campaign            what all of it is for
 *   DIR/units/ID            units
 *   DIR/store/HASH/NAME     files that units name: traces, configurations, the program
 *   DIR/results/ID          results, each a pack of one; packs of many, *.pack
 *   DIR/sides/ID.HOST.PID   who made it, when, in what time: never part of a result
 *   DIR/lost/ID             units that were given up, and why
 */
#ifndef FISSION_SCALE_DEPOT_H
#define FISSION_SCALE_DEPOT_H

#include <stdbool.h>

#include "base/intern.h"
#include "scale/address.h"

struct arena;
struct fault;
struct unit_file;

enum { DEPOT_PATH = 4096 };

struct depot {
	char path[DEPOT_PATH - 512]; /* leaves room for what is in it */
};

/* Makes the directory and what is in it, as far as it is not there. */
bool depot_make(struct depot *d, const char *path, struct fault *fault);

/* "DIR/what/name" */
void depot_path(const struct depot *d, const char *what, const char *name, char to[DEPOT_PATH]);

bool depot_put_unit(const struct depot *d, struct text record, struct address *id, struct fault *fault);

/* Puts the file into the store: linked where that can be done, copied otherwise. `to` is told its address. */
bool depot_put_file(const struct depot *d, const char *path, struct address *to, struct fault *fault);

/* The same of bytes. */
bool depot_put_bytes(const struct depot *d, const char *name, struct text bytes, struct fault *fault);

/* Where a unit's file is; the name is one that unit_file() has found good. */
void depot_file(const struct depot *d, const struct unit_file *f, char to[DEPOT_PATH]);

/* The result, in the arena; false if there is none that is whole. */
bool depot_result(const struct depot *d, struct arena *a, const char *id, struct text *to);

bool depot_publish(const struct depot *d, const char *id, struct text result, struct fault *fault);

#endif
