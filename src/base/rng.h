/* SPDX-License-Identifier: MIT */
/* A small deterministic generator (splitmix64): the same seed gives the same numbers everywhere. */
#ifndef FISSION_BASE_RNG_H
#define FISSION_BASE_RNG_H

#include <stdint.h>

struct rng {
	uint64_t state;
};

static inline uint64_t rng_next(struct rng *r)
{
	uint64_t z = r->state += 0x9E3779B97F4A7C15u;

	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
	return z ^ (z >> 31);
}

/* A number from 0 to n - 1; n must not be 0. The bias is below n / 2^32 for n < 2^32. */
static inline uint32_t rng_below(struct rng *r, uint32_t n)
{
	return (uint32_t)(((rng_next(r) >> 32) * n) >> 32);
}

#endif
