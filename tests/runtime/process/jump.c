/* SPDX-License-Identifier: MIT */
/* longjmp and its kin: the functions that were left are closed before the next access, the one that stays is not. */
// CC: gcc clang
// ORDER: enter\(first\) ;; exit\(middle\) ;; exit\(first\) ;; r\(.*jump.c:39 ;; enter\(second\) ;; exit\(second\) ;; r\(.*jump.c:42
// NEVER: exit\(main\)\|$
// COUNT: 4 enter\(inner\)
// COUNT: 4 exit\(inner\)
// COUNT: 1 exit\(main\)
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf plain;
static sigjmp_buf masked;
static volatile int at;

static void inner(int how)
{
	at++;
	if (how == 0)
		longjmp(plain, 1);
	if (how == 1)
		_longjmp(plain, 2);
	if (how == 2)
		siglongjmp(masked, 3);
}

static void middle(int how) { inner(how); at++; }
static void first(void) { middle(0); }
static void second(void) { middle(1); }
static void third(void) { middle(2); }

int main(void)
{
	int sum = 0;

	if (setjmp(plain) == 0)
		first();
	sum += at;
	if (_setjmp(plain) == 0)
		second();
	sum += at;
	if (sigsetjmp(masked, 1) == 0)
		third();
	sum += at;
	middle(3);
	printf("%d %d\n", sum, at);
	return 0;
}
