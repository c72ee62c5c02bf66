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
static __thread uint64_t *mine __attribute__((tls_model("initial-exec")));

void count(void);

__attribute__((target("general-regs-only"))) void count(void)
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

/* An atomic operation is done, in sequential order: the hook stands in its place. */
#define FETCH(bits, name, builtin)                                                       \
	uint##bits##_t __tsan_atomic##bits##_##name(uint##bits##_t *, uint##bits##_t, int);  \
	uint##bits##_t __tsan_atomic##bits##_##name(uint##bits##_t *a, uint##bits##_t v, int order) \
	{                                                                                    \
		(void)order;                                                                     \
		count();                                                                         \
		return builtin(a, v, __ATOMIC_SEQ_CST);                                          \
	}

#define EXCHANGE(bits, name)                                                                         \
	int __tsan_atomic##bits##_##name(uint##bits##_t *, uint##bits##_t *, uint##bits##_t, int, int);  \
	int __tsan_atomic##bits##_##name(uint##bits##_t *a, uint##bits##_t *old, uint##bits##_t v, int order, int other) \
	{                                                                                                \
		(void)order;                                                                                 \
		(void)other;                                                                                 \
		count();                                                                                     \
		return __atomic_compare_exchange_n(a, old, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);        \
	}

#define ATOMIC(bits)                                                           \
	uint##bits##_t __tsan_atomic##bits##_load(const uint##bits##_t *, int);    \
	uint##bits##_t __tsan_atomic##bits##_load(const uint##bits##_t *a, int order) \
	{                                                                          \
		(void)order;                                                           \
		count();                                                               \
		return __atomic_load_n(a, __ATOMIC_SEQ_CST);                           \
	}                                                                          \
	void __tsan_atomic##bits##_store(uint##bits##_t *, uint##bits##_t, int);   \
	void __tsan_atomic##bits##_store(uint##bits##_t *a, uint##bits##_t v, int order) \
	{                                                                          \
		(void)order;                                                           \
		count();                                                               \
		__atomic_store_n(a, v, __ATOMIC_SEQ_CST);                              \
	}                                                                          \
	FETCH(bits, exchange, __atomic_exchange_n)                                 \
	FETCH(bits, fetch_add, __atomic_fetch_add)                                 \
	FETCH(bits, fetch_sub, __atomic_fetch_sub)                                 \
	FETCH(bits, fetch_and, __atomic_fetch_and)                                 \
	FETCH(bits, fetch_or, __atomic_fetch_or)                                   \
	FETCH(bits, fetch_xor, __atomic_fetch_xor)                                 \
	EXCHANGE(bits, compare_exchange_strong)                                    \
	EXCHANGE(bits, compare_exchange_weak)

ATOMIC(8)
ATOMIC(16)
ATOMIC(32)
ATOMIC(64)

void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
	count();
}

void __tsan_init(void);
void __tsan_init(void)
{
}

// The hooks in the code of programs that gcc has compiled (driver/fission/hooks.h): the looks in front of them find
// nothing, they themselves nothing to do, and jump to doors, behind which all registers have to stay as they are.
static char no_marks[16 << 20];
__thread void *hooks[8] __asm__("__fission_hooks_6") __attribute__((tls_model("initial-exec"))) =
	{[3] = no_marks};
uint16_t __fission_calm[1 << 16];

#ifdef COUNT
#define BEHIND \
	"push %rbp\n\tmov %rsp, %rbp\n\tpush %rax\n\tpush %rcx\n\tpush %rdx\n\tpush %rsi\n\tpush %rdi\n\tpush %r8\n\t" \
	"push %r9\n\tpush %r10\n\tpush %r11\n\tand $-16, %rsp\n\tcall count@PLT\n\tlea -72(%rbp), %rsp\n\tpop %r11\n\t" \
	"pop %r10\n\tpop %r9\n\tpop %r8\n\tpop %rdi\n\tpop %rsi\n\tpop %rdx\n\tpop %rcx\n\tpop %rax\n\tpop %rbp\n\t"
#else
#define BEHIND
#endif

#define DOOR(name) \
	__asm__(".text\n.globl __fission_" #name "\n.type __fission_" #name ", @function\n__fission_" #name ":\n\t" BEHIND "ret\n");
#define DOORS(name) DOOR(name##1) DOOR(name##2) DOOR(name##4) DOOR(name##8) DOOR(name##16)

#ifdef __x86_64__
DOORS(read)
DOORS(write)
DOOR(func_entry)
DOOR(func_exit)
DOOR(full)
DOOR(loop)
#endif

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
