/* SPDX-License-Identifier: MIT */
/*
 * The sections of a program's file, and what of them is asked for: little, and none of it trusted. Offsets, sizes and
 * names are checked against the file and against bounds; a file that is not what it should be has no sections.
 */
#ifndef FISSION_COLLECT_ELF_SECTIONS_H
#define FISSION_COLLECT_ELF_SECTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"

struct arena;

struct elf_section {
	struct text name;
	uint32_t type, link;
	uint64_t address, offset, size;
};

struct elf_sections {
	struct arena *arena;
	int fd; /* -1: none */
	uint64_t bytes;
	struct elf_section *at;
	size_t count;
};

/* Opens the file; without sections if it cannot be, or is not an ELF file of 64 bits. The texts are the arena's. */
void elf_sections_open(struct elf_sections *e, struct arena *a, const char *path);
void elf_sections_close(struct elf_sections *e);

/* What the section holds in the file; empty if it cannot be read or is larger than makes sense. */
struct text elf_section_content(struct elf_sections *e, const struct elf_section *s);

/* Calls back for each function of the file's symbol table, or its dynamic one if that was stripped. */
void elf_sections_functions(struct elf_sections *e, void *to,
	void (*function)(void *to, struct text name, uint64_t start, uint64_t size));

#endif
