/* SPDX-License-Identifier: MIT */
#include "namer.h"

#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "symbols/symbols.h"

enum { NONE = UINT32_MAX }; /* asked for, and there is no name */

void namer_init(struct namer *n, struct arena *a, struct tables *t)
{
	*n = (struct namer){.arena = a, .tables = t, .symbols = symbols_new(a)};
	map_init(&n->sites, a);
	map_init(&n->codes, a);
	map_init(&n->variables, a);
	t->namer = n;
}

void namer_close(struct namer *n)
{
	symbols_close(n->symbols);
	n->tables->namer = NULL;
}

/* Modules come as the trace is read, or as the program loads them. */
static void catch_up(struct namer *n)
{
	for (; n->modules < n->tables->module_count; n->modules++) {
		const struct module *m = &n->tables->modules[n->modules];

		symbols_add(n->symbols, (struct symbols_module){
			.path = m->path.length ? m->path.at : "", .build_id = m->build_id.length ? m->build_id.at : NULL,
			.bias = m->base, .start = m->base, .end = m->base + m->size, .is_program = n->modules == 0,
		});
	}
}

static uint32_t intern(struct namer *n, enum table_class class, struct text name)
{
	return intern_add(&n->tables->names[class], name.at, name.length);
}

site_id namer_site(struct namer *n, uint64_t pc)
{
	uint32_t *id;

	if (!pc)
		return 0;
	id = map_put(&n->sites, pc);
	if (!*id) {
		catch_up(n);
		*id = intern(n, TABLE_SITE, symbols_place(n->symbols, pc - 1));
	}
	return *id;
}

code_id namer_code(struct namer *n, uint64_t pc)
{
	uint32_t *id = map_put(&n->codes, pc);

	if (!*id) {
		catch_up(n);
		*id = intern(n, TABLE_CODE, symbols_function(n->symbols, pc - 1));
	}
	return *id;
}

/* Without what stands between square brackets. */
static uint32_t intern_unindexed(struct namer *n, struct text name)
{
	char *plain = arena_text(n->arena, name.at, name.length);
	size_t length = 0;

	for (size_t i = 0; i < name.length; i++) {
		plain[length++] = name.at[i];
		while (name.at[i] == '[' && i + 1 < name.length && name.at[i + 1] != ']')
			i++;
	}
	return intern_add(&n->tables->names[TABLE_OBJECT], plain, length);
}

uint32_t namer_variable(struct namer *n, uint64_t address, uint64_t size)
{
	uint32_t *id = map_put(&n->variables, hash_pair(address, size));
	struct text name;

	if (!*id) {
		catch_up(n);
		name = symbols_variable(n->symbols, address, size);
		*id = name.length ? intern_unindexed(n, name) : NONE;
	}
	return *id == NONE ? 0 : *id;
}
