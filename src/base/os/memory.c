/* SPDX-License-Identifier: MIT */
#include "memory.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/fail.h"

enum { HUGE_PAGE = 1 << 21 };

/*
 * What is large is used all over, and most of what it costs is to find the page: huge ones are asked for, where the system
 * has them. They must lie at their multiples, so what is around them goes back.
 */
static void *map_huge(size_t bytes)
{
	char *p = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t before = -(uintptr_t)p % HUGE_PAGE;

	if (p == MAP_FAILED)
		return NULL;
	if (before)
		munmap(p, before);
	munmap(p + before + bytes, HUGE_PAGE - before);
	madvise(p + before, bytes, MADV_HUGEPAGE);
	return p + before;
}

void *memory_map(size_t bytes)
{
	void *p = bytes >= HUGE_PAGE && bytes % 4096 == 0 ? map_huge(bytes) : NULL;

	if (p)
		return p;
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

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
