// SPDX-License-Identifier: MIT
// The shortest round trip by branch and bound. The threads take the starts of trips from a shared counter and search
// below them, with the best length so far under a mutex. Recursion and small arrays of each thread's own, and matrices
// that all only read. The search starts with a good trip, so that luck with the order changes the work but little.
#include "program.h"

#include <string.h>

enum { MOST_CITIES = 20, REFRESH_DEPTH = 7 };

struct trip {
	int length, depth, best; // best: what the thread knows of the best length
	int city[MOST_CITIES];
	unsigned char visited[MOST_CITIES];
};

static struct arguments args;
static int cities;
static int distance[MOST_CITIES][MOST_CITIES];
static int nearest[MOST_CITIES]; // the least distance from a city to another one

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int best;      // guarded by lock
static int next_task; // guarded by lock

static int known_best(int length)
{
	pthread_mutex_lock(&lock);
	if (length < best)
		best = length;
	int b = best;
	pthread_mutex_unlock(&lock);
	return b;
}

static int take_task(void)
{
	pthread_mutex_lock(&lock);
	int task = next_task++;
	pthread_mutex_unlock(&lock);
	return task;
}

// No trip that goes on like this is shorter: every city that is left has yet to be left.
static int bound(const struct trip *p)
{
	int least = p->length + nearest[p->city[p->depth - 1]];

	for (int c = 0; c < cities; c++)
		if (!p->visited[c])
			least += nearest[c];
	return least;
}

static void go(struct trip *p, int c)
{
	p->length += distance[p->city[p->depth - 1]][c];
	p->city[p->depth++] = c;
	p->visited[c] = 1;
}

static void back(struct trip *p)
{
	int c = p->city[--p->depth];

	p->visited[c] = 0;
	p->length -= distance[p->city[p->depth - 1]][c];
}

static void search(struct trip *p)
{
	if (p->depth == cities) {
		p->best = known_best(p->length + distance[p->city[cities - 1]][0]);
		return;
	}
	if (p->depth < REFRESH_DEPTH)
		p->best = known_best(p->best);
	if (bound(p) >= p->best)
		return;
	for (int c = 1; c < cities; c++)
		if (!p->visited[c]) {
			go(p, c);
			search(p);
			back(p);
		}
}

// A task is the second and the third city of a trip.
static void *worker(void *unused)
{
	struct trip p;

	(void)unused;
	for (int task; (task = take_task()) < cities * cities;) {
		int second = task / cities, third = task % cities;
		if (!second || !third || second == third)
			continue;
		memset(&p, 0, sizeof(p));
		p.depth = 1;
		p.visited[0] = 1;
		p.best = known_best(INT32_MAX);
		go(&p, second);
		go(&p, third);
		search(&p);
	}
	return NULL;
}

static void place_cities(void)
{
	int x[MOST_CITIES], y[MOST_CITIES];
	uint64_t state = 5;

	for (int i = 0; i < cities; i++) {
		x[i] = (int)draw(&state, 1000);
		y[i] = (int)draw(&state, 1000);
		nearest[i] = INT32_MAX;
	}
	for (int i = 0; i < cities; i++)
		for (int j = 0; j < cities; j++) {
			distance[i][j] = abs(x[i] - x[j]) + abs(y[i] - y[j]);
			if (i != j && distance[i][j] < nearest[i])
				nearest[i] = distance[i][j];
		}
}

static int closest(const struct trip *p)
{
	int here = p->city[p->depth - 1], found = 0;

	for (int c = 1; c < cities; c++)
		if (!p->visited[c] && (!found || distance[here][c] < distance[here][found]))
			found = c;
	return found;
}

// The length of the trip that always goes to the closest city.
static int greedy(void)
{
	struct trip p = { .depth = 1, .visited = { 1 } };

	while (p.depth < cities)
		go(&p, closest(&p));
	return p.length + distance[p.city[cities - 1]][0];
}

int main(int argc, char **argv)
{
	args = arguments(argc, argv, 15);
	cities = (int)args.size;
	if (cities < 4 || cities > MOST_CITIES)
		fail("tsp: 4 to 20 cities");
	place_cities();
	best = greedy();
	run_threads(args.threads, worker);
	print_checksum("tsp", (uint64_t)best);
	return 0;
}
