/* SPDX-License-Identifier: MIT */
/*
 * The states that a search has been in: a set of keys of a few words each, all of the same length.
 *
 * Representation: an open-addressed table of keys, at most half full; a key of zeros marks a free slot, so a key's
 * first word must not be 0. Keys are compared in full: no two states are ever taken for one.
 */
#ifndef FISSION_TESTS_PROPS_SEEN_H
#define FISSION_TESTS_PROPS_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct seen {
	uint64_t *slot;
	size_t words, mask, count, most;
	bool full; /* a key came when there were `most` */
};

void seen_init(struct seen *s, size_t words, size_t most);
void seen_free(struct seen *s);

/* Whether the key is new. Not so, and `full`, if there is no room for it. */
bool seen_add(struct seen *s, const uint64_t *key);

#endif
