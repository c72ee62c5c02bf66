// SPDX-License-Identifier: MIT
// A counter under a lock of one's own making, by -D: EXCHANGE, FLAG, COMPARE, TRY, TICKET; or under what is none: COUNTER,
// PEEK (a lock that is also looked at as a flag).
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { THREADS = 3, ROUNDS = 200 };

static long counter;

#if defined EXCHANGE || defined PEEK
static atomic_int word;
static void my_lock(void) { while (atomic_exchange_explicit(&word, 1, memory_order_acquire)) while (atomic_load_explicit(&word, memory_order_relaxed)) ; }
static void my_unlock(void) { atomic_store_explicit(&word, 0, memory_order_release); }
#elif defined FLAG
static atomic_flag word = ATOMIC_FLAG_INIT;
static void my_lock(void) { while (atomic_flag_test_and_set(&word)) ; }
static void my_unlock(void) { atomic_flag_clear(&word); }
#elif defined COMPARE
static atomic_int word;
static void my_lock(void) { for (int free = 0; !atomic_compare_exchange_weak(&word, &free, 7); free = 0) ; }
static void my_unlock(void) { atomic_exchange(&word, 0); }
#elif defined TRY
static volatile int word;
static int my_try(void) { return !__sync_lock_test_and_set(&word, 1); }
static void my_lock(void) { while (!my_try()) ; }
static void my_unlock(void) { __sync_lock_release(&word); }
#elif defined TICKET
static atomic_uint next, serving;
static void my_lock(void) { unsigned mine = atomic_fetch_add(&next, 1); while (atomic_load(&serving) != mine) ; }
static void my_unlock(void) { atomic_store(&serving, atomic_load(&serving) + 1); }
#elif defined COUNTER
static atomic_long inside;
static void my_lock(void) { atomic_fetch_add(&inside, 1); }
static void my_unlock(void) { atomic_fetch_sub(&inside, 1); }
#endif

static void add(void)
{
	my_lock();
#ifndef COUNTER
	counter++;
#endif
	my_unlock();
}

static void *work(void *argument)
{
	for (int i = 0; i < ROUNDS; i++)
		add();
	return argument;
}

int main(void)
{
	pthread_t t[THREADS];

#ifdef PEEK
	add();
	while (atomic_load_explicit(&word, memory_order_acquire))
		;
	counter--; /* without the lock: its word is a flag, too */
#endif
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	printf("%ld\n", counter);
	return 0;
}
