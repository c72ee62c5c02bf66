/* SPDX-License-Identifier: MIT */
/*
 * --shard K/N: which part of the work is one's own, when nobody hands it out.
 *
 * Whoever has the same work and the same N deals it the same way: by a hash of the name of each piece, and by nothing
 * else. So a piece stays where it is when others come or go, and N shards together do each piece once. A name is
 * what identifies a piece for people: a trace's path, a pair of operations ("push/pop"), a candidate's key.
 */
#ifndef FISSION_BASE_SHARD_H
#define FISSION_BASE_SHARD_H

#include <stdbool.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/intern.h"

/* Number `index`, from 0, of `count`; count 0: all of the work is one's own. */
struct shard {
	unsigned long index, count;
};

static inline bool shard_has_key(struct shard s, uint64_t key)
{
	return !s.count || hash_word(key) % s.count == s.index;
}

static inline bool shard_has(struct shard s, struct text name)
{
	return !s.count || shard_has_key(s, hash_bytes(name.at, name.length));
}

/* "2/3" is the second of three. False if it is no such thing. */
static inline bool shard_parse(const char *words, struct shard *to)
{
	char *slash, *end;
	unsigned long k = strtoul(words, &slash, 10), n;

	if (slash == words || *slash != '/' || *words < '0' || *words > '9' || slash[1] < '0' || slash[1] > '9')
		return false;
	n = strtoul(slash + 1, &end, 10);
	*to = (struct shard){k - 1, n};
	return !*end && k >= 1 && k <= n;
}

/* For an option's table: NULL, or what it takes. */
static inline const char *shard_right(const char *words)
{
	struct shard s;

	return shard_parse(words, &s) ? NULL : "takes a number and how many there are, as 2/3";
}

#endif
