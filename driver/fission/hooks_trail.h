/* SPDX-License-Identifier: MIT */
/*
 * The part of hooks.h for a thread that has a trail: trail_access() and trail_call() of runtime/trail.c, where the place is
 * known and there is room. Like hooks_record.h, which is next, they begin at label 9. Whatever they cannot do is for the
 * door, at 90; nothing is changed then.
 *
 * First: is it what was expected, both which place comes behind the last one and what it does? Then it is counted. If only
 * the place is, a slip is written, and otherwise the count, and what it is.
 *
 * Nobody else may write meanwhile: `busy` says so to signal handlers, which write slots then. The position moves behind
 * what was written, and what was counted since becomes nothing, by one instruction: both are one word. So who is killed in
 * here leaves whole tokens, and who leaves it for ever leaves `busy`.
 */
#ifndef __FISSION_HOOKS_TRAIL_H
#define __FISSION_HOOKS_TRAIL_H

#define __FISSION_ALL_TEXT(...) #__VA_ARGS__
#define __FISSION_ALL_NUMBERS(...) __FISSION_ALL_TEXT(__VA_ARGS__)
#define __FISSION_OF(field) __FISSION_NUMBER(__FISSION_TRAIL_##field) "(%%r10)"
#define __FISSION_TRAIL_COUNT __FISSION_NUMBER(__FISSION_TRAIL_AT) "+4(%%r10)"

/* Parts of the place that is so far from the first; bytes of the trail. */
#define __FISSION_SITE_PC(of) __FISSION_NUMBER(__FISSION_TRAIL_SITES) "(%%r10,%%" of ")"
#define __FISSION_SITE_NEXT(of) __FISSION_NUMBER(__FISSION_TRAIL_SITES) "+8(%%r10,%%" of ")"
#define __FISSION_SITE_STRIDE(of) __FISSION_NUMBER(__FISSION_TRAIL_SITES) "+16(%%r10,%%" of ")"
#define __FISSION_SITE_WHAT(of) __FISSION_NUMBER(__FISSION_TRAIL_SITES) "+24(%%r10,%%" of ")"
#define __FISSION_SITE_TOKEN(of) __FISSION_NUMBER(__FISSION_TRAIL_SITES) "+26(%%r10,%%" of ")"
#define __FISSION_SITE_BEHIND(of) __FISSION_NUMBER(__FISSION_TRAIL_SITES) "+28(%%r10,%%" of ")"
#define __FISSION_BYTES(behind, at) #behind "(%%r10,%%" at ")"

/* The thread may write; in r10: its ring. */
#define __FISSION_TRAIL_BEGIN \
	"9:\n\t" \
	__FISSION_SELF(__FISSION_HOOKS_TRAIL, "r10") \
	"cmpb $0, " __FISSION_OF(BUSY) "\n\t" \
	"jne 90f\n\t" \
	"movb $1, " __FISSION_OF(BUSY) "\n\t"

#define __FISSION_TRAIL_DONE \
	"movb $0, " __FISSION_OF(BUSY) "\n\t" \
	"ret\n"

/*
 * Whether the place is the one that is expected. What comes next must not wait for what that is: so the place is known
 * without it, and this is but compared.
 */
#define __FISSION_TRAIL_IS_EXPECTED(by, by32, place32) \
	"movl " __FISSION_OF(LAST) ", %%" by32 "\n\t" \
	"cmpl %%" place32 ", " __FISSION_SITE_BEHIND(by) "\n\t"

/* All is as expected, of the place in `of`. */
#define __FISSION_TRAIL_COUNT_ON(of32, otherwise) \
	"cmpl $" __FISSION_NUMBER(__FISSION_TRAIL_COUNT_MOST) ", " __FISSION_TRAIL_COUNT "\n\t" \
	"jae " otherwise "\n\t" \
	"incl " __FISSION_TRAIL_COUNT "\n\t" \
	"movl %%" of32 ", " __FISSION_OF(LAST) "\n\t"

/* From what it is found by to where it is known, if it is. */
#define __FISSION_TRAIL_FIND(of32) \
	"andl $" __FISSION_NUMBER(__FISSION_TRAIL_SITES_MASK) ", %%" of32 "\n\t" \
	"shll $3, %%" of32 "\n\t" \
	"orl $" __FISSION_NUMBER(__FISSION_TRAIL_FOUND) ", %%" of32 "\n\t"

/* In `at`: where to write, if there is room. */
#define __FISSION_TRAIL_ROOM(at32) \
	"movl " __FISSION_OF(AT) ", %%" at32 "\n\t" \
	"cmpl " __FISSION_OF(LIMIT) ", %%" at32 "\n\t" \
	"jae 2f\n\t"

/* Writes the count, if there is one; the place comes behind the last. Takes `n`. */
#define __FISSION_TRAIL_FLUSH(at, at32, of32, n, n32, n16) \
	"movl " __FISSION_TRAIL_COUNT ", %%" n32 "\n\t" \
	"testl %%" n32 ", %%" n32 "\n\t" \
	"jz 4f\n\t" \
	"leal " __FISSION_NUMBER(__FISSION_TRAIL_COUNTED) "(,%%" n ",4), %%" n32 "\n\t" \
	"movw %%" n16 ", " __FISSION_BYTES(0, at) "\n\t" \
	"addl $2, %%" at32 "\n" \
	"4:\n\t" \
	"movl " __FISSION_OF(LAST) ", %%" n32 "\n\t" \
	"movl %%" of32 ", " __FISSION_SITE_BEHIND(n) "\n\t" \
	"movl %%" of32 ", " __FISSION_OF(LAST) "\n\t"

/* A slip can say how many were counted before it. */
#define __FISSION_TRAIL_FEW(otherwise) \
	"cmpl $" __FISSION_NUMBER(__FISSION_TRAIL_SLIP_COUNT) ", " __FISSION_TRAIL_COUNT "\n\t" \
	"ja " otherwise "\n\t"

/* Writes a slip by the difference in `d`. Takes the others. */
#define __FISSION_TRAIL_SLIP(at, at32, d, d32, n, n32) \
	"shll $8, %%" d32 "\n\t" \
	"movl " __FISSION_TRAIL_COUNT ", %%" n32 "\n\t" \
	"leal " __FISSION_NUMBER(__FISSION_TRAIL_SLIPPED) "(%%" d ",%%" n ",4), %%" d32 "\n\t" \
	"movl " __FISSION_OF(AT) ", %%" at32 "\n\t" \
	"movl %%" d32 ", " __FISSION_BYTES(0, at) "\n\t" \
	"addl $4, %%" at32 "\n\t"

/* The position moves to `at`. */
#define __FISSION_TRAIL_MOVE(at) \
	"movq %%" at ", " __FISSION_OF(AT) "\n\t" \
	__FISSION_TRAIL_DONE

#define __FISSION_TRAIL_WHAT(kind, size) \
	"(" __FISSION_NUMBER(__FISSION_TRAIL_SIZE_##size) " << 3 | " __FISSION_NUMBER(kind) ")"

/*
 * First who comes by its number (runtime/sites.h), which is in r9, as the ring is in r10; behind a mark by which the library
 * finds it. Who has none comes from 9, and is looked for by where it is; 3: it is known. 1: another place than was expected;
 * 7: the same, at another address.
 */
#define __FISSION_TRAIL_ACCESS(kind, size) \
	".byte " __FISSION_ALL_NUMBERS(__FISSION_NUMBERED) "\n\t" \
	"testq %%r10, %%r10\n\t" \
	"jz 8f\n\t" \
	"cmpb $0, " __FISSION_OF(BUSY) "\n\t" \
	"jne 90f\n\t" \
	"movb $1, " __FISSION_OF(BUSY) "\n" \
	"3:\n\t" \
	__FISSION_TRAIL_IS_EXPECTED("r11", "r11d", "r9d") \
	"jne 1f\n\t" \
	"cmpq %%rdi, " __FISSION_SITE_NEXT("r9") "\n\t" \
	"jne 7f\n\t" \
	__FISSION_TRAIL_COUNT_ON("r9d", "2f") \
	"movq " __FISSION_SITE_STRIDE("r9") ", %%r8\n\t" \
	"addq %%r8, " __FISSION_SITE_NEXT("r9") "\n\t" \
	__FISSION_TRAIL_DONE \
	"7:\n\t" \
	__FISSION_TRAIL_FEW("1f") \
	"movl " __FISSION_OF(AT) ", %%r8d\n\t" \
	"cmpl " __FISSION_OF(LIMIT) ", %%r8d\n\t" \
	"jae 2f\n\t" \
	"movq %%rdi, %%r8\n\t" \
	"subq " __FISSION_SITE_NEXT("r9") ", %%r8\n\t" \
	"addq " __FISSION_SITE_STRIDE("r9") ", %%r8\n\t" \
	"leaq " __FISSION_NUMBER(__FISSION_TRAIL_SLIP_MOST) "(%%r8), %%r11\n\t" \
	"shrq $24, %%r11\n\t" \
	"jnz 1f\n\t" \
	"movq %%r8, " __FISSION_SITE_STRIDE("r9") "\n\t" \
	"leaq (%%rdi,%%r8), %%r11\n\t" \
	"movq %%r11, " __FISSION_SITE_NEXT("r9") "\n\t" \
	"movl %%r9d, " __FISSION_OF(LAST) "\n\t" \
	__FISSION_TRAIL_SLIP("r11", "r11d", "r8", "r8d", "r9", "r9d") \
	"6:\n\t" \
	__FISSION_TRAIL_MOVE("r11") \
	"1:\n\t" \
	"cmpq $0, " __FISSION_SITE_PC("r9") "\n\t" \
	"je 2f\n\t" \
	"cmpq %%rdi, " __FISSION_SITE_NEXT("r9") "\n\t" \
	"jne 5f\n\t" \
	__FISSION_TRAIL_ROOM("r11d") \
	__FISSION_TRAIL_FLUSH("r11", "r11d", "r9d", "r8", "r8d", "r8w") \
	"movzwl " __FISSION_SITE_TOKEN("r9") ", %%r8d\n\t" \
	"movw %%r8w, " __FISSION_BYTES(0, "r11") "\n\t" \
	"addl $2, %%r11d\n\t" \
	"movq " __FISSION_SITE_STRIDE("r9") ", %%r8\n\t" \
	"addq %%r8, " __FISSION_SITE_NEXT("r9") "\n\t" \
	"jmp 6b\n" \
	"5:\n\t" \
	"movq %%rdi, %%r8\n\t" \
	"subq " __FISSION_SITE_NEXT("r9") ", %%r8\n\t" \
	"addq " __FISSION_SITE_STRIDE("r9") ", %%r8\n\t" \
	"leaq " __FISSION_NUMBER(__FISSION_TRAIL_MISS_MOST) "(%%r8), %%r11\n\t" \
	"shrq $31, %%r11\n\t" \
	"jnz 2f\n\t" \
	__FISSION_TRAIL_ROOM("r11d") \
	__FISSION_TRAIL_FLUSH("r11", "r11d", "r9d", "r8", "r8d", "r8w") \
	"movzwl " __FISSION_SITE_TOKEN("r9") ", %%r8d\n\t" \
	"orl $" __FISSION_NUMBER(__FISSION_TRAIL_MISS) ", %%r8d\n\t" \
	"movw %%r8w, " __FISSION_BYTES(0, "r11") "\n\t" \
	"movq %%rdi, %%r8\n\t" \
	"subq " __FISSION_SITE_NEXT("r9") ", %%r8\n\t" \
	"addq " __FISSION_SITE_STRIDE("r9") ", %%r8\n\t" \
	"movl %%r8d, " __FISSION_BYTES(2, "r11") "\n\t" \
	"addl $6, %%r11d\n\t" \
	"movq %%r8, " __FISSION_SITE_STRIDE("r9") "\n\t" \
	"addq %%rdi, %%r8\n\t" \
	"movq %%r8, " __FISSION_SITE_NEXT("r9") "\n\t" \
	"jmp 6b\n" \
	__FISSION_TRAIL_BEGIN \
	"movq (%%rsp), %%r11\n\t" \
	"leal " __FISSION_TRAIL_WHAT(kind, size) " << " __FISSION_NUMBER(__FISSION_TRAIL_WHAT_SHIFT) "(%%r11), %%r9d\n\t" \
	__FISSION_TRAIL_FIND("r9d") \
	"cmpq %%r11, " __FISSION_SITE_PC("r9") "\n\t" \
	"jne 2f\n\t" \
	"cmpb $" __FISSION_TRAIL_WHAT(kind, size) ", " __FISSION_SITE_WHAT("r9") "\n\t" \
	"je 3b\n" \
	"2:\n\t" \
	"movb $0, " __FISSION_OF(BUSY) "\n\t" \
	"jmp 90f\n" \
	"8:\n"

#define __FISSION_TRAIL_DEEP(k, otherwise) \
	"cmpq $(1 << " __FISSION_NUMBER(__FISSION_TRAIL_DEPTH_BITS) ") - 1, %%" k "\n\t" \
	"ja " otherwise "\n\t"
#define __FISSION_TRAIL_DEPTH(k) \
	"movq " __FISSION_NUMBER(__FISSION_STACK) "(%%r10), %%" k "\n\t" \
	"subq %%rbp, %%" k "\n\t"

#define __FISSION_TRAIL_IS_CALL(kind, a, k, otherwise) \
	"cmpq %%" a ", " __FISSION_SITE_PC("r11") "\n\t" \
	"jne " otherwise "\n\t" \
	"cmpq %%" k ", " __FISSION_SITE_NEXT("r11") "\n\t" \
	"jne " otherwise "\n\t" \
	"cmpb $" __FISSION_NUMBER(kind) ", " __FISSION_SITE_WHAT("r11") "\n\t" \
	"jne " otherwise "\n\t"

/*
 * A call's place is known by its pc and a key, which is in `k`. In r11: where; `a` has the pc, and then where to write.
 * `again` has the key back. Labels as above; 30: it may be
 * aside; the difference of depths fits if it is the same with its sign anew.
 */
#define __FISSION_TRAIL_CALL(kind, a, a32, k, k32, k16, again) \
	"movq (%%rsp), %%" a "\n\t" \
	"leaq (%%" a ",%%" k "), %%r11\n\t" \
	__FISSION_TRAIL_FIND("r11d") \
	__FISSION_TRAIL_IS_CALL(kind, a, k, "30f") \
	"31:\n\t" \
	__FISSION_TRAIL_IS_EXPECTED(a, a32, "r11d") \
	"jne 1f\n\t" \
	__FISSION_TRAIL_DEPTH(a) \
	__FISSION_TRAIL_DEEP(a, "2f") \
	"movq %%" a ", %%" k "\n\t" \
	"subq " __FISSION_OF(DEPTH_LAST) ", %%" k "\n\t" \
	"cmpq %%" k ", " __FISSION_SITE_STRIDE("r11") "\n\t" \
	"jne 7f\n\t" \
	__FISSION_TRAIL_COUNT_ON("r11d", "3f") \
	"movq %%" a ", " __FISSION_OF(DEPTH_LAST) "\n\t" \
	__FISSION_TRAIL_DONE \
	"7:\n\t" \
	__FISSION_TRAIL_FEW("1f") \
	"movl " __FISSION_OF(AT) ", %%" k32 "\n\t" \
	"cmpl " __FISSION_OF(LIMIT) ", %%" k32 "\n\t" \
	"jae 3f\n\t" \
	"movq %%" a ", %%" k "\n\t" \
	"subq " __FISSION_OF(DEPTH_LAST) ", %%" k "\n\t" \
	"subq " __FISSION_SITE_STRIDE("r11") ", %%" k "\n\t" \
	"shlq $40, %%" k "\n\t" \
	"sarq $40, %%" k "\n\t" \
	"addq " __FISSION_SITE_STRIDE("r11") ", %%" k "\n\t" \
	"addq " __FISSION_OF(DEPTH_LAST) ", %%" k "\n\t" \
	"cmpq %%" k ", %%" a "\n\t" \
	"jne 1f\n\t" \
	"subq " __FISSION_OF(DEPTH_LAST) ", %%" k "\n\t" \
	"subq " __FISSION_SITE_STRIDE("r11") ", %%" k "\n\t" \
	"addq %%" k ", " __FISSION_SITE_STRIDE("r11") "\n\t" \
	"movq %%" a ", " __FISSION_OF(DEPTH_LAST) "\n\t" \
	"movl %%r11d, " __FISSION_OF(LAST) "\n\t" \
	__FISSION_TRAIL_SLIP(a, a32, k, k32, "r11", "r11d") \
	"6:\n\t" \
	__FISSION_TRAIL_MOVE(a) \
	"1:\n\t" \
	"movl " __FISSION_OF(AT) ", %%" a32 "\n\t" \
	"cmpl " __FISSION_OF(LIMIT) ", %%" a32 "\n\t" \
	"jae 3f\n\t" \
	__FISSION_TRAIL_DEPTH(k) \
	__FISSION_TRAIL_DEEP(k, "3f") \
	__FISSION_TRAIL_FLUSH(a, a32, "r11d", k, k32, k16) \
	__FISSION_TRAIL_DEPTH(k) \
	"subq " __FISSION_OF(DEPTH_LAST) ", %%" k "\n\t" \
	"addq %%" k ", " __FISSION_OF(DEPTH_LAST) "\n\t" \
	"cmpq %%" k ", " __FISSION_SITE_STRIDE("r11") "\n\t" \
	"jne 5f\n\t" \
	"movzwl " __FISSION_SITE_TOKEN("r11") ", %%" k32 "\n\t" \
	"movw %%" k16 ", " __FISSION_BYTES(0, a) "\n\t" \
	"addl $2, %%" a32 "\n\t" \
	"jmp 6b\n" \
	"5:\n\t" \
	"movq %%" k ", " __FISSION_SITE_STRIDE("r11") "\n\t" \
	"movl %%" k32 ", " __FISSION_BYTES(2, a) "\n\t" \
	"movzwl " __FISSION_SITE_TOKEN("r11") ", %%" k32 "\n\t" \
	"orl $" __FISSION_NUMBER(__FISSION_TRAIL_MISS) ", %%" k32 "\n\t" \
	"movw %%" k16 ", " __FISSION_BYTES(0, a) "\n\t" \
	"addl $6, %%" a32 "\n\t" \
	"jmp 6b\n" \
	"30:\n\t" \
	"leal (%%" a ",%%" k "), %%r11d\n\t" \
	"imull $" __FISSION_NUMBER(__FISSION_TRAIL_MIX) ", %%r11d, %%r11d\n\t" \
	"shrl $" __FISSION_NUMBER(__FISSION_TRAIL_MIX_SHIFT) ", %%r11d\n\t" \
	__FISSION_TRAIL_FIND("r11d") \
	__FISSION_TRAIL_IS_CALL(kind, a, k, "2f") \
	"jmp 31b\n" \
	"3:\n\t" \
	again \
	"2:\n\t" \
	"movb $0, " __FISSION_OF(BUSY) "\n\t" \
	"jmp 90f\n"

#define __FISSION_TRAIL_ENTRY_HOOK \
	__FISSION_TRAIL_BEGIN \
	__FISSION_TRAIL_CALL(__FISSION_TRAIL_ENTRY, "rax", "eax", "rdi", "edi", "di", \
		"movq " __FISSION_SITE_NEXT("r11") ", %%rdi\n")

/* What the function returns may be in rax and rdx. */
#define __FISSION_TRAIL_EXIT_HOOK \
	__FISSION_TRAIL_BEGIN \
	"leaq 8(%%rbp), %%r9\n\t" \
	"subq %%rsp, %%r9\n\t" \
	__FISSION_TRAIL_CALL(__FISSION_TRAIL_LEAVE, "rcx", "ecx", "r9", "r9d", "r9w", "")

#endif
