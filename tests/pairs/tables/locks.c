// SPDX-License-Identifier: MIT
// Operations of one object that take its two locks in both orders, one that crashes when it is split, and one that is
// declared atomic within an operation: it is the operation that is blamed in the matrix.
//
// status: 66
// matrix:
//   up    ..D..
//   right .....
//   down  D....
//   twice .#..#
//   inner .#..#
#include <fission/pairs.h>
#include <stdlib.h>

struct two {
	pthread_mutex_t a, b;
	int x, y;
};

static void *make(void)
{
	struct two *t = calloc(1, sizeof *t);

	pthread_mutex_init(&t->a, NULL);
	pthread_mutex_init(&t->b, NULL);
	return t;
}

static void drop(void *t)
{
	free(t);
}

#define OPERATION(name) static void name(struct two *t)
#define CALLED(name) \
	static void call_##name(void *t, void *other, const void *argument) \
	{ \
		(void)other, (void)argument; \
		name(t); \
	}

static int see(struct two *t)
{
	pthread_mutex_lock(&t->a);
	int x = t->x;
	pthread_mutex_unlock(&t->a);
	return x;
}

OPERATION(up)
{
	pthread_mutex_lock(&t->a);
	pthread_mutex_lock(&t->b);
	t->y++;
	pthread_mutex_unlock(&t->b);
	pthread_mutex_unlock(&t->a);
}

OPERATION(right)
{
	pthread_mutex_lock(&t->a);
	t->x++;
	pthread_mutex_unlock(&t->a);
}

OPERATION(down)
{
	pthread_mutex_lock(&t->b);
	pthread_mutex_lock(&t->a);
	t->y--;
	pthread_mutex_unlock(&t->a);
	pthread_mutex_unlock(&t->b);
}

OPERATION(twice)
{
	if (see(t) != see(t))
		abort();
}

FISSION_ATOMIC static void add_one(struct two *t)
{
	int x = see(t);

	pthread_mutex_lock(&t->a);
	t->x = x + 1;
	pthread_mutex_unlock(&t->a);
}

OPERATION(inner)
{
	add_one(t);
}

CALLED(up)
CALLED(right)
CALLED(down)
CALLED(twice)
CALLED(inner)

static const struct fission_operation operations[] = {
	{"up", call_up, NULL, 0}, {"right", call_right, NULL, 0}, {"down", call_down, NULL, 0},
	{"twice", call_twice, NULL, 0}, {"inner", call_inner, NULL, 0}, {0},
};

FISSION_PAIRS("two", make, drop, operations)
