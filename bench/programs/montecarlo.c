// SPDX-License-Identifier: MIT
// A share's future by simulation, after Java Grande: montecarlo THREADS RUNS [STEPS]. Tasks are dealt out beforehand;
// each thread works in memory of its own and adds what came out to a list under a lock. The rates that all tasks start
// from are made before the threads are. The first thread that asks for the summary's scale makes it, without holding
// the lock while it does: all make the same.
//
// BENIGN get_scale: looks, computes and stores in separate sections; all compute the same
// BENIGN run_task: asks for the scale and adds its result in two sections
#include "../runtime/program.h"

#include <math.h>

struct result {
	int task;
	double rate, volatility, price;
};

static struct arguments args;
static long steps = 1000;
static double start_rate, start_volatility, *history;
static pthread_mutex_t results_lock = PTHREAD_MUTEX_INITIALIZER;
static struct result *results; // guarded by results_lock, as the next two
static long done;
static double scale;

static double *new_path(void)
{
	return allocate((size_t)steps, sizeof(double));
}

static double gauss(uint64_t *state)
{
	double u = (draw(state, 1000000) + 1.0) / 1000001, v = draw(state, 1000000) / 1000000.0;

	return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

// The prices that are known, and what they say of the share.
static void read_history(void)
{
	uint64_t state = 1;
	double sum = 0, squares = 0;

	history = new_path();
	history[0] = 100;
	for (long i = 1; i < steps; i++)
		history[i] = history[i - 1] * exp(0.0002 + 0.01 * gauss(&state));
	for (long i = 1; i < steps; i++) {
		double r = log(history[i] / history[i - 1]);
		sum += r, squares += r * r;
	}
	start_rate = sum / (double)(steps - 1);
	start_volatility = sqrt(squares / (double)(steps - 1) - start_rate * start_rate);
}

double get_scale(void)
{
	pthread_mutex_lock(&results_lock);
	double s = scale;
	pthread_mutex_unlock(&results_lock);
	if (s == 0) {
		s = 1 / history[steps - 1];
		pthread_mutex_lock(&results_lock);
		scale = s;
		pthread_mutex_unlock(&results_lock);
	}
	return s;
}

void add_result(struct result r)
{
	pthread_mutex_lock(&results_lock);
	results[done++] = r;
	pthread_mutex_unlock(&results_lock);
}

static void make_path(double *path, uint64_t seed)
{
	uint64_t state = mix(seed + 1);

	path[0] = history[steps - 1];
	for (long i = 1; i < steps; i++)
		path[i] = path[i - 1] * exp(start_rate + start_volatility * gauss(&state));
}

static struct result summary(const double *path, int task)
{
	double sum = 0, squares = 0;

	for (long i = 1; i < steps; i++) {
		double r = log(path[i] / path[i - 1]);
		sum += r, squares += r * r;
	}
	double rate = sum / (double)(steps - 1);
	return (struct result){ task, rate, sqrt(squares / (double)(steps - 1) - rate * rate), path[steps - 1] };
}

void run_task(int task)
{
	double *path = new_path();

	make_path(path, (uint64_t)task);
	struct result r = summary(path, task);
	free(path);
	r.price *= get_scale();
	add_result(r);
}

static void *worker(void *number)
{
	for (long task = (intptr_t)number; task < args.size; task += args.threads)
		run_task((int)task);
	return NULL;
}

static int by_task(const void *a, const void *b)
{
	return ((const struct result *)a)->task - ((const struct result *)b)->task;
}

int main(int argc, char **argv)
{
	double price = 0;

	args = arguments(argc > 3 ? 3 : argc, argv, 2000);
	if (argc > 3)
		steps = number(argv[3], 3, 1000000);
	results = allocate((size_t)args.size, sizeof(*results));
	read_history();
	run_threads(args.threads, worker);
	qsort(results, (size_t)done, sizeof(*results), by_task);
	for (long i = 0; i < done; i++)
		price += results[i].price;
	printf("montecarlo: %ld runs, %.9g\n", done, price / (double)done);
	return 0;
}
