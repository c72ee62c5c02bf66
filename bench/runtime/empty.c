// SPDX-License-Identifier: MIT
// The hooks that the compiler calls, without anything in them: what instrumentation costs before a tool does its first
// thing. As a shared library, so that a call goes the way it goes to ours.
//
// With -DCOUNT each call counts, and the sum is the last line on stderr: the number of events of a run. A thread counts
// in a slot of its own; threads that are still running at exit may lack their last few.
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef COUNT
enum { SLOTS = 4096 };

static struct {
	_Alignas(64) uint64_t calls;
} slots[SLOTS];
static atomic_uint used;
static __thread uint64_t *mine;

static void count(void)
{
	if (!mine)
		mine = &slots[atomic_fetch_add(&used, 1) % SLOTS].calls;
	++*mine;
}

__attribute__((destructor)) static void print_count(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < SLOTS; i++)
		sum += slots[i].calls;
	fprintf(stderr, "%llu\n", (unsigned long long)sum);
}
#else
static void count(void)
{
}
#endif

#define ACCESS(name)             \
	void __tsan_##name(void *);  \
	void __tsan_##name(void *a)  \
	{                            \
		(void)a;                 \
		count();                 \
	}

#define RANGE(name)                          \
	void __tsan_##name(void *, uintptr_t);   \
	void __tsan_##name(void *a, uintptr_t n) \
	{                                        \
		(void)a;                             \
		(void)n;                             \
		count();                             \
	}

#define SIZES(name) ACCESS(name##1) ACCESS(name##2) ACCESS(name##4) ACCESS(name##8) ACCESS(name##16)

SIZES(read)
SIZES(write)
SIZES(read_write)
SIZES(unaligned_read)
SIZES(unaligned_write)
SIZES(unaligned_read_write)
SIZES(volatile_read)
SIZES(volatile_write)
SIZES(unaligned_volatile_read)
SIZES(unaligned_volatile_write)
ACCESS(func_entry)
RANGE(read_range)
RANGE(write_range)

void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
	count();
}

void __tsan_init(void);
void __tsan_init(void)
{
}

// clang leaves these to its runtime, which tells of the access and then does the work.
#define COPY(name)                                                  \
	void *__tsan_##name(void *, const void *, size_t);              \
	void *__tsan_##name(void *to, const void *from, size_t n)       \
	{                                                               \
		count();                                                    \
		return __builtin_##name(to, from, n);                       \
	}

COPY(memcpy)
COPY(memmove)

void *__tsan_memset(void *, int, size_t);
void *__tsan_memset(void *to, int byte, size_t n)
{
	count();
	return __builtin_memset(to, byte, n);
}
