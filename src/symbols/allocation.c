/* SPDX-License-Identifier: MIT */
#include "allocation.h"

#include <dwarf.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "symbols/members.h"
#include "symbols/scopes.h"
#include "symbols/statement.h"

enum { COOKIE = 8 };

/* A function, as often as it was made from a template. */
struct instances {
	struct arena *arena;
	struct function *at;
	size_t count;
};

/* Types. */

static bool pointee(Dwarf_Die *type)
{
	Dwarf_Die from = *type;
	int tag = dwarf_tag(&from);

	return (tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type) && type_of(&from, type);
}

/* One step into an array of one dimension, or along a pointer. */
static bool element(Dwarf_Die *type)
{
	Dwarf_Die from = *type, die;
	unsigned dimensions = 0;

	if (dwarf_tag(&from) != DW_TAG_array_type)
		return pointee(type);
	if (dwarf_child(&from, &die))
		return false;
	do
		dimensions += dwarf_tag(&die) == DW_TAG_subrange_type;
	while (die_next(&die));
	return dimensions == 1 && type_of(&from, type);
}

static bool member(Dwarf_Die *type, struct text name)
{
	Dwarf_Die from = *type;

	return scope_member(&from, name, type);
}

static bool step(Dwarf_Die *type, const struct path_step *s)
{
	switch (s->how) {
	case STEP_DOT: /* a reference has a pointer's type and no star */
		if (dwarf_tag(type) == DW_TAG_reference_type && !pointee(type))
			return false;
		return member(type, s->name);
	case STEP_ARROW: return pointee(type) && member(type, s->name);
	case STEP_ELEMENT: return element(type);
	default: return false;
	}
}

/* The variable that a path begins with: of the function, its unit, or a member of the object that it is called for. */
static bool root(struct function *f, struct text name, Dwarf_Die *type)
{
	static const struct text self = {"this", 4};

	if (scope_variable(f, name, type))
		return true;
	return scope_variable(f, self, type) && pointee(type) && member(type, name);
}

/* The type of what gets the pointer. */
static bool receiver(struct function *f, const struct statement *s, Dwarf_Die *type)
{
	if (s->steps == 0 || !root(f, s->step[0].name, type))
		return false;
	for (size_t i = 1; i < s->steps; i++)
		if (!step(type, &s->step[i]))
			return false;
	for (unsigned i = 0; i < s->stars; i++)
		if (!pointee(type))
			return false;
	return true;
}

/* Whether the last member is an array without an end. */
static bool has_tail(Dwarf_Die *type)
{
	Dwarf_Die die, inner;
	bool tail = false;

	if (dwarf_tag(type) != DW_TAG_structure_type || dwarf_child(type, &die))
		return false;
	do {
		if (dwarf_tag(&die) != DW_TAG_member || !type_of(&die, &inner))
			continue;
		tail = dwarf_tag(&inner) == DW_TAG_array_type && type_size(&inner) == 0;
	} while (die_next(&die));
	return tail;
}

/* Whether it has a destructor, for which new T[n] must remember n. One that does nothing counts, too. */
static bool has_destructor(Dwarf_Die *type)
{
	Dwarf_Die die;
	const char *name;

	if (dwarf_child(type, &die))
		return false;
	do
		if (dwarf_tag(&die) == DW_TAG_subprogram && (name = dwarf_diename(&die)) && *name == '~')
			return true;
	while (die_next(&die));
	return false;
}

/* Whether so many bytes can be one or more of the type. */
static bool fits(struct allocation *x, Dwarf_Die *type, uint64_t bytes, const struct statement *s)
{
	uint64_t size = type_size(type);

	if (size == 0 || bytes < size)
		return false;
	x->type = *type;
	x->element = size;
	x->is_array = s->is_many || (bytes != size && !has_tail(type));
	if (s->is_many && bytes % size == COOKIE && has_destructor(type))
		x->cookie = COOKIE;
	if (s->is_new && !s->is_many)
		return bytes == size;
	return !x->is_array || (bytes - x->cookie) % size == 0;
}

/* Names. */

static struct text path_text(struct arena *a, const struct statement *s)
{
	static const char *const before[] = {[STEP_ROOT] = "", [STEP_DOT] = ".", [STEP_ARROW] = "->", [STEP_ELEMENT] = "[]"};
	struct str to;

	str_init(&to, a);
	if (s->stars)
		str_char(&to, '(');
	for (unsigned i = 0; i < s->stars; i++)
		str_char(&to, '*');
	for (size_t i = 0; i < s->steps; i++) {
		str_add(&to, before[s->step[i].how]);
		str_add(&to, s->step[i].how == STEP_ELEMENT ? "" : s->step[i].name.at);
	}
	if (s->stars)
		str_char(&to, ')');
	return (struct text){to.at, to.length};
}

static struct text type_text(struct arena *a, const struct statement *s)
{
	struct str to;

	str_init(&to, a);
	str_printf(&to, "%s%s", s->is_struct ? "struct " : "", s->type.length ? s->type.at : "");
	return (struct text){to.at, to.length};
}

/*
 * The type that the statement says, if there is one, else that of what gets the pointer. After new of what is not known,
 * which may be derived from the latter, only one of just that size will do.
 */
static bool settle(struct allocation *x, struct function *f, const struct statement *s, uint64_t bytes)
{
	Dwarf_Die type, got;
	bool stated = s->type.length > 0 && scope_type(f, s->type, &type);

	x->is_variable = receiver(f, s, &got);
	if (stated)
		x->typed = fits(x, &type, bytes, s);
	else if (x->is_variable && pointee(&got))
		x->typed = fits(x, &got, bytes, s);
	return x->typed;
}

static bool is_function(struct function *f, struct text name)
{
	const char *its = dwarf_diename(&f->die);
	size_t n = its ? strlen(its) : 0, end = 0;

	while (end < name.length && name.at[end] != '<' && name.at[end] != '(' && name.at[end] != '{')
		end++;
	if (end == 0 || end < name.length || n == 0)
		return true; /* a template, a lambda or an operator: this cannot be told by its end */
	return end >= n && memcmp(name.at + end - n, its, n) == 0;
}

/* Instances of one template must agree. */
static bool agree(const struct allocation *x, const struct allocation *y)
{
	return x->typed == y->typed && x->is_array == y->is_array && x->is_variable == y->is_variable &&
		(!x->typed || dwarf_dieoffset((Dwarf_Die *)&x->type) == dwarf_dieoffset((Dwarf_Die *)&y->type));
}

/* The statement in each instance of its function. */
static bool find_at(struct allocation *to, const struct statement *st, const struct allocation_at *at,
	struct instances in)
{
	size_t known = 0;

	*to = (struct allocation){.returned = st->returned};
	for (size_t i = 0; i < in.count; i++) {
		struct allocation x = {.returned = st->returned};

		if (!is_function(&in.at[i], at->function) || (!settle(&x, &in.at[i], st, at->bytes) && !x.is_variable))
			continue;
		if (known++ && !agree(to, &x))
			return false;
		*to = x;
	}
	to->name = to->is_variable ? path_text(in.arena, st) : type_text(in.arena, st);
	to->line = st->line;
	return known > 0 || st->returned;
}

/* What new makes has the size that its type says; one of unknown type could be any. */
static bool find_new(struct allocation *to, const struct statement *st, size_t count, const struct allocation_at *at,
	struct instances in)
{
	struct allocation x;
	unsigned found = 0;

	for (size_t i = 0; i < count; i++) {
		Dwarf_Die type;

		if (st[i].type.length == 0 || !scope_type(&in.at[0], st[i].type, &type))
			return false;
		if (!find_at(&x, &st[i], at, in) || !x.typed)
			continue;
		found++;
		*to = x;
	}
	return found == 1;
}

bool allocation_find(struct allocation *to, const struct scopes *s, const struct allocation_at *at,
	struct allocation_reader reader)
{
	struct instances in = {.arena = s->arena};
	const struct source_text *text;
	struct statement_at where = {.line = at->line, .callee = at->callee};
	struct statement st[NEWS_MOST];
	bool found;

	in.at = at->line ? scopes_find(s, at->file, at->line, &in.count) : scopes_named(s, at->function, &in.count);
	text = in.at ? reader.read(reader.self, s->path[in.at->file]) : NULL;
	if (!text)
		return false;
	where.text = text->at;
	where.length = text->length;
	if (at->line) {
		found = statement_read(st, s->arena, &where) && find_at(to, st, at, in);
	} else {
		where.line = (uint64_t)in.at->line;
		size_t news = statement_read_news(st, s->arena, &where);

		found = news > 0 && news <= NEWS_MOST && find_new(to, st, news, at, in);
	}
	to->file = intern_text(&s->spelt, in.at->file);
	return found;
}

struct text allocation_name(const struct allocation *x, struct arena *a, uint64_t offset, uint64_t size)
{
	bool arrow, is_one = x->is_variable && !x->is_array;
	struct str s, part;

	if (!x->typed || offset < x->cookie)
		return (struct text){0};
	offset -= x->cookie;
	str_init(&s, a);
	str_init(&part, a);
	members_name(&part, x->type, (struct extent){x->is_array ? offset % x->element : offset, size ? size : 1});
	arrow = is_one && part.length > 0 && part.at[0] == '.';
	if (is_one && !arrow)
		str_char(&s, '*');
	str_bytes(&s, x->name.at, x->name.length);
	str_add(&s, x->is_array ? "[]" : arrow ? "->" : "");
	if (part.length > 0)
		str_add(&s, part.at + arrow);
	return (struct text){s.at, s.length};
}
