/* SPDX-License-Identifier: MIT */
#include "places.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "symbols/source_path.h"

struct unit {
	Dwarf_Die die;
	Dwarf_Lines *lines;
	size_t count;
	const char *directory; /* in which the compiler ran, or NULL */
	bool decoded;
};

static void add_range(struct places *p, uint64_t start, uint64_t end)
{
	if (start >= end)
		return;
	p->ranges = arena_reserve(p->arena, p->ranges, &p->range_capacity, p->range_count, sizeof *p->ranges);
	p->ranges[p->range_count++] = (struct unit_range){start, end, (uint32_t)p->unit_count};
}

static void add_unit(struct places *p, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;

	if (!dwarf_hasattr(die, DW_AT_stmt_list))
		return;
	for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &start, &end)) > 0;)
		add_range(p, start, end);
	p->units = arena_reserve(p->arena, p->units, &p->unit_capacity, p->unit_count, sizeof *p->units);
	p->units[p->unit_count++] = (struct unit){.die = *die};
}

static int by_start(const void *a, const void *b)
{
	const struct unit_range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->unit > y->unit) - (x->unit < y->unit);
}

void places_load(struct places *p, struct arena *a, Dwarf *dwarf)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;

	*p = (struct places){.arena = a};
	map_init(&p->file_ids, a);
	while (dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0)
		if (dwarf_tag(&die) != DW_TAG_invalid)
			add_unit(p, &die);
	if (p->range_count > 0)
		qsort(p->ranges, p->range_count, sizeof *p->ranges, by_start);
}

static struct unit *unit_of(struct places *p, uint64_t address)
{
	size_t low = 0, high = p->range_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (p->ranges[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && address < p->ranges[low - 1].end ? &p->units[p->ranges[low - 1].unit] : NULL;
}

static void decode(struct unit *u)
{
	Dwarf_Attribute attribute;

	if (u->decoded)
		return;
	u->decoded = true;
	u->directory = dwarf_formstring(dwarf_attr(&u->die, DW_AT_comp_dir, &attribute));
	if (dwarf_getsrclines(&u->die, &u->lines, &u->count))
		u->count = 0;
}

static uint64_t address_of(const struct unit *u, size_t i)
{
	Dwarf_Addr address = 0;

	dwarf_lineaddr(dwarf_onesrcline(u->lines, i), &address);
	return address;
}

/* The number of rows that begin at or before the address. */
static size_t rows_to(const struct unit *u, uint64_t address)
{
	size_t low = 0, high = u->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (address_of(u, middle) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The line of row i: 0 where the compiler knows none, -1 where code ends. */
static int line_of(const struct unit *u, size_t i)
{
	Dwarf_Line *row = dwarf_onesrcline(u->lines, i);
	bool ends = true;
	int line = 0;

	if (!row || dwarf_lineendsequence(row, &ends) || ends || dwarf_lineno(row, &line))
		return -1;
	return line;
}

/* The row that says where the address comes from, or NULL. */
static Dwarf_Line *row_of(const struct unit *u, uint64_t address)
{
	size_t n = rows_to(u, address), i = n;

	if (n == 0 || line_of(u, n - 1) < 0)
		return NULL;
	while (i > 0 && line_of(u, i - 1) == 0)
		i--;
	if (i > 0 && line_of(u, i - 1) > 0)
		return dwarf_onesrcline(u->lines, i - 1);
	for (i = n; i < u->count && line_of(u, i) == 0;)
		i++;
	return i < u->count && line_of(u, i) > 0 ? dwarf_onesrcline(u->lines, i) : NULL;
}

/* libdw has one text for each file of a unit, so where it lies tells it from the others. */
static struct text file_name(struct places *p, const struct unit *u, const char *file)
{
	uint32_t *id = map_put(&p->file_ids, (uintptr_t)file);

	if (*id == 0) {
		p->files = arena_reserve(p->arena, p->files, &p->file_capacity, p->file_count, sizeof *p->files);
		p->files[p->file_count++] = source_path(p->arena, u->directory, file);
		*id = (uint32_t)p->file_count;
	}
	return p->files[*id - 1];
}

struct text places_find(struct places *p, uint64_t address)
{
	struct unit *u = unit_of(p, address);
	Dwarf_Line *row;
	const char *file;
	struct str s;
	int line = 0;

	if (!u)
		return (struct text){0};
	decode(u);
	row = row_of(u, address);
	file = row ? dwarf_linesrc(row, NULL, NULL) : NULL;
	if (!file || dwarf_lineno(row, &line))
		return (struct text){0};
	str_init(&s, p->arena);
	str_bytes(&s, file_name(p, u, file).at, file_name(p, u, file).length);
	str_printf(&s, ":%d", line);
	return (struct text){s.at, s.length};
}

Dwarf_Die *places_unit(struct places *p, uint64_t address)
{
	struct unit *u = unit_of(p, address);

	return u ? &u->die : NULL;
}
