/* SPDX-License-Identifier: MIT */
#include "members.h"

#include <dwarf.h>
#include <string.h>

#include "base/str.h"

enum { DEPTH = 64, DIMENSIONS = 16, BUDGET = 65536 };

bool die_next(Dwarf_Die *die)
{
	Dwarf_Off before = dwarf_dieoffset(die);
	Dwarf_Die next;

	if (dwarf_siblingof(die, &next) || dwarf_dieoffset(&next) <= before)
		return false;
	*die = next;
	return true;
}

uint64_t die_bytes(Dwarf_Die *unit)
{
	Dwarf_Off start = dwarf_dieoffset(unit) - dwarf_cuoffset(unit), next = 0;
	size_t header;

	if (dwarf_nextcu(dwarf_cu_getdwarf(unit->cu), start, &next, &header, NULL, NULL, NULL) || next <= start)
		return 0;
	return next - start;
}

static bool is_transparent(int tag)
{
	return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
		tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type || tag == DW_TAG_immutable_type ||
		tag == DW_TAG_packed_type || tag == DW_TAG_shared_type;
}

static bool referred(Dwarf_Die *die, unsigned attribute_name, Dwarf_Die *to)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, attribute_name, &attribute) && dwarf_formref_die(&attribute, to);
}

bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Die full;

	if (!referred(die, DW_AT_type, type))
		return false;
	for (int depth = 0; is_transparent(dwarf_tag(type)); depth++) {
		Dwarf_Die from = *type;

		if (depth == DEPTH || !referred(&from, DW_AT_type, type))
			return false;
	}
	if (referred(type, DW_AT_signature, &full)) /* its body is in a unit of its own */
		*type = full;
	return dwarf_tag(type) != DW_TAG_invalid;
}

uint64_t type_size(Dwarf_Die *type)
{
	Dwarf_Word size;

	return dwarf_aggregate_size(type, &size) ? 0 : size;
}

static bool number(Dwarf_Die *die, unsigned name, uint64_t *value)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(die, name, &attribute) && dwarf_formudata(&attribute, value) == 0;
}

/* One member or base class. */
struct member {
	struct extent at;
	Dwarf_Die die, type;
	bool is_bits;
};

/* The bytes that a bit-field has a part in. Older compilers give its unit instead of its first bit. */
static void bits_extent(struct member *m, uint64_t bits)
{
	uint64_t first;

	m->is_bits = true;
	if (number(&m->die, DW_AT_data_bit_offset, &first)) {
		m->at.offset = first / 8;
		m->at.size = (first % 8 + bits + 7) / 8;
	} else if (number(&m->die, DW_AT_bit_offset, &first) && m->at.size <= 16 && first + bits <= m->at.size * 8) {
		first = m->at.size * 8 - first - bits; /* counted from the other end there */
		m->at.offset += first / 8;
		m->at.size = (first % 8 + bits + 7) / 8;
	}
}

/* False for what is not in the object: functions, types, static members, virtual bases. */
static bool member_read(struct member *m, const Dwarf_Die *die)
{
	int tag;
	uint64_t bits;

	*m = (struct member){.die = *die};
	tag = dwarf_tag(&m->die);
	if (tag != DW_TAG_member && tag != DW_TAG_inheritance)
		return false;
	if (dwarf_hasattr(&m->die, DW_AT_external) || !type_of(&m->die, &m->type))
		return false;
	if (dwarf_hasattr(&m->die, DW_AT_data_member_location) &&
		!number(&m->die, DW_AT_data_member_location, &m->at.offset))
		return false;
	m->at.size = type_size(&m->type);
	if (number(&m->die, DW_AT_bit_size, &bits) && bits > 0 && bits <= 1024)
		bits_extent(m, bits);
	return m->at.offset + m->at.size >= m->at.offset;
}

static bool is_aggregate(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type ||
		tag == DW_TAG_array_type;
}

/* Whether the access begins in the part. A flexible array, whose size is not known, goes on for ever. */
static bool begins_in(struct extent access, const struct member *m)
{
	if (access.offset < m->at.offset)
		return false;
	return access.offset - m->at.offset < m->at.size || (m->at.size == 0 && dwarf_tag((Dwarf_Die *)&m->type) ==
		DW_TAG_array_type);
}

static bool holds(const struct member *m, struct extent access)
{
	return m->at.size == 0 || (access.size <= m->at.size && access.offset - m->at.offset <= m->at.size - access.size);
}

static bool overlaps(struct extent a, struct extent b)
{
	return a.offset < b.offset + b.size && b.offset < a.offset + a.size;
}

/* The elements in each dimension, 0 where it is not known; returns how many dimensions there are. */
static int dimensions(Dwarf_Die *type, uint64_t count[DIMENSIONS])
{
	Dwarf_Die die;
	int n = 0;

	if (dwarf_child(type, &die))
		return 0;
	do {
		if (dwarf_tag(&die) != DW_TAG_subrange_type || n == DIMENSIONS)
			continue;
		count[n] = 0;
		if (!number(&die, DW_AT_count, &count[n]) && number(&die, DW_AT_upper_bound, &count[n]))
			count[n]++;
		n++;
	} while (die_next(&die));
	return n;
}

/* One step into an array, through all its dimensions, told to `s` if that is not NULL; false if the name ends here. */
static bool step_element(struct str *s, Dwarf_Die *type, struct extent *access)
{
	uint64_t count[DIMENSIONS], stride;
	Dwarf_Die element;
	int n = dimensions(type, count);

	if (dwarf_hasattr(type, DW_AT_GNU_vector) || !type_of(type, &element) || type_size(&element) == 0)
		return false;
	for (int i = 0; i < n; i++) {
		stride = type_size(&element);
		for (int k = i + 1; k < n; k++)
			if (__builtin_mul_overflow(stride, count[k], &stride) || stride == 0)
				return false;
		if (access->offset == 0 && access->size > stride)
			return false;
		if (s)
			str_printf(s, "[%llu]", (unsigned long long)(access->offset / stride));
		access->offset %= stride;
	}
	*type = element;
	return n > 0;
}

/* How a member that an access begins in goes with it, from bad to good. */
enum fit {
	FIT_NONE,
	FIT_BEGIN,  /* the access goes beyond it */
	FIT_WITHIN, /* the access is to some bytes of a scalar */
	FIT_AROUND, /* the access is to some bytes of an aggregate */
	FIT_PART,   /* the access is to the aggregate or to just one part of it */
	FIT_EXACT,  /* the access is to the scalar */
};

/* What the members of a struct say about an access. */
struct choice {
	struct member best;      /* good unless fit is FIT_NONE */
	enum fit fit;
	Dwarf_Die first, last;   /* of the bit-fields that it touches */
	unsigned bits, others;   /* how many of them, and of other members */
};

static struct choice choose(Dwarf_Die *type, struct extent access, unsigned *budget);

/* Whether some part of the type is just what is accessed. */
static bool has_part(Dwarf_Die type, struct extent access, unsigned *budget)
{
	if (dwarf_tag(&type) == DW_TAG_array_type && !step_element(NULL, &type, &access))
		return false;
	if (access.offset == 0 && access.size == type_size(&type))
		return true;
	return *budget > 0 && is_aggregate(dwarf_tag(&type)) && choose(&type, access, budget).fit >= FIT_PART;
}

/* How well a member that the access begins in fits: of a union, or of bases without bytes, several may. */
static enum fit fit(struct member *m, struct extent access, unsigned *budget)
{
	struct extent inside = {access.offset - m->at.offset, access.size};
	bool exact = inside.offset == 0 && m->at.size == access.size;

	if (!holds(m, access))
		return FIT_BEGIN;
	if (!is_aggregate(dwarf_tag(&m->type)))
		return exact ? FIT_EXACT : FIT_WITHIN;
	return exact || has_part(m->type, inside, budget) ? FIT_PART : FIT_AROUND;
}

static void consider(struct choice *c, struct member *m, struct extent access, unsigned *budget)
{
	bool begins = begins_in(access, m);
	enum fit how;

	if (m->is_bits && overlaps(m->at, access)) {
		c->first = c->bits++ ? c->first : m->die;
		c->last = m->die;
	}
	if (m->is_bits || (!begins && !overlaps(m->at, access)))
		return;
	c->others++;
	how = begins ? fit(m, access, budget) : FIT_NONE;
	if (how > c->fit || (how == c->fit && begins && m->at.size < c->best.at.size)) {
		c->best = *m;
		c->fit = how;
	}
}

/* In a damaged file a union may have itself as a member, many times: the budget is of members looked at. */
static struct choice choose(Dwarf_Die *type, struct extent access, unsigned *budget)
{
	struct choice c = {0};
	struct member m;
	Dwarf_Die die;

	if (dwarf_child(type, &die))
		return c;
	do {
		*budget -= *budget > 0;
		if (member_read(&m, &die))
			consider(&c, &m, access, budget);
	} while (*budget > 0 && die_next(&die));
	return c;
}

/* gcc and clang spell the pointer to the virtual table differently, and with the class. */
static void add_member_name(struct str *s, Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);

	if (name)
		str_add(s, strncmp(name, "_vptr", 5) == 0 ? "_vptr" : name);
}

static void add_member(struct str *s, Dwarf_Die *die)
{
	if (dwarf_tag(die) == DW_TAG_member && dwarf_diename(die)) {
		str_char(s, '.');
		add_member_name(s, die);
	}
}

/* A member of the implementation that is the whole of its struct says nothing. */
static bool says_nothing(struct member *m, uint64_t whole)
{
	const char *name = dwarf_diename(&m->die);

	return name && m->at.offset == 0 && m->at.size == whole &&
		(strncmp(name, "_M_", 3) == 0 || strncmp(name, "__", 2) == 0);
}

/* One step into a struct, class or union; false if the name ends here. */
static bool step_member(struct str *s, Dwarf_Die *type, struct extent *access)
{
	unsigned budget = BUDGET;
	struct choice c = choose(type, *access, &budget);

	if (c.bits > 0 && c.others == 0) {
		add_member(s, &c.first);
		if (c.bits > 1) {
			str_add(s, "..");
			add_member_name(s, &c.last);
		}
		return false;
	}
	if (c.fit == FIT_NONE || (c.fit == FIT_BEGIN && access->offset == 0))
		return false;
	if (!says_nothing(&c.best, type_size(type)))
		add_member(s, &c.best.die);
	access->offset -= c.best.at.offset;
	*type = c.best.type;
	return true;
}

void members_name(struct str *s, Dwarf_Die type, struct extent access)
{
	for (int depth = 0; depth < DEPTH; depth++) {
		int tag = dwarf_tag(&type);

		if (!is_aggregate(tag))
			return;
		if (!(tag == DW_TAG_array_type ? step_element : step_member)(s, &type, &access))
			return;
	}
}
