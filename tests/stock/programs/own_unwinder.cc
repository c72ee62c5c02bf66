/* SPDX-License-Identifier: MIT */
/* The same with an unwinder of its own, which finds its way through marks. blame: add   never: get put
   flags: -static-libgcc -static-libstdc++ */
#include "blame.h"

struct guard {
	const char *name;
	~guard() { put(get() + 1); printf("left %s\n", name); }
};

static PART void thrower(int depth)
{
	guard g = {"thrower"};

	put(depth);
	if (depth)
		thrower(depth - 1);
	else
		throw depth + 5;
	KEEP;
}

static PART void add()
{
	long v = get();

	intrude();
	put(v + 1);
	KEEP;
}

static PART int catcher(int depth)
{
	guard g = {"catcher"};

	add();
	try {
		thrower(depth);
	} catch (int e) {
		add();
		return e;
	}
	return 0;
}

static PART int rethrower(int depth)
{
	try {
		put(1);
		return catcher(depth) + (depth > 2 ? throw "enough" : 0);
	} catch (const char *) {
		put(2);
		throw;
	}
}

int main()
{
	int sum = 0;

	begin();
	for (int i = 0; i < 5; i++)
		try {
			sum += rethrower(i);
		} catch (const char *why) {
			printf("%s\n", why);
		}
	for (int i = 0; i < 2000; i++)
		try {
			put(i);
			throw i;
		} catch (int e) {
			sum += e & 1;
		}
	printf("%d\n", sum);
	return sum % 50;
}
