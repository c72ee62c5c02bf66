// SPDX-License-Identifier: MIT
// Much that lives in registers while memory is touched for the first time, again, and by the other thread: a hook that
// does not leave them alone changes the sum. Printed are the sums of all ways to live: integers, floating point, vectors.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 512, ROUNDS = 40 };

typedef double vector __attribute__((vector_size(32)));

static uint64_t *shared;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static uint64_t integers(const uint64_t *m, long n)
{
	uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9, j = 10;

	for (long k = 0; k + 3 < n; k += 2) {
		a += m[k] ^ b, b += m[k + 1] ^ c, c += m[k + 2] ^ d, d += m[k + 3] ^ e, e += m[k] ^ f;
		f += m[k + 1] ^ g, g += m[k + 2] ^ h, h += m[k + 3] ^ i, i += m[k] ^ j, j += m[k + 1] ^ a;
	}
	return a ^ b ^ c ^ d ^ e ^ f ^ g ^ h ^ i ^ j;
}

static double floats(const double *m, float *small, long n)
{
	double a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9, j = 10, k = 11, l = 12;

	for (long x = 0; x + 3 < n; x++) {
		a = b + m[x], b = c - m[x + 1], c = d + m[x + 2], d = e - m[x + 3], e = f + m[x], f = g - m[x + 1];
		g = h + m[x + 2], h = i - m[x + 3], i = j + m[x], j = k - m[x + 1], k = l + m[x + 2], l = a - m[x + 3];
		small[x] = (float)(a + l);
	}
	return a + b + c + d + e + f + g + h + i + j + k + l;
}

static double vectors(const double *m, char *bytes, long n)
{
	vector a = {1, 2, 3, 4}, b = {5, 6, 7, 8}, c = {9, 10, 11, 12}, d = {13, 14, 15, 16};

	for (long x = 0; x < n; x++) {
		a += b * m[x], b -= a + c, c += d * 0.5, d = b - m[x];
		b *= 0.25, a *= 0.25;
		bytes[x] = (char)x;
	}
	a += b + c + d;
	return a[0] + a[1] + a[2] + a[3];
}

static void *worker(void *to)
{
	uint64_t sum = 0;

	for (int r = 0; r < ROUNDS; r++) {
		double *m = malloc(CELLS * sizeof *m);
		float *small = malloc(CELLS * sizeof *small);
		char *bytes = malloc(CELLS);

		for (int i = 0; i < CELLS; i++)
			m[i] = i % 7 - 3 + r % 2;
		sum += (uint64_t)(int64_t)(floats(m, small, CELLS) * 8);
		sum += (uint64_t)(int64_t)(vectors(m, bytes, CELLS) * 8);
		for (int i = 0; i < CELLS; i++)
			sum += (uint64_t)bytes[i] + (uint64_t)(int64_t)small[i % (CELLS - 3)];
		pthread_mutex_lock(&mutex);
		sum += integers(shared, CELLS);
		pthread_mutex_unlock(&mutex);
		free(bytes);
		free(small);
		free(m);
	}
	*(uint64_t *)to = sum;
	return NULL;
}

int main(void)
{
	pthread_t threads[2];
	uint64_t sums[2];

	shared = malloc(CELLS * sizeof *shared);
	for (uint64_t i = 0; i < CELLS; i++)
		shared[i] = i * 0x9e3779b97f4a7c15u;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, worker, &sums[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	free(shared);
	printf("%llx %llx\n", (unsigned long long)sums[0], (unsigned long long)sums[1]);
	return 0;
}
