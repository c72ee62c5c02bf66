/* SPDX-License-Identifier: MIT */
/*
 * Stacks switched by instructions of the program's own, and one that is put away and brought back, as greenlets are.
 * fission-cc does not know of other stacks. blame: add   never: get put   alone
 */
#include "blame.h"

void switch_to(void **from, void *to);
__asm__(
	".text\n.globl switch_to\n.type switch_to, @function\nswitch_to:\n"
	"	pushq %rbp\n	pushq %rbx\n	pushq %r12\n	pushq %r13\n	pushq %r14\n	pushq %r15\n"
	"	movq %rsp, (%rdi)\n	movq %rsi, %rsp\n"
	"	popq %r15\n	popq %r14\n	popq %r13\n	popq %r12\n	popq %rbx\n	popq %rbp\n	ret\n"
	".size switch_to, . - switch_to\n");

static void *main_stack, *other_stack;
static long steps;

static PART void step(void)
{
	put(get() + 1);
	steps++;
	switch_to(&other_stack, main_stack);
	KEEP;
}

static void body(void)
{
	for (;;)
		step();
}

static PART void resume(void)
{
	put(1);
	switch_to(&main_stack, other_stack);
	put(2);
	KEEP;
}

static PART void add(void)
{
	long v = get();

	intrude();
	put(v + 1);
	KEEP;
}

/*
 * A part of the thread's own stack is put away, with all marks on it, while other functions run there; then it is back.
 * work() runs, is left half-way, and is gone on with.
 */
static char away[1 << 14];
static void *half, *start, *resting;
static size_t bytes;

static PART long work(long n)
{
	long sum = n;

	put(n);
	if (n)
		sum += work(n - 1);
	else
		switch_to(&half, resting);
	put(n);
	return sum;
}

static void work_body(void)
{
	steps += work(6) * 1000;
	switch_to(&half, resting);
}

static PART long trample(long n)
{
	volatile long room[32];

	room[n & 31] = n;
	put(n);
	return n ? trample(n - 1) + room[n & 31] : 0;
}

static PART void put_away(void)
{
	void **top = (void **)((char *)__builtin_frame_address(0) - (1 << 14));

	start = (void *)((unsigned long)top & ~15ul);
	top = (void **)start;
	*--top = 0;
	*--top = (void *)work_body;
	top -= 6;
	memset(top, 0, 6 * sizeof *top);
	switch_to(&resting, top);
	bytes = (size_t)((char *)start - (char *)half);
	memcpy(away, half, bytes);
	steps += trample(100);
	memcpy(half, away, bytes);
	switch_to(&resting, half);
	KEEP;
}

int main(void)
{
	void **top = (void **)((char *)malloc(1 << 16) + (1 << 16));

	begin();
	*--top = 0;
	*--top = (void *)body;
	top -= 6;
	memset(top, 0, 6 * sizeof *top);
	other_stack = top;
	for (int i = 0; i < 10; i++)
		resume();
	for (int i = 0; i < 3; i++)
		put_away();
	for (int i = 0; i < 2; i++)
		add();
	printf("%ld\n", steps);
	return 0;
}
