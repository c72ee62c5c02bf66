// SPDX-License-Identifier: MIT
// A ray tracer, after Java Grande: raytracer THREADS WIDTH [SPHERES]. The threads take every n-th line of the picture
// and add the checksum of their lines to one for all, under a lock: but each thread has a lock of its own, as in the
// original, where each thread synchronises on its own object. Additions can be lost. Then the checksum is not that of
// the scene, and the program says so and ends with status 1.
//
// BUG add_checksum: the lock is the thread's own, so that an addition of another thread can be lost
// BUG render: adds line by line by add_checksum
#include "../runtime/program.h"

#include <math.h>

enum { EDGE = 4, MOST_SPHERES = EDGE * EDGE * EDGE, DEPTH = 6 };

struct vector {
	double x, y, z;
};

struct sphere {
	struct vector centre, colour;
	double radius, mirror;
};

struct hit {
	const struct sphere *sphere;
	double distance;
};

static struct arguments args;
static int spheres = MOST_SPHERES;
static struct sphere scene[MOST_SPHERES];
static const struct vector light = { 100, 100, -50 };
static pthread_mutex_t own_lock[MOST_THREADS]; // one for each thread: the mistake
static volatile long checksum; // as in Java, where a read and a write are two steps

static struct vector add(struct vector a, double k, struct vector b)
{
	return (struct vector){ a.x + k * b.x, a.y + k * b.y, a.z + k * b.z };
}

static double dot(struct vector a, struct vector b)
{
	return a.x * b.x + a.y * b.y + a.z * b.z;
}

static struct vector unit(struct vector a)
{
	return add((struct vector){ 0, 0, 0 }, 1 / sqrt(dot(a, a)), a);
}

static void make_scene(void)
{
	for (int i = 0; i < spheres; i++) {
		double x = i % EDGE, y = i / EDGE % EDGE, z = (double)(i / EDGE / EDGE);
		double far = 20 / (EDGE - 1.0);
		scene[i] = (struct sphere){ .centre = { far * x - 10, far * y - 10, far * z - 10 },
			.colour = { x / EDGE, y / EDGE, z / EDGE }, .radius = 3, .mirror = 0.25 };
	}
}

static double meet(const struct sphere *s, struct vector from, struct vector way)
{
	struct vector to = add(s->centre, -1, from);
	double b = dot(to, way), d = b * b - dot(to, to) + s->radius * s->radius;

	if (d < 0)
		return -1;
	return b - sqrt(d) > 1e-6 ? b - sqrt(d) : b + sqrt(d);
}

static struct hit first_hit(struct vector from, struct vector way)
{
	struct hit h = { NULL, 1e6 };

	for (int i = 0; i < spheres; i++) {
		double d = meet(&scene[i], from, way);
		if (d > 1e-6 && d < h.distance)
			h = (struct hit){ &scene[i], d };
	}
	return h;
}

static struct vector trace(struct vector from, struct vector way, int depth)
{
	struct hit h = first_hit(from, way);
	struct vector colour = { 0, 0, 0 };

	if (!h.sphere)
		return colour;
	struct vector at = add(from, h.distance, way), normal = unit(add(at, -1, h.sphere->centre));
	struct vector to_light = unit(add(light, -1, at));
	double lit = dot(normal, to_light);
	if (lit > 0 && !first_hit(at, to_light).sphere)
		colour = add(colour, lit, h.sphere->colour);
	if (depth > 1)
		colour = add(colour, h.sphere->mirror, trace(at, add(way, -2 * dot(way, normal), normal), depth - 1));
	return colour;
}

static long byte(double c)
{
	return c >= 1 ? 255 : (long)(c * 255);
}

static long render_line(int y)
{
	long sum = 0;
	int width = (int)args.size;

	for (int x = 0; x < width; x++) {
		struct vector way = unit((struct vector){ 2.0 * x / width - 1, 1 - 2.0 * y / width, 2 });
		struct vector c = trace((struct vector){ 0, 0, -30 }, way, DEPTH);
		sum += byte(c.x) + byte(c.y) + byte(c.z);
	}
	return sum;
}

void add_checksum(int t, long sum)
{
	pthread_mutex_lock(&own_lock[t]);
	checksum += sum;
	pthread_mutex_unlock(&own_lock[t]);
}

void render(int t)
{
	for (int y = t; y < args.size; y += args.threads)
		add_checksum(t, render_line(y));
}

static void *worker(void *number)
{
	render((int)(intptr_t)number);
	return NULL;
}

static long right_checksum(void)
{
	long sum = 0;

	for (int y = 0; y < args.size; y++)
		sum += render_line(y);
	return sum;
}

int main(int argc, char **argv)
{
	args = arguments(argc > 3 ? 3 : argc, argv, 150);
	if (argc > 3)
		spheres = (int)number(argv[3], 1, MOST_SPHERES);
	make_scene();
	for (int t = 0; t < args.threads; t++)
		pthread_mutex_init(&own_lock[t], NULL);
	run_threads(args.threads, worker);
	if (checksum != right_checksum()) {
		printf("raytracer: validation failed\n");
		return 1;
	}
	printf("raytracer: %ld\n", checksum);
	return 0;
}
