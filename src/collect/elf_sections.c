/* SPDX-License-Identifier: MIT */
#include "elf_sections.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"

enum { CONTENT_MOST = 256 << 20 };

/* A copy of a part of the file with a NUL behind it; NULL if it is not all there. */
static char *part_of(struct elf_sections *e, uint64_t offset, uint64_t size)
{
	char *at;
	uint64_t done = 0;

	if (offset > e->bytes || size > e->bytes - offset || size > CONTENT_MOST)
		return NULL;
	at = arena_alloc(e->arena, size + 1);
	while (done < size) {
		ssize_t n = pread(e->fd, at + done, size - done, (off_t)(offset + done));

		if (n <= 0)
			return NULL;
		done += (uint64_t)n;
	}
	return at;
}

/* A text inside of a table of texts. */
static struct text text_in(const char *table, uint64_t size, uint64_t at)
{
	if (!table || at >= size)
		return (struct text){"", 0};
	return (struct text){table + at, strnlen(table + at, size - at)};
}

static void take_sections(struct elf_sections *e, const Elf64_Shdr *headers, size_t count, size_t names)
{
	const char *table = part_of(e, headers[names].sh_offset, headers[names].sh_size);

	e->at = arena_alloc(e->arena, count * sizeof *e->at);
	for (size_t i = 0; i < count; i++)
		e->at[i] = (struct elf_section){
			.name = text_in(table, headers[names].sh_size, headers[i].sh_name), .type = headers[i].sh_type,
			.link = headers[i].sh_link, .address = headers[i].sh_addr, .offset = headers[i].sh_offset,
			.size = headers[i].sh_size,
		};
	e->count = count;
}

static void read_sections(struct elf_sections *e)
{
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)part_of(e, 0, sizeof *h);
	const Elf64_Shdr *headers;

	if (!h || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_ident[EI_CLASS] != ELFCLASS64 ||
		h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shstrndx >= h->e_shnum)
		return;
	headers = (const Elf64_Shdr *)part_of(e, h->e_shoff, (uint64_t)h->e_shnum * sizeof *headers);
	if (headers)
		take_sections(e, headers, h->e_shnum, h->e_shstrndx);
}

void elf_sections_open(struct elf_sections *e, struct arena *a, const char *path)
{
	struct stat st;

	*e = (struct elf_sections){.arena = a, .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
	if (e->fd < 0 || fstat(e->fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size < 0)
		return;
	e->bytes = (uint64_t)st.st_size;
	read_sections(e);
}

void elf_sections_close(struct elf_sections *e)
{
	if (e->fd >= 0)
		close(e->fd);
	e->fd = -1;
}

struct text elf_section_content(struct elf_sections *e, const struct elf_section *s)
{
	char *at = s->type == SHT_NOBITS ? NULL : part_of(e, s->offset, s->size);

	return at ? (struct text){at, s->size} : (struct text){"", 0};
}

static const struct elf_section *section_of_type(const struct elf_sections *e, uint32_t type)
{
	for (size_t i = 0; i < e->count; i++)
		if (e->at[i].type == type && e->at[i].link < e->count)
			return &e->at[i];
	return NULL;
}

void elf_sections_functions(struct elf_sections *e, void *to,
	void (*function)(void *to, struct text name, uint64_t start, uint64_t size))
{
	const struct elf_section *table = section_of_type(e, SHT_SYMTAB);
	struct text symbols, names;

	if (!table)
		table = section_of_type(e, SHT_DYNSYM);
	if (!table)
		return;
	symbols = elf_section_content(e, table);
	names = elf_section_content(e, &e->at[table->link]);
	for (size_t i = 0; i < symbols.length / sizeof(Elf64_Sym); i++) {
		Elf64_Sym s;

		memcpy(&s, symbols.at + i * sizeof s, sizeof s);
		if (ELF64_ST_TYPE(s.st_info) == STT_FUNC && s.st_shndx != SHN_UNDEF)
			function(to, text_in(names.at, names.length, s.st_name), s.st_value, s.st_size);
	}
}
