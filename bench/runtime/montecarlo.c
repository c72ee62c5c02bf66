// SPDX-License-Identifier: MIT
// Random paths of a price: each step multiplies by a factor that is drawn from a table which all threads share. The
// threads take batches of paths from a shared counter and add what they have found to a shared histogram, both under a
// mutex. Mostly arithmetic, with a read and a write per step: of memory that nobody writes now, and of the thread's own.
#include "program.h"

enum { BATCH = 100, BINS = 64, FACTORS = 1 << 10, STEPS = 128 };

static struct arguments args;
static double *factors;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long next_batch;          // guarded by lock
static uint64_t histogram[BINS]; // guarded by lock

static long take_batch(void)
{
	pthread_mutex_lock(&lock);
	long batch = next_batch++;
	pthread_mutex_unlock(&lock);
	return batch;
}

static void walk(double *path, uint64_t state)
{
	double price = 1;

	for (int i = 0; i < STEPS; i++) {
		price = price * factors[draw(&state, FACTORS)] + 1e-6;
		path[i] = price;
	}
}

// The path's greatest fall from a height, as the number of a bin.
static int greatest_fall(const double *path)
{
	double height = 0, fall = 0;

	for (int i = 0; i < STEPS; i++) {
		height = path[i] > height ? path[i] : height;
		fall = height - path[i] > fall ? height - path[i] : fall;
	}
	return fall < 1 ? (int)(fall * BINS) : BINS - 1;
}

static void publish(const uint64_t *bins)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < BINS; i++)
		histogram[i] += bins[i];
	pthread_mutex_unlock(&lock);
}

static void *worker(void *unused)
{
	double path[STEPS];

	(void)unused;
	for (long batch; (batch = take_batch()) < args.size;) {
		uint64_t bins[BINS] = { 0 };
		for (int i = 0; i < BATCH; i++) {
			walk(path, mix((uint64_t)batch * BATCH + (uint64_t)i));
			bins[greatest_fall(path)]++;
		}
		publish(bins);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t sum = 0, state = 1;

	args = arguments(argc, argv, 15000);
	factors = allocate(FACTORS, sizeof(*factors));
	for (int i = 0; i < FACTORS; i++)
		factors[i] = 0.98 + draw(&state, 4000) / 100000.0;
	run_threads(args.threads, worker);
	for (int i = 0; i < BINS; i++)
		sum = mix(sum ^ histogram[i]);
	print_checksum("montecarlo", sum);
	free(factors);
	return 0;
}
