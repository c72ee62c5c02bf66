/* SPDX-License-Identifier: MIT */
/* Handlers in threads that run and in threads that wait; a post from a handler; a jump out of one; sigwait. */
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static sem_t posted, never;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile sig_atomic_t handled;
static sigjmp_buf out;

static void post(int signal)
{
	(void)signal;
	handled++;
	sem_post(&posted);
}

static void jump(int signal)
{
	(void)signal;
	siglongjmp(out, 1);
}

static void *wait_long(void *unused)
{
	sem_wait(&never);
	return unused;
}

static void *take(void *unused)
{
	sigset_t set;
	int signal;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigwait(&set, &signal);
	printf("sigwait %d\n", signal == SIGUSR2);
	return unused;
}

int main(void)
{
	struct sigaction a = {.sa_handler = post, .sa_flags = SA_RESTART}, j = {.sa_handler = jump};
	pthread_t thread, other;
	sigset_t set;

	sem_init(&posted, 0, 0);
	sem_init(&never, 0, 0);
	sigaction(SIGUSR1, &a, NULL);
	sigaction(SIGALRM, &j, NULL);
	pthread_create(&thread, NULL, wait_long, NULL);
	raise(SIGUSR1);
	sem_wait(&posted);
	usleep(1000);
	pthread_kill(thread, SIGUSR1);
	while (handled < 2)
		usleep(100);
	sem_wait(&posted);
	sem_post(&never);
	pthread_join(thread, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_create(&other, NULL, take, NULL);
	pthread_kill(other, SIGUSR2);
	pthread_join(other, NULL);
	if (!sigsetjmp(out, 1)) {
		alarm(1);
		pthread_mutex_lock(&m);
		pause();
	}
	pthread_mutex_unlock(&m);
	printf("%d\n", (int)handled);
	return 0;
}
