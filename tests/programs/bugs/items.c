/* SPDX-License-Identifier: MIT */
/*
 * Stale pointer, as in memcached 1.4.4, issue 127. item_increment() gets an item under the lock of the store and adds to
 * it in a second section. An item that was replaced by a larger one in between is the store's no more, and what is
 * added to it is lost. Visible: the value is short, exit status 1.
 */
// EXPECT function=item_increment variable=store,item->value live=default
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct item {
	long value;
	struct item *older; /* items stay until the end, so that the mistake is no use after free */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct item *store;

static struct item *item_new(long value, struct item *older)
{
	struct item *item = malloc(sizeof *item);

	if (!item)
		exit(2);
	item->value = value;
	item->older = older;
	return item;
}

/* Appends: the longer value needs an item of its own. */
static void item_append(long digit)
{
	pthread_mutex_lock(&lock);
	store = item_new(store->value * 10 + digit, store);
	pthread_mutex_unlock(&lock);
}

#ifdef FIXED
static long item_increment(long by)
{
	pthread_mutex_lock(&lock);
	long value = store->value += by;
	pthread_mutex_unlock(&lock);
	return value;
}
#else
static struct item *item_get(void)
{
	pthread_mutex_lock(&lock);
	struct item *item = store;
	pthread_mutex_unlock(&lock);
	return item;
}

static long item_add(struct item *item, long by)
{
	pthread_mutex_lock(&lock);
	long value = item->value += by;
	pthread_mutex_unlock(&lock);
	return value;
}

static long item_increment(long by)
{
	return item_add(item_get(), by);
}
#endif

static void *adder(void *arg)
{
	(void)arg;
	item_increment(5);
	return NULL;
}

static void *appender(void *arg)
{
	(void)arg;
	item_append(0);
	return NULL;
}

int main(void)
{
	pthread_t a, b;

	store = item_new(1, NULL);
	pthread_create(&a, NULL, adder, NULL);
	pthread_create(&b, NULL, appender, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	long value = store->value;
	printf("value: %ld\n", value);
	for (struct item *item = store, *next; item; item = next) {
		next = item->older;
		free(item);
	}
	return value != 60 && value != 15;
}
