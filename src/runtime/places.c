/* SPDX-License-Identifier: MIT */
/*
 * The filter has a bit for each of the 4096 offsets in a page: those are the same wherever a module is loaded. Counts
 * stand in an open table by thread, kind and place, a row for each that the order names.
 */
#include "places.h"

#include <link.h>
#include <stddef.h>

#include "runtime/os.h"
#include "sched/order.h"

struct row {
	uint32_t thread, kind, module, count;
	uint64_t offset;
};

uint64_t places_filter[64];

static const struct order *order;
static uintptr_t *bases, *ends; /* by module of the order; equal: not loaded */
static struct row *rows;
static uint64_t capacity;

static bool is_named(const char *path, const char *name)
{
	const char *file = path;

	for (const char *c = path; *c; c++)
		if (*c == '/')
			file = c + 1;
	while (*file && *file == *name)
		file++, name++;
	return *file == *name;
}

static void set_module(const char *path, uintptr_t base, uintptr_t end)
{
	for (uint32_t i = 0; i < order->modules; i++)
		if (is_named(path, order_module(order, i)->name)) {
			bases[i] = base;
			ends[i] = end;
		}
}

/* The program itself has no name here. */
static int found(struct dl_phdr_info *info, size_t size, void *unused)
{
	static char program[4096];
	uintptr_t end = 0;
	const char *path = info->dlpi_name;
	long n;

	(void)size, (void)unused;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD)
			end = info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
	if (!path || !*path) {
		n = program[0] ? 0 : os_readlink("/proc/self/exe", program, sizeof program - 1);
		if (n > 0)
			program[n] = 0;
		path = program;
	}
	set_module(path, info->dlpi_addr, info->dlpi_addr + end);
	return 0;
}

void places_modules(void)
{
	if (order && bases && ends)
		dl_iterate_phdr(found, NULL);
}

static struct row *row_of(const struct row *key)
{
	uint64_t i = (key->offset * 31 + key->thread * 7 + key->kind + key->module) * 0x9e3779b97f4a7c15u >> 20;

	for (;; i++) {
		struct row *r = &rows[i & (capacity - 1)];

		if (!r->thread || (r->thread == key->thread && r->kind == key->kind && r->module == key->module &&
				r->offset == key->offset))
			return r;
	}
}

static void add_rows(void)
{
	for (uint32_t i = 0; i < order->steps; i++) {
		const struct order_step *p = order_step(order, i);
		struct row key = {p->thread, p->kind, p->module, 0, p->offset};

		if (p->module == ORDER_NO_MODULE)
			continue;
		*row_of(&key) = key;
		places_filter[p->offset >> 6 & 63] |= (uint64_t)1 << (p->offset & 63);
	}
}

void places_start(const struct order *o)
{
	order = o;
	if (!o->modules)
		return;
	bases = os_map(o->modules * sizeof *bases, -1);
	ends = os_map(o->modules * sizeof *ends, -1);
	for (capacity = 64; capacity < (uint64_t)o->steps * 2;)
		capacity *= 2;
	rows = os_map(capacity * sizeof *rows, -1);
	if (rows)
		add_rows();
	places_modules();
}

struct place places_of(uintptr_t pc)
{
	for (uint32_t i = 0; pc && bases && ends && i < order->modules; i++)
		if (pc - bases[i] < ends[i] - bases[i])
			return (struct place){i, pc - bases[i]};
	return (struct place){ORDER_NO_MODULE, 0};
}

uint32_t places_count(uint32_t thread, uint32_t kind, struct place p)
{
	struct row key = {thread, kind, p.module, 0, p.offset}, *r = rows ? row_of(&key) : NULL;

	if (!r || !r->thread)
		return 0;
	return ++r->count;
}
