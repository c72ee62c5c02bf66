// SPDX-License-Identifier: MIT
// Producers and consumers with a bounded queue: one mutex, two condition variables. A message is filled by one thread
// and read by another, so that all its memory changes hands, and its slot is used again and again.
#include "program.h"

enum { SLOTS = 256, WORDS = 48 };

struct message {
	uint64_t words[WORDS];
};

static struct arguments args;
static struct message ring[SLOTS];
static long head, tail; // messages taken and put; head <= tail <= head + SLOTS
static long working;    // producers that have not ended
static uint64_t total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER, not_full = PTHREAD_COND_INITIALIZER;

static void put(const struct message *m)
{
	pthread_mutex_lock(&lock);
	while (tail - head == SLOTS)
		pthread_cond_wait(&not_full, &lock);
	ring[tail++ % SLOTS] = *m;
	pthread_cond_signal(&not_empty);
	pthread_mutex_unlock(&lock);
}

// Returns 0 when the queue is empty for ever.
static int take(struct message *m)
{
	pthread_mutex_lock(&lock);
	while (head == tail && working)
		pthread_cond_wait(&not_empty, &lock);
	int any = head < tail;
	if (any)
		*m = ring[head++ % SLOTS];
	pthread_cond_signal(&not_full);
	pthread_mutex_unlock(&lock);
	return any;
}

static void fill(struct message *m, uint64_t *state)
{
	for (int i = 0; i < WORDS; i++)
		m->words[i] = draw(state, UINT32_MAX);
}

static uint64_t digest(const struct message *m)
{
	uint64_t sum = 0;

	for (int i = 0; i < WORDS; i++)
		sum = mix(sum ^ m->words[i]);
	return sum;
}

static void produce(uint64_t state)
{
	struct message m;

	for (long i = 0; i < args.size; i++) {
		fill(&m, &state);
		put(&m);
	}
	pthread_mutex_lock(&lock);
	working--;
	pthread_cond_broadcast(&not_empty);
	pthread_mutex_unlock(&lock);
}

static void consume(void)
{
	struct message m;
	uint64_t sum = 0;

	while (take(&m))
		sum += digest(&m);
	pthread_mutex_lock(&lock);
	total += sum;
	pthread_mutex_unlock(&lock);
}

static void *worker(void *number)
{
	intptr_t t = (intptr_t)number;

	if (t < args.threads / 2)
		produce((uint64_t)t + 1);
	else
		consume();
	return NULL;
}

int main(int argc, char **argv)
{
	args = arguments(argc, argv, 800000);
	if (args.threads < 2)
		fail("queue: a producer and a consumer are two threads");
	working = args.threads / 2;
	run_threads(args.threads, worker);
	print_checksum("queue", total);
	return 0;
}
