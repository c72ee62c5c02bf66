/* SPDX-License-Identifier: MIT */
/*
 * The doors behind the hooks that each program has in its own code (driver/fission/hooks.h).
 *
 * Who comes through a door has put nothing aside but r10 and r11, and at accesses r8 and r9: gcc has seen what its hook takes, and relies on it. So
 * a door saves the general registers, and what is behind it must not touch any others; the library is compiled so
 * (-mgeneral-regs-only). The C library is not. It is called where a thread starts, and in a controlled run; there the
 * others are saved as well, which is slow. Behind calls there may be a system call by it, which touches none of them.
 */
#include <cpuid.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/abi_tsan.h"
#include "runtime/filter.h"
#include "runtime/frames.h"
#include "runtime/hooks_layout.h"
#include "runtime/loops.h"
#include "runtime/mute.h"
#include "runtime/real.h"
#include "runtime/trail.h"

#if defined __x86_64__

#define SAME(number, here) _Static_assert((uint64_t)(number) == (uint64_t)(here), "as the hooks know it")
SAME(__FISSION_NOW, offsetof(struct self, now));
SAME(__FISSION_FRAMES, offsetof(struct self, frames));
SAME(__FISSION_OPEN, offsetof(struct self, open));
SAME(__FISSION_TOLD, offsetof(struct self, told));
SAME(__FISSION_MODE, offsetof(struct self, mode));
SAME(__FISSION_FROM, offsetof(struct self, own));
SAME(__FISSION_REACH, offsetof(struct self, reach));
SAME(__FISSION_LEAVES, offsetof(struct self, leaves));
SAME(__FISSION_STAMP, offsetof(struct self, stamp));
SAME(__FISSION_ENTERED, offsetof(struct self, entered));
SAME(__FISSION_CALM_SINCE, offsetof(struct self, calm_since));
SAME(__FISSION_HOOKS_MARKS, offsetof(struct self_hooks, marks));
SAME(__FISSION_LATELY, offsetof(struct self, lately));
SAME(__FISSION_MARKS, offsetof(struct self, marks));
SAME(__FISSION_NOTES, offsetof(struct self, notes));
SAME(0, offsetof(struct marks_head, look));
SAME(__FISSION_MARKS_read1, MARKS_1);
SAME(__FISSION_MARKS_write1, MARKS_1 + MARKS_PART);
SAME(__FISSION_MARKS_OF_1, offsetof(struct marks_head, of[0]));
SAME(__FISSION_MARKS_read2, MARKS_2);
SAME(__FISSION_MARKS_write2, MARKS_2 + MARKS_PART);
SAME(__FISSION_MARKS_OF_2, offsetof(struct marks_head, of[1]));
SAME(__FISSION_MARKS_read4, MARKS_4);
SAME(__FISSION_MARKS_write4, MARKS_4);
SAME(__FISSION_MARKS_OF_4, offsetof(struct marks_head, of[2]));
SAME(__FISSION_MARKS_read8, MARKS_8);
SAME(__FISSION_MARKS_write8, MARKS_8);
SAME(__FISSION_MARKS_OF_8, offsetof(struct marks_head, of[3]));
SAME(__FISSION_MARKS_read16, MARKS_16);
SAME(__FISSION_MARKS_write16, MARKS_16);
SAME(__FISSION_MARKS_OF_16, offsetof(struct marks_head, of[4]));
SAME((uint64_t)1 << __FISSION_WRITTEN_BIT, LOOK_WRITTEN);
SAME(sizeof(struct note), 4 * GRANULE);
SAME(offsetof(struct note, place), 8);
SAME(__FISSION_ADDRESS_UP, 64 - ADDRESSES);
SAME(__FISSION_ADDRESS_DOWN, 64 - ADDRESSES + LEAF_SHIFT);
SAME(__FISSION_LEAF_MASK, LEAF_MEMORY - GRANULE);
SAME(__FISSION_PLACES_AT, LEAF_WORDS);
SAME(__FISSION_FRAMES_MOST, FRAMES_MOST);
SAME(__FISSION_CALM_BITS, CALM_BITS);
SAME(__FISSION_CALM, CALM);
SAME(__FISSION_CALM_FACTOR, CALM_FACTOR);
SAME(__FISSION_LOUD, LOUD);
SAME(__FISSION_LOCKS, MODE_LOCKS);
SAME(sizeof(struct frame), 1 << 5);
SAME(offsetof(struct frame, place), 8);
SAME(offsetof(struct frame, from), 16);
SAME(offsetof(struct frame, pc), 24);
SAME(WORD_BYTES, STAMP_BYTES);
SAME(QUICK_WRITTEN, 5);
SAME(QUICK_TOLD, 1);
SAME(WORD_FLAGS, 15);
SAME(READS, 2);
SAME(SOLE, 4);
SAME(offsetof(struct self_hooks, timed), 8);
SAME(offsetof(struct self_hooks, recorded), 16);
SAME(__FISSION_HEAD, offsetof(struct self, head));
SAME(__FISSION_LIMIT, offsetof(struct self, limit));
SAME(__FISSION_STACK, offsetof(struct self, stack));
SAME(__FISSION_SLOTS, CHANNEL_PAGE);
SAME(__FISSION_SLOT, SLOT);
SAME(__FISSION_RING_MASK, RING_BYTES - SLOT);
SAME(__FISSION_DEPTH_UNKNOWN, DEPTH_UNKNOWN);
SAME(DEPTH_UNIT, 1 << 4);
SAME(__FISSION_READ, ENTRY_READ);
SAME(__FISSION_WRITE, ENTRY_WRITE);
SAME(__FISSION_ENTER, ENTRY_ENTER);
SAME(__FISSION_EXIT, ENTRY_EXIT);
SAME(__FISSION_HOOKS_TRAIL, offsetof(struct self_hooks, trail));
SAME(__FISSION_TRAIL_AT, offsetof(struct self, trail_at));
SAME(__FISSION_TRAIL_LIMIT, offsetof(struct self, trail_limit));
SAME(__FISSION_TRAIL_DEPTH_LAST, offsetof(struct self, trail_depth));
SAME(__FISSION_TRAIL_BUSY, offsetof(struct self, trail_busy));
SAME(__FISSION_TRAIL_LAST, offsetof(struct self, trail_last));
SAME(__FISSION_TRAIL_COUNTED, TRAIL_COUNTED);
SAME(__FISSION_TRAIL_SLIPPED, TRAIL_SLIPPED);
SAME(__FISSION_TRAIL_SLIP_COUNT, TRAIL_SLIP_COUNT);
SAME(__FISSION_TRAIL_SLIP_MOST, TRAIL_SLIP_MOST);
SAME(__FISSION_TRAIL_MISS_MOST, TRAIL_MISS_MOST);
SAME(__FISSION_TRAIL_COUNT_MOST, TRAIL_COUNT_MOST);
SAME(__FISSION_TRAIL_MISS, TRAIL_MISS);
SAME(__FISSION_TRAIL_SITES, SITES_AT);
SAME((__FISSION_TRAIL_SITES_MASK + 4) * 8, (TRAIL_SITES - TRAIL_NUMBERED) * SITE);
SAME(__FISSION_TRAIL_WHAT_SHIFT, TRAIL_WHAT_SHIFT);
SAME(__FISSION_TRAIL_MIX, TRAIL_MIX);
SAME(__FISSION_TRAIL_MIX_SHIFT, TRAIL_MIX_SHIFT);
SAME(__FISSION_TRAIL_FOUND, TRAIL_NUMBERED * SITE);
SAME((uint64_t)1 << __FISSION_TRAIL_DEPTH_BITS, TRAIL_DEPTHS);
SAME(__FISSION_TRAIL_READ, TRAIL_READ);
SAME(__FISSION_TRAIL_WRITE, TRAIL_WRITE);
SAME(__FISSION_TRAIL_ENTRY, TRAIL_ENTRY);
SAME(__FISSION_TRAIL_LEAVE, TRAIL_LEAVE);
SAME(TRAIL_HOOK, 1);
SAME(offsetof(struct trail_site, next), 8);
SAME(offsetof(struct trail_site, stride), 16);
SAME(offsetof(struct trail_site, what), 24);
SAME(offsetof(struct trail_site, token), 26);
SAME(offsetof(struct trail_site, behind), 28);
SAME(__FISSION_LOOP_AT, offsetof(struct self, loop.at));
SAME(__FISSION_LOOP_BACK_PC, offsetof(struct self, loop.back_pc));
SAME(__FISSION_LOOP_BACK_AT, offsetof(struct self, loop.back_at));
SAME(__FISSION_LOOP_BACK_SPAN, offsetof(struct self, loop.back_span));
SAME(__FISSION_LOOP_BAD, offsetof(struct self, loop.bad));
SAME(__FISSION_LOOP_BAD_MASK, LOOP_BAD - 1);
SAME(__FISSION_LOOP_ROUND_SHIFT, LOOP_ROUND_SHIFT);
SAME(__FISSION_LOOP_ADDRESS, offsetof(struct loop_item, address));
SAME(__FISSION_LOOP_STRIDE, offsetof(struct loop_item, stride));
SAME(__FISSION_LOOP_PC, offsetof(struct loop_item, pc));
SAME(__FISSION_LOOP_STEP, offsetof(struct loop_item, step));

/* Vector registers and the like, as the processor saves them. */
enum { EXTENDED_WANTED = 0xe7, EXTENDED_MOST = 2752, EXTENDED_HEADER = 512, OSXSAVE = 1 << 27,
	EXTENDED_ASKED = 1 << 30 };

struct extended {
	_Alignas(64) char area[EXTENDED_MOST];
	uint32_t parts; /* 0: an old processor, which saves what it has */
};

static uint32_t ask_for_parts(void)
{
	uint32_t a, b, c, d, high;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & OSXSAVE))
		return 0;
	__asm__("xgetbv" : "=a"(a), "=d"(high) : "c"(0));
	return a & EXTENDED_WANTED;
}

/* Asked once: in a virtual machine each question leaves it, and takes longer than all the rest. */
static uint32_t extended_parts(void)
{
	static uint32_t known;
	uint32_t parts = __atomic_load_n(&known, __ATOMIC_RELAXED);

	if (!parts) {
		parts = ask_for_parts() | EXTENDED_ASKED;
		__atomic_store_n(&known, parts, __ATOMIC_RELAXED);
	}
	return parts & EXTENDED_WANTED;
}

static inline void extended_save(struct extended *e)
{
	e->parts = extended_parts();
	if (!e->parts) {
		__asm__ volatile("fxsave64 %0" : "=m"(e->area));
		return;
	}
	for (unsigned i = 0; i < 8; i++)
		((volatile uint64_t *)(e->area + EXTENDED_HEADER))[i] = 0;
	__asm__ volatile("xsave64 %0" : "+m"(e->area) : "a"(e->parts), "d"(0));
}

static inline void extended_restore(const struct extended *e)
{
	if (e->parts)
		__asm__ volatile("xrstor64 %0" : : "m"(e->area), "a"(e->parts), "d"(0));
	else
		__asm__ volatile("fxrstor64 %0" : : "m"(e->area));
}

/* Whether what is done now stays in the library. */
static inline bool is_inside(void)
{
	const struct self *s = self_ring;

	return s && !(s->mode & (MODE_BOTH | MODE_GATE | MODE_STOCK));
}

static __attribute__((noinline)) void access_outside(void (*seen)(const void *, void *), const void *address, void *pc)
{
	struct extended e;

	extended_save(&e);
	seen(address, pc);
	extended_restore(&e);
}

static __attribute__((noinline)) void access_any(void (*seen)(const void *, void *), const void *address, void *pc)
{
	if (is_inside())
		seen(address, pc);
	else
		access_outside(seen, address, pc);
}

static inline __attribute__((always_inline)) void access_local(void (*looked)(struct self *, const void *, void *),
	void (*seen)(const void *, void *), const void *address, void *pc, void (*hook)(void *))
{
	struct self *s = self_hooks.filtered;

	if (likely(s))
		looked(s, address, pc);
	else if (!self_blind)
		access_any(seen, address, pc);
	else if (mute_wanted)
		mute(pc, hook);
}

#define LOCAL(name) \
	void local_##name(void *address, void *pc, void (*hook)(void *)); \
	__attribute__((used)) void local_##name(void *address, void *pc, void (*hook)(void *)) \
	{ \
		access_local(looked_##name, seen_##name, address, pc, hook); \
	}

#define LOCALS(size) LOCAL(read##size) LOCAL(write##size)

LOCALS(1)
LOCALS(2)
LOCALS(4)
LOCALS(8)
LOCALS(16)

static __attribute__((noinline)) void call_outside(enum entry_kind kind, uintptr_t frame, uintptr_t from, void *pc)
{
	struct extended e;

	extended_save(&e);
	call_seen(kind, frame, from, pc);
	extended_restore(&e);
}

/* False: nothing is recorded. */
static inline bool call_local(enum entry_kind kind, uintptr_t frame, uintptr_t from, void *pc)
{
	if (likely(self_hooks.timed) || is_inside())
		call_seen(kind, frame, from, pc);
	else if (!self_off)
		call_outside(kind, frame, from, pc);
	else
		return false;
	return true;
}

void local_func_entry(uintptr_t from, void *pc, uintptr_t frame, void (*hook)(void *));
void local_func_exit(uintptr_t gone, void *pc, uintptr_t frame, void (*hook)(void *));

__attribute__((used)) void local_func_entry(uintptr_t from, void *pc, uintptr_t frame, void (*hook)(void *))
{
	if (!call_local(ENTRY_ENTER, frame, from, pc) && mute_wanted)
		mute(pc, hook);
}

__attribute__((used)) void local_func_exit(uintptr_t gone, void *pc, uintptr_t frame, void (*hook)(void *))
{
	if (!call_local(ENTRY_EXIT, frame, gone, pc) && mute_wanted)
		mute_exit(pc, hook);
}

/* An access whose slot is reserved, and beyond the limit. */
void local_full(struct self *s, uint64_t at, uint64_t first, void *pc);

__attribute__((used)) void local_full(struct self *s, uint64_t at, uint64_t first, void *pc)
{
	self_put_slow(s, at, first, (uintptr_t)pc);
}

/* An access was put, and may have been before. */
void local_loop(struct self *s, uint64_t at);

__attribute__((used)) void local_loop(struct self *s, uint64_t at)
{
	loops_begin(s, at);
}

/*
 * A door. If there is nothing to be done it is left at once, by `look`: a program that runs by itself, and whose code cannot
 * be changed, comes by as often as one that is recorded. `arguments` puts what the caller has where a function wants it, and the place of the call is at
 * 8(%rbp).
 */
#define DOOR(name, look, arguments) DOOR_SAVING(name, look, arguments, \
	"pushq %r8\n\tpushq %r9\n\t", "leaq -56(%rbp), %rsp\n\tpopq %r9\n\tpopq %r8\n\t")
#define DOOR_SAVING(name, look, arguments, save, restore) __asm__( \
	".pushsection .text\n" \
	".globl __fission_" #name "\n" \
	".type __fission_" #name ", @function\n" \
	".p2align 4\n" \
	"__fission_" #name ":\n\t" \
	".cfi_startproc\n\t" \
	"endbr64\n\t" \
	look \
	"pushq %rbp\n\t" \
	".cfi_def_cfa_offset 16\n\t" \
	".cfi_offset %rbp, -16\n\t" \
	"movq %rsp, %rbp\n\t" \
	".cfi_def_cfa_register %rbp\n\t" \
	"pushq %rax\n\t" \
	"pushq %rcx\n\t" \
	"pushq %rdx\n\t" \
	"pushq %rsi\n\t" \
	"pushq %rdi\n\t" \
	save \
	"andq $-16, %rsp\n\t" \
	arguments \
	"call local_" #name "\n\t" \
	restore \
	"popq %rdi\n\t" \
	"popq %rsi\n\t" \
	"popq %rdx\n\t" \
	"popq %rcx\n\t" \
	"popq %rax\n\t" \
	"popq %rbp\n\t" \
	".cfi_def_cfa %rsp, 8\n\t" \
	"ret\n\t" \
	".cfi_endproc\n\t" \
	".size __fission_" #name ", . - __fission_" #name "\n\t" \
	".popsection\n")

/* Hooks of accesses take r8 and r9, too. */
#define DOOR_ACCESS(name) DOOR_SAVING(name, BLIND, ACCESS, "", "leaq -40(%rbp), %rsp\n\t")

/* Whether nobody looks at accesses, or nothing is recorded at all, and calls of hooks are not taken out. */
#define LEFT_IF(nobody) \
	"cmpb $0, " nobody "(%rip)\n\t" \
	"je 1f\n\t" \
	"cmpb $0, mute_wanted(%rip)\n\t" \
	"jne 1f\n\t" \
	"ret\n" \
	"1:\n\t"
#define BLIND LEFT_IF("self_blind")
#define OFF LEFT_IF("self_off")

/* The address stays in rdi, the place in the code, and the hook; of a call its place, the caller's frame, and the hook. */
#define ACCESS "movq 8(%rbp), %rsi\n\tmovq %r11, %rdx\n\t"
#define CALL "movq 8(%rbp), %rsi\n\tmovq (%rbp), %rdx\n\tmovq %r11, %rcx\n\t"

#define DOORS(size) \
	DOOR_ACCESS(read##size); \
	DOOR_ACCESS(write##size)

DOORS(1);
DOORS(2);
DOORS(4);
DOORS(8);
DOORS(16);
DOOR(func_entry, OFF, CALL);
DOOR(func_exit, OFF, "movq %rbp, %rdi\n\t" CALL);
DOOR(full, "", "movq %r10, %rdi\n\tmovq %r11, %rsi\n\tmovq %r9, %rdx\n\tmovq 8(%rbp), %rcx\n\t");
DOOR(loop, "", "movq %r10, %rdi\n\tmovq %r11, %rsi\n\t");

#endif
