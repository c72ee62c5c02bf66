// SPDX-License-Identifier: MIT
// The length of an argument, and what then stands in it.
// ARGS: short
#include "shared.h"

static const char *text = "";

static void *worker(void *unused)
{
	if (strlen(text) == 23 && text[0] == '<' && text[11] == '=' && text[22] == '>')
		add(1);
	return unused;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		text = argv[1];
	run_both(worker, worker);
	return 0;
}
