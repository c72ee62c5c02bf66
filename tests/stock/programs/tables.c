/* SPDX-License-Identifier: MIT */
/*
 * Code without unwind tables between functions that have them: the walk ends there.
 * blame: add   never: put
 */
#include "blame.h"

long without(long (*f)(long), long n);
__asm__(
	".text\n.globl without\n.type without, @function\nwithout:\n"
	"	pushq %rbx\n	movq %rdi, %rax\n	movq %rsi, %rdi\n	call *%rax\n	popq %rbx\n	ret\n"
	".size without, . - without\n");

static PART long called(long n)
{
	put(n);
	return n + 1;
}

static PART long around(long n)
{
	put(n);
	return without(called, n) + without(called, n + 1);
}

static PART void add(void)
{
	long v = get();

	intrude();
	put(v + 1);
	KEEP;
}

int main(void)
{
	long sum = 0;

	begin();
	for (int i = 0; i < 5; i++)
		sum += around(i);
	add();
	printf("%ld\n", sum);
	return 0;
}
