/* SPDX-License-Identifier: MIT */
/*
 * dlopen, dlclose. Where it looks depends on who calls it, if the name has no slash: then libc must see the program as its
 * caller, so the call is handed on as a jump and nothing can be done after it. That misses little: a constructor of each
 * instrumented library calls __tsan_init, which tells what is new; others are told with the next one.
 *
 * Of dlclose nothing is told: what is loaded there next is told, and the newest counts. But where the stack is looked
 * at, what is known of code that is gone has to be forgotten, and what has come without a word is told at the next look.
 */
#include <dlfcn.h>

#include "runtime/gate.h"
#include "runtime/modules.h"
#include "runtime/real.h"
#include "runtime/self.h"
#include "runtime/stack.h"

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
	stack_code_changes();
	if (s && handle)
		modules_tell(s);
	gate_modules();
	return handle;
}

EXPORT void *dlopen(const char *file, int mode)
{
	if (file && !depends_on_caller(file))
		return open_and_tell(file, mode);
	stack_code_changes();
	if (self_ring)
		stack_leave(self_ring, UINT64_MAX);
	return REAL(dlopen)(file, mode);
}

EXPORT int dlclose(void *handle)
{
	int result = REAL(dlclose)(handle);

	stack_code_changes();
	return result;
}
