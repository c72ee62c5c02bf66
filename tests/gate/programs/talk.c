/* SPDX-License-Identifier: MIT */
/* Two threads talk over pipes, in small messages: the order is the gate's alone. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int there[2], back[2];

static void *answer(void *unused)
{
	char c;

	for (int i = 0; i < 10; i++)
		if (read(there[0], &c, 1) != 1 || (c++, write(back[1], &c, 1) != 1))
			break;
	return unused;
}

int main(void)
{
	pthread_t thread;
	char c = 'a';

	if (pipe(there) != 0 || pipe(back) != 0)
		return 1;
	pthread_create(&thread, NULL, answer, NULL);
	for (int i = 0; i < 10; i++)
		if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
			return 1;
	pthread_join(thread, NULL);
	printf("%c\n", c);
	return 0;
}
