/* SPDX-License-Identifier: MIT */
#include "variables.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "symbols/demangle.h"
#include "symbols/members.h"
#include "symbols/symtab.h"

enum { DEPTH = 64 };

/* A walk over one unit. */
struct walk {
	struct variables *v;
	const struct symtab *data;
	uint64_t budget; /* of DIEs; each has at least a byte */
};

/* The fixed address of a variable. False for those in registers, in thread-local storage, or optimised away. */
static bool fixed_address(Dwarf_Die *die, uint64_t *address)
{
	Dwarf_Attribute location, indexed;
	Dwarf_Op *op;
	size_t n;

	if (!dwarf_attr(die, DW_AT_location, &location) || dwarf_getlocation(&location, &op, &n) || n == 0)
		return false;
	if (n > 2 || (n == 2 && op[1].atom != DW_OP_plus_uconst))
		return false;
	if (op[0].atom == DW_OP_addr)
		*address = op[0].number;
	else if ((op[0].atom != DW_OP_addrx && op[0].atom != DW_OP_GNU_addr_index) ||
		dwarf_getlocation_attr(&location, op, &indexed) || dwarf_formaddr(&indexed, address))
		return false;
	*address += n == 2 ? op[1].number : 0;
	return *address != 0; /* what the linker has dropped is at 0 */
}

static void add(struct walk *w, Dwarf_Die *die)
{
	struct variables *v = w->v;
	struct variable x = {.die = *die};
	const struct symbol *symbol;
	Dwarf_Die type;
	uint64_t size;

	if (!fixed_address(die, &x.start))
		return;
	size = type_of(die, &type) ? type_size(&type) : 0;
	symbol = symtab_find(w->data, x.start);
	if (symbol && symbol->start == x.start) {
		size = symbol->end - symbol->start > size ? symbol->end - symbol->start : size;
		x.symbol = symbol->raw;
	}
	x.end = x.start + (size ? size : 1);
	if (x.end < x.start)
		return;
	v->at = arena_reserve(v->arena, v->at, &v->capacity, v->count, sizeof *v->at);
	v->at[v->count++] = x;
}

static bool is_scope(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block ||
		tag == DW_TAG_inlined_subroutine || tag == DW_TAG_module;
}

static void walk_scope(struct walk *w, Dwarf_Die *scope, int depth)
{
	Dwarf_Die die;

	if (depth == DEPTH || dwarf_child(scope, &die))
		return;
	do {
		int tag = dwarf_tag(&die);

		if (w->budget == 0 || tag == DW_TAG_invalid)
			return;
		w->budget--;
		if (tag == DW_TAG_variable)
			add(w, &die);
		else if (is_scope(tag))
			walk_scope(w, &die, depth + 1);
	} while (die_next(&die));
}

/* By start; of several at one address the largest comes first. */
static int by_start(const void *a, const void *b)
{
	const struct variable *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return 0;
}

static void settle(struct variables *v)
{
	size_t kept = 0;

	if (v->count > 0)
		qsort(v->at, v->count, sizeof *v->at, by_start);
	for (size_t i = 0; i < v->count; i++)
		if (kept == 0 || v->at[i].start >= v->at[kept - 1].end)
			v->at[kept++] = v->at[i];
	v->count = kept;
}

void variables_load(struct variables *v, struct arena *a, Dwarf *dwarf, const struct symtab *data)
{
	struct walk w = {.v = v, .data = data};
	Dwarf_CU *unit = NULL;
	Dwarf_Die die, split;
	uint8_t kind;

	*v = (struct variables){.arena = a};
	while (dwarf_get_units(dwarf, unit, &unit, NULL, &kind, &die, &split) == 0) {
		Dwarf_Die *top = kind == DW_UT_skeleton && dwarf_tag(&split) != DW_TAG_invalid ? &split : &die;

		if (kind == DW_UT_type || dwarf_tag(top) == DW_TAG_invalid)
			continue;
		w.budget = die_bytes(top);
		walk_scope(&w, top, 0);
	}
	settle(v);
}

/* The name with its namespace and class, for which it must be mangled; in C the one in the source. */
static struct text name_of(struct arena *a, struct variable *x)
{
	Dwarf_Attribute attribute;
	const char *name = dwarf_formstring(dwarf_attr_integrate(&x->die, DW_AT_linkage_name, &attribute));

	if (!name && x->symbol && strncmp(x->symbol, "_Z", 2) == 0)
		name = x->symbol;
	if (!name)
		name = dwarf_formstring(dwarf_attr_integrate(&x->die, DW_AT_name, &attribute));
	return name ? demangle_variable(a, name) : (struct text){0};
}

static struct variable *variable_at(const struct variables *v, uint64_t address)
{
	size_t low = 0, high = v->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (v->at[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && address < v->at[low - 1].end ? &v->at[low - 1] : NULL;
}

struct text variables_find(struct variables *v, uint64_t address, uint64_t size)
{
	struct variable *x = variable_at(v, address);
	Dwarf_Die type;
	struct str s;

	if (!x)
		return (struct text){0};
	if (!x->name.at)
		x->name = name_of(v->arena, x);
	if (x->name.length == 0)
		return (struct text){0};
	str_init(&s, v->arena);
	str_bytes(&s, x->name.at, x->name.length);
	if (type_of(&x->die, &type))
		members_name(&s, type, (struct extent){address - x->start, size ? size : 1});
	return (struct text){s.at, s.length};
}
