/* SPDX-License-Identifier: MIT */
/*
 * Two threads read what their own TCB has, by offsets in a segment: gcc gives these to the hooks as addresses. What was read
 * is what the thread itself finds there. Ends with status 7.
 */
#include <pthread.h>
#include <stdio.h>

enum { ITSELF = 0x10, CANARY = 0x28 };

#ifdef __x86_64__
typedef unsigned long __seg_fs tcb_word;

__attribute__((noinline)) static unsigned long canary(void)
{
	return *(volatile tcb_word *)CANARY;
}

__attribute__((noinline)) static unsigned long itself(void)
{
	return *(tcb_word *)ITSELF;
}
#else
#define canary() 1ul
#define itself() (unsigned long)pthread_self()
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long first;
static int differ;

static void *look(void *p)
{
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&lock);
		first = first ? first : canary();
		differ += canary() != first || itself() != (unsigned long)pthread_self();
		pthread_mutex_unlock(&lock);
	}
	return p;
}

int main(void)
{
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, look, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	puts(differ ? "others" : "the same");
	return 7;
}
