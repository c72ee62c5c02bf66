/* SPDX-License-Identifier: MIT */
/* Values that have no expression, or pass through what has none: floats, vectors, wide integers, assembly, variadic calls. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fission.h>

typedef int four __attribute__((vector_size(16)));

struct small {
	char c;
};
struct two {
	long a, b;
};
struct mixed {
	double d;
	int i;
};
struct large {
	int at[20];
};
struct odd {
	char at[3];
};

static struct small small(int x) { return (struct small){(char)x}; }
static struct two two(long x) { return (struct two){x, -x}; }
static struct mixed mixed(int x) { return (struct mixed){x / 2.0, x}; }
static struct large large(int x) { return (struct large){{x, x + 1, [19] = x * 3}}; }
static struct odd odd(int x) { return (struct odd){{(char)x, 2, 3}}; }
static int sum_large(struct large l) { return l.at[0] + l.at[1] + l.at[19]; }
static long sum_two(struct two t, struct odd o, struct small s) { return t.a + 2 * t.b + o.at[0] + s.c; }

static long sum(int n, ...)
{
	va_list list;
	long s = 0;

	va_start(list, n);
	for (int i = 0; i < n; i++)
		s += i % 2 ? va_arg(list, long) : va_arg(list, int);
	va_end(list);
	return s;
}

static int compare(const void *a, const void *b)
{
	return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

static int through_assembly(int x)
{
	int y = 0;

#if defined __x86_64__
	__asm__ volatile("movl %1, %0\n\taddl $5, %0" : "=&r"(y) : "r"(x) : "cc");
	__asm__ volatile("addl $2, %0" : "+m"(y) : : "cc", "memory");
#else
	y = x + 7;
#endif
	return y;
}

static int wide(int x)
{
	unsigned __int128 w = (unsigned __int128)(unsigned)x << 70 | 5;

	w *= 3;
	return (int)(w >> 70) + (int)w;
}

static int variable_length(int n)
{
	int at[n];
	char *more = __builtin_alloca((size_t)n);

	memset(more, n, (size_t)n);
	for (int i = 0; i < n; i++)
		at[i] = i * more[i];
	return at[n - 1];
}

int main(void)
{
	int x = 9, sorted[] = {5, 2, 9, 1, 7};
	double d;
	long double e;
	four v, w = {1, 2, 3, 4};
	float f;

	fission_input(&x, sizeof x, "x");
	d = x * 1.5;
	e = (long double)x / 3;
	v = w * x + w;
	f = (float)x;
	sorted[1] = x;
	qsort(sorted, 5, sizeof *sorted, compare);
	printf("%g %.6Lg %d %d %d %d %g\n", d, e, v[0], v[3], (int)d, (int)(e * 10), (double)f);
	printf("%d %d %d %d %d\n", sorted[0], sorted[1], sorted[2], sorted[3], sorted[4]);
	printf("%ld %d %d %d\n", sum(4, x, 2l, 3, (long)x), through_assembly(x), wide(x), variable_length(x));
	printf("%d %ld %g %d %ld\n", small(x).c, two(x).b, mixed(x).d, sum_large(large(x)),
		sum_two(two(x), odd(x), small(x)));
	printf("%d %d %d %d\n", __builtin_popcount((unsigned)x), __builtin_clz((unsigned)x),
		__builtin_bswap32((unsigned)x) == 9u << 24, __builtin_expect(x == 9, 1));
	return d > 13 ? 0 : 1;
}
