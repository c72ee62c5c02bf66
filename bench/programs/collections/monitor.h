/* SPDX-License-Identifier: MIT */
/*
 * The lock that every object of the JDK has, as `synchronized` takes it: whoever holds it may take it again.
 *
 * A method that is `synchronized` there enters the monitor first and leaves it last here, and one that is not, does
 * not. That is all there is to the collections' locking, and so their violations are those of the originals.
 */
#ifndef COLLECTIONS_MONITOR_H
#define COLLECTIONS_MONITOR_H

#include <pthread.h>

struct monitor {
	pthread_mutex_t mutex;
};

static inline void monitor_init(struct monitor *m)
{
	pthread_mutexattr_t how;

	pthread_mutexattr_init(&how);
	pthread_mutexattr_settype(&how, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&m->mutex, &how);
	pthread_mutexattr_destroy(&how);
}

static inline void monitor_free(struct monitor *m)
{
	pthread_mutex_destroy(&m->mutex);
}

#define monitor_enter(m) pthread_mutex_lock(&(m)->mutex)
#define monitor_exit(m) pthread_mutex_unlock(&(m)->mutex)

#endif
