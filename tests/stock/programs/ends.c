/* SPDX-License-Identifier: MIT */
/* Threads that end inside of marked frames: by pthread_exit, by cancellation, with cleanup. blame: add   never: get put */
#include "blame.h"

static sem_t ready;
static int cleaned;

static PART void clean(void *by)
{
	put(get());
	__atomic_add_fetch(&cleaned, *(int *)by, __ATOMIC_RELAXED);
}

static PART void inside(int how, int depth)
{
	int one = 1;

	pthread_cleanup_push(clean, &one);
	put(depth);
	if (depth)
		inside(how, depth - 1);
	else if (how == 0)
		pthread_exit(NULL);
	else {
		sem_post(&ready);
		for (;;)
			pause();
	}
	pthread_cleanup_pop(0);
	KEEP;
}

static void *ends(void *how)
{
	inside((int)(long)how, 5);
	return NULL;
}

static PART void add(void)
{
	long v = get();

	intrude();
	put(v + 1);
	KEEP;
}

int main(void)
{
	begin();
	sem_init(&ready, 0, 0);
	for (long i = 0; i < 200; i++) {
		pthread_t t;

		pthread_create(&t, NULL, ends, (void *)(i & 1));
		if (i & 1) {
			sem_wait(&ready);
			pthread_cancel(t);
		}
		pthread_join(t, NULL);
	}
	add();
	printf("%d\n", cleaned);
	return 0;
}
