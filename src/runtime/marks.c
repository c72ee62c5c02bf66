/* SPDX-License-Identifier: MIT */
#include "marks.h"

#include "runtime/os.h"

struct mark_entry marks_table[MARKS];

/*
 * A mark pushes its number, in bytes of the table, to where the return address was, and jumps. What is below the stack
 * pointer by then is ours: a function that calls others keeps nothing there. It goes on by a jump, so that the processor's
 * guesses about the returns that are yet to come stay right.
 *
 * Unwind information, for the address pc of a mark's code that a frame would return to, or was interrupted in:
 *   mark      b = pc & ~15, its number i = the word at b + 1, the first mark's code c = b - i
 *   table     at c - 8 + the word there
 *   stack     the caller's pointer is the same, or a word above if the number was pushed: (pc & 15) >= 5
 *   frame     ends there, and a byte above: unwinders know frames by their ends, and one that is empty has its callee's
 * Unwinders look for pc - 1: in front of the first mark is some room.
 */
#if defined __x86_64__
__asm__(
	".pushsection .text\n"
	".balign 16\n"
	"marks_common:\n"
	"	.cfi_startproc\n"
	"	.cfi_undefined rip\n"
	"	pushq %rax\n"
	"	pushq %rcx\n"
	"	pushq %rdx\n"
	"	movq 24(%rsp), %rcx\n"
	"	leaq marks_table(%rip), %rax\n"
	"	movq (%rax,%rcx), %rdx\n"
	"	movq %rdx, 24(%rsp)\n"
	"	movq $0, 8(%rax,%rcx)\n"
	"	popq %rdx\n"
	"	popq %rcx\n"
	"	popq %rax\n"
	"	leaq 8(%rsp), %rsp\n"
	"	notrack jmp *-8(%rsp)\n"
	"	.cfi_endproc\n"
	".balign 16\n"
	"	.cfi_startproc\n"
	"	.cfi_escape 0x0f, 0x0d, 0x77, 0x00, 0x80, 0x00, 0x3f, 0x1a, 0x35, 0x2a, 0x33, 0x24, 0x22, 0x23, 0x01\n"
	"	.cfi_escape 0x16, 0x07, 0x0b, 0x77, 0x00, 0x80, 0x00, 0x3f, 0x1a, 0x35, 0x2a, 0x33, 0x24, 0x22\n"
	"	.cfi_escape 0x10, 0x10, 0x1a, 0x80, 0x00, 0x09, 0xf0, 0x1a, 0x12, 0x23, 0x01, 0x94, 0x04, 0x12, 0x17, "
		"0x1c, 0x38, 0x1c, 0x12, 0x94, 0x04, 0x08, 0x20, 0x24, 0x08, 0x20, 0x26, 0x22, 0x22\n"
	"	.skip 8, 0x90\n"
	"	.long marks_table - .\n"
	"	.skip 4, 0x90\n"
	"	.hidden marks_code\n"
	"	.globl marks_code\n"
	"marks_code:\n"
	"	.set mark_number, 0\n"
	"	.rept 32768\n"
	"	.byte 0x68\n"
	"	.long mark_number * 16\n"
	"	.byte 0xe9\n"
	"	.long marks_common - . - 4\n"
	"	.skip 6, 0xcc\n"
	"	.set mark_number, mark_number + 1\n"
	"	.endr\n"
	"	.cfi_endproc\n"
	".popsection\n");
_Static_assert(MARKS == 32768, "as many as there is code for");
#else
const unsigned char marks_code[1];
#endif

static uint32_t next = 1; /* never given out so far; number 0 is none */
static uint32_t locked;
static uint32_t spares;
static uint16_t spare[MARKS];

/* Nobody waits for long, and nobody waits who may have been interrupted inside: then there are no numbers. */
static bool lock(void)
{
	for (int i = 0; i < 1000; i++)
		if (!__atomic_exchange_n(&locked, 1, __ATOMIC_ACQUIRE))
			return true;
	return false;
}

static void unlock(void)
{
	__atomic_store_n(&locked, 0, __ATOMIC_RELEASE);
}

/* Whoever was at it is not here: what is on the list by then may be half of something. */
void marks_forked(void)
{
	if (__atomic_load_n(&locked, __ATOMIC_RELAXED))
		spares = 0;
	unlock();
}

bool marks_allowed(void)
{
#if defined __x86_64__
	enum { ARCH_SHSTK_STATUS = 0x5005 };
	uint64_t features = 0;

	return os_arch(ARCH_SHSTK_STATUS, &features) < 0 || !(features & 1);
#else
	return false;
#endif
}

static void refill(struct marks_purse *p)
{
	uint32_t n = MARKS_SPARE / 2;

	if (!lock())
		return;
	for (; n && spares; n--)
		p->spare[p->count++] = spare[--spares];
	for (; n && next < MARKS; n--)
		p->spare[p->count++] = (uint16_t)next++;
	unlock();
}

static void spill(struct marks_purse *p, uint32_t down_to)
{
	if (!lock())
		return;
	while (p->count > down_to)
		spare[spares++] = p->spare[--p->count];
	unlock();
}

void marks_empty(struct marks_purse *p)
{
	spill(p, 0);
}

void marks_free(struct marks_purse *p, uint32_t number)
{
	if (p->count == MARKS_SPARE)
		spill(p, MARKS_SPARE / 2);
	if (p->count < MARKS_SPARE)
		p->spare[p->count++] = (uint16_t)number;
}

uint32_t marks_put(struct marks_purse *p, uint64_t *slot)
{
	uint32_t number;

	if (!p->count)
		refill(p);
	if (!p->count)
		return 0;
	number = p->spare[--p->count];
	marks_table[number].original = *slot;
	__atomic_store_n(&marks_table[number].live, 1, __ATOMIC_RELEASE);
	*(volatile uint64_t *)slot = (uint64_t)(uintptr_t)marks_code + number * MARK_BYTES;
	return number;
}

void marks_take(struct marks_purse *p, uint64_t *slot, uint32_t number)
{
	if (*(volatile uint64_t *)slot != (uint64_t)(uintptr_t)marks_code + number * MARK_BYTES)
		return;
	*(volatile uint64_t *)slot = marks_table[number].original;
	marks_free(p, number);
}
