/* SPDX-License-Identifier: MIT */
/*
 * Where main is in a program without symbols. The start code of glibc hands its address over in a register, by one
 * instruction right before the call of __libc_start_main.
 */
#ifndef FISSION_SYMBOLS_ENTRY_POINT_H
#define FISSION_SYMBOLS_ENTRY_POINT_H

#include <stdint.h>

struct elf_file;

/* Its address in the file; 0 if it cannot be told. */
uint64_t entry_point_main(const struct elf_file *f);

#endif
