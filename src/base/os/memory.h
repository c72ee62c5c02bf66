/* SPDX-License-Identifier: MIT */
/* Pages from the operating system. */
#ifndef FISSION_BASE_OS_MEMORY_H
#define FISSION_BASE_OS_MEMORY_H

#include <stddef.h>

/* Zeroed pages; ends the tool with STATUS_UNFIT when there are none left. */
void *memory_map(size_t bytes);

void memory_unmap(void *p, size_t bytes);

/* The most memory that this process has had resident so far, in bytes. */
size_t memory_peak(void);

#endif
