/* SPDX-License-Identifier: MIT */
/* The hash functions of the project: XXH3, compiled in place, and mixes of one and of two words. */
#ifndef FISSION_BASE_HASH_H
#define FISSION_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static inline uint64_t hash_bytes(const void *p, size_t n)
{
	return XXH3_64bits(p, n);
}

/* A full mix of one word: the finaliser of XXH3. */
static inline uint64_t hash_word(uint64_t x)
{
	x ^= x >> 37;
	x *= 0x165667919E3779F9u;
	return x ^ (x >> 32);
}

/* A mix of two words: both halves of the product, so that every bit of either reaches the low bits. */
static inline uint64_t hash_pair(uint64_t x, uint64_t y)
{
	unsigned __int128 product =
		(unsigned __int128)(x ^ 0x9E3779B185EBCA87u) * (y ^ 0xC2B2AE3D27D4EB4Fu);

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

#endif
