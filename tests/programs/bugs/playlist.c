/* SPDX-License-Identifier: MIT */
/*
 * Nested locks. The library's lock is taken outside, the playlist's inside. add_song() holds both while it looks for a
 * free place and both while it fills it, but none in between. Visible: a song is gone, exit status 1.
 */
// EXPECT function=add_song variable=playlist.length live=default,blocks
#include <pthread.h>
#include <stdio.h>

enum { PLACES = 8 };

static pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER;
static int songs_known;

static struct {
	pthread_mutex_t lock;
	int length;
	int song[PLACES];
} playlist = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int free_place(void)
{
	pthread_mutex_lock(&playlist.lock);
	int place = playlist.length;
	pthread_mutex_unlock(&playlist.lock);
	return place;
}

static void fill_place(int place, int song)
{
	pthread_mutex_lock(&playlist.lock);
	playlist.song[place] = song;
	playlist.length = place + 1;
	pthread_mutex_unlock(&playlist.lock);
}

#ifdef FIXED
static void add_song(int song)
{
	pthread_mutex_lock(&library_lock);
	int place = free_place();
	songs_known++;
	if (place < PLACES)
		fill_place(place, song);
	pthread_mutex_unlock(&library_lock);
}
#else
static void add_song(int song)
{
	pthread_mutex_lock(&library_lock);
	int place = free_place();
	songs_known++;
	pthread_mutex_unlock(&library_lock);
	if (place == PLACES)
		return;
	pthread_mutex_lock(&library_lock);
	fill_place(place, song);
	pthread_mutex_unlock(&library_lock);
}
#endif

static void *listener(void *arg)
{
	add_song(*(int *)arg);
	return NULL;
}

int main(void)
{
	pthread_t t[2];
	int song[2] = {11, 22};

	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, listener, &song[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%d songs of %d\n", playlist.length, songs_known);
	return playlist.length != 2;
}
