/* SPDX-License-Identifier: MIT */
/*
 * Ring buffer. ring_put() reserves a slot in one section and fills it in another one, by the index that it read: two
 * producers fill the same slot. Visible: a sample is missing, exit status 1.
 */
// EXPECT function=ring_put variable=ring.head live=default,blocks
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum { SLOTS = 4 };

static struct {
	pthread_mutex_t lock;
	unsigned head, tail;
	int slot[SLOTS];
} ring = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool ring_get(int *sample)
{
	pthread_mutex_lock(&ring.lock);
	bool any = ring.tail != ring.head;
	if (any)
		*sample = ring.slot[ring.tail++ % SLOTS];
	pthread_mutex_unlock(&ring.lock);
	return any;
}

#ifdef FIXED
static bool ring_put(int sample)
{
	pthread_mutex_lock(&ring.lock);
	bool room = ring.head - ring.tail < SLOTS;
	if (room)
		ring.slot[ring.head++ % SLOTS] = sample;
	pthread_mutex_unlock(&ring.lock);
	return room;
}
#else
static bool ring_reserve(unsigned *at)
{
	pthread_mutex_lock(&ring.lock);
	bool room = ring.head - ring.tail < SLOTS;
	*at = ring.head;
	pthread_mutex_unlock(&ring.lock);
	return room;
}

static void ring_publish(unsigned at, int sample)
{
	pthread_mutex_lock(&ring.lock);
	ring.slot[at % SLOTS] = sample;
	ring.head = at + 1;
	pthread_mutex_unlock(&ring.lock);
}

static bool ring_put(int sample)
{
	unsigned at;

	if (!ring_reserve(&at))
		return false;
	ring_publish(at, sample);
	return true;
}
#endif

static void *sensor(void *arg)
{
	ring_put(*(int *)arg);
	return NULL;
}

int main(void)
{
	int value[] = {1, 2}, sample, sum = 0;
	pthread_t a, b;

	pthread_create(&a, NULL, sensor, &value[0]);
	pthread_create(&b, NULL, sensor, &value[1]);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	while (ring_get(&sample))
		sum += sample;
	printf("sum: %d\n", sum);
	return sum != 3;
}
