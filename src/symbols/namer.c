/* SPDX-License-Identifier: MIT */
#include "namer.h"

#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/str.h"
#include "event/place.h"
#include "symbols/allocation.h"
#include "symbols/symbols.h"

enum { NONE = UINT32_MAX, CALLS = 8, OFFSETS_MOST = 128 }; /* asked for, and there is no name */

void namer_init(struct namer *n, struct arena *a, struct tables *t)
{
	*n = (struct namer){.arena = a, .tables = t, .symbols = symbols_new(a)};
	map_init(&n->sites, a);
	map_init(&n->codes, a);
	map_init(&n->variables, a);
	map_init(&n->parts, a);
	map_init(&n->site_pcs, a);
	seg_init(&n->pcs, a, sizeof(struct namer_pc));
	heap_init(&n->heap, a);
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

static void keep_pc(struct namer *n, site_id site, uint64_t pc)
{
	uint32_t *newest = map_put(&n->site_pcs, site);

	*(struct namer_pc *)seg_at(&n->pcs, ++n->pc_count, sizeof(struct namer_pc)) = (struct namer_pc){pc, *newest};
	*newest = n->pc_count;
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
		keep_pc(n, *id, pc);
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

size_t namer_inlined(struct namer *n, code_id code, site_id site, struct inlined *to)
{
	for (uint32_t i = map_get(&n->site_pcs, site); i;) {
		const struct namer_pc *p = seg_at(&n->pcs, i, sizeof *p);

		if (namer_code(n, p->pc) == code)
			return symbols_inlined(n->symbols, p->pc - 1, to);
		i = p->older;
	}
	return 0;
}

size_t namer_inlined_at(struct namer *n, uint64_t pc, struct inlined *to)
{
	catch_up(n);
	return symbols_inlined(n->symbols, pc - 1, to);
}

/* Without what stands between square brackets. */
static uint32_t intern_unindexed(struct namer *n, struct text name)
{
	char *plain = arena_text(n->arena, name.at, name.length);
	size_t length = 0;

	for (size_t i = 0; i < name.length; i++) {
		plain[length++] = name.at[i];
		if (name.at[i] == '[')
			while (i + 1 < name.length && name.at[i + 1] != ']')
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

/* Memory that was made. */

void namer_alloc(struct namer *n, const struct event *e)
{
	if (n->tables->module_count > 0 && e->count > 0 && e->flags & EVENT_ADDRESSED)
		heap_add(&n->heap, (struct life){
			.start = e->object, .bytes = e->count, .last = e->seq, .site = e->site, .stack = e->stack,
		});
}

/* Whether it is a line of the project's own: not of a system's header, and not an offset in a library. */
static bool is_own(struct place_parts p)
{
	return p.line > 0 && p.file.length > 0 && strncmp(p.file.at, "/usr/", 5) != 0;
}

/* An allocation that has a type, and where it is. */
struct keeper {
	struct allocation what;
	site_id site;
};

/* Whether new has called the allocator, for the function that is on top of the stack. */
static bool is_by_new(struct text place)
{
	return place.length > 9 && memcmp(place.at, "libstdc++", 9) == 0;
}

/* The call at the site, in the function of the stack's frame; false if that tells nothing. */
static bool ask(struct namer *n, const struct life *l, struct text callee, struct frame f, struct keeper *k)
{
	struct text place = k->site ? tables_name(n->tables, TABLE_SITE, k->site) : (struct text){"", 0};
	struct place_parts p = place_parse(place);
	struct allocation_at at = {p.file, p.line, tables_name(n->tables, TABLE_CODE, f.code), callee, l->bytes};

	if (is_by_new(place))
		at.line = 0;
	else if (!is_own(p))
		return false;
	return symbols_allocation(n->symbols, &at, &k->what);
}

/*
 * Up the calls, for as long as the memory is handed on to the caller, to the first variable that gets it as something
 * with a type. Without one, the first type is as good.
 */
static bool find_keeper(struct namer *n, const struct life *l, struct keeper *best)
{
	struct keeper k = {.site = l->site};
	struct text callee = {0};
	stack_id stack = l->stack;

	*best = (struct keeper){0};
	for (int calls = 0; calls < CALLS; calls++) {
		struct frame f = stack ? tables_frame(n->tables, stack) : (struct frame){.code = calls ? 0 : l->code};

		if (!ask(n, l, callee, f, &k))
			break;
		if (k.what.typed && (k.what.is_variable || !best->site))
			*best = k;
		if ((k.what.typed && k.what.is_variable) || !k.what.returned || !f.site)
			break;
		callee = tables_name(n->tables, TABLE_CODE, f.code);
		k.site = f.site;
		stack = f.parent;
	}
	return best->site != 0;
}

static uint32_t name_part(struct namer *n, const struct heap_part *p)
{
	struct keeper k;
	struct text name;
	struct str s;

	catch_up(n);
	if (!find_keeper(n, &p->life, &k))
		return NONE;
	name = allocation_name(&k.what, n->arena, p->address - p->life.start, p->size);
	if (name.length == 0)
		return NONE;
	str_init(&s, n->arena);
	str_bytes(&s, name.at, name.length);
	if (!k.what.is_variable)
		str_printf(&s, " (%.*s:%llu)", (int)k.what.file.length, k.what.file.at, (unsigned long long)k.what.line);
	return intern_unindexed(n, (struct text){s.at, s.length});
}

static uint64_t part_key(const struct heap_part *p)
{
	uint64_t made = hash_pair((uint64_t)p->life.site << 32 | p->life.stack, hash_pair(p->life.bytes, p->life.code));

	return hash_pair(made, hash_pair(p->address - p->life.start, p->size));
}

uint32_t namer_part(struct namer *n, const struct heap_part *p)
{
	uint32_t *id = map_put(&n->parts, part_key(p));

	if (!*id)
		*id = name_part(n, p);
	return *id == NONE ? 0 : *id;
}

/* The same where lines are not known: an offset in the program, or in what does not look like a shared library. */
static bool is_own_code(struct text place)
{
	if (is_own(place_parse(place)))
		return true;
	return memmem(place.at, place.length, "+0x", 3) && !memmem(place.at, place.length, ".so", 3);
}

/* The innermost place of the project's own on the way to the allocation; 0 if there is none. */
static site_id own_site(const struct namer *n, const struct life *l)
{
	stack_id stack = l->stack;
	site_id site = l->site;

	while (!site || !is_own_code(tables_name(n->tables, TABLE_SITE, site))) {
		if (!stack)
			return 0;
		site = tables_frame(n->tables, stack).site;
		stack = tables_frame(n->tables, stack).parent;
	}
	return site;
}

uint32_t namer_heap(struct namer *n, uint64_t address, uint64_t size, uint64_t seq)
{
	struct heap_part p = {.address = address, .size = size};
	struct text place;
	struct str s;
	uint32_t id;

	if (!heap_find(&n->heap, address, seq, &p.life))
		return 0;
	id = namer_part(n, &p);
	place = tables_name(n->tables, TABLE_SITE, own_site(n, &p.life));
	if (id || place.length == 0)
		return id;
	str_init(&s, n->arena);
	str_printf(&s, "heap@%.*s", (int)place.length, place.at);
	if (p.life.bytes <= OFFSETS_MOST)
		str_printf(&s, "+%llu", (unsigned long long)(address - p.life.start));
	return intern_add(&n->tables->names[TABLE_OBJECT], s.at, s.length);
}
