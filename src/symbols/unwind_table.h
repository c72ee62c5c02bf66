/* SPDX-License-Identifier: MIT */
/*
 * Where functions begin, of a file that has no symbols left: the table for unwinding, .eh_frame_hdr, stays in a stripped
 * program, sorted. So all that happens in one function has one name, though nobody knows the right one.
 */
#ifndef FISSION_SYMBOLS_UNWIND_TABLE_H
#define FISSION_SYMBOLS_UNWIND_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct elf_file;

/* The start of the function that holds the address. False if the file has no table in the usual form. */
bool unwind_table_find(const struct elf_file *f, uint64_t address, uint64_t *start);

#endif
