/* SPDX-License-Identifier: MIT */
/*
 * java.util.Vector of the papers, in C. vector_last() asks for the size and then for the element at its end: a thread that
 * has removed it in between leaves an index out of range. Visible: the range check fails, exit status 1.
 */
// EXPECT function=vector_last variable=events.size live=default,blocks
#include <pthread.h>
#include <stdio.h>

enum { CAPACITY = 8, OUT_OF_RANGE = -1, EMPTY = -2 };

struct vector {
	pthread_mutex_t lock;
	int size;
	int item[CAPACITY];
};

static struct vector events = {PTHREAD_MUTEX_INITIALIZER, 2, {10, 20}};
static int last;

static int at_locked(const struct vector *v, int index)
{
	return index < v->size ? v->item[index] : OUT_OF_RANGE;
}

#ifdef FIXED
static int vector_last(struct vector *v)
{
	pthread_mutex_lock(&v->lock);
	int item = v->size ? at_locked(v, v->size - 1) : EMPTY;
	pthread_mutex_unlock(&v->lock);
	return item;
}
#else
static int vector_size(struct vector *v)
{
	pthread_mutex_lock(&v->lock);
	int size = v->size;
	pthread_mutex_unlock(&v->lock);
	return size;
}

static int vector_at(struct vector *v, int index)
{
	pthread_mutex_lock(&v->lock);
	int item = at_locked(v, index);
	pthread_mutex_unlock(&v->lock);
	return item;
}

static int vector_last(struct vector *v)
{
	int size = vector_size(v);

	return size ? vector_at(v, size - 1) : EMPTY;
}
#endif

static void vector_pop(struct vector *v)
{
	pthread_mutex_lock(&v->lock);
	if (v->size)
		v->size--;
	pthread_mutex_unlock(&v->lock);
}

static void *viewer(void *arg)
{
	(void)arg;
	last = vector_last(&events);
	return NULL;
}

static void *cleaner(void *arg)
{
	(void)arg;
	vector_pop(&events);
	return NULL;
}

int main(void)
{
	pthread_t v, c;

	pthread_create(&v, NULL, viewer, NULL);
	pthread_create(&c, NULL, cleaner, NULL);
	pthread_join(v, NULL);
	pthread_join(c, NULL);
	printf("last: %d\n", last);
	return last == OUT_OF_RANGE;
}
