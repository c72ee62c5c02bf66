/* SPDX-License-Identifier: MIT */
/*
 * Reference count. image_open() finds an image under the lock of the cache and takes a reference under the lock of the
 * image, after it has let go of the first. The last owner may have put it in between. Visible: a reference to a dead
 * image is taken, exit status 1. (Dead images are kept, so that the mistake can be counted.)
 */
// EXPECT function=image_open variable=image->references live=none
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct image {
	pthread_mutex_t lock;
	int references;
	bool dead;
};

static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;
static struct image *cached;
static int risen;

static struct image *image_new(void)
{
	struct image *image = calloc(1, sizeof *image);

	if (!image)
		exit(2);
	pthread_mutex_init(&image->lock, NULL);
	image->references = 1;
	return image;
}

static void image_reference(struct image *image)
{
	pthread_mutex_lock(&image->lock);
	if (image->references++ == 0)
		risen++;
	pthread_mutex_unlock(&image->lock);
}

static struct image *image_open(void)
{
	pthread_mutex_lock(&cache_lock);
	struct image *image = cached;
#ifndef FIXED
	pthread_mutex_unlock(&cache_lock);
#endif
	if (image)
		image_reference(image);
#ifdef FIXED
	pthread_mutex_unlock(&cache_lock);
#endif
	return image;
}

/* The cache's lock is taken outside, so that an image leaves the cache in the step that kills it. */
static void image_close(struct image *image)
{
	pthread_mutex_lock(&cache_lock);
	pthread_mutex_lock(&image->lock);
	if (--image->references == 0) {
		image->dead = true;
		cached = NULL;
	}
	pthread_mutex_unlock(&image->lock);
	pthread_mutex_unlock(&cache_lock);
}

static void *viewer(void *arg)
{
	struct image *image = image_open();

	(void)arg;
	if (image)
		image_close(image);
	return NULL;
}

static void *editor(void *arg)
{
	image_close(arg);
	return NULL;
}

int main(void)
{
	struct image *image = cached = image_new();
	pthread_t v, e;

	pthread_create(&v, NULL, viewer, NULL);
	pthread_create(&e, NULL, editor, image);
	pthread_join(v, NULL);
	pthread_join(e, NULL);
	printf("risen from the dead: %d\n", risen);
	free(image);
	return risen != 0;
}
