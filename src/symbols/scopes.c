/* SPDX-License-Identifier: MIT */
#include "scopes.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "symbols/demangle.h"
#include "symbols/members.h"
#include "symbols/source_path.h"

enum { DEPTH = 32 };

/* Files. */

static struct text full_path(struct arena *a, const char *directory, const char *file)
{
	struct str s;

	str_init(&s, a);
	if (*file != '/' && directory)
		str_printf(&s, "%s/", directory);
	str_add(&s, file);
	return (struct text){s.at, s.length};
}

static bool same(struct text a, struct text b)
{
	return a.length == b.length && (a.length == 0 || memcmp(a.at, b.at, a.length) == 0);
}

/* clang lists a file twice, in two spellings. */
static bool is_same_file(struct text a, struct text b)
{
	char *x = same(a, b) ? NULL : realpath(a.at, NULL), *y = x ? realpath(b.at, NULL) : NULL;
	bool is_same = same(a, b) || (x && y && strcmp(x, y) == 0);

	free(x);
	free(y);
	return is_same;
}

static void add_file(struct scopes *s, uint32_t id, struct text path)
{
	bool is_new = id == s->spelt.count && (id >= s->path_capacity || !s->path[id].at);

	while (id >= s->path_capacity)
		s->path = arena_reserve(s->arena, s->path, &s->path_capacity, s->path_capacity, sizeof *s->path);
	if (is_new)
		s->path[id] = path;
	else if (!is_same_file(s->path[id], path))
		s->path[id] = (struct text){"", 0};
}

static uint32_t file_of(struct scopes *s, const char *directory, const char *file)
{
	uint32_t *id = map_put(&s->file_ids, (uintptr_t)file);
	struct text spelt;

	if (!*id) {
		spelt = source_path(s->arena, directory, file);
		*id = intern_add(&s->spelt, spelt.at, spelt.length);
		add_file(s, *id, full_path(s->arena, directory, file));
	}
	return *id;
}

/* Functions. */

struct walk {
	struct scopes *s;
	const char *directory;
	uint64_t budget; /* of DIEs; each has at least a byte */
};

/* dwarf_decl_file takes the file number 0, which clang uses since DWARF 5, for none. */
static const char *declared_in(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Die unit;
	Dwarf_Word number;
	Dwarf_Files *files;
	size_t n;

	if (!dwarf_attr_integrate(die, DW_AT_decl_file, &attribute) || dwarf_formudata(&attribute, &number) ||
		!dwarf_cu_die(attribute.cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) ||
		dwarf_getsrcfiles(&unit, &files, &n) || number >= n)
		return NULL;
	return dwarf_filesrc(files, number, NULL, NULL);
}

static bool is_aggregate(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/* g++ says where a lambda stands with its class, and not with its function. */
static void add_function(struct walk *w, Dwarf_Die *die, Dwarf_Die *around)
{
	struct scopes *s = w->s;
	const char *file = declared_in(die);
	int line;

	if (!file && is_aggregate(dwarf_tag(around)))
		file = declared_in(around);
	else
		around = die;
	if (!file || dwarf_decl_line(around, &line) || dwarf_hasattr(die, DW_AT_declaration))
		return;
	s->at = arena_reserve(s->arena, s->at, &s->capacity, s->count, sizeof *s->at);
	s->at[s->count++] = (struct function){file_of(s, w->directory, file), line, *die};
}

static bool holds_functions(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block || is_aggregate(tag);
}

static void walk_functions(struct walk *w, Dwarf_Die *scope, int depth)
{
	Dwarf_Die die;

	if (depth == DEPTH || dwarf_child(scope, &die))
		return;
	do {
		int tag = dwarf_tag(&die);

		if (w->budget == 0 || tag == DW_TAG_invalid)
			return;
		w->budget--;
		if (tag == DW_TAG_subprogram)
			add_function(w, &die, scope);
		if (holds_functions(tag))
			walk_functions(w, &die, depth + 1);
	} while (die_next(&die));
}

static int by_place(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

void scopes_load(struct scopes *s, struct arena *a, Dwarf *dwarf)
{
	struct walk w = {.s = s};
	Dwarf_CU *unit = NULL;
	Dwarf_Die die, split;
	Dwarf_Attribute attribute;
	uint8_t kind;

	*s = (struct scopes){.arena = a};
	intern_init(&s->spelt, a);
	map_init(&s->file_ids, a);
	while (dwarf_get_units(dwarf, unit, &unit, NULL, &kind, &die, &split) == 0) {
		Dwarf_Die *top = kind == DW_UT_skeleton && dwarf_tag(&split) != DW_TAG_invalid ? &split : &die;

		if (kind == DW_UT_type || dwarf_tag(top) == DW_TAG_invalid)
			continue;
		w.directory = dwarf_formstring(dwarf_attr(&die, DW_AT_comp_dir, &attribute));
		w.budget = die_bytes(top);
		walk_functions(&w, top, 0);
	}
	if (s->count > 0)
		qsort(s->at, s->count, sizeof *s->at, by_place);
}

struct function *scopes_find(const struct scopes *s, struct text file, uint64_t line, size_t *count)
{
	uint32_t id = intern_find(&s->spelt, file.at, file.length);
	size_t low = 0, high = s->count;

	*count = 0;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct function *f = &s->at[middle];

		if (f->file < id || (f->file == id && f->line >= 0 && (uint64_t)f->line <= line))
			low = middle + 1;
		else
			high = middle;
	}
	while (id && low > *count && s->at[low - 1 - *count].file == id && s->at[low - 1 - *count].line == s->at[low - 1].line)
		++*count;
	return *count ? &s->at[low - *count] : NULL;
}

/* Demangling is slow: the function's own name must stand in the whole one to begin with. */
static bool is_whole_name(const struct scopes *s, Dwarf_Die *die, struct text name)
{
	const char *own = dwarf_diename(die), *linked;
	Dwarf_Attribute attribute;
	struct text whole;

	if (!own || !strstr(name.at, own))
		return false;
	linked = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));
	whole = linked ? demangle_function(s->arena, linked) : (struct text){own, strlen(own)};
	return same(whole, name);
}

struct function *scopes_named(const struct scopes *s, struct text name, size_t *count)
{
	struct function *found = NULL;

	*count = 0;
	for (size_t i = 0; i < s->count && name.length > 0; i++) {
		if (!is_whole_name(s, &s->at[i].die, name))
			continue;
		if (found && by_place(found, &s->at[i]) != 0)
			return NULL;
		found = found ? found : &s->at[i];
		*count = (size_t)(&s->at[i] - found) + 1;
	}
	return found;
}

/* Names. */

/* A name that is looked for: how often it was found, with how many types. */
struct look {
	struct text name;
	Dwarf_Die type;
	unsigned types;
	uint64_t budget;
};

static bool is_named(Dwarf_Die *die, struct text name)
{
	const char *its = dwarf_diename(die);

	return its && strlen(its) == name.length && memcmp(its, name.at, name.length) == 0;
}

static void met(struct look *l, Dwarf_Die *type)
{
	if (l->types > 0 && dwarf_dieoffset(&l->type) == dwarf_dieoffset(type))
		return;
	l->type = *type;
	l->types++;
}

static void look_at_variable(struct look *l, Dwarf_Die *die)
{
	Dwarf_Die type;

	if (is_named(die, l->name) && type_of(die, &type))
		met(l, &type);
}

static void look_for_variable(struct look *l, Dwarf_Die *scope, int within, int depth)
{
	Dwarf_Die die;

	if (depth == DEPTH || dwarf_child(scope, &die))
		return;
	do {
		int tag = dwarf_tag(&die);

		if (l->budget == 0 || tag == DW_TAG_invalid)
			return;
		l->budget--;
		if (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter)
			look_at_variable(l, &die);
		else if (tag == within)
			look_for_variable(l, &die, within, depth + 1);
	} while (die_next(&die));
}

bool scope_variable(struct function *f, struct text name, Dwarf_Die *type)
{
	struct look l = {.name = name};
	Dwarf_Die unit;

	if (!dwarf_diecu(&f->die, &unit, NULL, NULL))
		return false;
	l.budget = die_bytes(&unit);
	look_for_variable(&l, &f->die, DW_TAG_lexical_block, 0);
	if (l.types == 0)
		look_for_variable(&l, &unit, DW_TAG_namespace, 0);
	*type = l.type;
	return l.types == 1;
}

static void look_for_member(struct look *l, Dwarf_Die *type, int depth)
{
	Dwarf_Die die, inner;

	if (depth == DEPTH || dwarf_child(type, &die))
		return;
	do {
		int tag = dwarf_tag(&die);

		if (l->budget == 0)
			return;
		l->budget--;
		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || !type_of(&die, &inner))
			continue;
		if (tag == DW_TAG_member && is_named(&die, l->name))
			met(l, &inner);
		else if (tag == DW_TAG_inheritance || !dwarf_diename(&die))
			look_for_member(l, &inner, depth + 1);
	} while (die_next(&die));
}

bool scope_member(Dwarf_Die *type, struct text name, Dwarf_Die *member)
{
	struct look l = {.name = name, .budget = 65536};

	if (!is_aggregate(dwarf_tag(type)))
		return false;
	look_for_member(&l, type, 0);
	*member = l.type;
	return l.types == 1;
}

/* The body of a type: of its own, or in a unit of its own that it refers to. False if it is only declared. */
static bool body_of(Dwarf_Die *die, Dwarf_Die *body)
{
	Dwarf_Attribute attribute;

	*body = *die;
	if (dwarf_attr(die, DW_AT_signature, &attribute))
		return dwarf_formref_die(&attribute, body);
	return !dwarf_hasattr(die, DW_AT_declaration);
}

static void look_for_type(struct look *l, Dwarf_Die *scope, int depth)
{
	Dwarf_Die die, type;

	if (depth == DEPTH || dwarf_child(scope, &die))
		return;
	do {
		int tag = dwarf_tag(&die);

		if (l->budget == 0 || tag == DW_TAG_invalid)
			return;
		l->budget--;
		if ((is_aggregate(tag) || tag == DW_TAG_base_type) && is_named(&die, l->name) && body_of(&die, &type))
			met(l, &type);
		else if (tag == DW_TAG_typedef && is_named(&die, l->name) && type_of(&die, &type) && is_aggregate(dwarf_tag(&type)))
			met(l, &type);
		if (tag == DW_TAG_namespace || is_aggregate(tag))
			look_for_type(l, &die, depth + 1);
	} while (die_next(&die));
}

bool scope_type(struct function *f, struct text name, Dwarf_Die *type)
{
	struct look l = {.name = name};
	Dwarf_Die unit;

	if (!dwarf_diecu(&f->die, &unit, NULL, NULL))
		return false;
	l.budget = die_bytes(&unit);
	look_for_type(&l, &unit, 0);
	look_for_type(&l, &f->die, 0); /* one of its own */
	*type = l.type;
	return l.types == 1;
}
