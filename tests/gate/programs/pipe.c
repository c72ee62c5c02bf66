/* SPDX-License-Identifier: MIT */
/* Two threads talk over pipes; one of the messages is larger than a pipe is. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LARGE = 300000 };

static int there[2], back[2];
static char message[LARGE];

static void *answer(void *unused)
{
	char c;
	size_t got = 0;
	ssize_t n;

	for (int i = 0; i < 10; i++)
		if (read(there[0], &c, 1) == 1) {
			c++;
			if (write(back[1], &c, 1) != 1)
				return unused;
		}
	while (got < LARGE && (n = read(there[0], message, LARGE - got)) > 0)
		got += (size_t)n;
	printf("large %d\n", got == LARGE);
	return unused;
}

int main(void)
{
	static char large[LARGE];
	pthread_t thread;
	char c = 'a';

	if (pipe(there) != 0 || pipe(back) != 0)
		return 1;
	pthread_create(&thread, NULL, answer, NULL);
	for (int i = 0; i < 10; i++) {
		if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
			return 1;
	}
	printf("%c\n", c);
	fflush(stdout);
	if (write(there[1], large, LARGE) != LARGE)
		return 1;
	pthread_join(thread, NULL);
	return 0;
}
