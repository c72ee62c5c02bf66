/* SPDX-License-Identifier: MIT */
/*
 * Id allocator. ticket_new() looks which number is the next and moves on in a second section: two tickets have one number.
 * Visible: the numbers are not different, exit status 1.
 */
// EXPECT function=ticket_new variable=next_ticket live=default,blocks
// RUN 2
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned next_ticket = 1;
static int rounds = 1;

#ifdef FIXED
static unsigned ticket_new(void)
{
	pthread_mutex_lock(&lock);
	unsigned ticket = next_ticket++;
	pthread_mutex_unlock(&lock);
	return ticket;
}
#else
static unsigned ticket_peek(void)
{
	pthread_mutex_lock(&lock);
	unsigned ticket = next_ticket;
	pthread_mutex_unlock(&lock);
	return ticket;
}

static void ticket_advance(void)
{
	pthread_mutex_lock(&lock);
	next_ticket++;
	pthread_mutex_unlock(&lock);
}

static unsigned ticket_new(void)
{
	unsigned ticket = ticket_peek();

	ticket_advance();
	return ticket;
}
#endif

struct counter {
	unsigned ticket[MOST];
};

static void *clerk(void *arg)
{
	struct counter *c = arg;

	for (int i = 0; i < rounds; i++)
		c->ticket[i] = ticket_new();
	return NULL;
}

static int equals(const struct counter *a, const struct counter *b)
{
	int n = 0;

	for (int i = 0; i < rounds; i++)
		for (int j = 0; j < rounds; j++)
			n += a->ticket[i] == b->ticket[j];
	return n;
}

int main(int argc, char **argv)
{
	static struct counter first, second;
	pthread_t a, b;

	if (argc > 1 && atoi(argv[1]) <= MOST)
		rounds = atoi(argv[1]);
	pthread_create(&a, NULL, clerk, &first);
	pthread_create(&b, NULL, clerk, &second);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	int same = equals(&first, &second);
	printf("equal tickets: %d\n", same);
	return same != 0;
}
