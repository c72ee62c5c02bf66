/* SPDX-License-Identifier: MIT */
#include "naming.h"

#include <stdio.h>

#include "symbols/elf_file.h"
#include "symbols/namer.h"

enum { LOCK_BYTES = 40 }; /* of a pthread_mutex_t: the name wanted is that of the lock, not of its first member */

void naming_init(struct naming *n, struct arena *a, struct namer *namer)
{
	*n = (struct naming){.arena = a, .tables = namer->tables, .namer = namer};
	map_init(&n->syncs, a);
	map_init(&n->lives, a);
	heap_init(&n->heap, a);
}

/* The file may be replaced before anybody looks at the trace: its build id tells. */
static struct text build_id_of(struct naming *n, const char *path)
{
	struct elf_file file;
	struct text id = {"", 0};

	if (elf_file_open(&file, path)) {
		id = elf_file_build_id(&file, n->arena);
		elf_file_close(&file);
	}
	return id.at ? id : (struct text){"", 0};
}

void naming_module(struct naming *n, uint32_t process, struct module m)
{
	m.base = naming_address(process, m.base);
	m.build_id = build_id_of(n, m.path.at);
	tables_module(n->tables, m);
}

site_id naming_site(struct naming *n, uint32_t process, uint64_t pc)
{
	return pc ? namer_site(n->namer, naming_address(process, pc)) : 0;
}

code_id naming_code(struct naming *n, uint32_t process, uint64_t pc)
{
	return namer_code(n->namer, naming_address(process, pc));
}

void naming_memory(struct naming *n, const struct event *alloc, code_id function)
{
	heap_add(&n->heap, (struct life){
		.start = alloc->object, .bytes = alloc->count, .last = ++n->allocations, .site = alloc->site,
		.code = function,
	});
}

/* The name of a variable, or of a part of an allocation; 0 if it has none. */
static uint32_t variable(struct naming *n, uint64_t address)
{
	struct heap_part p = {.address = address, .size = LOCK_BYTES};
	uint32_t name = namer_variable(n->namer, address, LOCK_BYTES);

	return name || !heap_find(&n->heap, address, UINT64_MAX, &p.life) ? name : namer_part(n->namer, &p);
}

/*
 * "queue.lock", "account->lock" if it is a variable with a name, else by where it was made or first met; and where that
 * was called from, if it matters: many programs have a function that makes all of their locks.
 */
static int describe(struct naming *n, uint64_t address, site_id site, char *to, size_t size)
{
	uint32_t name = variable(n, address);
	struct text t = name ? tables_name(n->tables, TABLE_OBJECT, name) : tables_name(n->tables, TABLE_SITE, site);
	struct text by = name || !n->caller ? (struct text){"", 0} : tables_name(n->tables, TABLE_SITE, n->caller);
	int length = snprintf(to, size, "%s%.*s%s%.*s", name ? "" : "lock@", (int)t.length, t.length ? t.at : "",
		by.length ? " from " : "", (int)by.length, by.at);

	return length < (int)size ? length : (int)size - 1;
}

/* Objects of one name are numbered from the second on. */
static sync_id new_sync(struct naming *n, uint64_t address, site_id site)
{
	char name[1024], numbered[1048];
	int length = describe(n, address, site, name, sizeof name);
	uint32_t id = intern_add(&n->tables->names[TABLE_SYNC], name, (size_t)length), *lives = map_put(&n->lives, id);

	if (++*lives == 1)
		return id;
	length = snprintf(numbered, sizeof numbered, "%s#%u", name, *lives);
	return intern_add(&n->tables->names[TABLE_SYNC], numbered, (size_t)length);
}

sync_id naming_sync_slowly(struct naming *n, uint64_t key, uint32_t process, uint64_t pc)
{
	uint32_t id = map_get(&n->syncs, key);

	if (!id) {
		id = new_sync(n, key, naming_site(n, process, pc));
		*map_put(&n->syncs, key) = id;
	}
	*naming_lately(n, key) = (struct sync_memo){key, id};
	return id;
}

bool naming_has_sync(struct naming *n, uint32_t process, uint64_t address)
{
	return map_get(&n->syncs, naming_address(process, address)) != 0;
}

/* Names are the program's to choose, objects are not: the second one of a name has a number. */
void naming_call_sync(struct naming *n, uint32_t process, uint64_t address, struct text name)
{
	uint32_t id = intern_add(&n->tables->names[TABLE_SYNC], name.at, name.length), *lives = map_put(&n->lives, id);
	char numbered[TEXT_MOST + 16];

	if (map_get(&n->syncs, naming_address(process, address)))
		return;
	if (++*lives > 1) {
		int length = snprintf(numbered, sizeof numbered, "%.*s#%u", (int)name.length, name.at, *lives);

		id = intern_add(&n->tables->names[TABLE_SYNC], numbered, (size_t)length);
	}
	*map_put(&n->syncs, naming_address(process, address)) = id;
}

void naming_forget_sync(struct naming *n, uint32_t process, uint64_t address)
{
	uint64_t key = naming_address(process, address);

	if (!map_get(&n->syncs, key))
		return;
	*map_put(&n->syncs, key) = 0;
	*naming_lately(n, key) = (struct sync_memo){0};
}

thread_id naming_thread(struct naming *n, uint32_t process, uint32_t number)
{
	char name[32];
	int length = process > 1 ? snprintf(name, sizeof name, "P%u.T%u", process, number)
				 : snprintf(name, sizeof name, "T%u", number);

	return intern_add(&n->tables->names[TABLE_THREAD], name, (size_t)length);
}
