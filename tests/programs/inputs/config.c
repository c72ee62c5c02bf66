// SPDX-License-Identifier: MIT
// Lines of a configuration file.
// FILE: config.txt mode slow\nworkers 1\n
// ARGS: config.txt
#include "shared.h"

static char mode[16];
static int workers;

static void *worker(void *unused)
{
	if (strcmp(mode, "fast") == 0 && workers > 4000)
		add(1);
	return unused;
}

static void parse(const char *line)
{
	char key[16], value[16];

	if (sscanf(line, "%15s %15s", key, value) != 2)
		return;
	if (strcmp(key, "mode") == 0)
		strcpy(mode, value);
	else if (strcmp(key, "workers") == 0)
		workers = atoi(value);
}

int main(int argc, char **argv)
{
	FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;
	char line[80];

	while (f && fgets(line, sizeof line, f))
		parse(line);
	if (f)
		fclose(f);
	run_both(worker, worker);
	return 0;
}
