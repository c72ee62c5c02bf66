/* SPDX-License-Identifier: MIT */
#include "scenario.h"

static pthread_spinlock_t s;

static void *try_s(void *unused)
{
	SAY(pthread_spin_trylock(&s));
	return unused;
}

/* scenario spin: pthread_spin_init pthread_spin_lock pthread_spin_trylock pthread_spin_unlock pthread_spin_destroy
 * says: 0 0 EBUSY 0 0 0 0 0
 * events: T1 acq(first) fork(T2) join(T2) rel(first) fork(T3) T3 acq(first) T1 join(T3) acq(second)
 */
static void spin(void)
{
	SAY(pthread_spin_init(&s, PTHREAD_PROCESS_PRIVATE));
	SAY(pthread_spin_lock(&s));
	elsewhere(try_s);
	SAY(pthread_spin_unlock(&s));
	elsewhere(try_s);
	SAY(pthread_spin_destroy(&s));
	SAY(pthread_spin_init(&s, PTHREAD_PROCESS_SHARED));
	SAY(pthread_spin_lock(&s));
}
