// SPDX-License-Identifier: MIT
// A magic number of 32 bits.
#include "shared.h"

static int code = 7;

static void *worker(void *unused)
{
	if (code == 0x5eed1234)
		add(1);
	return unused;
}

int main(void)
{
	fission_input(&code, sizeof code, "code");
	run_both(worker, worker);
	return 0;
}
