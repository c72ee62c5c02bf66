// SPDX-License-Identifier: MIT
// EXPECT kind=before rank=1 variable=node.2
// The node of each round is known by what was read through it.
#include "two.h"

static struct node {
	struct node *next;
	pthread_mutex_t lock;
	int uses;
} *head;

static void visit(void)
{
	for (struct node *p = head; p; p = p->next) {
		int uses;

		pthread_mutex_lock(&p->lock);
		uses = p->uses;
		pthread_mutex_unlock(&p->lock);
		if (uses > 9) { // COLD
			pthread_mutex_lock(&p->lock);
			p->uses = uses - 9;
			pthread_mutex_unlock(&p->lock);
		}
	}
}

static void *visitor(void *none)
{
	visit();
	return none;
}

static void *user(void *none)
{
	for (struct node *p = head; p; p = p->next) {
		pthread_mutex_lock(&p->lock);
		p->uses = 2;
		pthread_mutex_unlock(&p->lock);
	}
	return none;
}

int main(void)
{
	for (int i = 0; i < 3; i++) {
		struct node *p = calloc(1, sizeof *p);

		pthread_mutex_init(&p->lock, NULL);
		p->next = head;
		head = p;
	}
	run_two(visitor, user);
	return 0;
}
