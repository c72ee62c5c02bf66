// SPDX-License-Identifier: MIT
// NEVER nobody else knows the object yet. With -DCONTROL: it was shown before.
// CONTROL kind=before rank=1 variable=node.0
#include "two.h"

static struct node {
	int value;
} *shown;

static void *maker(void *none)
{
	struct node *p = calloc(1, sizeof *p);
	int seen;

#ifdef CONTROL
	take();
	shown = p;
	give();
#endif
	take();
	seen = p->value;
	give();
	if (seen > 5) { // COLD
		take();
		p->value = seen - 1;
		give();
	}
#ifndef CONTROL
	take();
	shown = p;
	give();
#endif
	return none;
}

static void *user(void *none)
{
	for (int done = 0; !done;) {
		take();
		done = shown != NULL;
		if (done)
			shown->value = 4;
		give();
	}
	return none;
}

int main(void)
{
	run_two(maker, user);
	return 0;
}
