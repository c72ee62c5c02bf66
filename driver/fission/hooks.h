/* SPDX-License-Identifier: MIT */
/*
 * The hooks of gcc's -fsanitize=thread, in each file that fission-cc compiles: the first look of runtime/abi_tsan.c, in
 * front of the library.
 *
 * Why here. A call into a library goes through a table, and whoever calls has to put aside what it has in registers. Of
 * a function in the same file gcc knows which registers it takes (-fipa-ra): these take two or three, and what is in
 * the others stays there. Most accesses need no more than this first look; the others jump to the library, to a door
 * (runtime/abi_local.c) that leaves all other registers as they are.
 *
 * How. Defined under the compiler's own name for it, __builtin___tsan_read8, the function is the one that the sanitizer
 * calls. Expanded before all others (no_reorder), because gcc must have seen what it takes; of each file its own
 * (.local). The bodies must not have frames: a door takes what is on top of the stack for the place of the access.
 *
 * Other compilers, processors and -O0 do without, and call the library. The numbers below are checked there.
 */
#if !defined __FISSION_HOOKS && defined __GNUC__ && __GNUC__ >= 11 && !defined __clang__ && defined __x86_64__ && \
	!defined __ILP32__ && defined __OPTIMIZE__ && defined __SANITIZE_THREAD__ && !defined __ASSEMBLER__ && \
	!defined __code_model_large__
#define __FISSION_HOOKS
#pragma GCC system_header

#include "hooks_layout.h"

#define __FISSION_TEXT(x) #x
#define __FISSION_NUMBER(x) __FISSION_TEXT(x)

/* In r8: the thread's ring, if it is of use. */
#define __FISSION_SELF(offset, to) \
	"movq __fission_hooks_1@gottpoff(%%rip), %%" to "\n\t" \
	"movq %%fs:" __FISSION_NUMBER(offset) "(%%" to "), %%" to "\n\t" \
	"testq %%" to ", %%" to "\n\t" \
	"jz 9f\n\t"

#define __FISSION_ALIGNED(bits) "testb $" #bits ", %%dil\n\tjnz 9f\n\t"

/* In r9: the words of the access's first granule. */
#define __FISSION_WORDS \
	"movq %%rdi, %%r11\n\t" \
	"shlq $" __FISSION_NUMBER(__FISSION_ADDRESS_UP) ", %%r11\n\t" \
	"shrq $" __FISSION_NUMBER(__FISSION_ADDRESS_DOWN) ", %%r11\n\t" \
	"movq " __FISSION_NUMBER(__FISSION_LEAVES) "(%%r8), %%r9\n\t" \
	"movq (%%r9,%%r11,8), %%r9\n\t" \
	"testq %%r9, %%r9\n\t" \
	"jz 9f\n\t" \
	"movl %%edi, %%r11d\n\t" \
	"andl $" __FISSION_NUMBER(__FISSION_LEAF_MASK) ", %%r11d\n\t" \
	"leaq (%%r9,%%r11,4), %%r9\n\t"

/*
 * In r10: what a word of the access would be. The bits of bytes are those of the address in its granule, and four more.
 */
#define __FISSION_ALL "movq " __FISSION_NUMBER(__FISSION_STAMP) "(%%r8), %%r10\n\t"
#define __FISSION_ONE \
	"movq " __FISSION_NUMBER(__FISSION_NOW) "(%%r8), %%r10\n\t" \
	"movl %%edi, %%r11d\n\t" \
	"andl $3, %%r11d\n\t" \
	"addl $4, %%r11d\n\t" \
	"btsq %%r11, %%r10\n\t"
#define __FISSION_TWO __FISSION_ONE "incl %%r11d\n\tbtsq %%r11, %%r10\n\t"

/* In r11: how the word at the offset differs from that. Read at this time; written; both may have been told. */
#define __FISSION_DIFFERS(offset) "movq %%r10, %%r11\n\txorq " #offset "(%%r9), %%r11\n\t"
#define __FISSION_IS_READ(offset) __FISSION_DIFFERS(offset) "cmpq $1, %%r11\n\tja 2f\n\t"
#define __FISSION_WAS_WRITTEN(offset) __FISSION_DIFFERS(offset) "cmpq $15, %%r11\n\tja 3f\n\t"
#define __FISSION_IS_WRITTEN(offset) __FISSION_DIFFERS(offset) "testq $-6, %%r11\n\tjnz 3f\n\t"

/*
 * The word has all bytes of the access; it has others too, and stays as it is; it is the thread's own; two granules have
 * the same, but for what was told.
 */
#define __FISSION_HAS_BYTES(offset) \
	"movl " #offset "(%%r9), %%r11d\n\tnotl %%r11d\n\tandl %%r10d, %%r11d\n\ttestb $0xf0, %%r11b\n\tjnz 9f\n\t"
#define __FISSION_HAS_MORE(offset) \
	"movl " #offset "(%%r9), %%r11d\n\txorl %%r10d, %%r11d\n\ttestb $0xf0, %%r11b\n\tjnz 5f\n\t"
#define __FISSION_OWN(offset) \
	"movq " #offset "(%%r9), %%r11\n\t" \
	"subq " __FISSION_NUMBER(__FISSION_FROM) "(%%r8), %%r11\n\t" \
	"cmpq " __FISSION_NUMBER(__FISSION_REACH) "(%%r8), %%r11\n\t" \
	"ja 9f\n\t"
#define __FISSION_ALIKE(offset, other) \
	"movq " #offset "(%%r9), %%r11\n\txorq " #other "(%%r9), %%r11\n\tcmpq $1, %%r11\n\tja 9f\n\t"

/* In r11: the places of the first granule; in r8: the place. The leaf begins so far before the words. */
#define __FISSION_PLACES \
	"movl %%edi, %%r11d\n\t" \
	"andl $" __FISSION_NUMBER(__FISSION_LEAF_MASK) ", %%r11d\n\t" \
	"negq %%r11\n\t" \
	"leaq " __FISSION_NUMBER(__FISSION_PLACES_AT) "(%%r9,%%r11,2), %%r11\n\t" \
	"movl (%%rsp), %%r8d\n\t"
#define __FISSION_RENEW(place, word) "movl %%r8d, " #place "(%%r11)\n\tmovq %%r10, " #word "(%%r9)\n\t"

/* quick_read and quick_write of runtime/filter.h, of a thread that goes on as the owner. */
#define __FISSION_RENEW_READ_4 \
	"3:\n\t" __FISSION_HAS_BYTES(8) __FISSION_OWN(8) __FISSION_HAS_MORE(8) __FISSION_PLACES \
	__FISSION_RENEW(4, 8) "5:\tret\n"
#define __FISSION_RENEW_READ_8 \
	"3:\n\t" __FISSION_ALIKE(8, 24) __FISSION_HAS_BYTES(8) __FISSION_OWN(8) __FISSION_PLACES \
	__FISSION_RENEW(4, 8) __FISSION_RENEW(12, 24) "ret\n"

#define __FISSION_OWN_WRITE \
	__FISSION_HAS_BYTES(0) __FISSION_OWN(0) \
	"testb $2, (%%r9)\n\t" \
	"jnz 9f\n\t" \
	"cmpq $0, 8(%%r9)\n\t" \
	"je 4f\n\t" \
	__FISSION_OWN(8) \
	"4:\n\t" \
	__FISSION_HAS_MORE(0) \
	"movl (%%r9), %%r11d\n\t" \
	"andl $4, %%r11d\n\t" \
	"orq %%r11, %%r10\n\t" \
	__FISSION_PLACES
#define __FISSION_RENEW_WRITE_4 "3:\n\t" __FISSION_OWN_WRITE __FISSION_RENEW(0, 0) "5:\tret\n"
#define __FISSION_RENEW_WRITE_8 \
	"3:\n\t" __FISSION_ALIKE(0, 16) __FISSION_ALIKE(8, 24) __FISSION_OWN_WRITE \
	__FISSION_RENEW(0, 0) __FISSION_RENEW(8, 16) "5:\tret\n"

#define __FISSION_READ_4 __FISSION_IS_READ(8) "ret\n2:\n\t" __FISSION_WAS_WRITTEN(0) "ret\n" __FISSION_RENEW_READ_4
#define __FISSION_READ_8 \
	__FISSION_IS_READ(8) __FISSION_IS_READ(24) "ret\n2:\n\t" __FISSION_WAS_WRITTEN(0) __FISSION_WAS_WRITTEN(16) "ret\n" \
	__FISSION_RENEW_READ_8
#define __FISSION_READ_16 \
	__FISSION_IS_READ(8) __FISSION_IS_READ(24) __FISSION_IS_READ(40) __FISSION_IS_READ(56) "ret\n2:\n\t" \
	__FISSION_WAS_WRITTEN(0) __FISSION_WAS_WRITTEN(16) __FISSION_WAS_WRITTEN(32) __FISSION_WAS_WRITTEN(48) "ret\n3:\n"
#define __FISSION_WRITE_4 __FISSION_IS_WRITTEN(0) "ret\n" __FISSION_RENEW_WRITE_4
#define __FISSION_WRITE_8 __FISSION_IS_WRITTEN(0) __FISSION_IS_WRITTEN(16) "ret\n" __FISSION_RENEW_WRITE_8
#define __FISSION_WRITE_16 \
	__FISSION_IS_WRITTEN(0) __FISSION_IS_WRITTEN(16) __FISSION_IS_WRITTEN(32) __FISSION_IS_WRITTEN(48) "ret\n3:\n"

/* All else: the door wants to know where the hook is. */
#define __FISSION_OTHERWISE(name) \
	"9:\n\tleaq __tsan_" #name "(%%rip), %%r11\n\tjmp *__fission_" #name "@GOTPCREL(%%rip)"

#define __FISSION_HOOK(name, body, ...) \
	__attribute__((__no_reorder__, __noinline__, __used__, __no_sanitize__("thread"), __visibility__("hidden"), \
		__no_instrument_function__, __no_profile_instrument_function__, __no_stack_protector__, \
		__optimize__("omit-frame-pointer"))) \
	void __builtin___tsan_##name(void *__fission_address) \
	{ \
		__asm__ volatile(body __FISSION_OTHERWISE(name) : : "D"(__fission_address) : __VA_ARGS__, "cc", "memory"); \
	} \
	__asm__(".local __tsan_" #name);

#define __FISSION_ACCESS(name, body) __FISSION_HOOK(name, __FISSION_SELF(0, "r8") body, "r8", "r9", "r10", "r11")

#ifdef __cplusplus
extern "C" {
#endif

__FISSION_ACCESS(read1, __FISSION_WORDS __FISSION_ONE __FISSION_READ_4)
__FISSION_ACCESS(read2, __FISSION_ALIGNED(1) __FISSION_WORDS __FISSION_TWO __FISSION_READ_4)
__FISSION_ACCESS(read4, __FISSION_ALIGNED(3) __FISSION_WORDS __FISSION_ALL __FISSION_READ_4)
__FISSION_ACCESS(read8, __FISSION_ALIGNED(7) __FISSION_WORDS __FISSION_ALL __FISSION_READ_8)
__FISSION_ACCESS(read16, __FISSION_ALIGNED(15) __FISSION_WORDS __FISSION_ALL __FISSION_READ_16)
__FISSION_ACCESS(write1, __FISSION_WORDS __FISSION_ONE __FISSION_WRITE_4)
__FISSION_ACCESS(write2, __FISSION_ALIGNED(1) __FISSION_WORDS __FISSION_TWO __FISSION_WRITE_4)
__FISSION_ACCESS(write4, __FISSION_ALIGNED(3) __FISSION_WORDS __FISSION_ALL __FISSION_WRITE_4)
__FISSION_ACCESS(write8, __FISSION_ALIGNED(7) __FISSION_WORDS __FISSION_ALL __FISSION_WRITE_8)
__FISSION_ACCESS(write16, __FISSION_ALIGNED(15) __FISSION_WORDS __FISSION_ALL __FISSION_WRITE_16)

/*
 * frames_enter of runtime/frames.h. The frame is filled in before it counts; what it says of the call is where the
 * door finds it again.
 */
__FISSION_HOOK(func_entry,
	__FISSION_SELF(8, "r10")
	"movl " __FISSION_NUMBER(__FISSION_OPEN) "(%%r10), %%r11d\n\t"
	"cmpl $" __FISSION_NUMBER(__FISSION_FRAMES_MOST) ", %%r11d\n\t"
	"jae 9f\n\t"
	"shlq $5, %%r11\n\t"
	"addq " __FISSION_NUMBER(__FISSION_FRAMES) "(%%r10), %%r11\n\t"
	"cmpq %%rbp, -24(%%r11)\n\t"
	"jbe 9f\n\t"
	"movq (%%rsp), %%rax\n\t"
	"movq %%rbp, 8(%%r11)\n\t"
	"movq %%rdi, 16(%%r11)\n\t"
	"movq %%rax, 24(%%r11)\n\t"
	"movabsq $" __FISSION_NUMBER(__FISSION_CALM_FACTOR) ", %%rdi\n\t"
	"imulq %%rdi, %%rax\n\t"
	"movq __fission_calm@GOTPCREL(%%rip), %%rdi\n\t"
	"shrq $64 - " __FISSION_NUMBER(__FISSION_CALM_BITS) ", %%rax\n\t"
	"movzwl (%%rdi,%%rax,2), %%eax\n\t"
	"testb $" __FISSION_NUMBER(__FISSION_LOCKS) ", " __FISSION_NUMBER(__FISSION_MODE) "(%%r10)\n\t"
	"jnz 2f\n\t"
	"cmpl $" __FISSION_NUMBER(__FISSION_CALM) ", %%eax\n\t"
	"jne 3f\n"
	"1:\n\t"
	"movq " __FISSION_NUMBER(__FISSION_ENTERED) "(%%r10), %%rax\n\t"
	"movq %%rax, (%%r11)\n\t"
	"incl " __FISSION_NUMBER(__FISSION_OPEN) "(%%r10)\n\t"
	"ret\n"
	"2:\n\t"
	"cmpl $" __FISSION_NUMBER(__FISSION_LOUD) ", %%eax\n\t"
	"je 1b\n"
	"3:\n\t"
	"movq 16(%%r11), %%rdi\n",
	"rax", "r10", "r11")

/* frames_exit. What the function returns is in rax, rdx and vector registers. */
__FISSION_HOOK(func_exit,
	__FISSION_SELF(8, "r10")
	"movl " __FISSION_NUMBER(__FISSION_OPEN) "(%%r10), %%r11d\n\t"
	"movq %%r11, %%rcx\n\t"
	"shlq $5, %%rcx\n\t"
	"addq " __FISSION_NUMBER(__FISSION_FRAMES) "(%%r10), %%rcx\n\t"
	"movq " __FISSION_NUMBER(__FISSION_CALM_SINCE) "(%%r10), %%r9\n\t"
	"cmpq %%r9, -32(%%rcx)\n\t"
	"jb 9f\n\t"
	"cmpq %%rbp, -24(%%rcx)\n\t"
	"jne 2f\n"
	"1:\n\t"
	"decl %%r11d\n\t"
	"movl %%r11d, " __FISSION_NUMBER(__FISSION_OPEN) "(%%r10)\n\t"
	"cmpl %%r11d, " __FISSION_NUMBER(__FISSION_TOLD) "(%%r10)\n\t"
	"ja 3f\n\t"
	"ret\n"
	"2:\n\t"
	"leaq -8(%%rsp), %%r9\n\t"
	"cmpq %%r9, -24(%%rcx)\n\t"
	"je 1b\n\t"
	"jmp 9f\n"
	"3:\n\t"
	"movl %%r11d, " __FISSION_NUMBER(__FISSION_TOLD) "(%%r10)\n\t"
	"ret\n",
	"rcx", "r9", "r10", "r11")

#ifdef __cplusplus
}
#endif
#endif
