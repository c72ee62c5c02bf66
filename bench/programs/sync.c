// SPDX-License-Identifier: MIT
// How fast locks are, after Java Grande: sync THREADS TIMES. A method that is locked and a section inside of a method,
// each on one object for all and on an object for each thread; and the loops around them, which take the lock again and
// again.
//
// BENIGN many_methods: a loop around a locked method
// BENIGN many_sections: a loop around a section
// BENIGN many_nested: a loop around a section that calls a locked method
// BENIGN many_pairs: a loop around a read and a write
// BENIGN add_pair: reads and writes in two sections; the value is not used
#include "../runtime/program.h"

struct counter {
	pthread_mutex_t lock;
	long value;
};

static struct arguments args;
static struct counter shared, inner, pairs, own[MOST_THREADS];

void locked_method(struct counter *c)
{
	pthread_mutex_lock(&c->lock);
	c->value++;
	pthread_mutex_unlock(&c->lock);
}

void many_methods(struct counter *c)
{
	for (long i = 0; i < args.size; i++)
		locked_method(c);
}

void many_sections(struct counter *c)
{
	for (long i = 0; i < args.size; i++) {
		pthread_mutex_lock(&c->lock);
		c->value++;
		pthread_mutex_unlock(&c->lock);
	}
}

void many_nested(struct counter *c)
{
	for (long i = 0; i < args.size; i++) {
		pthread_mutex_lock(&c->lock);
		locked_method(&inner);
		pthread_mutex_unlock(&c->lock);
	}
}

static long get(struct counter *c)
{
	pthread_mutex_lock(&c->lock);
	long v = c->value;
	pthread_mutex_unlock(&c->lock);
	return v;
}

void add_pair(struct counter *c)
{
	if (get(c) >= 0)
		locked_method(c);
}

void many_pairs(struct counter *c)
{
	for (long i = 0; i < args.size; i++)
		add_pair(c);
}

static void *worker(void *number)
{
	many_methods(&shared);
	many_sections(&shared);
	many_nested(&shared);
	many_pairs(&pairs);
	many_methods(&own[(intptr_t)number]);
	return NULL;
}

int main(int argc, char **argv)
{
	args = arguments(argc, argv, 100000);
	pthread_mutex_init(&shared.lock, NULL);
	pthread_mutex_init(&inner.lock, NULL);
	pthread_mutex_init(&pairs.lock, NULL);
	for (int t = 0; t < args.threads; t++)
		pthread_mutex_init(&own[t].lock, NULL);
	run_threads(args.threads, worker);
	printf("sync: %ld, %ld, %ld\n", shared.value, inner.value, pairs.value);
	return 0;
}
