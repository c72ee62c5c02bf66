// SPDX-License-Identifier: MIT
// A word that is compared.
// ARGS: get
#include "shared.h"

static const char *command = "";

static void *worker(void *unused)
{
	if (strcmp(command, "transfer") == 0)
		add(1);
	return unused;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		command = argv[1];
	run_both(worker, worker);
	return 0;
}
