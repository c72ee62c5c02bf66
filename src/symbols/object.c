/* SPDX-License-Identifier: MIT */
#include "object.h"

#include <dwarf.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include <elfutils/libdw.h>

#include "base/arena.h"
#include "base/str.h"
#include "symbols/allocation.h"
#include "symbols/demangle.h"
#include "symbols/elf_file.h"
#include "symbols/entry_point.h"
#include "symbols/inlines.h"
#include "symbols/places.h"
#include "symbols/scopes.h"
#include "symbols/symtab.h"
#include "symbols/unwind_table.h"
#include "symbols/variables.h"

enum { SOURCE_MOST = 1 << 26, SOURCE_PIECE = 1 << 16 };

/* A source file that was asked for; without text if it cannot be had. */
struct source {
	struct text path;
	struct source_text text;
};

struct object {
	struct arena *arena;
	const char *path, *build_id;
	bool tried;
	struct elf_file file, debug; /* the debug file is not open if there is none, or no need of one */
	Dwarf *dwarf;                /* of either, or NULL */
	struct text complaint;
	struct symtab code, data;
	struct places places;
	struct variables variables;
	struct scopes scopes;
	bool has_places, has_variables, has_scopes; /* they were read */
	struct source *sources;
	size_t source_count, source_capacity;
};

struct object *object_new(struct arena *a, const char *path, const char *build_id)
{
	struct object *o = arena_alloc(a, sizeof *o);

	o->arena = a;
	o->path = arena_text(a, path, strlen(path));
	o->build_id = arena_text(a, build_id, strlen(build_id));
	o->file.fd = o->debug.fd = -1;
	return o;
}

bool object_is(const struct object *o, const char *path, const char *build_id)
{
	return strcmp(o->path, path) == 0 && strcasecmp(o->build_id, build_id) == 0;
}

static void complain(struct object *o, const char *what)
{
	struct str s;

	str_init(&s, o->arena);
	str_printf(&s, "%s: %s", o->path, what);
	o->complaint = (struct text){s.at, s.length};
}

/* Whether the file is the one that ran, as far as that is known. */
static bool is_same_build(struct object *o)
{
	return *o->build_id == 0 || strcasecmp(elf_file_build_id(&o->file, o->arena).at, o->build_id) == 0;
}

/* A debug file has all symbols of its file, unless somebody has stripped them too. */
static void load_symbols(struct object *o)
{
	struct elf_file *const from[] = {&o->debug, &o->file};

	for (int i = 0; i < 2; i++) {
		if (from[i]->elf && o->code.count == 0)
			symtab_load(&o->code, o->arena, from[i]->elf, SYMTAB_CODE);
		if (from[i]->elf && o->data.count == 0)
			symtab_load(&o->data, o->arena, from[i]->elf, SYMTAB_DATA);
	}
}

/* Of the file itself or of its debug file; what is known to be damaged is left alone. */
static void open_dwarf(struct object *o, const char *debug_root)
{
	struct elf_file *from = &o->file;

	if (!debug_root)
		return;
	if (!elf_file_has_debug(&o->file) &&
		elf_file_open_debug(&o->debug, &o->file, o->path, debug_root, o->arena))
		from = &o->debug;
	o->dwarf = dwarf_begin_elf(from->elf, DWARF_C_READ, NULL);
	if (o->dwarf && !elf_file_strings_end(from)) {
		complain(o, "has damaged debug information; only its symbols are used");
		dwarf_end(o->dwarf);
		o->dwarf = NULL;
	}
}

void object_open(struct object *o, const char *debug_root)
{
	if (o->tried)
		return;
	o->tried = true;
	if (!strchr(o->path, '/'))
		return;
	if (!elf_file_open(&o->file, o->path)) {
		complain(o, "is not there or not an ELF file; its code goes by addresses");
		return;
	}
	if (!is_same_build(o)) {
		complain(o, "is not the file that ran; its code goes by addresses");
		elf_file_close(&o->file);
		return;
	}
	open_dwarf(o, debug_root);
	load_symbols(o);
}

void object_close(struct object *o)
{
	dwarf_end(o->dwarf);
	o->dwarf = NULL;
	elf_file_close(&o->debug);
	elf_file_close(&o->file);
}

const char *object_base_name(const struct object *o)
{
	const char *slash = strrchr(o->path, '/');

	return slash ? slash + 1 : o->path;
}

struct text object_complaint(const struct object *o)
{
	return o->complaint;
}

/* A function without a name goes by where it begins, but for the one that all programs have. */
static struct text by_unwinding(struct object *o, uint64_t address)
{
	uint64_t start;
	struct str s;

	if (!unwind_table_find(&o->file, address, &start))
		return (struct text){0};
	if (start == entry_point_main(&o->file))
		return (struct text){"main", 4};
	str_init(&s, o->arena);
	str_printf(&s, "%s+0x%llx", object_base_name(o), (unsigned long long)start);
	return (struct text){s.at, s.length};
}

struct text object_function(struct object *o, uint64_t address)
{
	struct symbol *symbol = symtab_find(&o->code, address);

	if (symbol && !symbol->name.at)
		symbol->name = demangle_function(o->arena, symbol->raw);
	return symbol ? symbol->name : by_unwinding(o, address);
}

static struct places *places(struct object *o)
{
	if (!o->has_places)
		places_load(&o->places, o->arena, o->dwarf);
	o->has_places = true;
	return &o->places;
}

struct text object_place(struct object *o, uint64_t address)
{
	return o->dwarf ? places_find(places(o), address) : (struct text){0};
}

size_t object_inlined(struct object *o, uint64_t address, struct inlined *to)
{
	Dwarf_Die *unit = o->dwarf ? places_unit(places(o), address) : NULL;
	Dwarf_Die split;
	uint8_t kind;

	if (!unit)
		return 0;
	if (dwarf_cu_info(unit->cu, NULL, &kind, NULL, &split, NULL, NULL, NULL) == 0 && kind == DW_UT_skeleton &&
		dwarf_tag(&split) != DW_TAG_invalid)
		unit = &split;
	return inlines_find(to, o->arena, unit, address);
}

static struct text by_symbol(struct object *o, uint64_t address)
{
	struct symbol *symbol = symtab_find(&o->data, address);
	struct str s;

	if (!symbol)
		return (struct text){0};
	if (!symbol->name.at)
		symbol->name = demangle_variable(o->arena, symbol->raw);
	if (address == symbol->start)
		return symbol->name;
	str_init(&s, o->arena);
	str_bytes(&s, symbol->name.at, symbol->name.length);
	str_printf(&s, "+%llu", (unsigned long long)(address - symbol->start));
	return (struct text){s.at, s.length};
}

/* "(.bss)" says at least what sort of memory it is. Code is no variable, and thread-local storage is not there. */
static struct text by_section(struct object *o, uint64_t address)
{
	GElf_Shdr header;
	Elf_Scn *scn = NULL;
	struct str s;
	size_t names;

	if (!o->file.elf || elf_getshdrstrndx(o->file.elf, &names))
		return (struct text){0};
	while ((scn = elf_nextscn(o->file.elf, scn))) {
		const char *name = gelf_getshdr(scn, &header) ? elf_strptr(o->file.elf, names, header.sh_name) : NULL;

		if (!name || (header.sh_flags & (SHF_ALLOC | SHF_WRITE | SHF_EXECINSTR | SHF_TLS)) != (SHF_ALLOC | SHF_WRITE) ||
			address < header.sh_addr || address - header.sh_addr >= header.sh_size)
			continue;
		str_init(&s, o->arena);
		str_printf(&s, "%s+0x%llx (%s)", object_base_name(o), (unsigned long long)address, name);
		return (struct text){s.at, s.length};
	}
	return (struct text){0};
}

struct text object_variable(struct object *o, uint64_t address, uint64_t size)
{
	struct text name = {0};

	if (o->dwarf && !o->has_variables) {
		variables_load(&o->variables, o->arena, o->dwarf, &o->data);
		o->has_variables = true;
	}
	if (o->dwarf)
		name = variables_find(&o->variables, address, size);
	if (name.length == 0)
		name = by_symbol(o, address);
	return name.length > 0 ? name : by_section(o, address);
}

/* A source that is younger than the program may have other lines, and is as good as none. */
static bool is_of_program(const struct object *o, const char *path)
{
	struct stat source, program;

	if (stat(path, &source) || stat(o->path, &program) || !S_ISREG(source.st_mode) || source.st_size > SOURCE_MOST)
		return false;
	return source.st_mtim.tv_sec < program.st_mtim.tv_sec || (source.st_mtim.tv_sec == program.st_mtim.tv_sec &&
		source.st_mtim.tv_nsec <= program.st_mtim.tv_nsec);
}

static struct source_text read_text(struct object *o, const char *path)
{
	FILE *f = is_of_program(o, path) ? fopen(path, "re") : NULL;
	char *text = f ? arena_alloc(o->arena, SOURCE_PIECE) : NULL;
	size_t length = 0, room = SOURCE_PIECE, n;

	while (f && (n = fread(text + length, 1, room - length, f)) > 0) {
		length += n;
		if (length == SOURCE_MOST)
			break;
		if (length == room) {
			text = arena_grow(o->arena, text, room, room * 2);
			room *= 2;
		}
	}
	if (f)
		fclose(f);
	return (struct source_text){text, length};
}

static const struct source_text *source(void *self, struct text path)
{
	struct object *o = self;
	struct source *s = NULL;

	for (size_t i = 0; i < o->source_count && !s; i++)
		if (o->sources[i].path.length == path.length && memcmp(o->sources[i].path.at, path.at, path.length) == 0)
			s = &o->sources[i];
	if (!s) {
		o->sources = arena_reserve(o->arena, o->sources, &o->source_capacity, o->source_count, sizeof *o->sources);
		s = &o->sources[o->source_count++];
		*s = (struct source){path, path.length ? read_text(o, path.at) : (struct source_text){0}};
	}
	return s->text.at ? &s->text : NULL;
}

bool object_allocation(struct object *o, const struct allocation_at *at, struct allocation *to)
{
	if (!o->dwarf)
		return false;
	if (!o->has_scopes)
		scopes_load(&o->scopes, o->arena, o->dwarf);
	o->has_scopes = true;
	return allocation_find(to, &o->scopes, at, (struct allocation_reader){o, source});
}

bool object_is_exported(const struct object *o, uint64_t address)
{
	const struct symbol *symbol = symtab_find(&o->code, address);

	return symbol && symbol->binding != STB_LOCAL;
}

bool object_section(const struct object *o, const char *name, uint64_t *start, uint64_t *end)
{
	GElf_Shdr header;

	if (!o->file.elf || !elf_file_section(&o->file, name, &header) || !(header.sh_flags & SHF_ALLOC))
		return false;
	*start = header.sh_addr;
	*end = header.sh_addr + header.sh_size;
	return *end >= *start;
}

bool object_is_system(const struct object *o)
{
	static const char *const places[] = {"/lib/", "/lib32/", "/lib64/", "/libx32/", "/usr/lib/", "/usr/lib32/",
		"/usr/lib64/", "/usr/libx32/", "/usr/libexec/"};

	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (strncmp(o->path, places[i], strlen(places[i])) == 0)
			return true;
	return !strchr(o->path, '/');
}
