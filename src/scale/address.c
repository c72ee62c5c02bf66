/* SPDX-License-Identifier: MIT */
#include "address.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/input.h"

static struct address spell(XXH128_hash_t hash)
{
	struct address a;

	snprintf(a.hex, sizeof a.hex, "%016" PRIx64 "%016" PRIx64, (uint64_t)hash.high64, (uint64_t)hash.low64);
	return a;
}

struct address address_of(struct text bytes)
{
	return spell(XXH3_128bits(bytes.at ? bytes.at : "", bytes.length));
}

bool address_of_file(const char *path, struct address *to, struct fault *fault)
{
	XXH3_state_t state;
	struct input in;

	if (!input_open(&in, path, fault))
		return false;
	XXH3_128bits_reset(&state);
	do {
		XXH3_128bits_update(&state, in.at, (size_t)(in.end - in.at));
		in.at = in.end;
	} while (input_more(&in, fault));
	input_close(&in);
	*to = spell(XXH3_128bits_digest(&state));
	return !fault_is_set(fault);
}

bool address_is(struct text t)
{
	for (size_t i = 0; i < t.length; i++)
		if (!(t.at[i] >= '0' && t.at[i] <= '9') && !(t.at[i] >= 'a' && t.at[i] <= 'f'))
			return false;
	return t.length == ADDRESS;
}
