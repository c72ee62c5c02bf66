/* SPDX-License-Identifier: MIT */
/* Nobody can go on but for the handler of a signal that is still to come: no deadlock. */
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static sem_t s;

static void post(int signal)
{
	(void)signal;
	sem_post(&s);
}

int main(void)
{
	struct itimerval soon = {.it_value.tv_usec = 50000};
	struct sigaction a = {.sa_handler = post, .sa_flags = SA_RESTART};

	sem_init(&s, 0, 0);
	sigaction(SIGALRM, &a, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	sem_wait(&s);
	puts("woken");
	return 0;
}
