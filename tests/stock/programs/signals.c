/* SPDX-License-Identifier: MIT */
/* Handlers that synchronise, on the thread's stack and on another, and that jump out. blame: add   never: get put */
#include "blame.h"

#include <setjmp.h>
#include <signal.h>

static sem_t counted;
static sigjmp_buf back;
static int jumps;

static PART void count(void)
{
	sem_post(&counted);
	KEEP;
}

static void handle(int number)
{
	(void)number;
	count();
	count();
}

static void jump(int number)
{
	(void)number;
	count();
	siglongjmp(back, 1);
}

static PART void add(int number)
{
	long v = get();

	raise(number);
	intrude();
	put(v + 1);
	KEEP;
}

static PART void jumped(void)
{
	if (sigsetjmp(back, 1)) {
		jumps++;
		put(1);
		return;
	}
	put(2);
	raise(SIGTERM);
}

int main(void)
{
	static char other[1 << 16];
	stack_t stack = {.ss_sp = other, .ss_size = sizeof other};
	struct sigaction plain = {.sa_handler = handle}, apart = {.sa_handler = handle, .sa_flags = SA_ONSTACK},
		leave = {.sa_handler = jump};
	int n;

	begin();
	sem_init(&counted, 0, 0);
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &plain, NULL);
	sigaction(SIGUSR2, &apart, NULL);
	sigaction(SIGTERM, &leave, NULL);
	for (int i = 0; i < 10; i++) {
		add(i & 1 ? SIGUSR1 : SIGUSR2);
		jumped();
	}
	sem_getvalue(&counted, &n);
	printf("%d %d\n", n, jumps);
	return 0;
}
