/* SPDX-License-Identifier: MIT */
/*
 * Cache fill. thumbnail() misses, computes without the lock, and fills the entry, which may be of a newer picture by
 * then. Visible: the cache has the thumbnail of a picture that was replaced, exit status 1.
 */
// EXPECT function=thumbnail variable=album.picture,album.thumbnail live=default,blocks
#include <pthread.h>
#include <stdio.h>

enum { NONE = 0 };

static struct {
	pthread_mutex_t lock;
	int picture;
	int thumbnail; /* NONE: not computed yet */
} album = {.lock = PTHREAD_MUTEX_INITIALIZER, .picture = 4000};

static int shrink(int picture)
{
	return picture / 100;
}

static int thumbnail(void)
{
	pthread_mutex_lock(&album.lock);
	int small = album.thumbnail;
	if (small == NONE) {
		int picture = album.picture;
#ifdef FIXED
		small = album.thumbnail = shrink(picture);
#else
		pthread_mutex_unlock(&album.lock);
		small = shrink(picture);
		pthread_mutex_lock(&album.lock);
		album.thumbnail = small;
#endif
	}
	pthread_mutex_unlock(&album.lock);
	return small;
}

static void replace_picture(int picture)
{
	pthread_mutex_lock(&album.lock);
	album.picture = picture;
	album.thumbnail = NONE;
	pthread_mutex_unlock(&album.lock);
}

static void *viewer(void *arg)
{
	(void)arg;
	thumbnail();
	return NULL;
}

static void *photographer(void *arg)
{
	(void)arg;
	replace_picture(6000);
	return NULL;
}

int main(void)
{
	pthread_t v, p;

	pthread_create(&v, NULL, viewer, NULL);
	pthread_create(&p, NULL, photographer, NULL);
	pthread_join(v, NULL);
	pthread_join(p, NULL);
	printf("picture %d, thumbnail %d\n", album.picture, thumbnail());
	return thumbnail() != shrink(album.picture);
}
