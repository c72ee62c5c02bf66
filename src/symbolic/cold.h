/* SPDX-License-Identifier: MIT */
/*
 * Speculation as food for the search for inputs: the branches that candidates need to go the other way (supposed.h) are
 * wanted of the search (search_want()), which then asks for inputs that make them.
 *
 * The first walk is looked at, and later ones that have gone new ways, COLD_LOOKS in all. Cost: a process for each.
 * Where there is no fission-speculate, or it has nothing to say, there is one half less and nothing else.
 */
#ifndef FISSION_SYMBOLIC_COLD_H
#define FISSION_SYMBOLIC_COLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"

struct search;
struct str;

enum { COLD_LOOKS = 8, COLD_TIME = 10000 };

/* The way of a branch that somebody would like to see gone. */
struct cold_way {
	uint64_t unit, value;
	uint32_t ordinal;
};

struct cold {
	struct arena arena;
	const char *helper, *program; /* paths */
	unsigned looks;
	struct map known; /* candidates, by their places: 1 */
	uint64_t candidates;
	struct cold_way *way;
	size_t ways, room;
};

void cold_init(struct cold *c, const char *helper, const char *program);
void cold_free(struct cold *c);

/* Looks at the walk of the search's last execution, and wants what it finds. */
void cold_look(struct cold *c, struct search *s);

/* Adds a part of a line: how many there were, and how many of their branches an execution has gone along. Or nothing. */
void cold_tell(const struct cold *c, const struct search *s, struct str *to);

#endif
