/* SPDX-License-Identifier: MIT */
#include "symbols.h"

#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "symbols/allocation.h"
#include "symbols/inlines.h"
#include "symbols/object.h"

/* A range of addresses and the module that lies there now. */
struct range {
	uint64_t start, end;
	uint32_t module;
};

struct module {
	struct object *object;
	uint64_t bias;
	bool is_program;
};

/* Ranges are sorted and do not overlap. */
struct symbols {
	struct arena *arena;
	const char *debug_root;
	struct object **objects;
	size_t object_count, object_capacity;
	struct module *modules;
	size_t module_count, module_capacity;
	struct range *ranges, *spare;
	size_t range_count, range_capacity, spare_capacity;
};

struct symbols *symbols_new(struct arena *a)
{
	struct symbols *s = arena_alloc(a, sizeof *s);

	s->arena = a;
	s->debug_root = "/usr/lib/debug";
	return s;
}

void symbols_close(struct symbols *s)
{
	for (size_t i = 0; i < s->object_count; i++)
		object_close(s->objects[i]);
}

void symbols_debug_root(struct symbols *s, const char *path)
{
	s->debug_root = arena_text(s->arena, path, strlen(path));
}

/* A library that is loaded again is read once. */
static struct object *object_of(struct symbols *s, const char *path, const char *build_id)
{
	for (size_t i = 0; i < s->object_count; i++)
		if (object_is(s->objects[i], path, build_id))
			return s->objects[i];
	s->objects = arena_reserve(s->arena, s->objects, &s->object_capacity, s->object_count, sizeof *s->objects);
	return s->objects[s->object_count++] = object_new(s->arena, path, build_id);
}

static void put_range(struct symbols *s, size_t *n, struct range r)
{
	if (r.start >= r.end)
		return;
	s->spare = arena_reserve(s->arena, s->spare, &s->spare_capacity, *n, sizeof *s->spare);
	s->spare[(*n)++] = r;
}

/* Cuts the new range out of the old ones and puts it between them. */
static void insert_range(struct symbols *s, struct range new)
{
	struct range *old = s->ranges;
	size_t n = 0, i = 0, capacity = s->range_capacity;

	for (; i < s->range_count && old[i].start < new.start; i++) {
		uint64_t end = old[i].end < new.start ? old[i].end : new.start;

		put_range(s, &n, (struct range){old[i].start, end, old[i].module});
		if (old[i].end > new.end)
			break;
	}
	put_range(s, &n, new);
	for (; i < s->range_count; i++) {
		uint64_t start = old[i].start > new.end ? old[i].start : new.end;

		put_range(s, &n, (struct range){start, old[i].end, old[i].module});
	}
	s->ranges = s->spare;
	s->range_capacity = s->spare_capacity;
	s->range_count = n;
	s->spare = old;
	s->spare_capacity = capacity;
}

uint32_t symbols_add(struct symbols *s, struct symbols_module m)
{
	uint32_t id = (uint32_t)s->module_count;

	s->modules = arena_reserve(s->arena, s->modules, &s->module_capacity, s->module_count, sizeof *s->modules);
	s->modules[s->module_count++] = (struct module){
		.object = object_of(s, m.path, m.build_id ? m.build_id : ""),
		.bias = m.bias,
		.is_program = m.is_program,
	};
	if (m.start < m.end)
		insert_range(s, (struct range){m.start, m.end, id});
	return id;
}

static struct module *module_at(const struct symbols *s, uint64_t address)
{
	size_t low = 0, high = s->range_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->ranges[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && address < s->ranges[low - 1].end ? &s->modules[s->ranges[low - 1].module] : NULL;
}

/* The module's file, open; NULL if no module is there. */
static struct object *opened(struct symbols *s, const struct module *m)
{
	if (!m)
		return NULL;
	/* A system library's lines are nobody's business here, and reading them can take a second. */
	object_open(m->object, m->is_program || !object_is_system(m->object) ? s->debug_root : NULL);
	return m->object;
}

/* A damaged file may have anything for a name; a trace takes no control characters. */
static struct text printable(struct symbols *s, struct text name)
{
	size_t i = 0;
	char *clean;

	while (i < name.length && (unsigned char)name.at[i] >= ' ' && name.at[i] != 0x7f)
		i++;
	if (i == name.length)
		return name;
	clean = arena_text(s->arena, name.at, name.length);
	for (; i < name.length; i++)
		clean[i] = (unsigned char)clean[i] < ' ' || clean[i] == 0x7f ? '?' : clean[i];
	return (struct text){clean, name.length};
}

/* What can always be said. */
static struct text bare(struct symbols *s, const struct module *m, uint64_t address)
{
	struct str text;

	str_init(&text, s->arena);
	if (m)
		str_add(&text, object_base_name(m->object));
	str_printf(&text, m ? "+0x%llx" : "0x%llx", (unsigned long long)(address - (m ? m->bias : 0)));
	return printable(s, (struct text){text.at, text.length});
}

struct text symbols_complaint(struct symbols *s, uint32_t module)
{
	if (module >= s->module_count)
		return (struct text){0};
	return printable(s, object_complaint(opened(s, &s->modules[module])));
}

struct text symbols_function(struct symbols *s, uint64_t pc)
{
	struct module *m = module_at(s, pc);
	struct object *o = opened(s, m);
	struct text name = o ? object_function(o, pc - m->bias) : (struct text){0};

	return name.length > 0 ? printable(s, name) : bare(s, m, pc);
}

struct text symbols_place(struct symbols *s, uint64_t pc)
{
	struct module *m = module_at(s, pc);
	struct object *o = opened(s, m);
	struct text place = o ? object_place(o, pc - m->bias) : (struct text){0};

	return place.length > 0 ? printable(s, place) : bare(s, m, pc);
}

size_t symbols_inlined(struct symbols *s, uint64_t pc, struct inlined *to)
{
	struct module *m = module_at(s, pc);
	struct object *o = opened(s, m);
	size_t n = o ? object_inlined(o, pc - m->bias, to) : 0;

	for (size_t i = 0; i < n; i++)
		to[i] = (struct inlined){printable(s, to[i].function), printable(s, to[i].place), to[i].instance};
	return n;
}

struct text symbols_variable(struct symbols *s, uint64_t address, uint64_t size)
{
	struct module *m = module_at(s, address);
	struct object *o = opened(s, m);

	return o ? printable(s, object_variable(o, address - m->bias, size)) : (struct text){0};
}

/*
 * A module may be there twice, loaded again or by two processes; two different ones that know the place are one too
 * many.
 */
bool symbols_allocation(struct symbols *s, const struct allocation_at *at, struct allocation *to)
{
	const struct object *found = NULL;
	struct allocation x;

	for (size_t i = 0; i < s->module_count; i++) {
		struct module *m = &s->modules[i];

		if (m->object == found || (!m->is_program && object_is_system(m->object)))
			continue;
		if (!object_allocation(opened(s, m), at, &x))
			continue;
		if (found)
			return false;
		found = m->object;
		*to = x;
	}
	return found != NULL;
}

bool symbols_is_exported(struct symbols *s, uint64_t pc)
{
	struct module *m = module_at(s, pc);
	struct object *o = opened(s, m);

	return o && object_is_exported(o, pc - m->bias);
}

bool symbols_is_foreign(struct symbols *s, uint64_t pc)
{
	struct module *m = module_at(s, pc);

	return m && !m->is_program && object_is_system(m->object);
}

bool symbols_section(struct symbols *s, uint32_t module, const char *name, uint64_t *start, uint64_t *end)
{
	struct module *m = module < s->module_count ? &s->modules[module] : NULL;
	struct object *o = opened(s, m);

	if (!o || !object_section(o, name, start, end))
		return false;
	*start += m->bias;
	*end += m->bias;
	return true;
}
