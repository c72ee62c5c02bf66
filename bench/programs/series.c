// SPDX-License-Identifier: MIT
// Fourier coefficients of (x + 1)^x on [0, 2], after Java Grande: series THREADS COEFFICIENTS. Each thread has a share
// of an array that nobody else touches; there is nothing to be found.
#include "../runtime/program.h"

#include <math.h>

enum { INTERVALS = 1000 };

static struct arguments args;
static double *cosine, *sine;

static double function(double x, double omega, int which)
{
	double y = pow(x + 1, x);

	return which == 0 ? y : which == 1 ? y * cos(omega * x) : y * sin(omega * x);
}

static double integrate(double omega, int which)
{
	double dx = 2.0 / INTERVALS, sum = (function(0, omega, which) + function(2, omega, which)) / 2;

	for (int i = 1; i < INTERVALS; i++)
		sum += function(i * dx, omega, which);
	return sum * dx;
}

void coefficient(long i)
{
	double omega = 3.141592653589793 * (double)i;

	cosine[i] = i ? integrate(omega, 1) : integrate(0, 0) / 2;
	sine[i] = i ? integrate(omega, 2) : 0;
}

static void *worker(void *number)
{
	for (long i = (intptr_t)number; i < args.size; i += args.threads)
		coefficient(i);
	return NULL;
}

int main(int argc, char **argv)
{
	args = arguments(argc, argv, 10000);
	cosine = allocate((size_t)args.size, sizeof(*cosine));
	sine = allocate((size_t)args.size, sizeof(*sine));
	run_threads(args.threads, worker);
	printf("series: %.6f %.6f\n", cosine[0], args.size > 1 ? sine[1] : 0);
	return 0;
}
