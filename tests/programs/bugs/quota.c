/* SPDX-License-Identifier: MIT */
/*
 * Stale read. upload() reads the limit of a user, lets go of the lock while it looks at the data, and then books the
 * upload by the limit that it remembers; an administrator may have lowered it. Visible: more is stored than
 * was allowed at any time since, exit status 1.
 */
// EXPECT function=upload variable=quota.limit live=default,blocks
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static struct {
	pthread_mutex_t lock;
	size_t limit, used;
	bool broken;
} quota = {.lock = PTHREAD_MUTEX_INITIALIZER, .limit = 100};

static size_t checksum(const char *data, size_t size)
{
	size_t sum = 0;

	for (size_t i = 0; i < size; i++)
		sum = sum * 31 + (unsigned char)data[i];
	return sum;
}

/* What is new must be within the limit of now; what was there before is left alone. */
static void store_locked(size_t size)
{
	quota.used += size;
	if (quota.used > quota.limit)
		quota.broken = true;
}

static bool upload(const char *data)
{
	size_t size = strlen(data);

	pthread_mutex_lock(&quota.lock);
	size_t limit = quota.limit;
#ifndef FIXED
	pthread_mutex_unlock(&quota.lock);
#endif
	bool fine = checksum(data, size) != 0 && size <= limit;
#ifndef FIXED
	pthread_mutex_lock(&quota.lock);
#endif
	if (fine && quota.used + size <= limit)
		store_locked(size);
	pthread_mutex_unlock(&quota.lock);
	return fine;
}

static void *user(void *arg)
{
	upload(arg);
	return NULL;
}

static void set_limit(size_t limit)
{
	pthread_mutex_lock(&quota.lock);
	if (limit >= quota.used)
		quota.limit = limit;
	pthread_mutex_unlock(&quota.lock);
}

static void *administrator(void *arg)
{
	(void)arg;
	set_limit(10);
	set_limit(100);
	return NULL;
}

int main(void)
{
	pthread_t u, a;

	pthread_create(&u, NULL, user, "twenty characters...");
	pthread_create(&a, NULL, administrator, NULL);
	pthread_join(u, NULL);
	pthread_join(a, NULL);
	printf("%zu of %zu%s\n", quota.used, quota.limit, quota.broken ? ", and over it" : "");
	return quota.broken;
}
