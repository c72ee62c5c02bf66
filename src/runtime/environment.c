/* SPDX-License-Identifier: MIT */
#include "environment.h"

#include "runtime/self.h"

enum { PATH = 64 };

static char entry[sizeof CHANNEL_VARIABLE + PATH]; /* "FISSION_CHANNEL=/proc/..." */

void environment_keep(const char *path)
{
	const char *name = CHANNEL_VARIABLE;
	size_t n = 0;

	for (; name[n]; n++)
		entry[n] = name[n];
	entry[n++] = '=';
	for (; *path && n < sizeof entry - 1; n++)
		entry[n] = *path++;
	/* One that does not fit is no path of ours. */
	entry[*path ? 0 : n] = 0;
}

static bool is_ours(const char *at)
{
	const char *name = CHANNEL_VARIABLE;

	while (*name && *at == *name)
		at++, name++;
	return !*name && *at == '=';
}

size_t environment_room(char *const env[])
{
	size_t n = 0;

	if (!entry[0] || self_off)
		return 0;
	for (; env && env[n]; n++)
		if (is_ours(env[n]))
			return 0;
	return n + 2;
}

char **environment_with(char **to, char *const env[])
{
	size_t n = 0;

	for (; env && env[n]; n++)
		to[n] = env[n];
	to[n] = entry;
	to[n + 1] = NULL;
	return to;
}
