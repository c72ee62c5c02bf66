/* SPDX-License-Identifier: MIT */
/*
 * Two variables. Width and height belong together. screen_resize() sets each under the lock, but one after the
 * other: whoever asks in between sees a screen that never was. Visible: an odd shape is seen, exit status 1.
 */
// EXPECT function=screen_resize variable=screen.width,screen.height live=default,blocks
#include <pthread.h>
#include <stdio.h>

static struct {
	pthread_mutex_t lock;
	int width, height;
} screen = {.lock = PTHREAD_MUTEX_INITIALIZER, .width = 640, .height = 480};

static long odd_shapes;

#ifdef FIXED
static void screen_resize(int width, int height)
{
	pthread_mutex_lock(&screen.lock);
	screen.width = width;
	screen.height = height;
	pthread_mutex_unlock(&screen.lock);
}
#else
static void set_width(int width)
{
	pthread_mutex_lock(&screen.lock);
	screen.width = width;
	pthread_mutex_unlock(&screen.lock);
}

static void set_height(int height)
{
	pthread_mutex_lock(&screen.lock);
	screen.height = height;
	pthread_mutex_unlock(&screen.lock);
}

static void screen_resize(int width, int height)
{
	set_width(width);
	set_height(height);
}
#endif

/* The one place that reads both, and in one section. */
static long screen_area(void)
{
	pthread_mutex_lock(&screen.lock);
	long area = (long)screen.width * screen.height;
	pthread_mutex_unlock(&screen.lock);
	return area;
}

static void *window_manager(void *arg)
{
	(void)arg;
	screen_resize(1280, 960);
	return NULL;
}

static void *painter(void *arg)
{
	long area = screen_area();

	(void)arg;
	if (area != 640L * 480 && area != 1280L * 960)
		odd_shapes++;
	return NULL;
}

int main(void)
{
	pthread_t w, p;

	pthread_create(&w, NULL, window_manager, NULL);
	pthread_create(&p, NULL, painter, NULL);
	pthread_join(w, NULL);
	pthread_join(p, NULL);
	printf("odd shapes: %ld\n", odd_shapes);
	return odd_shapes != 0;
}
