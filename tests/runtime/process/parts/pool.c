/* SPDX-License-Identifier: MIT */
/* An allocator that only ever grows. */
#include <stddef.h>

static _Alignas(16) char heap[1 << 20];
static size_t used;

int pool_has(const void *p);
void *malloc(size_t n);
void *calloc(size_t n, size_t m);
void *realloc(void *p, size_t n);
void free(void *p);

int pool_has(const void *p) { return (const char *)p >= heap && (const char *)p < heap + sizeof heap; }

void *malloc(size_t n)
{
	size_t whole = ((n + 15) & ~(size_t)15) + 16, at = used;

	used += whole;
	if (at + whole > sizeof heap)
		return NULL;
	*(size_t *)(heap + at) = n;
	return heap + at + 16;
}

void free(void *p) { (void)p; }
void *calloc(size_t n, size_t m) { return malloc(n * m); }

void *realloc(void *p, size_t n)
{
	char *q = malloc(n), *from = p;
	size_t old = p ? *(size_t *)(from - 16) : 0;

	for (size_t i = 0; q && i < old && i < n; i++)
		q[i] = from[i];
	return q;
}
