/* SPDX-License-Identifier: MIT */
/* Ends as its argument says, with two threads: abort, spin, or as a program should. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long count;

static void *add(void *how)
{
	pthread_mutex_lock(&lock);
	count++;
	pthread_mutex_unlock(&lock);
	if (strcmp(how, "abort") == 0)
		abort();
	while (strcmp(how, "hang") == 0) {
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t other;

	pthread_create(&other, NULL, add, argc > 1 ? argv[1] : "");
	add("");
	pthread_join(other, NULL);
	return 0;
}
