// SPDX-License-Identifier: MIT
// A message, with the orders that are asked for: -DSTORE=release -DLOAD=acquire, -DFENCES for fences around relaxed ones.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define ORDER_(x) memory_order_##x
#define ORDER(x) ORDER_(x)

static int message;
static atomic_int ready;

static void *send(void *argument)
{
	message = 42;
#ifdef FENCES
	atomic_thread_fence(memory_order_release);
#endif
	atomic_store_explicit(&ready, 1, ORDER(STORE));
	return argument;
}

int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, send, NULL);
	while (!atomic_load_explicit(&ready, ORDER(LOAD)))
		;
#ifdef FENCES
	atomic_thread_fence(memory_order_acquire);
#endif
	printf("%d\n", message);
	pthread_join(t, NULL);
	return 0;
}
