/* SPDX-License-Identifier: MIT */
/*
 * Critical sections whose order the trace must have: order THREADS LOCKS SECTIONS [mutex|rwlock|cond]
 *
 * Each section reads and raises its lock's counter (4 bytes), reads the cell of the section before and writes the cell
 * of its own number (2 bytes): the address says which number the program saw. So order_check can tell from the trace
 * alone whether its sections stand in the order in which they ran, and whether each read the latest write. Under a
 * rwlock three of four sections only read; with a condition the threads take turns. Prints how many cells were read
 * and written.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct guarded {
	pthread_mutex_t mutex;
	pthread_rwlock_t rwlock;
	pthread_cond_t changed;
	uint32_t count;
	uint16_t *cell; /* [0] is nobody's; section n has [n] */
};

struct worker {
	pthread_t thread;
	unsigned who; /* from 1 */
	uint64_t reads, writes, wrong;
};

static struct guarded *guarded;
static unsigned threads, locks, sections;

/* With the lock held. */
static void raise_count(struct guarded *g, struct worker *w)
{
	uint32_t n = ++g->count;

	w->wrong += (g->cell[n - 1] == 0) != (n == 1);
	g->cell[n] = (uint16_t)w->who;
	w->reads++;
	w->writes++;
}

static void with_mutex(struct guarded *g, struct worker *w, unsigned random)
{
	(void)random;
	pthread_mutex_lock(&g->mutex);
	raise_count(g, w);
	pthread_mutex_unlock(&g->mutex);
}

static void with_rwlock(struct guarded *g, struct worker *w, unsigned random)
{
	if (random % 4 == 0) {
		pthread_rwlock_wrlock(&g->rwlock);
		raise_count(g, w);
	} else {
		pthread_rwlock_rdlock(&g->rwlock);
		w->wrong += (g->cell[g->count] == 0) != (g->count == 0);
		w->reads++;
	}
	pthread_rwlock_unlock(&g->rwlock);
}

/* One thread after the other, round and round. */
static void with_cond(struct guarded *g, struct worker *w, unsigned random)
{
	(void)random;
	g = &guarded[0];
	pthread_mutex_lock(&g->mutex);
	while (g->count % threads != w->who - 1)
		pthread_cond_wait(&g->changed, &g->mutex);
	raise_count(g, w);
	pthread_cond_broadcast(&g->changed);
	pthread_mutex_unlock(&g->mutex);
}

static void (*section)(struct guarded *g, struct worker *w, unsigned random) = with_mutex;

static void *work(void *argument)
{
	struct worker *w = argument;
	uint64_t random = w->who;

	for (unsigned i = 0; i < sections; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		section(&guarded[(random >> 33) % locks], w, (unsigned)(random >> 60));
	}
	return NULL;
}

static void make_locks(void)
{
	guarded = calloc(locks, sizeof *guarded);
	for (unsigned i = 0; i < locks; i++) {
		pthread_mutex_init(&guarded[i].mutex, NULL);
		pthread_rwlock_init(&guarded[i].rwlock, NULL);
		pthread_cond_init(&guarded[i].changed, NULL);
		guarded[i].cell = calloc((size_t)threads * sections + 1, sizeof(uint16_t));
	}
}

static void choose(const char *kind)
{
	if (strcmp(kind, "rwlock") == 0)
		section = with_rwlock;
	else if (strcmp(kind, "cond") == 0)
		section = with_cond;
}

int main(int argc, char **argv)
{
	struct worker worker[256] = {0}, all = {0};

	if (argc < 4)
		return 2;
	threads = (unsigned)atoi(argv[1]);
	locks = (unsigned)atoi(argv[2]);
	sections = (unsigned)atoi(argv[3]);
	choose(argc > 4 ? argv[4] : "mutex");
	make_locks();
	for (unsigned i = 0; i < threads; i++) {
		worker[i].who = i + 1;
		if (pthread_create(&worker[i].thread, NULL, work, &worker[i]) != 0)
			return 3;
	}
	for (unsigned i = 0; i < threads; i++) {
		pthread_join(worker[i].thread, NULL);
		all.reads += worker[i].reads;
		all.writes += worker[i].writes;
		all.wrong += worker[i].wrong;
	}
	printf("%llu %llu\n", (unsigned long long)all.reads, (unsigned long long)all.writes);
	return all.wrong != 0;
}
