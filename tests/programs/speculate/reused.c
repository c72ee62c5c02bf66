// SPDX-License-Identifier: MIT
// NEVER another object at the same address. With -DCONTROL: the same object.
// CONTROL kind=before rank=2 variable=node.0
#include "two.h"

static struct node {
	int value;
	char rest[60];
} *shown;
static int command;

static void *worker(void *none)
{
	struct node *p;
	int seen;

	take();
	p = shown;
	seen = p->value;
	p->rest[0] = 1;
#ifndef CONTROL
	free(p);
	p = calloc(1, sizeof *p);
	shown = p;
#endif
	give();
	if (command) { // COLD
		take();
		p->value = seen + 1;
		give();
	}
	return none;
}

static void *other(void *none)
{
	take();
	shown->value = 4;
	give();
	return none;
}

int main(void)
{
	shown = calloc(1, sizeof *shown);
	run_two(worker, other);
	return 0;
}
