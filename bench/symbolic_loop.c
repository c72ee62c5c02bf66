/* SPDX-License-Identifier: MIT */
/* What a program does that computes: fills, hashes, sorts. One number of it is an input, and decides nothing until the end. */
#include <stdio.h>
#include <stdlib.h>

#include <fission.h>

enum { TEXT = 1 << 16, TABLE = 1 << 12, STEP = TEXT / TABLE };

static unsigned table[TABLE];
static char text[TEXT];

static unsigned hash(const char *s, int n)
{
	unsigned h = 2166136261u;

	for (int i = 0; i < n; i++)
		h = (h ^ (unsigned char)s[i]) * 16777619u;
	return h;
}

static void sort(unsigned *a, int n)
{
	for (int gap = n / 2; gap; gap /= 2)
		for (int i = gap; i < n; i++) {
			unsigned x = a[i];
			int j = i;

			for (; j >= gap && a[j - gap] > x; j -= gap)
				a[j] = a[j - gap];
			a[j] = x;
		}
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 3, x = 3;
	unsigned sum = 0;

	fission_input(&x, sizeof x, "x");
	for (int r = 0; r < rounds; r++) {
		for (int i = 0; i < TEXT; i++)
			text[i] = (char)(i * 7 + r);
		for (int i = 0; i < TABLE; i++)
			table[i] = hash(text + i * STEP, STEP) + (unsigned)i;
		sort(table, TABLE);
		sum += table[r % TABLE];
	}
	if (x == 12345)
		puts("magic");
	printf("%u\n", sum);
	return 0;
}
