// SPDX-License-Identifier: MIT
// NEVER a lock that is not known may be the right one. With -DCONTROL: it would not help, there are two sections.
// CONTROL kind=remote rank=2 variable=total
#include "two.h"

enum { PARTS = 4 };

static struct part {
	pthread_mutex_t lock;
	int key;
} parts[PARTS];
static int total = 3, command, sum;

static int by_key(const void *a, const void *b)
{
	return ((const struct part *)a)->key - ((const struct part *)b)->key;
}

static void *reader(void *none)
{
	int before;

	pthread_mutex_lock(&parts[1].lock);
	before = total;
#ifdef CONTROL
	pthread_mutex_unlock(&parts[1].lock);
	pthread_mutex_lock(&parts[1].lock);
#endif
	sum = before + total;
	pthread_mutex_unlock(&parts[1].lock);
	return none;
}

static void *writer(void *none)
{
	struct part key = {.key = command};

	if (command) { // COLD
		struct part *p = bsearch(&key, parts, PARTS, sizeof *parts, by_key);

		pthread_mutex_lock(&p->lock);
		total = 9;
		pthread_mutex_unlock(&p->lock);
	}
	return none;
}

int main(void)
{
	for (int i = 0; i < PARTS; i++) {
		pthread_mutex_init(&parts[i].lock, NULL);
		parts[i].key = i;
	}
	run_two(reader, writer);
	return 0;
}
