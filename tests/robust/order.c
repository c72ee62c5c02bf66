/* SPDX-License-Identifier: MIT */
/*
 * Critical sections whose order the trace must have: order THREADS LOCKS SECTIONS.
 *
 * Each section reads and raises its lock's counter (4 bytes), reads the cell of the section before and writes the cell
 * of its own number (2 bytes): the address says which number the program saw. So order_check can tell from the trace
 * alone whether its sections stand in the order in which they ran, and whether each read the latest write.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct guarded {
	pthread_mutex_t mutex;
	uint32_t count;
	uint16_t *cell; /* [0] is nobody's; section n has [n] */
};

static struct guarded *guarded;
static unsigned threads, locks, sections;

static int section(struct guarded *g, uint16_t who)
{
	uint16_t before;
	uint32_t n;

	pthread_mutex_lock(&g->mutex);
	n = ++g->count;
	before = g->cell[n - 1];
	g->cell[n] = who;
	pthread_mutex_unlock(&g->mutex);
	return (before == 0) == (n == 1);
}

static void *work(void *argument)
{
	uint64_t who = (uintptr_t)argument, random = who;
	uintptr_t good = 0;

	for (unsigned i = 0; i < sections; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		good += (uintptr_t)section(&guarded[(random >> 33) % locks], (uint16_t)who);
	}
	return (void *)good;
}

static void make_locks(void)
{
	guarded = calloc(locks, sizeof *guarded);
	for (unsigned i = 0; i < locks; i++) {
		pthread_mutex_init(&guarded[i].mutex, NULL);
		guarded[i].cell = calloc((size_t)threads * sections + 1, sizeof(uint16_t));
	}
}

int main(int argc, char **argv)
{
	pthread_t thread[256];
	uint64_t good = 0;
	void *result;

	if (argc != 4)
		return 2;
	threads = (unsigned)atoi(argv[1]);
	locks = (unsigned)atoi(argv[2]);
	sections = (unsigned)atoi(argv[3]);
	make_locks();
	for (unsigned i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, work, (void *)(uintptr_t)(i + 1)) != 0)
			return 3;
	for (unsigned i = 0; i < threads; i++) {
		pthread_join(thread[i], &result);
		good += (uintptr_t)result;
	}
	printf("%llu sections\n", (unsigned long long)good);
	return good != (uint64_t)threads * sections;
}
