/* SPDX-License-Identifier: MIT */
/*
 * Two locks. Each shelf has its own. move_goods() takes from one shelf and puts onto another, and never holds both
 * locks: an inventory that holds both counts what is on the way as missing. Visible: the inventory is short, exit
 * status 1.
 */
// EXPECT function=move_goods variable=north.boxes,south.boxes live=blocks
#include <pthread.h>
#include <stdio.h>

struct shelf {
	pthread_mutex_t lock;
	int boxes;
};

static struct shelf north = {PTHREAD_MUTEX_INITIALIZER, 8}, south = {PTHREAD_MUTEX_INITIALIZER, 4};
static int counted;

/* Always north before south. */
static void lock_both(void)
{
	pthread_mutex_lock(&north.lock);
	pthread_mutex_lock(&south.lock);
}

static void unlock_both(void)
{
	pthread_mutex_unlock(&south.lock);
	pthread_mutex_unlock(&north.lock);
}

#ifdef FIXED
static void move_goods(int boxes)
{
	lock_both();
	north.boxes -= boxes;
	south.boxes += boxes;
	unlock_both();
}
#else
static void shelf_add(struct shelf *s, int boxes)
{
	pthread_mutex_lock(&s->lock);
	s->boxes += boxes;
	pthread_mutex_unlock(&s->lock);
}

static void move_goods(int boxes)
{
	shelf_add(&north, -boxes);
	shelf_add(&south, boxes);
}
#endif

static int take_inventory(void)
{
	lock_both();
	int boxes = north.boxes + south.boxes;
	unlock_both();
	return boxes;
}

static void *forklift(void *arg)
{
	(void)arg;
	move_goods(3);
	return NULL;
}

static void *clerk(void *arg)
{
	(void)arg;
	counted = take_inventory();
	return NULL;
}

int main(void)
{
	pthread_t f, c;

	pthread_create(&f, NULL, forklift, NULL);
	pthread_create(&c, NULL, clerk, NULL);
	pthread_join(f, NULL);
	pthread_join(c, NULL);
	printf("counted %d of 12\n", counted);
	return counted != 12;
}
