/* SPDX-License-Identifier: MIT */
/* Ways through a function: computed goto, switch, loops, setjmp, recursion, cleanup, early exits. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <fission.h>

static int interpret(const unsigned char *code, int x)
{
	static void *const ops[] = {&&add, &&twice, &&stop, &&less};

	goto *ops[*code];
add:
	x += 3;
	goto *ops[*++code];
twice:
	x *= 2;
	goto *ops[*++code];
less:
	if (x > 100)
		x -= 100;
	goto *ops[*++code];
stop:
	return x;
}

static int classify(long x)
{
	switch (x) {
	case -5 ... -1: return 1;
	case 0: return 2;
	case 7:
		x++; /* fall through */
	case 8: return (int)x;
	case 0x7fffffffffffffff: return 4;
	default: return x % 2 ? 5 : 6;
	}
}

static jmp_buf back;

static void jump(int depth)
{
	if (!depth)
		longjmp(back, 7);
	jump(depth - 1);
}

static int jumps(int n)
{
	volatile int before = n;
	int got = setjmp(back);

	if (!got)
		jump(n);
	return got + before;
}

static int left;

static void leave(int *x)
{
	left += *x;
}

static int cleans(int x)
{
	__attribute__((cleanup(leave))) int kept = x;

	for (int i = 0; i < 3; i++) {
		__attribute__((cleanup(leave))) int inner = i;

		if (i == x)
			return kept;
	}
	return -kept;
}

static unsigned ackermann(unsigned m, unsigned n)
{
	return !m ? n + 1 : !n ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

static int swaps(int a, int b, int n)
{
	while (n--) {
		int t = a;

		a = b;
		b = t;
	}
	return a * 10 + b;
}

int main(void)
{
	static const unsigned char code[] = {0, 1, 1, 3, 0, 2};
	int x = 12;

	fission_input(&x, sizeof x, "x");
	printf("%d\n", interpret(code, x));
	for (long i = -6; i < 10; i++)
		printf("%d ", classify(i + x - 12));
	printf("%d %d\n", classify(0x7fffffffffffffff), jumps(x));
	printf("%d %d ", cleans(1), cleans(x));
	printf("%d %d\n", left, swaps(x, 2, 5));
	printf("%u\n", ackermann(2, (unsigned)x - 9));
	return x > 5 && x < 20 && (x & 1) == 0 ? 3 : 4;
}
