/* SPDX-License-Identifier: MIT */
/*
 * What instrumented code calls at memory accesses and at function entry and exit: the interface of gcc's and
 * clang's -fsanitize=thread. Atomics are in abi_atomic.c, annotations in abi_annotate.c.
 */
#include <stdint.h>

#include "runtime/access.h"
#include "runtime/modules.h"
#include "runtime/real.h"
#include "runtime/self.h"

/* The first entry of a thread, or one that nobody wants; apart, so that the hot path has no frame. */
static __attribute__((noinline)) void put_first(uint64_t first, uint64_t second)
{
	struct self *s = self_off ? NULL : self_start();

	if (s)
		self_put(s, first, second);
}

static inline void access(enum entry_kind kind, unsigned size, const void *address, void *pc)
{
	struct self *s = self_ring;

	if (unlikely(!s))
		put_first(entry_first(kind, size, (uintptr_t)address), (uintptr_t)pc);
	else
		self_put(s, entry_first(kind, size, (uintptr_t)address), (uintptr_t)pc);
}

#define HOOK(name, kind, size) \
	EXPORT void name(void *address); \
	void name(void *address) \
	{ \
		access(kind, size, address, CALLER); \
	}

#define HOOKS(size) \
	HOOK(__tsan_read##size, ENTRY_READ, size) \
	HOOK(__tsan_write##size, ENTRY_WRITE, size) \
	HOOK(__tsan_unaligned_read##size, ENTRY_READ, size) \
	HOOK(__tsan_unaligned_write##size, ENTRY_WRITE, size) \
	HOOK(__tsan_volatile_read##size, ENTRY_READ_VOLATILE, size) \
	HOOK(__tsan_volatile_write##size, ENTRY_WRITE_VOLATILE, size) \
	HOOK(__tsan_unaligned_volatile_read##size, ENTRY_READ_VOLATILE, size) \
	HOOK(__tsan_unaligned_volatile_write##size, ENTRY_WRITE_VOLATILE, size)

HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

/* The compound forms: clang's for x += 1. */
#define HOOK_BOTH(name, size) \
	EXPORT void name(void *address); \
	void name(void *address) \
	{ \
		access(ENTRY_READ, size, address, CALLER); \
		access(ENTRY_WRITE, size, address, CALLER); \
	}

#define HOOKS_BOTH(size) \
	HOOK_BOTH(__tsan_read_write##size, size) \
	HOOK_BOTH(__tsan_unaligned_read_write##size, size)

HOOKS_BOTH(1)
HOOKS_BOTH(2)
HOOKS_BOTH(4)
HOOKS_BOTH(8)
HOOKS_BOTH(16)

/* With the place given: for compilers that outline. */
#define HOOK_PC(name, kind, size) \
	EXPORT void name(void *address, void *pc); \
	void name(void *address, void *pc) \
	{ \
		access(kind, size, address, pc); \
	}

#define HOOKS_PC(size) \
	HOOK_PC(__tsan_read##size##_pc, ENTRY_READ, size) \
	HOOK_PC(__tsan_write##size##_pc, ENTRY_WRITE, size)

HOOKS_PC(1)
HOOKS_PC(2)
HOOKS_PC(4)
HOOKS_PC(8)
HOOKS_PC(16)

void access_range(enum entry_kind kind, const void *address, size_t bytes, void *pc)
{
	struct self *s = self();

	if (s && bytes)
		self_put_sized(s, entry_first(kind, 0, (uintptr_t)address), (uintptr_t)pc, bytes);
}

EXPORT void __tsan_read_range(void *address, unsigned long bytes);
EXPORT void __tsan_write_range(void *address, unsigned long bytes);

void __tsan_read_range(void *address, unsigned long bytes)
{
	access_range(ENTRY_READ_RANGE, address, bytes, CALLER);
}

void __tsan_write_range(void *address, unsigned long bytes)
{
	access_range(ENTRY_WRITE_RANGE, address, bytes, CALLER);
}

EXPORT void __tsan_read_range_pc(void *address, unsigned long bytes, void *pc);
EXPORT void __tsan_write_range_pc(void *address, unsigned long bytes, void *pc);

void __tsan_read_range_pc(void *address, unsigned long bytes, void *pc)
{
	access_range(ENTRY_READ_RANGE, address, bytes, pc);
}

void __tsan_write_range_pc(void *address, unsigned long bytes, void *pc)
{
	access_range(ENTRY_WRITE_RANGE, address, bytes, pc);
}

EXPORT void __tsan_vptr_update(void **address, void *value);
EXPORT void __tsan_vptr_read(void **address);

/* A constructor that stores the vtable that is there already changes nothing. */
void __tsan_vptr_update(void **address, void *value)
{
	if (*address != value)
		access(ENTRY_WRITE, sizeof *address, address, CALLER);
}

void __tsan_vptr_read(void **address)
{
	access(ENTRY_READ, sizeof *address, address, CALLER);
}

EXPORT void __tsan_init(void);

/* Called by a constructor in every instrumented file: of libraries that are loaded later, too. */
void __tsan_init(void)
{
	struct self *s = self();

	if (s)
		modules_tell(s);
}

/* Calls. */

/*
 * How deep the caller's frame lies. The hooks have no frame of their own and instrumented code keeps its frame
 * pointer, so the register still holds it: the same value at entry and exit, and what callees have lies below.
 */
static inline uint32_t depth_of(const struct self *s)
{
	uintptr_t frame;
	uint64_t depth;

#if defined __x86_64__
	__asm__ volatile("movq %%rbp, %0" : "=r"(frame));
#else
	frame = (uintptr_t)__builtin_frame_address(0);
#endif
	depth = (s->stack - frame) / DEPTH_UNIT;
	return depth < DEPTH_UNKNOWN ? (uint32_t)depth : DEPTH_UNKNOWN;
}

static inline void call(enum entry_kind kind, const void *from, void *pc)
{
	struct self *s = self();
	uint32_t depth;

	if (unlikely(!s))
		return;
	depth = depth_of(s);
	self_put(s, entry_first(kind, depth, (uintptr_t)from), entry_second((uintptr_t)pc, depth >> 8));
}

EXPORT void __tsan_func_entry(void *from);
EXPORT void __tsan_func_exit(void);

void __tsan_func_entry(void *from)
{
	call(ENTRY_ENTER, from, CALLER);
}

void __tsan_func_exit(void)
{
	call(ENTRY_EXIT, NULL, CALLER);
}
