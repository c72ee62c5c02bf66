/* SPDX-License-Identifier: MIT */
/* A program with an allocator of its own, as hooks see it: nobody calls ours, and nothing goes round in circles. */
// EXPECT: enter\(malloc\)
// EXPECT: join\(T2\)
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Alignas(16) char heap[1 << 20];
static size_t used;

void *malloc(size_t n)
{
	size_t at;

	pthread_mutex_lock(&lock);
	at = used;
	used += ((n + 15) & ~(size_t)15) + 16;
	pthread_mutex_unlock(&lock);
	if (used > sizeof heap)
		return NULL;
	*(size_t *)(heap + at) = n;
	return heap + at + 16;
}

void free(void *p) { (void)p; }
void *calloc(size_t n, size_t m) { return malloc(n * m); }

void *realloc(void *p, size_t n)
{
	void *q = malloc(n);

	if (p && q)
		memcpy(q, p, *(size_t *)((char *)p - 16) < n ? *(size_t *)((char *)p - 16) : n);
	return q;
}

static void *work(void *p) { return strdup(p); }

int main(void)
{
	pthread_t t;
	void *s;

	pthread_create(&t, NULL, work, "copied");
	pthread_join(t, &s);
	printf("%s %d\n", (char *)s, (char *)s >= heap && (char *)s < heap + sizeof heap);
	return 0;
}
