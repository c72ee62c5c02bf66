// SPDX-License-Identifier: MIT
// The shortest round trip, after the program of von Praun and Gross: tsp THREADS CITIES [LEFT]. Tours wait in a heap
// under one lock; a thread takes the most promising one, splits it until LEFT cities are left, and solves the rest by
// itself. The best length has a lock of its own, but is read without it while searching: a race, and harmless, since
// whoever has found a shorter tour looks again under the lock.
//
// BENIGN get_tour: gives the tour that is done back and takes another one in two sections
// BENIGN recursive_solve: the bound is read without its lock again and again
// BENIGN set_best: looks at the bound without the lock, then with it
// BENIGN split_tour: the tour is taken apart piece by piece, each piece a section
// BENIGN visit: the bound is read without its lock, and set_best is called
// BENIGN too_long: reads the bound without its lock
#include "../runtime/program.h"

#include <string.h>

enum { MOST_CITIES = 20, MOST_TOURS = 100000 };

struct tour {
	int length, least, depth;
	unsigned char city[MOST_CITIES];
	unsigned visited;
};

static struct arguments args;
static int cities, left_to_solve = 6, distance[MOST_CITIES][MOST_CITIES], nearest[MOST_CITIES];

static pthread_mutex_t tour_lock = PTHREAD_MUTEX_INITIALIZER, best_lock = PTHREAD_MUTEX_INITIALIZER;
static struct tour *heap[MOST_TOURS], *unused[MOST_TOURS]; // guarded by tour_lock, as the next four
static int tours, unused_tours, busy;
static long taken;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static volatile int best = INT32_MAX; // written under best_lock
static unsigned char best_city[MOST_CITIES];

static void sift_up(int i)
{
	while (i && heap[i]->least < heap[(i - 1) / 2]->least) {
		struct tour *t = heap[i];
		heap[i] = heap[(i - 1) / 2];
		heap[(i - 1) / 2] = t;
		i = (i - 1) / 2;
	}
}

static void sift_down(int i)
{
	for (int child; (child = 2 * i + 1) < tours; i = child) {
		if (child + 1 < tours && heap[child + 1]->least < heap[child]->least)
			child++;
		if (heap[i]->least <= heap[child]->least)
			return;
		struct tour *t = heap[i];
		heap[i] = heap[child];
		heap[child] = t;
	}
}

// Memory for a tour, from those that are done.
struct tour *new_tour(void)
{
	pthread_mutex_lock(&tour_lock);
	struct tour *t = unused_tours ? unused[--unused_tours] : NULL;
	pthread_mutex_unlock(&tour_lock);
	return t ? t : allocate(1, sizeof(*t));
}

void put_tour(struct tour *t)
{
	pthread_mutex_lock(&tour_lock);
	if (tours == MOST_TOURS)
		fail("too many tours");
	heap[tours++] = t;
	sift_up(tours - 1);
	pthread_cond_signal(&more);
	pthread_mutex_unlock(&tour_lock);
}

static struct tour *take_top(void)
{
	struct tour *top = heap[0];

	heap[0] = heap[--tours];
	sift_down(0);
	return top;
}

static void give_back(struct tour *done)
{
	pthread_mutex_lock(&tour_lock);
	busy--;
	if (unused_tours < MOST_TOURS)
		unused[unused_tours++] = done;
	if (!busy)
		pthread_cond_broadcast(&more);
	pthread_mutex_unlock(&tour_lock);
}

// The most promising tour; NULL when there is none, and nobody who could make one.
struct tour *get_tour(struct tour *done)
{
	struct tour *t = NULL;

	if (done)
		give_back(done);
	pthread_mutex_lock(&tour_lock);
	while (!tours && busy)
		pthread_cond_wait(&more, &tour_lock);
	if (tours)
		t = take_top(), busy++, taken++;
	pthread_mutex_unlock(&tour_lock);
	return t;
}

void set_best(int length, const unsigned char *city)
{
	if (length >= best)
		return;
	pthread_mutex_lock(&best_lock);
	if (length < best) {
		best = length;
		memcpy(best_city, city, MOST_CITIES);
	}
	pthread_mutex_unlock(&best_lock);
}

int too_long(int least)
{
	return least >= best;
}

static int bound(const struct tour *t)
{
	int least = t->length + nearest[t->city[t->depth - 1]];

	for (int c = 0; c < cities; c++)
		if (!(t->visited & 1u << c))
			least += nearest[c];
	return least;
}

static void go(struct tour *t, int c)
{
	t->length += distance[t->city[t->depth - 1]][c];
	t->city[t->depth++] = (unsigned char)c;
	t->visited |= 1u << c;
}

static void back(struct tour *t)
{
	int c = t->city[--t->depth];

	t->visited &= ~(1u << c);
	t->length -= distance[t->city[t->depth - 1]][c];
}

void recursive_solve(struct tour *t);

void visit(struct tour *t, int c)
{
	go(t, c);
	if (t->depth == cities)
		set_best(t->length + distance[c][0], t->city);
	else if (!too_long(bound(t)))
		recursive_solve(t);
	back(t);
}

void recursive_solve(struct tour *t)
{
	for (int c = 1; c < cities; c++)
		if (!(t->visited & 1u << c))
			visit(t, c);
}

// One more city, for each city that is left.
void split_tour(struct tour *t)
{
	for (int c = 1; c < cities; c++) {
		if (t->visited & 1u << c)
			continue;
		struct tour *longer = new_tour();
		*longer = *t;
		go(longer, c);
		longer->least = bound(longer);
		if (too_long(longer->least))
			free(longer);
		else
			put_tour(longer);
	}
}

static void *worker(void *number)
{
	(void)number;
	for (struct tour *t = NULL; (t = get_tour(t));) {
		if (too_long(t->least))
			continue;
		if (cities - t->depth > left_to_solve)
			split_tour(t);
		else
			recursive_solve(t);
	}
	return NULL;
}

static void make_map(void)
{
	uint64_t state = 7;
	int x[MOST_CITIES], y[MOST_CITIES];

	for (int c = 0; c < cities; c++)
		x[c] = (int)draw(&state, 1000), y[c] = (int)draw(&state, 1000);
	for (int a = 0; a < cities; a++) {
		nearest[a] = INT32_MAX;
		for (int b = 0; b < cities; b++) {
			distance[a][b] = abs(x[a] - x[b]) + abs(y[a] - y[b]);
			if (a != b && distance[a][b] < nearest[a])
				nearest[a] = distance[a][b];
		}
	}
}

int main(int argc, char **argv)
{
	args = arguments(argc > 3 ? 3 : argc, argv, 14);
	if (argc > 3)
		left_to_solve = (int)number(argv[3], 1, MOST_CITIES);
	cities = (int)args.size;
	if (cities < 3 || cities > MOST_CITIES)
		fail("from 3 to 20 cities");
	make_map();
	struct tour *first = new_tour();
	first->depth = 1;
	first->visited = 1;
	first->least = bound(first);
	put_tour(first);
	run_threads(args.threads, worker);
	printf("tsp: %d cities, %d\n", cities, best);
	return 0;
}
