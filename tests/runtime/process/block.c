/* SPDX-License-Identifier: MIT */
/* Buffers of input and output; results and errors as ever. A thread that blocks there stalls nobody. */
// EXPECT: \|r\([^,]*,21\).*block.c
// EXPECT: \|w\([^,]*,21\).*block.c
// EXPECT: \|r\([^,]*,22\).*block.c
// EXPECT: \|w\([^,]*,22\).*block.c
// EXPECT: \|r\([^,]*,23\).*block.c
// EXPECT: \|w\([^,]*,23\).*block.c
// COUNT: 2 \|w\([^,]*,12\).*block.c
// EXPECT: \|w\([^,]*,25\).*block.c
// NEVER: \|w\([^,]*,200\)
// EXPECT: T1\|join\(T2\)
// EXPECT: T2\|enter\(woken\)
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static char from[256], to[256];
static int ends[2], pair[2];
static volatile int state;

static void woken(void) { state++; }

static void *blocks(void *p)
{
	char c;

	if (read(ends[0], &c, 1) == 1)
		woken();
	return p;
}

static void busy(void)
{
	for (int i = 0; i < 100000; i++)
		state++;
}

int main(void)
{
	struct iovec two[] = {{to, 12}, {to + 100, 100}};
	FILE *f = tmpfile();
	pthread_t t;

	if (!f || pipe(ends) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
		return 99;
	printf("%zd", write(ends[1], from, 21));
	printf(" %zd\n", read(ends[0], to, 200));
	printf("%zd", send(pair[0], from, 22, 0));
	printf(" %zd\n", recv(pair[1], to, 200, 0));
	printf("%zd", write(pair[0], from, 24));
	printf(" %zd\n", readv(pair[1], two, 2));
	printf("%zu", fwrite(from, 1, 23, f));
	rewind(f);
	printf(" %zu\n", fread(to, 1, 200, f));
	rewind(f);
	fputs("this line has 24 bytes.\nmore\n", f);
	rewind(f);
	printf("%s", fgets(to, 200, f) ? to : "none");
	printf("%zd %d\n", read(-1, to, 200), errno == EBADF);
	pthread_create(&t, NULL, blocks, NULL);
	busy();
	if (write(ends[1], "x", 1) != 1)
		return 98;
	pthread_join(t, NULL);
	fclose(f);
	return 0;
}
