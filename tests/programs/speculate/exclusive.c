// SPDX-License-Identifier: MIT
// NEVER either the one or the other. With -DCONTROL: the one and then the other.
// CONTROL kind=before rank=2 variable=total
#include "two.h"

static int total = 3, careful, copy;

static void *worker(void *none)
{
	int seen = 0;

#ifdef CONTROL
	take();
	seen = total;
	give();
#endif
	if (careful) { // COLD
		take();
		total = seen + 1;
		give();
#ifndef CONTROL
	} else {
		take();
		seen = total;
		give();
#endif
	}
	take();
	copy = seen;
	give();
	return none;
}

static void *other(void *none)
{
	take();
	total = 7;
	give();
	return none;
}

int main(void)
{
	run_two(worker, other);
	return 0;
}
