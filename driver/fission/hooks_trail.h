/* SPDX-License-Identifier: MIT */
/*
 * The part of hooks.h for a thread that has a trail: trail_access() and trail_call() of runtime/trail.c, where the place is
 * known and there is room. Like hooks_record.h, which is next, they begin at label 9. Whatever they cannot do is for the
 * door, at 90; nothing is changed then.
 *
 * Nobody else may write meanwhile: `busy` says so to signal handlers, which write slots then. The position moves behind
 * what was written. So who is killed in here leaves whole tokens, and who leaves it for ever leaves `busy`.
 */
#ifndef __FISSION_HOOKS_TRAIL_H
#define __FISSION_HOOKS_TRAIL_H

#define __FISSION_OF(field) __FISSION_NUMBER(__FISSION_TRAIL_##field) "(%%r10)"

/* Parts of the place at `to`, and bytes of the trail behind its position in `at`. */
#define __FISSION_SITE_PC(to) __FISSION_NUMBER(__FISSION_TRAIL_SITES) "(%%" to ")"
#define __FISSION_SITE_NEXT(to) __FISSION_NUMBER(__FISSION_TRAIL_SITES) "+8(%%" to ")"
#define __FISSION_SITE_STRIDE(to) __FISSION_NUMBER(__FISSION_TRAIL_SITES) "+16(%%" to ")"
#define __FISSION_SITE_WHAT(to) __FISSION_NUMBER(__FISSION_TRAIL_SITES) "+24(%%" to ")"
#define __FISSION_SITE_TOKEN(to) __FISSION_NUMBER(__FISSION_TRAIL_SITES) "+28(%%" to ")"
#define __FISSION_BYTES(behind, at) __FISSION_NUMBER(__FISSION_TRAIL) "+" #behind "(%%r10,%%" at ")"

/* The thread may write; in r10: its ring. */
#define __FISSION_TRAIL_BEGIN \
	"9:\n\t" \
	__FISSION_SELF(__FISSION_HOOKS_TRAIL, "r10") \
	"cmpb $0, " __FISSION_OF(BUSY) "\n\t" \
	"jne 90f\n\t" \
	"movb $1, " __FISSION_OF(BUSY) "\n\t"

#define __FISSION_TRAIL_END(bytes) \
	"addq $" #bytes ", " __FISSION_OF(AT) "\n\t" \
	"movb $0, " __FISSION_OF(BUSY) "\n\t" \
	"ret\n"

/* From what it is found by to where it is known, if it is, in `to`. */
#define __FISSION_TRAIL_FIND(to, to32) \
	"andl $" __FISSION_NUMBER(__FISSION_TRAIL_SITES_MASK) ", %%" to32 "\n\t" \
	"leaq (%%r10,%%" to ",8), %%" to "\n\t"

/* In `at`: where to write, if there is room. */
#define __FISSION_TRAIL_ROOM(at, at32) \
	"movq " __FISSION_OF(AT) ", %%" at "\n\t" \
	"cmpq " __FISSION_OF(LIMIT) ", %%" at "\n\t" \
	"jae 2f\n\t" \
	"andl $" __FISSION_NUMBER(__FISSION_TRAIL_MASK) ", %%" at32 "\n\t"

#define __FISSION_TRAIL_ACCESS(kind, size) \
	__FISSION_TRAIL_BEGIN \
	"movq (%%rsp), %%r11\n\t" \
	"movl %%r11d, %%r9d\n\t" \
	__FISSION_TRAIL_FIND("r9", "r9d") \
	"cmpq %%r11, " __FISSION_SITE_PC("r9") "\n\t" \
	"jne 2f\n\t" \
	"cmpl $" __FISSION_NUMBER(size) " << 8 | " __FISSION_NUMBER(kind) ", " __FISSION_SITE_WHAT("r9") "\n\t" \
	"jne 2f\n\t" \
	__FISSION_TRAIL_ROOM("r11", "r11d") \
	"movl " __FISSION_SITE_TOKEN("r9") ", %%r8d\n\t" \
	"cmpq %%rdi, " __FISSION_SITE_NEXT("r9") "\n\t" \
	"jne 1f\n\t" \
	"movw %%r8w, " __FISSION_BYTES(0, "r11") "\n\t" \
	"movq " __FISSION_SITE_STRIDE("r9") ", %%r11\n\t" \
	"addq %%r11, " __FISSION_SITE_NEXT("r9") "\n\t" \
	__FISSION_TRAIL_END(2) \
	"1:\n\t" \
	"orl $" __FISSION_NUMBER(__FISSION_TRAIL_MISS) ", %%r8d\n\t" \
	"movw %%r8w, " __FISSION_BYTES(0, "r11") "\n\t" \
	"movl %%edi, " __FISSION_BYTES(2, "r11") "\n\t" \
	"movq %%rdi, %%r8\n\t" \
	"shrq $32, %%r8\n\t" \
	"movw %%r8w, " __FISSION_BYTES(6, "r11") "\n\t" \
	"movq %%rdi, %%r11\n\t" \
	"subq " __FISSION_SITE_NEXT("r9") ", %%r11\n\t" \
	"addq " __FISSION_SITE_STRIDE("r9") ", %%r11\n\t" \
	"movq %%r11, " __FISSION_SITE_STRIDE("r9") "\n\t" \
	"addq %%rdi, %%r11\n\t" \
	"movq %%r11, " __FISSION_SITE_NEXT("r9") "\n\t" \
	__FISSION_TRAIL_END(8) \
	"2:\n\t" \
	"movb $0, " __FISSION_OF(BUSY) "\n\t" \
	"jmp 90f\n"

/*
 * In r11: where a call's place is known by the pc in `pc` and the key in `key`; those two become where to write and how
 * deep the frame is. `again` has the key back.
 */
#define __FISSION_TRAIL_CALL(kind, pc, pc32, key, key32, again) \
	"movq (%%rsp), %%" pc "\n\t" \
	"leaq (%%" pc ",%%" key "), %%r11\n\t" \
	__FISSION_TRAIL_FIND("r11", "r11d") \
	"cmpq %%" pc ", " __FISSION_SITE_PC("r11") "\n\t" \
	"jne 2f\n\t" \
	"cmpq %%" key ", " __FISSION_SITE_NEXT("r11") "\n\t" \
	"jne 2f\n\t" \
	"cmpl $" __FISSION_NUMBER(kind) ", " __FISSION_SITE_WHAT("r11") "\n\t" \
	"jne 2f\n\t" \
	__FISSION_TRAIL_ROOM(pc, pc32) \
	"movq " __FISSION_NUMBER(__FISSION_STACK) "(%%r10), %%" key "\n\t" \
	"subq %%rbp, %%" key "\n\t" \
	"cmpq %%" key ", " __FISSION_SITE_STRIDE("r11") "\n\t" \
	"jne 1f\n\t" \
	"movl " __FISSION_SITE_TOKEN("r11") ", %%r11d\n\t" \
	"movw %%r11w, " __FISSION_BYTES(0, pc) "\n\t" \
	__FISSION_TRAIL_END(2) \
	"1:\n\t" \
	"cmpq $(1 << " __FISSION_NUMBER(__FISSION_TRAIL_DEPTH_BITS) ") - 1, %%" key "\n\t" \
	"ja 3f\n\t" \
	"movq %%" key ", " __FISSION_SITE_STRIDE("r11") "\n\t" \
	"movl " __FISSION_SITE_TOKEN("r11") ", %%r11d\n\t" \
	"orl $" __FISSION_NUMBER(__FISSION_TRAIL_MISS) ", %%r11d\n\t" \
	"movw %%r11w, " __FISSION_BYTES(0, pc) "\n\t" \
	"movl %%" key32 ", " __FISSION_BYTES(2, pc) "\n\t" \
	__FISSION_TRAIL_END(6) \
	"3:\n\t" \
	again \
	"2:\n\t" \
	"movb $0, " __FISSION_OF(BUSY) "\n\t" \
	"jmp 90f\n"

#define __FISSION_TRAIL_ENTRY_HOOK \
	__FISSION_TRAIL_BEGIN \
	__FISSION_TRAIL_CALL(__FISSION_TRAIL_ENTRY, "rax", "eax", "rdi", "edi", "movq " __FISSION_SITE_NEXT("r11") ", %%rdi\n")

/* What the function returns may be in rax and rdx. */
#define __FISSION_TRAIL_EXIT_HOOK \
	__FISSION_TRAIL_BEGIN \
	"leaq 8(%%rbp), %%r9\n\t" \
	"subq %%rsp, %%r9\n\t" \
	__FISSION_TRAIL_CALL(__FISSION_TRAIL_LEAVE, "rcx", "ecx", "r9", "r9d", "")

#endif
