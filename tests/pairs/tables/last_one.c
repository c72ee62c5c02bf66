// SPDX-License-Identifier: MIT
// Check, then act, on the last one: whoever comes second does not act, so no execution of the two, one after the other,
// has both halves of the split.
//
// status: 66
// matrix:
//   put  ...
//   take ###
//   safe ...
#include <fission/pairs.h>
#include <stdlib.h>

struct pool {
	pthread_mutex_t lock;
	int left, taken;
};

static void *make(void)
{
	struct pool *p = calloc(1, sizeof *p);

	pthread_mutex_init(&p->lock, NULL);
	p->left = 1;
	return p;
}

static void drop(void *p)
{
	free(p);
}

static int left(struct pool *p)
{
	pthread_mutex_lock(&p->lock);
	int n = p->left;
	pthread_mutex_unlock(&p->lock);
	return n;
}

static void put(void *of, void *other, const void *argument)
{
	struct pool *p = of;

	(void)other, (void)argument;
	pthread_mutex_lock(&p->lock);
	p->left++;
	pthread_mutex_unlock(&p->lock);
}

static void take(void *of, void *other, const void *argument)
{
	struct pool *p = of;

	(void)other, (void)argument;
	if (left(p) > 0) {
		pthread_mutex_lock(&p->lock);
		p->left--;
		p->taken++;
		pthread_mutex_unlock(&p->lock);
	}
}

static void safe(void *of, void *other, const void *argument)
{
	struct pool *p = of;

	(void)other, (void)argument;
	pthread_mutex_lock(&p->lock);
	if (p->left > 0 && p->taken == 0)
		p->left--;
	pthread_mutex_unlock(&p->lock);
}

static const struct fission_operation operations[] = {
	{"put", put, NULL, 0}, {"take", take, NULL, 0}, {"safe", safe, NULL, 0}, {0},
};

FISSION_PAIRS("pool", make, drop, operations)
