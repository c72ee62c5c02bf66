/* SPDX-License-Identifier: MIT */
/* C11's threads, mutexes, conditions and once. */
#include <stdio.h>
#include <threads.h>
#include <time.h>

static mtx_t m;
static cnd_t c;
static once_flag once = ONCE_FLAG_INIT;
static int counter, made;

static void make(void)
{
	made++;
}

static int run(void *unused)
{
	(void)unused;
	call_once(&once, make);
	for (int i = 0; i < 10; i++) {
		mtx_lock(&m);
		counter++;
		cnd_signal(&c);
		mtx_unlock(&m);
		thrd_yield();
	}
	return 7;
}

int main(void)
{
	struct timespec soon;
	thrd_t thread[3];
	int result = 0, sum = 0;

	mtx_init(&m, mtx_timed);
	cnd_init(&c);
	timespec_get(&soon, TIME_UTC);
	soon.tv_sec += 100;
	mtx_lock(&m);
	printf("timed out %d\n", cnd_timedwait(&c, &m, &soon) == thrd_timedout);
	mtx_unlock(&m);
	for (int i = 0; i < 3; i++)
		thrd_create(&thread[i], run, NULL);
	mtx_lock(&m);
	while (counter < 30)
		cnd_wait(&c, &m);
	printf("busy %d\n", mtx_trylock(&m) == thrd_busy);
	mtx_unlock(&m);
	for (int i = 0; i < 3; i++) {
		thrd_join(thread[i], &result);
		sum += result;
	}
	printf("%d %d %d\n", counter, made, sum);
	return 0;
}
