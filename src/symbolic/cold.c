/* SPDX-License-Identifier: MIT */
#include "cold.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/str.h"
#include "symbolic/search.h"
#include "symbolic/supposed.h"

void cold_init(struct cold *c, const char *helper, const char *program)
{
	*c = (struct cold){.helper = helper, .program = program, .looks = access(helper, X_OK) ? COLD_LOOKS : 0};
	arena_init(&c->arena);
	map_init(&c->known, &c->arena);
}

void cold_free(struct cold *c)
{
	arena_free(&c->arena);
}

static uint64_t key_of(const struct supposed_candidate *s)
{
	uint64_t key = hash_pair(hash_pair(s->needs.unit, s->needs.ordinal), s->needs.edge);

	for (int i = 0; i < 3; i++)
		key = hash_pair(key, hash_bytes(s->access[i].where, strlen(s->access[i].where)));
	return key;
}

static void add_way(struct cold *c, const struct supposed_branch *b)
{
	for (size_t i = 0; i < c->ways; i++)
		if (c->way[i].unit == b->unit && c->way[i].ordinal == b->ordinal && c->way[i].value == b->value)
			return;
	c->way = arena_reserve(&c->arena, c->way, &c->room, c->ways, sizeof *c->way);
	c->way[c->ways++] = (struct cold_way){b->unit, b->value, b->ordinal};
}

static void take(struct cold *c, struct search *s, const struct supposed_candidate *candidate)
{
	const struct supposed_branch *b = &candidate->needs;
	uint32_t *known = map_put(&c->known, key_of(candidate));

	c->candidates += !*known;
	*known = 1;
	add_way(c, b);
	search_want(s, b->unit, b->ordinal, b->value);
}

void cold_look(struct cold *c, struct search *s)
{
	struct supposed_setup setup = {c->helper, c->program, s->path, COLD_TIME};
	struct fault fault = {0};
	struct supposed said;
	struct arena a;

	if (c->looks == COLD_LOOKS)
		return;
	c->looks++;
	arena_init(&a);
	if (!supposed_ask(&said, &setup, &a, &fault))
		c->looks = COLD_LOOKS; /* nor would it the next time */
	for (size_t i = 0; i < said.count; i++)
		take(c, s, &said.at[i]);
	arena_free(&a);
}

void cold_tell(const struct cold *c, const struct search *s, struct str *to)
{
	uint64_t gone = 0;

	for (size_t i = 0; i < c->ways; i++)
		gone += search_has_gone(s, c->way[i].unit, c->way[i].ordinal, c->way[i].value);
	if (c->candidates)
		str_printf(to, "; %" PRIu64 " candidates from branches that were not taken, %" PRIu64 " of their %zu branches then were",
			c->candidates, gone, c->ways);
}
