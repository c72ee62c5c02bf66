// SPDX-License-Identifier: MIT
// Molecular dynamics, after Java Grande: moldyn THREADS STEPS [EDGE]; 4 EDGE^3 particles, 2048 for the default of 8.
// Each thread adds the forces of its share of the pairs into an array of its own; between barriers these are summed up
// and the particles moved. No locks, and nothing to be found.
#include "../runtime/program.h"

#include <math.h>

enum { AXES = 3 };

struct particles {
	double *x[AXES], *v[AXES], *f[AXES];
};

static struct arguments args;
static int edge = 8, count;
static double box, cutoff;
static struct particles p;
static double *force[MOST_THREADS][AXES]; // each by its own thread, until the barrier
static double potential[MOST_THREADS], kinetic;
static pthread_barrier_t barrier;

static void place_particles(void)
{
	static const double cell[4][AXES] = { { 0, 0, 0 }, { 0, .5, .5 }, { .5, 0, .5 }, { .5, .5, 0 } };
	uint64_t state = 5;
	int n = 0;

	for (int k = 0; k < edge * edge * edge; k++)
		for (int c = 0; c < 4; c++, n++) {
			int at[AXES] = { k % edge, k / edge % edge, k / edge / edge };
			for (int a = 0; a < AXES; a++) {
				p.x[a][n] = (at[a] + cell[c][a]) * box / edge;
				p.v[a][n] = (draw(&state, 2001) - 1000.0) * 1e-4;
			}
		}
}

static void make_particles(void)
{
	count = 4 * edge * edge * edge;
	box = cbrt(count / 0.83134);
	cutoff = box / 4;
	for (int a = 0; a < AXES; a++) {
		p.x[a] = allocate((size_t)count, sizeof(double));
		p.v[a] = allocate((size_t)count, sizeof(double));
		p.f[a] = allocate((size_t)count, sizeof(double));
		for (int t = 0; t < args.threads; t++)
			force[t][a] = allocate((size_t)count, sizeof(double));
	}
	place_particles();
}

static double nearest_image(double d)
{
	return d > box / 2 ? d - box : d < -box / 2 ? d + box : d;
}

static double pair_force(int t, int i, int j)
{
	double d[AXES], r2 = 0;

	for (int a = 0; a < AXES; a++) {
		d[a] = nearest_image(p.x[a][i] - p.x[a][j]);
		r2 += d[a] * d[a];
	}
	if (r2 > cutoff * cutoff)
		return 0;
	double r6 = 1 / (r2 * r2 * r2), strength = (r6 * r6 - r6 / 2) / r2;
	for (int a = 0; a < AXES; a++) {
		force[t][a][i] += d[a] * strength;
		force[t][a][j] -= d[a] * strength;
	}
	return r6 * r6 - r6;
}

// The pairs of every n-th particle.
void forces_of_thread(int t)
{
	potential[t] = 0;
	for (int i = t; i < count; i += args.threads)
		for (int j = i + 1; j < count; j++)
			potential[t] += pair_force(t, i, j);
}

// The particles of one thread: their forces of all threads.
void sum_forces(int from, int to)
{
	for (int a = 0; a < AXES; a++)
		for (int i = from; i < to; i++) {
			double sum = 0;
			for (int t = 0; t < args.threads; t++) {
				sum += force[t][a][i];
				force[t][a][i] = 0;
			}
			p.f[a][i] = sum;
		}
}

void move_particles(int from, int to)
{
	const double h = 0.000064;

	for (int a = 0; a < AXES; a++)
		for (int i = from; i < to; i++) {
			p.v[a][i] += h * p.f[a][i];
			p.x[a][i] = fmod(p.x[a][i] + p.v[a][i] * h + box, box);
		}
}

void measure(void)
{
	kinetic = 0;
	for (int a = 0; a < AXES; a++)
		for (int i = 0; i < count; i++)
			kinetic += p.v[a][i] * p.v[a][i] / 2;
}

static void *worker(void *number)
{
	int t = (int)(intptr_t)number, from = count * t / args.threads, to = count * (t + 1) / args.threads;

	for (long step = 0; step < args.size; step++) {
		forces_of_thread(t);
		pthread_barrier_wait(&barrier);
		sum_forces(from, to);
		move_particles(from, to);
		pthread_barrier_wait(&barrier);
		if (!t)
			measure();
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	args = arguments(argc > 3 ? 3 : argc, argv, 50);
	if (argc > 3)
		edge = (int)number(argv[3], 1, 40);
	make_particles();
	pthread_barrier_init(&barrier, NULL, (unsigned)args.threads);
	run_threads(args.threads, worker);
	printf("moldyn: %d particles, %.6g\n", count, kinetic);
	return 0;
}
