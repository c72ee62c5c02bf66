/* SPDX-License-Identifier: MIT */
#include "environment.h"

#include "runtime/self.h"

#define PRELOAD_VARIABLE "LD_PRELOAD"

enum { PATH = 64, PRELOAD = 4096 };

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

static char preload[sizeof PRELOAD_VARIABLE + PRELOAD]; /* "LD_PRELOAD=...", if the program came with us so */

void environment_keep_preload(const char *value)
{
	const char *name = PRELOAD_VARIABLE;
	size_t n = 0;

	for (; name[n]; n++)
		preload[n] = name[n];
	preload[n++] = '=';
	for (; *value && n < sizeof preload - 1; n++)
		preload[n] = *value++;
	preload[*value ? 0 : n] = 0;
}

static bool is_of(const char *at, const char *name)
{
	while (*name && *at == *name)
		at++, name++;
	return !*name && *at == '=';
}

/* How many of ours the environment lacks; room for them and the end. */
static size_t missing(char *const env[], bool *place, bool *library)
{
	size_t n = 0;

	*place = entry[0];
	*library = preload[0];
	for (; env && env[n]; n++) {
		*place &= !is_of(env[n], CHANNEL_VARIABLE);
		*library &= !is_of(env[n], PRELOAD_VARIABLE);
	}
	return *place || *library ? n + 3 : 0;
}

size_t environment_room(char *const env[])
{
	bool channel_lacks, library_lacks;

	return !entry[0] || self_off ? 0 : missing(env, &channel_lacks, &library_lacks);
}

char **environment_with(char **to, char *const env[])
{
	bool channel_lacks, library_lacks;
	size_t n = 0;

	missing(env, &channel_lacks, &library_lacks);
	for (; env && env[n]; n++)
		to[n] = env[n];
	if (channel_lacks)
		to[n++] = entry;
	if (library_lacks)
		to[n++] = preload;
	to[n] = NULL;
	return to;
}
