/* SPDX-License-Identifier: MIT */
/*
 * The hooks of gcc's -fsanitize=thread, in each file that fission-cc compiles: the first look of runtime/abi_tsan.c, in
 * front of the library.
 *
 * Why here. A call into a library goes through a table, and whoever calls has to put aside what it has in registers. Of
 * a function in the same file gcc knows which registers it takes (-fipa-ra): these take three or four, and what is in
 * the others stays there. Most accesses need no more than this first look; the others jump to the library, to a door
 * (runtime/abi_local.c) that leaves all other registers as they are.
 *
 * Most of all are accesses that the thread has done at this look (runtime/lately.h), or that nobody looks at. Those do
 * not even get to the hook: the assembler, which takes `call` for the macro below, puts a look at the thread's mark in
 * front of each call of a hook. It takes none but the registers that the hook takes.
 *
 * How. Defined under the compiler's own name for it, __builtin___tsan_read8, the function is the one that the sanitizer
 * calls. Expanded before all others (no_reorder), because gcc must have seen what it takes; of each file its own
 * (.local). The bodies must not have frames: a door takes what is on top of the stack for the place of the access.
 *
 * Other compilers, processors and -O0 do without, and call the library; with -Os there is no look in front of calls.
 * The numbers below are checked there.
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
	"movq __fission_hooks_6@gottpoff(%%rip), %%" to "\n\t" \
	"movq %%fs:" __FISSION_NUMBER(offset) "(%%" to "), %%" to "\n\t" \
	"testq %%" to ", %%" to "\n\t" \
	"jz 9f\n\t"

#define __FISSION_ALIGNED(bits) "testb $" #bits ", %%dil\n\tjnz 90f\n\t"

/* Where in the table of marks that of the access is: in r11, for the table in r9. */
#define __FISSION_MARK_AT(name, size) \
	__FISSION_NUMBER(__FISSION_MARKS_##name) "(%%r9,%%r11," __FISSION_NUMBER(__FISSION_APART_##size) ")"
#define __FISSION_MARK_INDEX(size) \
	"movl " __FISSION_NUMBER(__FISSION_MARKS_OF_##size) "(%%r9), %%r11d\n\tandl %%edi, %%r11d\n\t"

/* In r9: the leaf of a table for the address, if there is one; in r11: where in its memory the granule is. */
#define __FISSION_LEAF(table) \
	"movq %%rdi, %%r11\n\t" \
	"shlq $" __FISSION_NUMBER(__FISSION_ADDRESS_UP) ", %%r11\n\t" \
	"shrq $" __FISSION_NUMBER(__FISSION_ADDRESS_DOWN) ", %%r11\n\t" \
	"movq " __FISSION_NUMBER(table) "(%%r8), %%r9\n\t" \
	"movq (%%r9,%%r11,8), %%r9\n\t" \
	"testq %%r9, %%r9\n\tjz 90f\n\t" \
	"movl %%edi, %%r11d\n\tandl $" __FISSION_NUMBER(__FISSION_LEAF_MASK) ", %%r11d\n\t"

/* In r9: the words of the first granule. If they have to be fetched from afar, so have their places: both at once. */
#define __FISSION_WORDS \
	__FISSION_LEAF(__FISSION_LEAVES) "prefetcht0 " __FISSION_NUMBER(__FISSION_PLACES_AT) "(%%r9,%%r11,2)\n\t" \
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

/* filter_mark, at 5, and the end. A read does not say that anything was written. */
#define __FISSION_MARK(name, size, read) \
	"5:\n\tmovq " __FISSION_NUMBER(__FISSION_MARKS) "(%%r8), %%r9\n\ttestq %%r9, %%r9\n\tjz 3f\n\t" \
	__FISSION_MARK_INDEX(size) \
	"movq (%%r9), %%r10\n\txorq %%rdi, %%r10\n\t" read \
	"movq %%r10, " __FISSION_MARK_AT(name, size) "\n3:\tret\n"
#define __FISSION_UNWRITTEN "btrq $" __FISSION_NUMBER(__FISSION_WRITTEN_BIT) ", %%r10\n\t"

/* In r11: how the word at the offset differs from that of the access. Read at this time; written. */
#define __FISSION_DIFFERS(offset) "movq %%r10, %%r11\n\txorq " #offset "(%%r9), %%r11\n\t"
#define __FISSION_IS_READ(offset) __FISSION_DIFFERS(offset) "cmpq $15, %%r11\n\tjbe 5f\n\t"
#define __FISSION_IS_WRITTEN(offset) __FISSION_DIFFERS(offset) "testq $-6, %%r11\n\tjz 5f\n\t"
#define __FISSION_JUST_WRITTEN \
	__FISSION_DIFFERS(0) "cmpq $255, %%r11\n\tja 3f\n\ttestb %%r10b, %%r11b\n\tjz 5f\n3:\n\t"

/*
 * The word has all bytes of the access; it has others too, and stays as it is; it is the thread's own; two granules have
 * the same, but for what was told; two threads only read.
 */
#define __FISSION_HAS_BYTES(offset) \
	"movl " #offset "(%%r9), %%r11d\n\tnotl %%r11d\n\tandl %%r10d, %%r11d\n\ttestb $0xf0, %%r11b\n\tjnz 90f\n\t"
#define __FISSION_MORE(offset, to) \
	"movl " #offset "(%%r9), %%r11d\n\txorl %%r10d, %%r11d\n\ttestb $0xf0, %%r11b\n\tjnz " to "\n\t"
/*
 * Where it is known how the word differs: it has the bytes of an access of all, and no others; those of one of a part.
 */
#define __FISSION_SAME_BYTES "testb $0xf0, %%r11b\n\tjnz 90f\n\t"
#define __FISSION_SAME_PART(offset) \
	"testb $0xf0, %%r11b\n\tjz 15f\n\t" __FISSION_HAS_BYTES(offset) "jmp 5f\n15:\n\t"
#define __FISSION_HAS_MORE(offset) __FISSION_MORE(offset, "5f")
#define __FISSION_IS_OWN(offset) \
	"movq " #offset "(%%r9), %%r11\n\t" \
	"subq " __FISSION_NUMBER(__FISSION_FROM) "(%%r8), %%r11\n\t" \
	"cmpq " __FISSION_NUMBER(__FISSION_REACH) "(%%r8), %%r11\n\t"
#define __FISSION_OWN(offset) __FISSION_IS_OWN(offset) "ja 90f\n\t"
#define __FISSION_ALIKE(offset, other) \
	"movq " #offset "(%%r9), %%r11\n\txorq " #other "(%%r9), %%r11\n\tcmpq $1, %%r11\n\tja 90f\n\t"
#define __FISSION_IF_READS "testb $2, (%%r9)\n\tjnz 6f\n4:\n\t"

/*
 * In r11: the places of the first granule; in r9, which had its words: the place. The leaf begins so far before. A place
 * is nearly always what it was: then nobody else has to fetch its line of memory again.
 */
#define __FISSION_PLACES \
	"movl %%edi, %%r11d\n\t" \
	"andl $" __FISSION_NUMBER(__FISSION_LEAF_MASK) ", %%r11d\n\t" \
	"negq %%r11\n\t" \
	"leaq " __FISSION_NUMBER(__FISSION_PLACES_AT) "(%%r9,%%r11,2), %%r11\n\t" \
	"movl (%%rsp), %%r9d\n\t"
#define __FISSION_PLACE_IS(place) "cmpl %%r9d, " #place "(%%r11)\n\t"
#define __FISSION_RENEW_4(word, place, done) \
	"movq %%r10, " #word "(%%r9)\n\t" __FISSION_PLACES \
	__FISSION_PLACE_IS(place) "je " done "\n\tmovl %%r9d, " #place "(%%r11)\n\t"
#define __FISSION_RENEW_8(word, word2, place, place2, done) \
	"movq %%r10, " #word "(%%r9)\n\tmovq %%r10, " #word2 "(%%r9)\n\t" __FISSION_PLACES \
	__FISSION_PLACE_IS(place) "jne 1f\n\t" __FISSION_PLACE_IS(place2) "je " done "\n" \
	"1:\tmovl %%r9d, " #place "(%%r11)\n\tmovl %%r9d, " #place2 "(%%r11)\n\t"

/* quick_note, and then the mark. The first one opens its window. */
#define __FISSION_NOTED(at) #at "(%%r9)\n\t"
#define __FISSION_IN_NOTES \
	"8:\n\t" __FISSION_LEAF(__FISSION_LATELY) "leaq (%%r9,%%r11,4), %%r9\n\tcmpq $0, " __FISSION_NOTED(0) "je 90f\n\t"
#define __FISSION_NOTE(word, place, done) \
	"cmpq %%r10, " __FISSION_NOTED(word) "je " done "\n\tmovq %%r10, " __FISSION_NOTED(word) \
	"movl (%%rsp), %%r11d\n\tmovq %%r11, " __FISSION_NOTED(place)
#define __FISSION_NOTE_4 __FISSION_IN_NOTES __FISSION_NOTE(0, 8, "5b") "jmp 5b\n"
#define __FISSION_NOTE_8 __FISSION_IN_NOTES __FISSION_NOTE(0, 8, "1f") "1:\n\t" __FISSION_NOTE(16, 24, "5b") "jmp 5b\n"

/*
 * Which of two readers it is: the second, at 7, or the first. Without notes the second goes on at 4, as if it were alone,
 * and so does the first with its own word, which says that there are two.
 */
#define __FISSION_READER(same, renew, more_first, more_second) \
	"cmpq $0, " __FISSION_NUMBER(__FISSION_NOTES) "(%%r8)\n\tjne 2f\n\t" \
	__FISSION_IS_OWN(8) "jbe 4b\n\t" __FISSION_OWN(0) __FISSION_HAS_BYTES(0) same \
	"movl (%%r9), %%r11d\n\tandl $6, %%r11d\n\torq %%r11, %%r10\n\t" renew "jmp 5b\n" \
	"2:\n\t" \
	__FISSION_IS_OWN(8) "jbe 7f\n\t" __FISSION_OWN(0) __FISSION_HAS_BYTES(0) more_first "jmp 8f\n" \
	"7:\n\t" __FISSION_HAS_BYTES(8) more_second

/* quick_read and quick_write of runtime/filter.h, of a thread that goes on as the owner, or as one of two readers. */
#define __FISSION_RENEW_READ_4(mark) __FISSION_RENEW_READ_OF(__FISSION_SAME_BYTES, mark)
#define __FISSION_RENEW_READ_PART(mark) __FISSION_RENEW_READ_OF(__FISSION_SAME_PART(8), mark)
#define __FISSION_RENEW_READ_OF(bytes, mark) \
	__FISSION_JUST_WRITTEN __FISSION_IF_READS __FISSION_OWN(8) __FISSION_IS_READ(8) bytes \
	__FISSION_RENEW_4(8, 4, "5f") \
	mark \
	"6:\n\t" \
	__FISSION_READER(__FISSION_MORE_FIRST, __FISSION_RENEW_4(0, 0, "5b"), __FISSION_MORE_FIRST, __FISSION_MORE_SECOND) \
	__FISSION_NOTE_4
#define __FISSION_RENEW_READ_8(mark) \
	__FISSION_ALIKE(0, 16) __FISSION_ALIKE(8, 24) __FISSION_JUST_WRITTEN __FISSION_IF_READS __FISSION_OWN(8) \
	__FISSION_IS_READ(8) __FISSION_SAME_BYTES __FISSION_RENEW_8(8, 24, 4, 12, "5f") \
	mark \
	"6:\n\t" __FISSION_READER("", __FISSION_RENEW_8(0, 16, 0, 8, "5b"), "", "") __FISSION_NOTE_8

/* A reader whose word has more bytes has nothing to note. */
#define __FISSION_MORE_FIRST __FISSION_MORE(0, "5b")
#define __FISSION_MORE_SECOND __FISSION_MORE(8, "5b")

#define __FISSION_OWN_WRITE \
	__FISSION_OWN(0) \
	"testb $2, (%%r9)\n\t" \
	"jnz 90f\n\t" \
	"cmpq $0, 8(%%r9)\n\t" \
	"je 3f\n\t" \
	__FISSION_OWN(8) \
	"3:\n\t" \
	"movl (%%r9), %%r11d\n\t" \
	"andl $4, %%r11d\n\t" \
	"orq %%r11, %%r10\n\t"
#define __FISSION_RENEW_WRITE_4(mark) \
	__FISSION_IS_WRITTEN(0) __FISSION_SAME_BYTES __FISSION_OWN_WRITE __FISSION_RENEW_4(0, 0, "5f") mark
#define __FISSION_RENEW_WRITE_PART(mark) \
	__FISSION_IS_WRITTEN(0) __FISSION_HAS_BYTES(0) __FISSION_OWN_WRITE __FISSION_HAS_MORE(0) __FISSION_RENEW_4(0, 0, "5f") mark
#define __FISSION_RENEW_WRITE_8(mark) \
	__FISSION_ALIKE(0, 16) __FISSION_ALIKE(8, 24) __FISSION_IS_WRITTEN(0) __FISSION_SAME_BYTES __FISSION_OWN_WRITE \
	__FISSION_RENEW_8(0, 16, 0, 8, "5f") mark

#define __FISSION_READ_1 __FISSION_WORDS __FISSION_ONE __FISSION_RENEW_READ_PART(__FISSION_MARK(read1, 1, ""))
#define __FISSION_READ_2 __FISSION_WORDS __FISSION_TWO __FISSION_RENEW_READ_PART(__FISSION_MARK(read2, 2, ""))
#define __FISSION_READ_4 \
	__FISSION_WORDS __FISSION_ALL __FISSION_RENEW_READ_4(__FISSION_MARK(read4, 4, __FISSION_UNWRITTEN))
#define __FISSION_READ_8 \
	__FISSION_WORDS __FISSION_ALL __FISSION_RENEW_READ_8(__FISSION_MARK(read8, 8, __FISSION_UNWRITTEN))
#define __FISSION_WRITE_1 __FISSION_WORDS __FISSION_ONE __FISSION_RENEW_WRITE_PART(__FISSION_MARK(write1, 1, ""))
#define __FISSION_WRITE_2 __FISSION_WORDS __FISSION_TWO __FISSION_RENEW_WRITE_PART(__FISSION_MARK(write2, 2, ""))
#define __FISSION_WRITE_4 __FISSION_WORDS __FISSION_ALL __FISSION_RENEW_WRITE_4(__FISSION_MARK(write4, 4, ""))
#define __FISSION_WRITE_8 __FISSION_WORDS __FISSION_ALL __FISSION_RENEW_WRITE_8(__FISSION_MARK(write8, 8, ""))

#include "hooks_trail.h"
#include "hooks_record.h"

/* All else: the door wants to know where the hook is. */
#define __FISSION_OTHERWISE(name) \
	"9:\n90:\n\tleaq __tsan_" #name "(%%rip), %%r11\n\tjmp *__fission_" #name "@GOTPCREL(%%rip)"

#define __FISSION_HOOK(name, body, ...) __FISSION_HOOK_OF(name, : "D"(__fission_address), body, __VA_ARGS__)
#define __FISSION_HOOK_OF(name, address, body, ...) \
	__attribute__((__no_reorder__, __noinline__, __used__, __no_sanitize__("thread"), __visibility__("hidden"), \
		__no_instrument_function__, __no_profile_instrument_function__, __no_stack_protector__, \
		__optimize__("omit-frame-pointer"))) \
	void __builtin___tsan_##name(void *__fission_address) \
	{ \
		__asm__ volatile(body __FISSION_OTHERWISE(name) : address : __VA_ARGS__, "cc", "memory"); \
	} \
	__asm__(".local __tsan_" #name);

#define __FISSION_ACCESS(name, kind, size, body) \
	__FISSION_HOOK(name, body __FISSION_TRAIL_ACCESS(kind, size) __FISSION_RECORD_ACCESS(kind, size), "r8", "r9", "r10", "r11")
#define __FISSION_FILTERED __FISSION_SELF(0, "r8")

#ifdef __cplusplus
extern "C" {
#endif

#ifndef __OPTIMIZE_SIZE__
/*
 * The look in front of a call. The library takes looks, or looks and calls, out when they are good for nothing
 * (runtime/sites.h), and knows them by their bytes, which mute.c has. For a read the highest bit does not count: it was a
 * write, then. `{load}` is so that the call below is the processor's, and not the macro again. Which calls are of hooks is
 * asked by a symbol.
 */
#define __FISSION_SITE(name, size, differs) \
	".set .L__fission_is___tsan_" #name ", 1\n" \
	".macro __fission_at___tsan_" #name "\n\t" \
	"movq __fission_hooks_6@gottpoff(%rip), %r8\n\t" \
	"movq %fs:" __FISSION_NUMBER(__FISSION_HOOKS_MARKS) "(%r8), %r9\n\t" \
	"movq (%r9), %r10\n\t" \
	"movl " __FISSION_NUMBER(__FISSION_MARKS_OF_##size) "(%r9), %r11d\n\t" \
	"andl %edi, %r11d\n\t" \
	"xorq %rdi, %r10\n\t" \
	"xorq " __FISSION_NUMBER(__FISSION_MARKS_##name) "(%r9,%r11," __FISSION_NUMBER(__FISSION_APART_##size) "), %r10\n\t" \
	differs " %r10, %r10\n\t" \
	"je .L__fission_done_\\@\n\t" \
	"{load} call __tsan_" #name "\n" \
	".L__fission_done_\\@:\n" \
	".endm\n"
#define __FISSION_SITES(size) __FISSION_SITE(read##size, size, "addq") __FISSION_SITE(write##size, size, "testq")
__asm__(__FISSION_SITES(1) __FISSION_SITES(2) __FISSION_SITES(4) __FISSION_SITES(8) __FISSION_SITES(16)
	".macro call __fission_to:vararg\n\t"
	".ifdef \".L__fission_is_\\__fission_to\"\n\t"
	"__fission_at_\\__fission_to\n"
	".else\n\t"
	"{load} call \\__fission_to\n"
	".endif\n"
	".endm");
#endif

__FISSION_ACCESS(read1, __FISSION_READ, 1, __FISSION_FILTERED __FISSION_READ_1)
__FISSION_ACCESS(read2, __FISSION_READ, 2, __FISSION_FILTERED __FISSION_ALIGNED(1) __FISSION_READ_2)
__FISSION_ACCESS(read4, __FISSION_READ, 4, __FISSION_FILTERED __FISSION_ALIGNED(3) __FISSION_READ_4)
__FISSION_ACCESS(read8, __FISSION_READ, 8, __FISSION_FILTERED __FISSION_ALIGNED(7) __FISSION_READ_8)
__FISSION_ACCESS(read16, __FISSION_READ, 16, "jmp 9f\n\t")
__FISSION_ACCESS(write1, __FISSION_WRITE, 1, __FISSION_FILTERED __FISSION_WRITE_1)
__FISSION_ACCESS(write2, __FISSION_WRITE, 2, __FISSION_FILTERED __FISSION_ALIGNED(1) __FISSION_WRITE_2)
__FISSION_ACCESS(write4, __FISSION_WRITE, 4, __FISSION_FILTERED __FISSION_ALIGNED(3) __FISSION_WRITE_4)
__FISSION_ACCESS(write8, __FISSION_WRITE, 8, __FISSION_FILTERED __FISSION_ALIGNED(7) __FISSION_WRITE_8)
__FISSION_ACCESS(write16, __FISSION_WRITE, 16, "jmp 9f\n\t")

/* frames_enter of runtime/frames.h. At 3 the frame was not to be: it is as if it were dead. */
__FISSION_HOOK_OF(func_entry, "+D"(__fission_address) :,
	__FISSION_SELF(8, "r10")
	"movl " __FISSION_NUMBER(__FISSION_OPEN) "(%%r10), %%r11d\n\t"
	"cmpl %%r11d, " __FISSION_NUMBER(__FISSION_TOLD) "(%%r10)\n\t"
	"ja 9f\n\t"
	"cmpl $" __FISSION_NUMBER(__FISSION_FRAMES_MOST) ", %%r11d\n\t"
	"jae 9f\n\t"
	"shlq $5, %%r11\n\t"
	"addq " __FISSION_NUMBER(__FISSION_FRAMES) "(%%r10), %%r11\n\t"
	"cmpq %%rbp, -24(%%r11)\n\t"
	"jbe 9f\n\t"
	"movq " __FISSION_NUMBER(__FISSION_ENTERED) "(%%r10), %%rax\n\t"
	"movq %%rax, (%%r11)\n\t"
	"movq (%%rsp), %%rax\n\t"
	"movq %%rbp, 8(%%r11)\n\t"
	"movq %%rdi, 16(%%r11)\n\t"
	"movq %%rax, 24(%%r11)\n\t"
	"movabsq $" __FISSION_NUMBER(__FISSION_CALM_FACTOR) ", %%rax\n\t"
	"imulq (%%rsp), %%rax\n\t"
	"shrq $64 - " __FISSION_NUMBER(__FISSION_CALM_BITS) ", %%rax\n\t"
	"addq %%rax, %%rax\n\t"
	"addq __fission_calm@GOTPCREL(%%rip), %%rax\n\t"
	"movzwl (%%rax), %%eax\n\t"
	"testb $" __FISSION_NUMBER(__FISSION_LOCKS) ", " __FISSION_NUMBER(__FISSION_MODE) "(%%r10)\n\t"
	"jnz 2f\n\t"
	"cmpl $" __FISSION_NUMBER(__FISSION_CALM) ", %%eax\n\t"
	"jne 3f\n"
	"1:\n\t"
	"incl " __FISSION_NUMBER(__FISSION_OPEN) "(%%r10)\n\t"
	"ret\n"
	"2:\n\t"
	"cmpl $" __FISSION_NUMBER(__FISSION_LOUD) ", %%eax\n\t"
	"je 1b\n"
	"3:\n\t"
	"movq $0, (%%r11)\n\t"
	__FISSION_TRAIL_ENTRY_HOOK
	__FISSION_RECORD_ENTRY,
	"rax", "r10", "r11")

/* frames_exit, and at 3 frames_left. What the function returns is in rax, rdx and vector registers. */
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
	"movq $0, -32(%%rcx)\n\t"
	"ret\n"
	"2:\n\t"
	"leaq -8(%%rsp), %%r9\n\t"
	"cmpq %%r9, -24(%%rcx)\n\t"
	"jne 9f\n\t"
	"movq (%%rsp), %%r9\n\t"
	"cmpq %%r9, -16(%%rcx)\n\t"
	"je 1b\n\t"
	"jmp 9f\n"
	"3:\n\t"
	"cmpq $0, -32(%%rcx)\n\t"
	"jns 4f\n\t"
	"movq %%r11, %%r9\n\t"
	"shlq $32, %%r9\n\t"
	"orq %%r11, %%r9\n\t"
	"movq %%r9, " __FISSION_NUMBER(__FISSION_OPEN) "(%%r10)\n\t"
	"movq $0, -32(%%rcx)\n\t"
	"ret\n"
	"4:\n\t"
	"incl %%r11d\n\t"
	"movl %%r11d, " __FISSION_NUMBER(__FISSION_OPEN) "(%%r10)\n\t"
	"jmp 9f\n"
	__FISSION_TRAIL_EXIT_HOOK
	__FISSION_RECORD_EXIT,
	"rcx", "r9", "r10", "r11")

#ifdef __cplusplus
}
#endif
#endif
