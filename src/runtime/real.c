/* SPDX-License-Identifier: MIT */
#include "real.h"

#include <dlfcn.h>
#include <stddef.h>

void *real_find(void **cache, const char *name, const char *version)
{
	void *found = version ? dlvsym(RTLD_NEXT, name, version) : NULL;

	if (!found)
		found = dlsym(RTLD_NEXT, name);
	__atomic_store_n(cache, found, __ATOMIC_RELAXED);
	return found;
}
