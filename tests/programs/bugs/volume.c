/* SPDX-License-Identifier: MIT */
/*
 * C11 threads. volume_up() reads the volume, limits what it is to become, and sets it, in two sections of a mtx_t.
 * Visible: a step is lost, exit status 1.
 */
// EXPECT function=volume_up variable=mixer.volume live=default,blocks
#include <stdio.h>
#include <threads.h>

enum { LOUDEST = 100 };

static struct {
	mtx_t lock;
	int volume;
} mixer = {.volume = 40};

static int limited(int volume)
{
	return volume > LOUDEST ? LOUDEST : volume;
}

#ifdef FIXED
static void volume_up(int by)
{
	mtx_lock(&mixer.lock);
	mixer.volume = limited(mixer.volume + by);
	mtx_unlock(&mixer.lock);
}
#else
static int volume_get(void)
{
	mtx_lock(&mixer.lock);
	int volume = mixer.volume;
	mtx_unlock(&mixer.lock);
	return volume;
}

static void volume_set(int volume)
{
	mtx_lock(&mixer.lock);
	mixer.volume = volume;
	mtx_unlock(&mixer.lock);
}

static void volume_up(int by)
{
	volume_set(limited(volume_get() + by));
}
#endif

static int remote_control(void *arg)
{
	volume_up(*(int *)arg);
	return 0;
}

int main(void)
{
	int by[] = {5, 10};
	thrd_t a, b;

	mtx_init(&mixer.lock, mtx_plain);
	thrd_create(&a, remote_control, &by[0]);
	thrd_create(&b, remote_control, &by[1]);
	thrd_join(a, NULL);
	thrd_join(b, NULL);
	mtx_destroy(&mixer.lock);
	printf("volume: %d\n", mixer.volume);
	return mixer.volume != 55;
}
