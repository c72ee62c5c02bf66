/* SPDX-License-Identifier: MIT */
/*
 * One ELF file, open, and the one beside it that has its debug information if it was stripped.
 *
 * Files are read, not mapped: one that is cut short while we look at it is an error of libelf and not a SIGBUS.
 */
#ifndef FISSION_SYMBOLS_ELF_FILE_H
#define FISSION_SYMBOLS_ELF_FILE_H

#include <stdbool.h>

#include <gelf.h>

#include "base/intern.h"

struct arena;

struct elf_file {
	int fd; /* -1: not open */
	Elf *elf;
};

/* Opens a regular ELF file. False, with nothing open, for anything else. */
bool elf_file_open(struct elf_file *f, const char *path);

void elf_file_close(struct elf_file *f);

/* A section by its name, with its header; NULL if there is none. */
Elf_Scn *elf_file_section(const struct elf_file *f, const char *name, GElf_Shdr *header);

/* Whether line tables or more are in the file itself. */
bool elf_file_has_debug(const struct elf_file *f);

/*
 * Whether the sections of strings end with a NUL, as libdw trusts them to. To be asked after libdw has opened the file,
 * which unpacks compressed sections.
 */
bool elf_file_strings_end(const struct elf_file *f);

/* The build id as hexadecimal digits, owned by the arena; empty if there is none. */
struct text elf_file_build_id(const struct elf_file *f, struct arena *a);

/*
 * Opens the separate debug file of `f`, which was opened from `path`: by build id below `root`/.build-id, then by the
 * name of .gnu_debuglink beside the file, in .debug/ there, and below `root`. One that belongs to another build, by its
 * build id or else by the checksum of the link, is not taken. False if there is none.
 */
bool elf_file_open_debug(struct elf_file *debug, const struct elf_file *f, const char *path, const char *root,
	struct arena *a);

#endif
