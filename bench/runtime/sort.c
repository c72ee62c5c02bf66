// SPDX-License-Identifier: MIT
// Merge sort: a thread gives the left half of its numbers to a new thread while there are threads left. No locks; memory
// is ordered by creating and joining threads only, and every number is read and written by them in turn.
#include "program.h"

#include <string.h>

enum { SHORT = 16 };

struct part {
	uint32_t *numbers, *room; // both of this length
	long length;
	int threads;
};

static void sort_short(uint32_t *a, long n)
{
	for (long i = 1; i < n; i++) {
		uint32_t x = a[i];
		long j = i;
		for (; j > 0 && a[j - 1] > x; j--)
			a[j] = a[j - 1];
		a[j] = x;
	}
}

static void merge(uint32_t *to, const uint32_t *a, const uint32_t *a_end, const uint32_t *b, const uint32_t *b_end)
{
	while (a < a_end && b < b_end)
		*to++ = *b < *a ? *b++ : *a++;
	while (a < a_end)
		*to++ = *a++;
	while (b < b_end)
		*to++ = *b++;
}

static void *sort(void *argument);

static void sort_halves(struct part *left, struct part *right)
{
	pthread_t helper;

	if (left->threads) {
		start(&helper, sort, left);
		sort(right);
		pthread_join(helper, NULL);
	} else {
		sort(left);
		sort(right);
	}
}

static void *sort(void *argument)
{
	struct part *p = argument;
	long half = p->length / 2;
	struct part left = { p->numbers, p->room, half, p->threads / 2 };
	struct part right = { p->numbers + half, p->room + half, p->length - half, p->threads - p->threads / 2 };

	if (p->length <= SHORT) {
		sort_short(p->numbers, p->length);
		return NULL;
	}
	sort_halves(&left, &right);
	memcpy(p->room, p->numbers, (size_t)p->length * sizeof(*p->room));
	merge(p->numbers, p->room, p->room + half, p->room + half, p->room + p->length);
	return NULL;
}

int main(int argc, char **argv)
{
	struct arguments args = arguments(argc, argv, 6000000);
	struct part all = { .length = args.size, .threads = args.threads };
	uint64_t state = 1, sum = 0;

	all.numbers = allocate((size_t)args.size, sizeof(*all.numbers));
	all.room = allocate((size_t)args.size, sizeof(*all.room));
	for (long i = 0; i < args.size; i++)
		all.numbers[i] = draw(&state, UINT32_MAX);
	sort(&all);
	for (long i = 0; i < args.size; i++)
		sum = mix(sum ^ all.numbers[i]);
	print_checksum("sort", sum);
	free(all.numbers);
	free(all.room);
	return 0;
}
