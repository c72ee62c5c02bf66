// SPDX-License-Identifier: MIT
// HIDDEN two calls of one function, each of which is one section: what the first one read is not what the second one uses.
// With -DCONTROL: it is.
// CONTROL kind=before rank=2 variable=total
#include "two.h"

static int total = 30, careful;

static int use(int n, int known)
{
	int seen;

	take();
	seen = total;
	total = (known ? known : seen) - n;
	give();
	return seen;
}

static void work(int n)
{
	int seen = use(n, 0);

	if (careful) // COLD
#ifdef CONTROL
		use(n + 1, seen);
#else
		use(n + 1, 0);
	(void)seen;
#endif
}

static void *worker(void *none)
{
	work(2);
	return none;
}

int main(void)
{
	run_two(worker, worker);
	return 0;
}
