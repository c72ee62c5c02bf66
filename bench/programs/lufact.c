// SPDX-License-Identifier: MIT
// LU factorisation with partial pivoting, after Java Grande: lufact THREADS SIZE. Columns are dealt out in turn; for
// each pivot one thread scales its column, then, behind a barrier, all take it off theirs. No locks, nothing to be
// found.
#include "../runtime/program.h"

#include <math.h>

static struct arguments args;
static int n;
static double **column, *right;
static int *pivot;
static pthread_barrier_t barrier;

static void make_matrix(void)
{
	uint64_t state = 1325;

	column = allocate((size_t)n, sizeof(*column));
	right = allocate((size_t)n, sizeof(*right));
	pivot = allocate((size_t)n, sizeof(*pivot));
	for (int j = 0; j < n; j++) {
		column[j] = allocate((size_t)n, sizeof(**column));
		for (int i = 0; i < n; i++) {
			column[j][i] = draw(&state, 65536) / 16384.0 - 2;
			right[i] += column[j][i];
		}
	}
}

static void swap(double *a, int i, int j)
{
	double kept = a[i];

	a[i] = a[j];
	a[j] = kept;
}

// The largest of the column comes to its top, and the column below becomes the multipliers.
void scale_pivot(int k)
{
	double *c = column[k];

	pivot[k] = k;
	for (int i = k + 1; i < n; i++)
		if (fabs(c[i]) > fabs(c[pivot[k]]))
			pivot[k] = i;
	swap(c, k, pivot[k]);
	for (int i = k + 1; i < n; i++)
		c[i] /= -c[k];
}

void eliminate(int k, int j)
{
	const double *multiplier = column[k];
	double *c = column[j];

	swap(c, k, pivot[k]);
	for (int i = k + 1; i < n; i++)
		c[i] += c[k] * multiplier[i];
}

static void *worker(void *number)
{
	int t = (int)(intptr_t)number;

	for (int k = 0; k < n; k++) {
		if (k % args.threads == t)
			scale_pivot(k);
		pthread_barrier_wait(&barrier);
		for (int j = k + 1; j < n; j++)
			if (j % args.threads == t)
				eliminate(k, j);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void solve(void)
{
	for (int k = 0; k < n; k++) {
		swap(right, k, pivot[k]);
		for (int i = k + 1; i < n; i++)
			right[i] += right[k] * column[k][i];
	}
	for (int k = n - 1; k >= 0; k--) {
		right[k] /= column[k][k];
		for (int i = 0; i < k; i++)
			right[i] -= right[k] * column[k][i];
	}
}

int main(int argc, char **argv)
{
	double worst = 0;

	args = arguments(argc, argv, 500);
	n = (int)args.size;
	make_matrix();
	pthread_barrier_init(&barrier, NULL, (unsigned)args.threads);
	run_threads(args.threads, worker);
	solve();
	for (int i = 0; i < n; i++)
		worst = fmax(worst, fabs(right[i] - 1));
	printf("lufact: %d, %s\n", n, worst < 1e-6 ? "solved" : "wrong");
	return worst < 1e-6 ? 0 : 1;
}
