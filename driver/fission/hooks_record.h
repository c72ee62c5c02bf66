/* SPDX-License-Identifier: MIT */
/*
 * The part of hooks.h for a thread of which everything is recorded: access() and put_call() of runtime/abi_tsan.c, where
 * there is room in the ring. They begin where the others have found that the thread is none of theirs, at label 9, and
 * end before the door, which says 9 again.
 *
 * An access reserves its slot by one instruction, as self_put() does. That it is beyond the limit shows afterwards: then
 * the slot is reserved, and goes through a door of its own (__fission_full) to who waits for room. Calls are fewer: they
 * look first, and reserve what they have seen. If a signal handler has been faster, they look again.
 */
#ifndef __FISSION_HOOKS_RECORD
#define __FISSION_HOOKS_RECORD

/* Where the thread's slots begin, and the second word of the slot, both from the ring's start and its offset. */
#define __FISSION_FIRST __FISSION_NUMBER(__FISSION_SLOTS)
#define __FISSION_SECOND __FISSION_NUMBER(__FISSION_SLOTS) "+8"

#define __FISSION_LOOP(field) __FISSION_NUMBER(__FISSION_LOOP_##field)

/*
 * In r10: the ring; in r11: the slot; in r9: its first word, which is written last. Behind that: is the place in front of
 * that of the slot before?
 */
#define __FISSION_PUT(kind, size) \
	"movl $" __FISSION_NUMBER(__FISSION_SLOT) ", %%r11d\n\t" \
	"xaddq %%r11, " __FISSION_NUMBER(__FISSION_HEAD) "(%%r10)\n\t" \
	"movq %%rdi, %%r9\n\t" \
	"shlq $16, %%r9\n\t" \
	"orq $" __FISSION_NUMBER(size) " << 8 | " __FISSION_NUMBER(kind) ", %%r9\n\t" \
	"cmpq " __FISSION_NUMBER(__FISSION_LIMIT) "(%%r10), %%r11\n\t" \
	"jae 8f\n\t" \
	"andl $" __FISSION_NUMBER(__FISSION_RING_MASK) ", %%r11d\n\t" \
	"movq (%%rsp), %%r8\n\t" \
	"movq %%r8, " __FISSION_SECOND "(%%r10,%%r11)\n\t" \
	"movq %%r9, " __FISSION_FIRST "(%%r10,%%r11)\n\t" \
	"cmpq " __FISSION_FIRST "-8(%%r10,%%r11), %%r8\n\t" \
	"jbe 6f\n\t" \
	"ret\n"

/* A loop goes on, by what is in r11; 4: it does not; 3: a signal handler has changed that. See runtime/loops.h. */
#define __FISSION_COUNT \
	"movzwl %%r11w, %%r9d\n\t" \
	"movq %%r11, %%r8\n\t" \
	"shrq $" __FISSION_LOOP(ROUND_SHIFT) ", %%r8\n\t" \
	"imulq " __FISSION_LOOP(STRIDE) "(%%r10,%%r9), %%r8\n\t" \
	"addq " __FISSION_LOOP(ADDRESS) "(%%r10,%%r9), %%r8\n\t" \
	"cmpq %%rdi, %%r8\n\t" \
	"jne 4b\n\t" \
	"movq " __FISSION_LOOP(PC) "(%%r10,%%r9), %%r8\n\t" \
	"cmpq (%%rsp), %%r8\n\t" \
	"jne 4b\n\t" \
	"movq " __FISSION_LOOP(STEP) "(%%r10,%%r9), %%r9\n\t" \
	"addq %%r11, %%r9\n\t" \
	"jc 4b\n\t" \
	"movq %%rax, %%r8\n\t" \
	"movq %%r11, %%rax\n\t" \
	"cmpxchgq %%r9, " __FISSION_LOOP(AT) "(%%r10)\n\t" \
	"movq %%r8, %%rax\n\t" \
	"jne 3b\n\t" \
	"ret\n"

/* A jump back to the place in r8, with the slot in r11: the third one to it over as many slots may be a loop. */
#define __FISSION_BACK \
	"cmpq %%r8, " __FISSION_LOOP(BACK_PC) "(%%r10)\n\t" \
	"jne 7f\n\t" \
	"movq %%r11, %%r9\n\t" \
	"subq " __FISSION_LOOP(BACK_AT) "(%%r10), %%r9\n\t" \
	"movq %%r11, " __FISSION_LOOP(BACK_AT) "(%%r10)\n\t" \
	"cmpq %%r9, " __FISSION_LOOP(BACK_SPAN) "(%%r10)\n\t" \
	"movq %%r9, " __FISSION_LOOP(BACK_SPAN) "(%%r10)\n\t" \
	"jne 5f\n\t" \
	"movl %%r8d, %%r9d\n\t" \
	"andl $" __FISSION_LOOP(BAD_MASK) ", %%r9d\n\t" \
	"cmpq %%r8, " __FISSION_LOOP(BAD) "(%%r10,%%r9,8)\n\t" \
	"je 5f\n\t" \
	"jmp *__fission_loop@GOTPCREL(%%rip)\n" \
	"7:\n\t" \
	"movq %%r8, " __FISSION_LOOP(BACK_PC) "(%%r10)\n\t" \
	"movq %%r11, " __FISSION_LOOP(BACK_AT) "(%%r10)\n\t" \
	"movq $0, " __FISSION_LOOP(BACK_SPAN) "(%%r10)\n" \
	"5:\n\t" \
	"ret\n"

#define __FISSION_RECORD_ACCESS(kind, size) \
	"9:\n\t" \
	__FISSION_SELF(16, "r10") \
	"3:\n\t" \
	"movq " __FISSION_LOOP(AT) "(%%r10), %%r11\n\t" \
	"testq %%r11, %%r11\n\t" \
	"jnz 5f\n" \
	"4:\n\t" \
	__FISSION_PUT(kind, size) \
	"5:\n\t" \
	__FISSION_COUNT \
	"6:\n\t" \
	__FISSION_BACK \
	"8:\n\t" \
	"jmp *__fission_full@GOTPCREL(%%rip)\n"

/* In rax: the slot that was reserved. Takes `to`; nothing is changed when it jumps to the label. */
#define __FISSION_RESERVE(to, full) \
	"7:\n\t" \
	"movq " __FISSION_NUMBER(__FISSION_HEAD) "(%%r10), %%rax\n\t" \
	"cmpq " __FISSION_NUMBER(__FISSION_LIMIT) "(%%r10), %%rax\n\t" \
	"jae " full "\n\t" \
	"leaq " __FISSION_NUMBER(__FISSION_SLOT) "(%%rax), %%" to "\n\t" \
	"cmpxchgq %%" to ", " __FISSION_NUMBER(__FISSION_HEAD) "(%%r10)\n\t" \
	"jne 7b\n\t" \
	"andl $" __FISSION_NUMBER(__FISSION_RING_MASK) ", %%eax\n\t"

/* In r10: how deep the frame lies, no more than can be said. The ring, which is there, is gone then. */
#define __FISSION_DEPTH \
	"movq " __FISSION_NUMBER(__FISSION_STACK) "(%%r10), %%r10\n\t" \
	"subq %%rbp, %%r10\n\t" \
	"shrq $4, %%r10\n\t" \
	"cmpq $" __FISSION_NUMBER(__FISSION_DEPTH_UNKNOWN) ", %%r10\n\t" \
	"jbe 6f\n\t" \
	"movl $" __FISSION_NUMBER(__FISSION_DEPTH_UNKNOWN) ", %%r10d\n" \
	"6:\n\t"

/* The slot is at r11; depth in r10. The words are made in rax; `address` says where rdi or the like goes. */
#define __FISSION_WRITE_CALL(kind, address) \
	"movq %%r10, %%rax\n\t" \
	"shrq $8, %%rax\n\t" \
	"shlq $48, %%rax\n\t" \
	"orq (%%rsp), %%rax\n\t" \
	"movq %%rax, " __FISSION_SECOND "(%%r11)\n\t" \
	address \
	"shlq $8, %%rax\n\t" \
	"movb %%r10b, %%al\n\t" \
	"shlq $8, %%rax\n\t" \
	"movb $" __FISSION_NUMBER(kind) ", %%al\n\t" \
	"movq %%rax, " __FISSION_FIRST "(%%r11)\n\t"

#define __FISSION_RECORD_ENTRY \
	"9:\n\t" \
	__FISSION_SELF(16, "r10") \
	__FISSION_RESERVE("r11", "9f") \
	"leaq (%%r10,%%rax), %%r11\n\t" \
	__FISSION_DEPTH \
	__FISSION_WRITE_CALL(__FISSION_ENTER, "movq %%rdi, %%rax\n\t") \
	"ret\n"

/* What the function returns may be in rax: r9 has it meanwhile. The address is FRAME_GONE. */
#define __FISSION_RECORD_EXIT \
	"9:\n\t" \
	__FISSION_SELF(16, "r10") \
	"movq %%rax, %%r9\n\t" \
	__FISSION_RESERVE("r11", "8f") \
	"leaq (%%r10,%%rax), %%r11\n\t" \
	__FISSION_DEPTH \
	__FISSION_WRITE_CALL(__FISSION_EXIT, "leaq -8(%%rsp), %%rax\n\t") \
	"movq %%r9, %%rax\n\t" \
	"ret\n" \
	"8:\n\t" \
	"movq %%r9, %%rax\n"

#endif
