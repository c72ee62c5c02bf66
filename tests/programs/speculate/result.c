// SPDX-License-Identifier: MIT
// EXPECT kind=before rank=1 variable=slot.1
// Which object it is comes out of a function, and of two calls of it.
#include "two.h"

static struct slot {
	pthread_mutex_t lock;
	int used;
} *slots[2];

static struct slot *find(int key)
{
	return slots[key & 1];
}

static int look(struct slot *s)
{
	int used;

	pthread_mutex_lock(&s->lock);
	used = s->used;
	pthread_mutex_unlock(&s->lock);
	return used;
}

static void *worker(void *none)
{
	struct slot *a = find(2), *b = find(3);

	if (look(a) + look(b) > 7) { // COLD
		pthread_mutex_lock(&b->lock);
		b->used = 0;
		pthread_mutex_unlock(&b->lock);
	}
	return none;
}

static void *other(void *none)
{
	pthread_mutex_lock(&slots[1]->lock);
	slots[1]->used = 2;
	pthread_mutex_unlock(&slots[1]->lock);
	return none;
}

int main(void)
{
	for (int i = 0; i < 2; i++) {
		slots[i] = calloc(1, sizeof *slots[i]);
		pthread_mutex_init(&slots[i]->lock, NULL);
	}
	run_two(worker, other);
	return 0;
}
