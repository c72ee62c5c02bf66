/* SPDX-License-Identifier: MIT */
#include "naming.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "runtime/channel.h"

void naming_init(struct naming *n, struct arena *a, struct tables *t)
{
	*n = (struct naming){.arena = a, .tables = t};
	map_init(&n->sites, a);
	map_init(&n->codes, a);
	map_init(&n->syncs, a);
	map_init(&n->lives, a);
}

void naming_module(struct naming *n, uint32_t process, struct module m)
{
	(void)process;
	tables_module(n->tables, m);
}

static uint64_t key_of(uint32_t process, uint64_t address)
{
	return address | (uint64_t)process << ADDRESS_BITS;
}

static const struct module *module_of(const struct naming *n, uint64_t address)
{
	for (size_t i = n->tables->module_count; i-- > 0;)
		if (address - n->tables->modules[i].base < n->tables->modules[i].size)
			return &n->tables->modules[i];
	return NULL;
}

/* "libz.so+0x12f0" */
static uint32_t raw_name(struct naming *n, enum table_class class, uint64_t address)
{
	const struct module *m = module_of(n, address);
	const char *base = m ? strrchr(m->path.at, '/') : NULL;
	char name[512];
	int length = snprintf(name, sizeof name, "%.200s+0x%llx", !m ? "?" : base ? base + 1 : m->path.at,
		(unsigned long long)(m ? address - m->base : address));

	return intern_add(&n->tables->names[class], name, (size_t)length);
}

site_id naming_site(struct naming *n, uint32_t process, uint64_t pc)
{
	uint32_t *id;

	if (!pc)
		return 0;
	id = map_put(&n->sites, key_of(process, pc));
	if (!*id)
		*id = raw_name(n, TABLE_SITE, pc - 1);
	return *id;
}

code_id naming_code(struct naming *n, uint32_t process, uint64_t pc)
{
	uint32_t *id = map_put(&n->codes, key_of(process, pc));

	if (!*id)
		*id = raw_name(n, TABLE_CODE, pc - 1);
	return *id;
}

/* Objects of one name are numbered from the second on. */
static sync_id new_sync(struct naming *n, uint32_t process, uint64_t address, uint64_t pc)
{
	char name[1024];
	struct text place = tables_name(n->tables, TABLE_SITE, naming_site(n, process, pc));
	int length = snprintf(name, sizeof name, "lock@%.*s", (int)place.length, place.length ? place.at : "");
	uint32_t id = intern_add(&n->tables->names[TABLE_SYNC], name, (size_t)length), *lives = map_put(&n->lives, id);

	(void)address;
	if (++*lives > 1) {
		length = snprintf(name, sizeof name, "lock@%.*s#%u", (int)place.length, place.length ? place.at : "", *lives);
		id = intern_add(&n->tables->names[TABLE_SYNC], name, (size_t)length);
	}
	return id;
}

sync_id naming_sync(struct naming *n, uint32_t process, uint64_t address, uint64_t pc)
{
	uint64_t key = key_of(process, address);
	uint32_t id = map_get(&n->syncs, key);

	if (!id) {
		id = new_sync(n, process, address, pc);
		*map_put(&n->syncs, key) = id;
	}
	return id;
}

void naming_forget_sync(struct naming *n, uint32_t process, uint64_t address)
{
	if (map_get(&n->syncs, key_of(process, address)))
		*map_put(&n->syncs, key_of(process, address)) = 0;
}

thread_id naming_thread(struct naming *n, uint32_t process, uint32_t number)
{
	char name[32];
	int length = process > 1 ? snprintf(name, sizeof name, "P%u.T%u", process, number) : snprintf(name, sizeof name, "T%u", number);

	return intern_add(&n->tables->names[TABLE_THREAD], name, (size_t)length);
}
