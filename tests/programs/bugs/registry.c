/* SPDX-License-Identifier: MIT */
/*
 * Double-checked creation, with the second check forgotten. The pointer is atomic, so there is no race; but two threads
 * that both find nothing create two registries, and what was put into the first one is lost. Visible: the entry of
 * the reloader is missing although nobody has reloaded since, exit status 1.
 */
// EXPECT function=registry_get variable=instance live=none
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct registry {
	atomic_int entries;
};

enum { PLUGIN = 1, RELOADER = 2 };

static _Atomic(struct registry *) instance;
static pthread_mutex_t creation = PTHREAD_MUTEX_INITIALIZER;
static struct registry *made[8];
static int number_made;

/* Under the lock of creation. */
static struct registry *registry_new(void)
{
	struct registry *r = calloc(1, sizeof *r);

	if (!r)
		exit(2);
	made[number_made++] = r;
	return r;
}

static struct registry *registry_get(void)
{
#ifndef FIXED
	struct registry *found = atomic_load(&instance);
	if (found)
		return found;
#endif
	pthread_mutex_lock(&creation);
#ifdef FIXED
	struct registry *r = atomic_load(&instance);
	if (!r)
		atomic_store(&instance, r = registry_new());
#else
	struct registry *r = registry_new();
	atomic_store(&instance, r);
#endif
	pthread_mutex_unlock(&creation);
	return r;
}

static void registry_drop(void)
{
	pthread_mutex_lock(&creation);
	atomic_store(&instance, NULL);
	pthread_mutex_unlock(&creation);
}

static void *plugin(void *arg)
{
	(void)arg;
	atomic_fetch_or(&registry_get()->entries, PLUGIN);
	return NULL;
}

static void *reloader(void *arg)
{
	(void)arg;
	registry_drop();
	atomic_fetch_or(&registry_get()->entries, RELOADER);
	return NULL;
}

int main(void)
{
	pthread_t p, r;

	pthread_create(&p, NULL, plugin, NULL);
	pthread_create(&r, NULL, reloader, NULL);
	pthread_join(p, NULL);
	pthread_join(r, NULL);
	int entries = atomic_load(&instance)->entries;
	printf("%d registries, entries %d\n", number_made, entries);
	for (int i = 0; i < number_made; i++)
		free(made[i]);
	return !(entries & RELOADER);
}
