// SPDX-License-Identifier: MIT
// IDEA encryption and decryption, after Java Grande: crypt THREADS BYTES. The text is dealt out by blocks; two teams of
// threads, one after the other, order by creating and joining only. There is nothing to be found.
#include "../runtime/program.h"

#include <string.h>

enum { KEYS = 52, ROUNDS = 8, BLOCK = 8 };

struct job {
	const uint16_t *key;
	const unsigned char *in;
	unsigned char *out;
};

static struct arguments args;
static uint16_t encrypt_key[KEYS], decrypt_key[KEYS];
static struct job job; // changed between the teams

static uint16_t multiply(uint16_t a, uint16_t b)
{
	uint32_t product = (uint32_t)a * b;

	if (!product)
		return (uint16_t)(1 - a - b);
	uint16_t low = (uint16_t)product, high = (uint16_t)(product >> 16);
	return (uint16_t)(low - high + (low < high));
}

// The inverse modulo 65537, by its power.
static uint16_t inverse(uint16_t x)
{
	uint16_t result = 1;

	for (int bit = 0; bit < 16; bit++, x = multiply(x, x))
		result = multiply(result, x);
	return result;
}

static void make_encrypt_key(void)
{
	uint64_t state = 136506717;

	for (int i = 0; i < 8; i++)
		encrypt_key[i] = (uint16_t)draw(&state, 65536);
	for (int i = 8; i < KEYS; i++) {
		int from = i / 8 * 8 - 8, a = from + (i + 1) % 8, b = from + (i + 2) % 8;
		encrypt_key[i] = (uint16_t)(encrypt_key[a] << 9 | encrypt_key[b] >> 7);
	}
}

static void make_decrypt_key(void)
{
	for (int round = 0; round <= ROUNDS; round++) {
		const uint16_t *from = encrypt_key + 6 * (ROUNDS - round);
		uint16_t *to = decrypt_key + 6 * round;
		int swapped = round && round < ROUNDS;
		to[0] = inverse(from[0]);
		to[1] = (uint16_t)-from[swapped ? 2 : 1];
		to[2] = (uint16_t)-from[swapped ? 1 : 2];
		to[3] = inverse(from[3]);
		if (round < ROUNDS)
			memcpy(to + 4, encrypt_key + 6 * (ROUNDS - round) - 2, 2 * sizeof(*to));
	}
}

static void one_round(uint16_t x[4], const uint16_t *key)
{
	x[0] = multiply(x[0], key[0]);
	x[1] = (uint16_t)(x[1] + key[1]);
	x[2] = (uint16_t)(x[2] + key[2]);
	x[3] = multiply(x[3], key[3]);
	uint16_t a = multiply(x[0] ^ x[2], key[4]), b = multiply((uint16_t)((x[1] ^ x[3]) + a), key[5]);
	a = (uint16_t)(a + b);
	uint16_t second = x[1] ^ a;
	x[0] ^= b;
	x[1] = x[2] ^ b;
	x[2] = second;
	x[3] ^= a;
}

static void cipher_block(const uint16_t *key, const unsigned char *in, unsigned char *out)
{
	uint16_t x[4], last[4];

	memcpy(x, in, BLOCK);
	for (int round = 0; round < ROUNDS; round++)
		one_round(x, key + 6 * round);
	key += 6 * ROUNDS;
	last[0] = multiply(x[0], key[0]);
	last[1] = (uint16_t)(x[2] + key[1]);
	last[2] = (uint16_t)(x[1] + key[2]);
	last[3] = multiply(x[3], key[3]);
	memcpy(out, last, BLOCK);
}

void cipher(long from, long to)
{
	for (long at = from; at < to; at++)
		cipher_block(job.key, job.in + at * BLOCK, job.out + at * BLOCK);
}

static void *worker(void *number)
{
	long blocks = args.size / BLOCK, t = (intptr_t)number;

	cipher(blocks * t / args.threads, blocks * (t + 1) / args.threads);
	return NULL;
}

static void run_job(struct job j)
{
	job = j;
	run_threads(args.threads, worker);
}

int main(int argc, char **argv)
{
	uint64_t state = 1;

	args = arguments(argc, argv, 3000000);
	args.size = args.size / BLOCK * BLOCK;
	unsigned char *plain = allocate((size_t)args.size, 1), *secret = allocate((size_t)args.size, 1),
		*back = allocate((size_t)args.size, 1);
	for (long i = 0; i < args.size; i++)
		plain[i] = (unsigned char)draw(&state, 256);
	make_encrypt_key();
	make_decrypt_key();
	run_job((struct job){ encrypt_key, plain, secret });
	run_job((struct job){ decrypt_key, secret, back });
	int same = !memcmp(plain, back, (size_t)args.size) && memcmp(plain, secret, (size_t)args.size);
	printf("crypt: %ld bytes, %s\n", args.size, same ? "same" : "different");
	return same ? 0 : 1;
}
