/* SPDX-License-Identifier: MIT */
#include "inlines.h"

#include <dwarf.h>
#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "symbols/demangle.h"
#include "symbols/members.h"
#include "symbols/source_path.h"

enum { DEPTH = 64 };

static struct text function_of(struct arena *a, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));

	if (!name)
		name = dwarf_diename(die);
	return name ? demangle_function(a, name) : (struct text){0};
}

static bool number(Dwarf_Die *die, unsigned name, Dwarf_Word *value)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(die, name, &attribute) && dwarf_formudata(&attribute, value) == 0;
}

static struct text call_of(struct arena *a, Dwarf_Die *unit, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Word file, line;
	Dwarf_Files *files;
	const char *name;
	struct text path;
	struct str s;
	size_t n;

	if (!number(die, DW_AT_call_file, &file) || !number(die, DW_AT_call_line, &line) ||
		dwarf_getsrcfiles(unit, &files, &n) || file >= n || !(name = dwarf_filesrc(files, file, NULL, NULL)))
		return (struct text){0};
	path = source_path(a, dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute)), name);
	str_init(&s, a);
	str_bytes(&s, path.at, path.length);
	str_printf(&s, ":%llu", (unsigned long long)line);
	return (struct text){s.at, s.length};
}

static bool is_scope(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_structure_type || tag == DW_TAG_class_type;
}

/* The child of the scope that holds the address; what holds code but has no addresses of its own is looked into. */
static bool child_at(Dwarf_Die *scope, uint64_t address, uint64_t *budget, int depth)
{
	Dwarf_Die die;

	if (depth == DEPTH || dwarf_child(scope, &die))
		return false;
	do {
		int tag = dwarf_tag(&die);

		if (*budget == 0 || tag == DW_TAG_invalid)
			return false;
		--*budget;
		if ((tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block) &&
			dwarf_haspc(&die, address) > 0) {
			*scope = die;
			return true;
		}
		if (is_scope(tag) && child_at(&die, address, budget, depth + 1)) {
			*scope = die;
			return true;
		}
	} while (die_next(&die));
	return false;
}

size_t inlines_find(struct inlined to[INLINED_MOST], struct arena *a, Dwarf_Die *unit, uint64_t address)
{
	uint64_t budget = die_bytes(unit);
	Dwarf_Die scope = *unit;
	size_t n = 0;

	for (int depth = 0; depth < DEPTH && n < INLINED_MOST && child_at(&scope, address, &budget, 0); depth++) {
		if (dwarf_tag(&scope) != DW_TAG_inlined_subroutine)
			continue;
		memmove(to + 1, to, n * sizeof *to);
		to[0] = (struct inlined){function_of(a, &scope), call_of(a, unit, &scope), dwarf_dieoffset(&scope)};
		n++;
	}
	return n;
}
