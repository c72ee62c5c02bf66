/* SPDX-License-Identifier: MIT */
/* Cancellation unwinds marked frames, and objects are destroyed. blame: add   never: get put */
#include "blame.h"

static sem_t ready;
static int destroyed;

struct guard {
	PART ~guard() { put(get()); __atomic_add_fetch(&destroyed, 1, __ATOMIC_RELAXED); }
};

static PART void inside(int depth)
{
	guard g;

	put(depth);
	if (depth)
		return inside(depth - 1);
	sem_post(&ready);
	for (;;)
		pause();
}

static void *ends(void *)
{
	inside(5);
	return NULL;
}

static PART void add()
{
	long v = get();

	intrude();
	put(v + 1);
	KEEP;
}

int main()
{
	begin();
	sem_init(&ready, 0, 0);
	for (int i = 0; i < 20; i++) {
		pthread_t t;

		pthread_create(&t, NULL, ends, NULL);
		sem_wait(&ready);
		pthread_cancel(t);
		pthread_join(t, NULL);
	}
	add();
	printf("%d\n", destroyed);
	return 0;
}
