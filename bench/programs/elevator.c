// SPDX-License-Identifier: MIT
// Lifts in a building, after the simulator of von Praun and Gross: elevator LIFTS PEOPLE. A lock a floor; the main
// thread lets people press buttons, each lift is a thread that claims floors, fetches who waits there and brings them
// where they want to go. What is claimed is looked at first and taken later, under the same lock, but not in one
// section.
//
// BENIGN claim: whether anybody waits is asked first; who claims asks for the flag again, nobody is lost
// BENIGN press_button: the person joins the queue, and who is told is decided in another section
// BENIGN find_call: each floor is a section of its own
// BENIGN move: it arrives, stops and goes on in several sections
// BENIGN stop_at: the flag is taken back before the queue is emptied; who comes in between has the flag set again
// BENIGN lift_step: looks for a call, then goes there
// BENIGN simulate: people come one by one, over time
// BENIGN all_arrived: asked again and again
#include "../runtime/program.h"

#include <time.h>
#include <unistd.h>

enum { FLOORS = 7, UP = 0, DOWN = 1, DIRECTIONS, MOST_PEOPLE = 4096, NOBODY = -1 };

struct floor {
	pthread_mutex_t lock;
	short queue[DIRECTIONS][MOST_PEOPLE]; // where they want to go
	int waiting[DIRECTIONS];
	int claimed[DIRECTIONS]; // by a lift that comes
};

struct lift {
	int at, direction, target; // only its own thread looks at these
	int aboard[FLOORS], people;
	long floors_passed;
};

static struct arguments args;
static struct floor floors[FLOORS];
static struct lift lifts[MOST_THREADS];
static pthread_mutex_t hall = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t called = PTHREAD_COND_INITIALIZER;
static int arrived, calls; // guarded by hall

// Somebody waits on the floor, to go that way.
int check_call(int floor, int way)
{
	pthread_mutex_lock(&floors[floor].lock);
	int waits = floors[floor].waiting[way] > 0;
	pthread_mutex_unlock(&floors[floor].lock);
	return waits;
}

// The lift will come for them, and no other.
int claim(int floor, int way)
{
	int mine = 0;

	if (!check_call(floor, way))
		return 0;
	pthread_mutex_lock(&floors[floor].lock);
	if (!floors[floor].claimed[way])
		mine = floors[floor].claimed[way] = 1;
	pthread_mutex_unlock(&floors[floor].lock);
	return mine;
}

void press_button(int from, int to)
{
	int way = to > from ? UP : DOWN;

	pthread_mutex_lock(&floors[from].lock);
	floors[from].queue[way][floors[from].waiting[way]++] = (short)to;
	pthread_mutex_unlock(&floors[from].lock);
	pthread_mutex_lock(&hall);
	calls++;
	pthread_cond_broadcast(&called);
	pthread_mutex_unlock(&hall);
}

// Everybody of the queue goes aboard.
int board(struct lift *l, int way)
{
	struct floor *f = &floors[l->at];

	pthread_mutex_lock(&f->lock);
	int people = f->waiting[way];
	for (int i = 0; i < people; i++)
		l->aboard[f->queue[way][i]]++;
	f->waiting[way] = 0;
	pthread_mutex_unlock(&f->lock);
	l->people += people;
	return people;
}

void give_back_claim(int floor, int way)
{
	pthread_mutex_lock(&floors[floor].lock);
	floors[floor].claimed[way] = 0;
	pthread_mutex_unlock(&floors[floor].lock);
}

void leave(struct lift *l)
{
	int people = l->aboard[l->at];

	if (!people)
		return;
	l->aboard[l->at] = 0;
	l->people -= people;
	pthread_mutex_lock(&hall);
	arrived += people;
	if (arrived == args.size)
		pthread_cond_broadcast(&called);
	pthread_mutex_unlock(&hall);
}

void stop_at(struct lift *l)
{
	leave(l);
	for (int way = UP; way <= DOWN; way++)
		if (l->at == l->target || claim(l->at, way)) {
			give_back_claim(l->at, way);
			board(l, way);
		}
}

int find_call(struct lift *l)
{
	for (int distance = 0; distance < FLOORS; distance++)
		for (int side = -1; side <= 1; side += 2) {
			int floor = l->at + side * distance;
			if (floor >= 0 && floor < FLOORS && (claim(floor, UP) || claim(floor, DOWN)))
				return floor;
		}
	return NOBODY;
}

static int next_aboard(const struct lift *l)
{
	for (int distance = 1; distance < FLOORS; distance++)
		for (int side = -1; side <= 1; side += 2) {
			int floor = l->at + side * distance;
			if (floor >= 0 && floor < FLOORS && l->aboard[floor])
				return floor;
		}
	return NOBODY;
}

void move(struct lift *l)
{
	while (l->at != l->target) {
		l->at += l->target > l->at ? 1 : -1;
		l->floors_passed++;
		if (l->at != l->target)
			leave(l);
	}
	stop_at(l);
}

int all_arrived(void)
{
	pthread_mutex_lock(&hall);
	int all = arrived == args.size;
	pthread_mutex_unlock(&hall);
	return all;
}

// Until somebody calls, or for a moment: a call that another lift did not serve is looked for again.
static void idle(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 1000000;
	if (until.tv_nsec >= 1000000000)
		until.tv_sec++, until.tv_nsec -= 1000000000;
	pthread_mutex_lock(&hall);
	if (arrived < args.size)
		pthread_cond_timedwait(&called, &hall, &until);
	pthread_mutex_unlock(&hall);
}

void lift_step(struct lift *l)
{
	l->target = l->people ? next_aboard(l) : find_call(l);
	if (l->target == NOBODY)
		idle();
	else
		move(l);
}

static void *lift_thread(void *number)
{
	struct lift *l = &lifts[(intptr_t)number];

	while (!all_arrived())
		lift_step(l);
	return NULL;
}

void simulate(long people)
{
	uint64_t state = 1;

	for (long i = 0; i < people; i++) {
		int from = (int)draw(&state, FLOORS), to = (int)draw(&state, FLOORS - 1);
		press_button(from, to < from ? to : to + 1);
		usleep(20);
	}
}

int main(int argc, char **argv)
{
	pthread_t ids[MOST_THREADS];

	args = arguments(argc, argv, 64);
	if (args.size > MOST_PEOPLE)
		fail("at most 4096 people");
	for (int i = 0; i < FLOORS; i++)
		pthread_mutex_init(&floors[i].lock, NULL);
	for (int t = 0; t < args.threads; t++)
		start(&ids[t], lift_thread, (void *)(intptr_t)t);
	simulate(args.size);
	for (int t = 0; t < args.threads; t++)
		pthread_join(ids[t], NULL);
	printf("elevator: %d arrived, %d calls\n", arrived, calls);
	return 0;
}
