/* SPDX-License-Identifier: MIT */
/* expect: violation block=withdraw variable=balance rank=1 verdict=observed */
/*
 * Alice waits in two functions while Bob calls them so often that they lose their hooks, exits and all. She leaves them, and
 * then the inner one locks, and gets its hooks back.
 */
#include "order.h"

enum { CALLS = 5000, RETURN, WAIT, LOCK };

static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;

static __attribute__((noinline)) int inner(int what)
{
	if (what == WAIT) {
		turn_over();
		turn(2);
	}
	if (what == LOCK) {
		pthread_mutex_lock(&other);
		pthread_mutex_unlock(&other);
	}
	return what;
}

static __attribute__((noinline)) int outer(int what)
{
	return what == WAIT ? inner(what) + 1 : what;
}

static void call_often(void)
{
	turn(1);
	for (int i = 0; i < CALLS; i++) {
		outer(RETURN);
		inner(RETURN);
	}
	turn_over();
	turn(3);
	inner(LOCK);
	turn_over();
}

#define LEAVE (outer(WAIT), turn_over(), turn(4))
#define MEANWHILE call_often()

#include "left.h"
