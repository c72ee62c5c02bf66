/* SPDX-License-Identifier: MIT */
/*
 * What the fixtures print: questions for symbols_query with the answers that the source itself gives, tab-separated.
 * The expected name of a variable is the expression that is its address here.
 */
#include <stdio.h>

#define V(part) printf("v %p %zu\t%s\n", (void *)&(part), sizeof(part), #part)
#define V_AS(part, name) printf("v %p %zu\t%s\n", (void *)&(part), sizeof(part), name)
#define V_SIZE(part, size, name) printf("v %p %d\t%s\n", (void *)&(part), size, name)
#define F(function, name) printf("f %p\t%s\n", (void *)(function), name)
#define EXPORTED(function, is) printf("x %p\t%d\n", (void *)(function), is)
#define BIAS(function) printf("bias\t%p\n", (void *)(function)) /* where it was loaded; nm says where it was linked */
/* The empty statement behind the call keeps it from becoming a jump, which would return to the caller's caller. */
#define PLACE(file) do { say_place(file, __LINE__); __asm__ volatile(""); } while (0)

static __attribute__((noinline)) void say_place(const char *file, int line)
{
	printf("p %p\t%s:%d\n", (void *)((char *)__builtin_return_address(0) - 1), file, line);
}
