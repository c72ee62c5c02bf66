// SPDX-License-Identifier: MIT
// A number that a thread is given as its argument.
// STDIN: 8 0x10\n
#include "shared.h"

static void *worker(void *argument)
{
	long n = (long)argument;

	if (n == 123456)
		add(1);
	return NULL;
}

int main(void)
{
	char line[64], *end;
	pthread_t a, b;
	long first, second;

	if (!fgets(line, sizeof line, stdin))
		return 1;
	first = strtol(line, &end, 0);
	second = strtol(end, NULL, 0);
	pthread_create(&a, NULL, worker, (void *)first);
	pthread_create(&b, NULL, worker, (void *)(second + 1));
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", total);
	return 0;
}
