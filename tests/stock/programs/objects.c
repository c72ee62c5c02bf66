/* SPDX-License-Identifier: MIT */
/*
 * Objects other than mutexes: of each kind, two sections in one function. blame: with_rw with_spin with_c11
 * never: get put rw_section spin_section c11_section sem_section
 */
#include "blame.h"

#include <threads.h>

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static mtx_t mtx;
static sem_t sem;

#define SECTION(name, take, give) \
	static PART void name##_section(void) \
	{ \
		take; \
		value++; \
		give; \
		KEEP; \
	}

SECTION(rw, pthread_rwlock_wrlock(&rwlock), pthread_rwlock_unlock(&rwlock))
SECTION(spin, pthread_spin_lock(&spin), pthread_spin_unlock(&spin))
SECTION(c11, mtx_lock(&mtx), mtx_unlock(&mtx))
SECTION(sem, sem_wait(&sem), sem_post(&sem))

static void *other(void *unused)
{
	(void)unused;
	for (int i = 0; i < 3; i++) {
		rw_section();
		spin_section();
		c11_section();
	}
	return NULL;
}

#define WITH(name) \
	static PART void with_##name(void) \
	{ \
		name##_section(); \
		intrude(); \
		name##_section(); \
		KEEP; \
	}

WITH(rw)
WITH(spin)
WITH(c11)
WITH(sem)

int main(void)
{
	pthread_t t;

	begin();
	pthread_spin_init(&spin, 0);
	mtx_init(&mtx, mtx_plain);
	sem_init(&sem, 0, 1);
	pthread_create(&t, NULL, other, NULL);
	for (int i = 0; i < 2; i++) {
		with_rw();
		with_spin();
		with_c11();
		with_sem();
	}
	pthread_join(t, NULL);
	printf("%d\n", value > 0);
	return 0;
}
