// SPDX-License-Identifier: MIT
// Matrix product: rounds of c = a * b, a barrier, a = c * b, each thread with its own band of rows. Two reads per
// multiplication, hardly any synchronisation: what a read of memory that nobody writes now costs.
#include "program.h"

enum { ROUNDS = 2 };

static struct arguments args;
static double *a, *b, *c;
static pthread_barrier_t round_done;

static double dot(const double *row, const double *column, long n)
{
	double sum = 0;

	for (long k = 0; k < n; k++)
		sum += row[k] * column[k];
	return sum;
}

// b is stored by columns.
static void multiply(double *to, const double *from, long first, long last)
{
	long n = args.size;

	for (long i = first; i < last; i++)
		for (long j = 0; j < n; j++)
			to[i * n + j] = dot(from + i * n, b + j * n, n);
}

static void *worker(void *number)
{
	long t = (intptr_t)number, first = args.size * t / args.threads, last = args.size * (t + 1) / args.threads;

	for (int i = 0; i < ROUNDS; i++) {
		multiply(i % 2 ? a : c, i % 2 ? c : a, first, last);
		pthread_barrier_wait(&round_done);
	}
	return NULL;
}

// Small integers: sums are exact in any order.
static double *matrix(uint64_t seed)
{
	double *m = allocate((size_t)args.size * args.size, sizeof(*m));

	for (long i = 0; i < args.size * args.size; i++)
		m[i] = (double)draw(&seed, 8) - 3;
	return m;
}

int main(int argc, char **argv)
{
	uint64_t sum = 0;

	args = arguments(argc, argv, 640);
	a = matrix(1);
	b = matrix(2);
	c = matrix(3);
	pthread_barrier_init(&round_done, NULL, (unsigned)args.threads);
	run_threads(args.threads, worker);
	for (long i = 0; i < args.size * args.size; i++)
		sum = mix(sum ^ (uint64_t)(int64_t)a[i]);
	print_checksum("matrix", sum);
	pthread_barrier_destroy(&round_done);
	free(a);
	free(b);
	free(c);
	return 0;
}
