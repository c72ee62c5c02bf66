/* SPDX-License-Identifier: MIT */
/*
 * dlopen. Where it looks depends on who calls it, if the name has no slash: then libc must see the program as its
 * caller, so the call is handed on as a jump and nothing can be done after it. That misses little: a constructor of each
 * instrumented library calls __tsan_init, which tells what is new; others are told with the next one.
 *
 * dlclose needs nothing: what is loaded there next is told, and the newest counts.
 */
#include <dlfcn.h>

#include "runtime/gate.h"
#include "runtime/modules.h"
#include "runtime/real.h"
#include "runtime/self.h"

static bool depends_on_caller(const char *file)
{
	bool slash = false;

	for (; *file; file++) {
		if (*file == '$')
			return true;
		slash |= *file == '/';
	}
	return !slash;
}

static void *open_and_tell(const char *file, int mode)
{
	struct self *s = self();
	void *handle;

	/* Constructors run under a lock of the loader's. */
	gate_hold();
	handle = REAL(dlopen)(file, mode);
	gate_release();
	if (s && handle)
		modules_tell(s);
	gate_modules();
	return handle;
}

EXPORT void *dlopen(const char *file, int mode)
{
	if (file && !depends_on_caller(file))
		return open_and_tell(file, mode);
	return REAL(dlopen)(file, mode);
}
