/* SPDX-License-Identifier: MIT */
#include "entry_point.h"

#include <string.h>
#include <unistd.h>

#include "symbols/elf_file.h"

enum { CODE = 64, INSTRUCTION = 7 };

/* The bytes of the file that are loaded at the address. */
static bool read_at(const struct elf_file *f, uint64_t address, unsigned char *to, size_t n)
{
	size_t count = 0;
	GElf_Phdr p;

	elf_getphdrnum(f->elf, &count);
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(f->elf, (int)i, &p) && p.p_type == PT_LOAD && address - p.p_vaddr < p.p_filesz)
			return p.p_filesz - (address - p.p_vaddr) >= n &&
			       pread(f->fd, to, n, (off_t)(p.p_offset + (address - p.p_vaddr))) == (ssize_t)n;
	return false;
}

/* call, by whatever means. */
static bool is_call(const unsigned char *at)
{
	return (at[0] == 0xff && at[1] == 0x15) || at[0] == 0xe8 || (at[0] == 0x67 && at[1] == 0xe8);
}

/* lea rdi, [rip + number] and mov rdi, number. */
uint64_t entry_point_main(const struct elf_file *f)
{
	unsigned char code[CODE];
	GElf_Ehdr header;
	int32_t number;

	if (!f->elf || !gelf_getehdr(f->elf, &header) || header.e_machine != EM_X86_64 || !header.e_entry ||
		!read_at(f, header.e_entry, code, sizeof code))
		return 0;
	for (size_t i = 0; i + INSTRUCTION + 2 <= CODE; i++) {
		if (code[i] != 0x48 || !is_call(code + i + INSTRUCTION))
			continue;
		memcpy(&number, code + i + 3, sizeof number);
		if (code[i + 1] == 0x8d && code[i + 2] == 0x3d)
			return header.e_entry + i + INSTRUCTION + (uint64_t)(int64_t)number;
		if (code[i + 1] == 0xc7 && code[i + 2] == 0xc7)
			return (uint64_t)(int64_t)number;
	}
	return 0;
}
