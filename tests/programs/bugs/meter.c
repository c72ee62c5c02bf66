/* SPDX-License-Identifier: MIT */
/*
 * C11 atomics. meter_add() loads the total and stores a larger one: every access is atomic, the addition is not.
 * Visible: units are missing, exit status 1.
 */
// EXPECT function=meter_add variable=meter.units live=blocks
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static struct {
	atomic_long units;
	atomic_long largest;
} meter;

static void meter_add(long units)
{
#ifdef FIXED
	atomic_fetch_add(&meter.units, units);
#else
	long now = atomic_load(&meter.units);
	atomic_store(&meter.units, now + units);
#endif
}

static void *house(void *arg)
{
	meter_add(*(const long *)arg);
	return NULL;
}

/* Readings are for the display only: any value that once was is a good one. */
static void *display(void *arg)
{
	(void)arg;
	atomic_store(&meter.largest, atomic_load_explicit(&meter.units, memory_order_relaxed));
	return NULL;
}

int main(void)
{
	static const long units[] = {5, 7};
	pthread_t t[2], d;

	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, house, (void *)&units[i]);
	pthread_create(&d, NULL, display, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	pthread_join(d, NULL);
	long total = atomic_load(&meter.units);
	printf("%ld units of 12\n", total);
	return total != 12;
}
