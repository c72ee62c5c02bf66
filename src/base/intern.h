/* SPDX-License-Identifier: MIT */
/*
 * Texts as small numbers: equal texts get equal ids, ids count up from 1, 0 is "none".
 *
 * Representation: an open-addressed table at most half full, and a seg of texts by id. A text of up to 16 bytes,
 * which is nearly every name in a trace, lies in its slot as two words that may overlap: they and the length tell it
 * from every other, so it is found without following a pointer. Of a longer text the words are its two hashes, and
 * the bytes are compared.
 * Cost: a few loads, a multiplication and, nearly always, one probe.
 */
#ifndef FISSION_BASE_INTERN_H
#define FISSION_BASE_INTERN_H

#include <stddef.h>
#include <stdint.h>

#include "base/seg.h"

struct text {
	const char *at; /* NUL-terminated, owned by the arena; NULL for id 0 */
	size_t length;
};

struct intern_slot {
	uint64_t first, last; /* the first and last eight bytes, or hashes */
	uint32_t length;
	uint32_t id; /* 0: free */
};

struct intern {
	struct arena *arena;
	struct intern_slot *slot;
	uint64_t mask;
	uint32_t count;
	struct seg texts;
};

void intern_init(struct intern *in, struct arena *a);

/* The id of the text, new if it was not known. The bytes are copied. */
uint32_t intern_add(struct intern *in, const char *text, size_t length);

/* The id of the text, or 0. */
uint32_t intern_find(const struct intern *in, const char *text, size_t length);

/* The text of an id from 1 to count; the empty text for any other number. */
struct text intern_text(const struct intern *in, uint32_t id);

#endif
