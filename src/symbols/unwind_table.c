/* SPDX-License-Identifier: MIT */
#include "unwind_table.h"

#include <stddef.h>
#include <string.h>

#include "symbols/elf_file.h"

enum { HEAD = 12, ENTRY = 8, REACH = 1 << 24 };

/* What every linker writes: version 1; pointer relative to here, count as it is, table relative to the section; 4 bytes each. */
static const unsigned char usual[] = {1, 0x1b, 0x03, 0x3b};

/* The table's address of entry i. */
static uint64_t start_of(const unsigned char *table, uint64_t section, size_t i)
{
	int32_t offset;

	memcpy(&offset, table + HEAD + i * ENTRY, sizeof offset);
	return section + (uint64_t)(int64_t)offset;
}

bool unwind_table_find(const struct elf_file *f, uint64_t address, uint64_t *start)
{
	GElf_Shdr header;
	Elf_Scn *scn = f->elf ? elf_file_section(f, ".eh_frame_hdr", &header) : NULL;
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
	const unsigned char *table = data ? data->d_buf : NULL;
	size_t low = 0, high;
	uint32_t count;

	if (!table || data->d_size < HEAD || memcmp(table, usual, sizeof usual) != 0)
		return false;
	memcpy(&count, table + 8, sizeof count);
	high = count < (data->d_size - HEAD) / ENTRY ? count : (data->d_size - HEAD) / ENTRY;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (start_of(table, header.sh_addr, middle) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return false;
	*start = start_of(table, header.sh_addr, low - 1);
	return *start <= address && address - *start < REACH; /* a damaged table need not be sorted */
}
