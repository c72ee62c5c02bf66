/* SPDX-License-Identifier: MIT */
#include "inlined.h"

#include "base/arena.h"
#include "base/hash.h"
#include "collect/naming.h"
#include "symbols/inlines.h"
#include "symbols/namer.h"

void inlined_init(struct inlined_calls *c, struct arena *a)
{
	*c = (struct inlined_calls){.arena = a};
	map_init(&c->by_place, a);
	seg_init(&c->chain, a, sizeof(struct inlined_chain));
}

static struct inlined_chain find(struct inlined_calls *c, struct naming *n, uint64_t pc)
{
	struct inlined in[INLINED_MOST];
	size_t count = namer_inlined_at(n->namer, pc, in);
	struct inlined_call *at = arena_alloc(c->arena, (count + 1) * sizeof *at);
	struct intern *names = n->tables->names;

	for (size_t i = 0; i < count; i++) {
		const struct inlined *from = &in[count - 1 - i];

		at[i] = (struct inlined_call){intern_add(&names[TABLE_CODE], from->function.at, from->function.length),
			from->place.length ? intern_add(&names[TABLE_SITE], from->place.at, from->place.length) : 0,
			hash_pair(from->instance, from->function.length) | 1};
	}
	return (struct inlined_chain){at, (uint32_t)count};
}

struct inlined_chain inlined_at(struct inlined_calls *c, struct naming *n, uint32_t process, uint64_t pc)
{
	uint64_t place = naming_address(process, pc);
	uint32_t *number = map_put(&c->by_place, place);
	struct inlined_chain *chain;

	if (!*number) {
		*number = ++c->chains;
		chain = seg_at(&c->chain, c->chains, sizeof *chain);
		*chain = find(c, n, place);
	}
	return *(struct inlined_chain *)seg_at(&c->chain, *map_put(&c->by_place, place), sizeof *chain);
}
