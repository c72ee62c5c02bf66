/* SPDX-License-Identifier: MIT */
/*
 * Three threads, and none of the others splits the block alone. A picture goes from the camera to the filter to the screen.
 * snapshot() looks at the first and at the last stage, each under its own lock, to tell how many are on the way.
 * Between its two looks one thread must move a picture into the filter and another one out of it: only then has the
 * screen shown more than the camera has taken. Visible: a negative number on the way, exit status 1.
 */
// EXPECT function=snapshot variable=taken,shown live=blocks
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t camera = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t filter = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t screen = PTHREAD_MUTEX_INITIALIZER;
static int taken = 1, filtering = 1, shown; /* the first picture has come as far as the filter */
static int on_the_way;

/* Locks are taken from camera to screen. */
static void take_picture(void)
{
	pthread_mutex_lock(&camera);
	pthread_mutex_lock(&filter);
	taken++;
	filtering++;
	pthread_mutex_unlock(&filter);
	pthread_mutex_unlock(&camera);
}

static void show_pictures(void)
{
	pthread_mutex_lock(&filter);
	pthread_mutex_lock(&screen);
	shown += filtering;
	filtering = 0;
	pthread_mutex_unlock(&screen);
	pthread_mutex_unlock(&filter);
}

static int snapshot(void)
{
	pthread_mutex_lock(&camera);
	int in = taken;
#ifndef FIXED
	pthread_mutex_unlock(&camera);
#endif
	pthread_mutex_lock(&screen);
	int out = shown;
	pthread_mutex_unlock(&screen);
#ifdef FIXED
	pthread_mutex_unlock(&camera);
#endif
	return in - out;
}

static void *photographer(void *arg)
{
	(void)arg;
	take_picture();
	return NULL;
}

static void *projector(void *arg)
{
	(void)arg;
	show_pictures();
	return NULL;
}

static void *monitor(void *arg)
{
	(void)arg;
	on_the_way = snapshot();
	return NULL;
}

int main(void)
{
	void *(*role[])(void *) = {monitor, photographer, projector};
	pthread_t t[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, role[i], NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	printf("on the way: %d\n", on_the_way);
	return on_the_way < 0;
}
