// SPDX-License-Identifier: MIT
// Red-black successive over-relaxation on a grid: sor THREADS ITERATIONS [SIDE]. Each thread has a band of rows, and
// nothing but barriers orders them: rows at the border of a band are read by two threads in one phase and written in
// the other. Nothing is to be found; lock sets alone say otherwise.
#include "../runtime/program.h"

#include <math.h>

enum { SIDE = 1000 };

static struct arguments args;
static int side = SIDE;
static double **grid;
static pthread_barrier_t phase;

static void make_grid(void)
{
	uint64_t state = 10101010;

	grid = allocate((size_t)side, sizeof(*grid));
	for (int i = 0; i < side; i++) {
		grid[i] = allocate((size_t)side, sizeof(**grid));
		for (int j = 0; j < side; j++)
			grid[i][j] = draw(&state, 1000000) * 1e-12;
	}
}

void relax_row(int i, int colour)
{
	const double omega = 1.25, *above = grid[i - 1], *below = grid[i + 1];
	double *row = grid[i];

	for (int j = 1 + (i + colour) % 2; j < side - 1; j += 2)
		row[j] = omega / 4 * (above[j] + below[j] + row[j - 1] + row[j + 1]) + (1 - omega) * row[j];
}

void relax(int from, int to, int colour)
{
	for (int i = from; i < to; i++)
		relax_row(i, colour);
}

static void *worker(void *number)
{
	int t = (int)(intptr_t)number, rows = side - 2;
	int from = 1 + rows * t / args.threads, to = 1 + rows * (t + 1) / args.threads;

	for (long i = 0; i < args.size; i++)
		for (int colour = 0; colour < 2; colour++) {
			relax(from, to, colour);
			pthread_barrier_wait(&phase);
		}
	return NULL;
}

int main(int argc, char **argv)
{
	double sum = 0;

	args = arguments(argc > 3 ? 3 : argc, argv, 100);
	if (argc > 3)
		side = (int)number(argv[3], 3, 10000);
	make_grid();
	pthread_barrier_init(&phase, NULL, (unsigned)args.threads);
	run_threads(args.threads, worker);
	for (int i = 1; i < side - 1; i++)
		for (int j = 1; j < side - 1; j++)
			sum += grid[i][j];
	printf("sor: %d x %d, %.12g\n", side, side, sum);
	return 0;
}
