/* SPDX-License-Identifier: MIT */
/*
 * Signal handlers that interrupt the library's hooks and do not come back soon, or ever: handlers suspend|jump ROUNDS.
 *
 * suspend: as garbage collectors stop threads. The handler takes a lock and then waits until it is told to go on;
 * meanwhile the other thread takes the lock and makes more entries than a ring holds. Recording must not stand still
 * for the entry that the handler has interrupted.
 * jump: the handler leaves by siglongjmp, over an entry that will never be written.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 80000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int stopped, go_on, done, ready;
static unsigned rounds;
static sigjmp_buf place;
static volatile unsigned short cell;

static void work(volatile unsigned short *at, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		*at = (unsigned short)i;
}

/* Not instrumented, so that what is recorded does not depend on how long anyone waits. */
__attribute__((no_sanitize("thread"))) static void wait_for(const int *flag, int value)
{
	while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != value)
		sched_yield();
}

__attribute__((no_sanitize("thread"))) static int get(const int *flag)
{
	return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

__attribute__((no_sanitize("thread"))) static void set(int *flag, int value)
{
	__atomic_store_n(flag, value, __ATOMIC_RELEASE);
}

/* Sleeps, as sigsuspend would. */
__attribute__((no_sanitize("thread"))) static void sleep_until(const int *flag, int value)
{
	struct timespec moment = {0, 1000000};

	while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != value)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL);
}

static void suspend(int number)
{
	static int round;

	(void)number;
	round++;
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	set(&stopped, round);
	sleep_until(&go_on, round);
}

static void jump(int number)
{
	(void)number;
	siglongjmp(place, 1);
}

static void *suspended(void *argument)
{
	volatile unsigned short own = 0;

	set(&ready, 1);
	while (!get(&done))
		work(&own, 100);
	return argument;
}

static void *jumping(void *argument)
{
	volatile unsigned short own = 0;
	int round = sigsetjmp(place, 1);

	(void)round;
	set(&ready, get(&ready) + 1);
	while (!get(&done))
		work(&own, 100);
	return argument;
}

static void stop_the_world(pthread_t thread)
{
	wait_for(&ready, 1);
	for (int i = 1; i <= (int)rounds; i++) {
		pthread_kill(thread, SIGUSR1);
		wait_for(&stopped, i);
		pthread_mutex_lock(&mutex);
		work(&cell, MANY);
		pthread_mutex_unlock(&mutex);
		set(&go_on, i);
	}
}

static void make_it_jump(pthread_t thread)
{
	for (int i = 1; i <= (int)rounds; i++) {
		wait_for(&ready, i);
		work(&cell, 1000);
		pthread_kill(thread, SIGUSR1);
	}
	wait_for(&ready, (int)rounds + 1);
}

int main(int argc, char **argv)
{
	int jumps = argc == 3 && strcmp(argv[1], "jump") == 0;
	struct sigaction a = {.sa_handler = jumps ? jump : suspend};
	pthread_t thread;

	if (argc != 3)
		return 2;
	rounds = (unsigned)atoi(argv[2]);
	sigaction(SIGUSR1, &a, NULL);
	if (pthread_create(&thread, NULL, jumps ? jumping : suspended, NULL) != 0)
		return 3;
	if (jumps)
		make_it_jump(thread);
	else
		stop_the_world(thread);
	set(&done, 1);
	pthread_join(thread, NULL);
	printf("%u rounds\n", rounds);
	return 0;
}
