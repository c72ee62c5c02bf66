/* SPDX-License-Identifier: MIT */
/* The allocator and mappings: results and errno as ever; each allocation and its end is told. */
// COUNT: 1 alloc\(0x[0-9a-f]+,1001\)
// COUNT: 1 alloc\(0x[0-9a-f]+,2002\)
// COUNT: 1 alloc\(0x[0-9a-f]+,3003\)
// COUNT: 1 alloc\(0x[0-9a-f]+,4004\)
// COUNT: 1 alloc\(0x[0-9a-f]+,5056\)
// COUNT: 1 alloc\(0x[0-9a-f]+,6006\)
// COUNT: 1 alloc\(0x[0-9a-f]+,7007\)
// COUNT: 1 alloc\(0x[0-9a-f]+,8008\)
// COUNT: 1 alloc\(0x[0-9a-f]+,9009\)
// COUNT: 2 alloc\(0x[0-9a-f]+,1000000\)
// COUNT: 1 alloc\(0x[0-9a-f]+,12288\)
// COUNT: 1 alloc\(0x[0-9a-f]+,24576\)
// COUNT: 1 alloc\(0x[0-9a-f]+,6\)
// COUNT: 12+ free\(
// NEVER: alloc\(0x[0-9a-f]+,4611686018427387904\)
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void *volatile kept;

static void give_back(void *p)
{
	kept = p;
	free(p);
}

static void fail(const char *name, void *p)
{
	printf("%s %d %d\n", name, p == NULL, errno == ENOMEM);
	errno = 0;
}

static int all_zero(const char *p, int n)
{
	for (int i = 0; i < n; i++)
		if (p[i])
			return 0;
	return 1;
}

int main(void)
{
	volatile size_t huge = (size_t)1 << 62;
	char *p, *q;
	void *r = NULL;

	errno = 0;
	give_back(malloc(1001));
	p = calloc(2, 1001);
	printf("%d\n", all_zero(p, 2002));
	strcpy(p, "hello");
	p = realloc(p, 3003);
	printf("%s\n", p);
	p = reallocarray(p, 4, 1001);
	printf("%s\n", p);
	give_back(p);
	p = aligned_alloc(64, 5056);
	printf("%d\n", (int)((size_t)p % 64));
	give_back(p);
	printf("%d", posix_memalign(&r, 256, 6006));
	printf(" %d %d\n", (int)((size_t)r % 256), posix_memalign(&r, 3, 10) == EINVAL);
	give_back(r);
	give_back(memalign(128, 7007));
	give_back(valloc(8008));
	p = pvalloc(9009);
	printf("%d\n", (int)((size_t)p % 4096));
	give_back(p);
	give_back(malloc(1000000));
	give_back(calloc(1, 1000000));
	give_back(strdup("12345"));
	free(NULL);
	printf("%d\n", errno);
	fail("malloc", malloc(huge));
	fail("calloc", calloc(huge, 8));
	fail("reallocarray", reallocarray(NULL, huge, 8));
	p = malloc(9);
	fail("realloc", realloc(p, huge));
	p[0] = 1;
	give_back(p);
	p = mmap(NULL, 12288, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	p[0] = 7;
	q = mremap(p, 12288, 24576, MREMAP_MAYMOVE);
	printf("%d %d\n", q[0], munmap(q, 24576));
	printf("%d", mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
	printf(" %d %d\n", errno == EINVAL, munmap((void *)1, 4096));
	return 0;
}
