/* SPDX-License-Identifier: MIT */
#include "real.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

void *real_find(void **cache, const char *name, const char *version)
{
	int saved = errno; /* the program's: the wrapped function may not touch it */
	void *found = version ? dlvsym(RTLD_NEXT, name, version) : NULL;

	if (!found)
		found = dlsym(RTLD_NEXT, name);
	errno = saved;
	__atomic_store_n(cache, found, __ATOMIC_RELAXED);
	return found;
}
