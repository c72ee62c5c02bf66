/* SPDX-License-Identifier: MIT */
/*
 * Check-then-act. book() asks for a free seat and takes one in two steps, each of them under the lock. Two customers
 * can both be told that the last seat is free. Visible: a seat is sold twice, exit status 1.
 */
// EXPECT function=book variable=hall.free live=default,blocks
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

static struct {
	pthread_mutex_t lock;
	int free;
	int oversold;
} hall = {.lock = PTHREAD_MUTEX_INITIALIZER, .free = 1};

static void take_seat_locked(void)
{
	hall.free--;
	if (hall.free < 0)
		hall.oversold++;
}

#ifdef FIXED
static bool book(void)
{
	bool booked = false;

	pthread_mutex_lock(&hall.lock);
	if (hall.free > 0) {
		take_seat_locked();
		booked = true;
	}
	pthread_mutex_unlock(&hall.lock);
	return booked;
}
#else
static bool seat_is_free(void)
{
	pthread_mutex_lock(&hall.lock);
	bool any = hall.free > 0;
	pthread_mutex_unlock(&hall.lock);
	return any;
}

static void take_seat(void)
{
	pthread_mutex_lock(&hall.lock);
	take_seat_locked();
	pthread_mutex_unlock(&hall.lock);
}

static bool book(void)
{
	if (!seat_is_free())
		return false;
	take_seat();
	return true;
}
#endif

static void cancel(void)
{
	pthread_mutex_lock(&hall.lock);
	hall.free++;
	pthread_mutex_unlock(&hall.lock);
}

/* Sees the play and leaves: the seat is free again for whoever comes later. */
static void *customer(void *arg)
{
	(void)arg;
	if (book())
		cancel();
	return NULL;
}

int main(void)
{
	pthread_t alice, bob;

	pthread_create(&alice, NULL, customer, NULL);
	pthread_create(&bob, NULL, customer, NULL);
	pthread_join(alice, NULL);
	pthread_join(bob, NULL);
	printf("oversold: %d\n", hall.oversold);
	return hall.oversold != 0;
}
