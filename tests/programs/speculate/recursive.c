// SPDX-License-Identifier: MIT
// NEVER the lock is taken twice, and given back once. With -DCONTROL: given back for good.
// CONTROL kind=window rank=3 variable=count
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t m = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static int count = 1, full;

static void *adder(void *none)
{
	int seen;

	pthread_mutex_lock(&m);
	seen = count;
	if (full) { // COLD
#ifdef CONTROL
		pthread_mutex_unlock(&m);
		pthread_mutex_lock(&m);
#else
		pthread_mutex_lock(&m);
		pthread_mutex_unlock(&m);
#endif
	}
	count = seen + 2;
	pthread_mutex_unlock(&m);
	return none;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, adder, NULL);
	pthread_create(&b, NULL, adder, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
