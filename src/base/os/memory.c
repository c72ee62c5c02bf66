/* SPDX-License-Identifier: MIT */
#include "memory.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/fail.h"

void *memory_map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die(STATUS_UNFIT, "out of memory: %zu more bytes were refused: %s", bytes, strerror(errno));
	return p;
}

void memory_unmap(void *p, size_t bytes)
{
	munmap(p, bytes);
}

size_t memory_peak(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (size_t)usage.ru_maxrss * 1024;
}
