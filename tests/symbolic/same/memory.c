/* SPDX-License-Identifier: MIT */
/* Memory under other names: unions, bytes, moved blocks, buffers that others write, what was freed and given out again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fission.h>

struct packet {
	unsigned kind : 4, flags : 12;
	unsigned short length;
	unsigned char data[12];
};

static unsigned check(const unsigned char *p, size_t n)
{
	unsigned s = 0;

	for (size_t i = 0; i < n; i++)
		s = s * 31 + p[i];
	return s;
}

static int through_pipe(int x)
{
	int ends[2], y = x;

	if (pipe(ends) || write(ends[1], &x, sizeof x) != sizeof x || read(ends[0], &y, sizeof y) != sizeof y)
		return -1;
	close(ends[0]);
	close(ends[1]);
	return y;
}

static int reused(int x)
{
	int *p = malloc(64), *q, y;

	p[3] = x;
	y = p[3];
	free(p);
	q = calloc(16, sizeof *q);
	y += q[3];
	q = realloc(q, 4096);
	q[700] = x;
	y += q[700];
	free(q);
	return y;
}

static __thread int own;
static int table[3][5];
static char text[32];

int main(void)
{
	int x = 300, *volatile where = &own;
	struct packet p = {0}, q;

	fission_input(&x, sizeof x, "x");
	p.kind = (unsigned)x;
	p.flags = (unsigned)x;
	p.length = (unsigned short)x;
	memcpy(p.data + 1, &x, sizeof x);
	memmove(p.data + 2, p.data, 8);
	q = p;
	printf("%u %u %u %u\n", q.kind, q.flags, q.length, check((unsigned char *)&q, sizeof q));
	snprintf(text, sizeof text, "%d", x);
	printf("%d %d %s %d\n", through_pipe(x), reused(x), text, atoi(text) == x);
	*where = x;
	table[x % 3][x % 5] = x;
	printf("%d %d\n", own, table[0][0] + table[1][4] + table[0][x % 5]);
	strcpy(text, "abc");
	text[x % 3] = (char)x;
	return strcmp(text, "abc") == 0 ? 1 : strlen(text) == 3 ? 2 : 3;
}
