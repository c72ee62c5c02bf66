/* SPDX-License-Identifier: MIT */
/*
 * Packs: many things in one file, each with a checksum. What goes to a machine that shares no files with us, and what
 * comes back; a single result is a pack of one.
 *
 *   fission-pack 1\n
 *   kind name length checksum\n
 *   bytes\n
 *
 * An entry that does not check out, and all behind it, is as if it were not there: it was torn off.
 */
#ifndef FISSION_SCALE_PACK_H
#define FISSION_SCALE_PACK_H

#include <stdbool.h>

#include "base/intern.h"

struct arena;
struct fault;
struct str;

struct pack_entry {
	struct text kind, name, bytes; /* kind: unit, file, result, lost, campaign */
};

/* Begins an empty one, and adds an entry. Neither kind nor name has blanks. */
void pack_begin(struct str *to);
void pack_add(struct str *to, const char *kind, struct text name, struct text bytes);

/* All of a file, in the arena. False with a fault if it cannot be read. */
bool pack_slurp(struct text *to, struct arena *a, const char *path, struct fault *fault);

/* Takes the head off. False if it is no pack. */
bool pack_open(struct text *rest);

/* Takes the next entry off the front. False at the end, or where it is torn: `rest` is not empty then. */
bool pack_next(struct text *rest, struct pack_entry *e);

/* Writes bytes as a file that appears whole, and is on the disk, or not at all. */
bool pack_publish(const char *path, struct text bytes, struct fault *fault);

/* The same of what can be made again: it may be cut off if the machine loses its power, which costs less. */
bool pack_leave(const char *path, struct text bytes, struct fault *fault);

#endif
