/* SPDX-License-Identifier: MIT */
#include "symtab.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

/* The flags of the section that a symbol is in; 0 if there is none. */
static uint64_t section_flags(Elf *elf, const GElf_Sym *sym)
{
	Elf_Scn *scn = sym->st_shndx < SHN_LORESERVE ? elf_getscn(elf, sym->st_shndx) : NULL;
	GElf_Shdr header;

	return scn && gelf_getshdr(scn, &header) ? header.sh_flags : 0;
}

static bool is_wanted(Elf *elf, const GElf_Sym *sym, enum symtab_kind kind)
{
	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS)
		return false;
	switch (GELF_ST_TYPE(sym->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return kind == SYMTAB_CODE;
	case STT_OBJECT:
	case STT_COMMON:
		return kind == SYMTAB_DATA && sym->st_size > 0;
	case STT_NOTYPE: /* labels of assembler code */
		return kind == SYMTAB_CODE && section_flags(elf, sym) & SHF_EXECINSTR;
	default:
		return false;
	}
}

static void add(struct symtab *t, struct arena *a, const GElf_Sym *sym, const char *name)
{
	bool sized = sym->st_size > 0 && sym->st_value + sym->st_size > sym->st_value;

	t->at = arena_reserve(a, t->at, &t->capacity, t->count, sizeof *t->at);
	t->at[t->count++] = (struct symbol){
		.start = sym->st_value,
		.end = sized ? sym->st_value + sym->st_size : sym->st_value,
		.raw = name,
		.binding = GELF_ST_BIND(sym->st_info),
		.sized = sized,
	};
}

static void read_section(struct symtab *t, struct arena *a, Elf *elf, Elf_Scn *scn, enum symtab_kind kind)
{
	GElf_Shdr header;
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Sym sym;

	if (!data || !gelf_getshdr(scn, &header))
		return;
	for (int i = 0; gelf_getsym(data, i, &sym); i++) {
		const char *name = is_wanted(elf, &sym, kind) ? elf_strptr(elf, header.sh_link, sym.st_name) : NULL;

		if (name && *name && *name != '$' && t->count < UINT32_MAX - 1) /* "$x" marks code on some machines */
			add(t, a, &sym, name);
	}
}

static Elf_Scn *section_of_type(Elf *elf, uint32_t type)
{
	GElf_Shdr header;

	for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn; scn = elf_nextscn(elf, scn))
		if (gelf_getshdr(scn, &header) && header.sh_type == type)
			return scn;
	return NULL;
}

static int by_reach(const struct symbol *x, const struct symbol *y)
{
	if (x->sized != y->sized)
		return x->sized ? -1 : 1;
	return (x->end < y->end) - (x->end > y->end);
}

static int binding_order(const struct symbol *x)
{
	return x->binding == STB_LOCAL ? 2 : x->binding == STB_WEAK;
}

/* By start; the one to be kept of several at the same address comes first. */
static int by_start(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;
	size_t ux = strspn(x->raw, "_"), uy = strspn(y->raw, "_");

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->sized != y->sized)
		return by_reach(x, y);
	if (binding_order(x) != binding_order(y))
		return binding_order(x) - binding_order(y);
	if (ux != uy)
		return ux < uy ? -1 : 1;
	return strcmp(x->raw, y->raw) ? strcmp(x->raw, y->raw) : by_reach(x, y);
}

/* Keeps one symbol an address, drops labels inside others, and links what lies within to what it lies in. */
static void settle(struct symtab *t)
{
	uint64_t reach = 0;
	size_t kept = 0;

	for (size_t i = 0; i < t->count; i++) {
		struct symbol s = t->at[i];
		uint32_t parent = (uint32_t)kept;

		if ((kept > 0 && t->at[kept - 1].start == s.start) || (!s.sized && s.start < reach))
			continue;
		while (parent && t->at[parent - 1].sized && t->at[parent - 1].end <= s.start)
			parent = t->at[parent - 1].parent;
		if (parent && !t->at[parent - 1].sized) {
			t->at[parent - 1].end = s.start;
			parent = 0;
		}
		s.parent = parent;
		reach = s.end > reach ? s.end : reach;
		t->at[kept++] = s;
	}
	t->count = kept;
}

void symtab_load(struct symtab *t, struct arena *a, Elf *elf, enum symtab_kind kind)
{
	Elf_Scn *scn = section_of_type(elf, SHT_SYMTAB);

	if (scn)
		read_section(t, a, elf, scn, kind);
	if (t->count == 0 && (scn = section_of_type(elf, SHT_DYNSYM)))
		read_section(t, a, elf, scn, kind);
	if (t->count == 0)
		return;
	qsort(t->at, t->count, sizeof *t->at, by_start);
	settle(t);
}

struct symbol *symtab_find(const struct symtab *t, uint64_t address)
{
	size_t low = 0, high = t->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->at[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	while (low > 0 && address >= t->at[low - 1].end)
		low = t->at[low - 1].parent;
	return low > 0 ? &t->at[low - 1] : NULL;
}
