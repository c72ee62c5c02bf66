/* SPDX-License-Identifier: MIT */
/* expect: violation block=withdraw variable=balance rank=1 verdict=observed */
/*
 * A function that is told, because it has locked, calls one that loses its hooks within its own recursion: what that one
 * leaves without an exit must not be taken for the caller when it is left.
 */
#include "order.h"

static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;

static __attribute__((noinline)) int fibonacci(int n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static __attribute__((noinline)) int middle(void)
{
	pthread_mutex_lock(&other);
	pthread_mutex_unlock(&other);
	return fibonacci(18) + 1;
}

#define LEAVE middle()
#define MEANWHILE ((void)0)

#include "left.h"
