/* SPDX-License-Identifier: MIT */
/*
 * Libraries that come and go, other code at the same place. blame: add   never: get put
 * with: plugin.c -DROOM=16 as one.so; plugin.c -DROOM=4096 as two.so
 */
#include "blame.h"

#include <dlfcn.h>

static PART long through(const char *directory, const char *name)
{
	char path[4096];
	void *library;
	long (*work)(void (*)(long), long), result;

	snprintf(path, sizeof path, "%s/%s", directory, name);
	library = dlopen(path, RTLD_NOW);
	if (!library)
		return -1000;
	*(void **)&work = dlsym(library, "work");
	result = work(put, 3);
	dlclose(library);
	return result;
}

static PART void add(void)
{
	long v = get();

	intrude();
	put(v + 1);
	KEEP;
}

int main(int argc, char **argv)
{
	long sum = 0;

	(void)argc;
	*strrchr(argv[0], '/') = 0;
	begin();
	for (int i = 0; i < 20; i++)
		sum += through(argv[0], i & 1 ? "one.so" : "two.so");
	for (int i = 0; i < 2; i++)
		add();
	printf("%ld\n", sum);
	return 0;
}
