// SPDX-License-Identifier: MIT
// A case of a switch.
#include "shared.h"

static unsigned operation = 1;

static void *worker(void *unused)
{
	switch (operation) {
	case 1: total_now(); break;
	case 4711: total_is(0); break;
	case 40961: add(1); break;
	default: break;
	}
	return unused;
}

int main(void)
{
	fission_input(&operation, sizeof operation, "operation");
	run_both(worker, worker);
	return 0;
}
