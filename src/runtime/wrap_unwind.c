/* SPDX-License-Identifier: MIT */
/*
 * Whoever looks at the stack, or leaves it in another way than by returning, is to find it without marks (marks.h):
 * the unwinder of libgcc, which exceptions and Rust's panics go through, backtrace, contexts, the end of a thread. Only
 * with MODE_STOCK are there any.
 *
 * Each is handed on as a jump, so that what stands behind has the program as its caller: an unwinder finds the same
 * frames as without us, and a context is that of the caller.
 *
 * An unwinder that is linked into the program never comes here, nor does cancellation; they find their way through
 * marks by themselves. Coroutines that switch stacks with instructions of their own may leave marks on a stack that they
 * come back to, as they should.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <stddef.h>
#include <threads.h>
#include <ucontext.h>

#include "runtime/real.h"
#include "runtime/self.h"
#include "runtime/stack.h"

static void clear(void)
{
	struct self *s = self_ring;

	if (s)
		stack_leave(s, UINT64_MAX);
}

/* A library that was loaded for itself has its own libgcc, which is not behind us in the order of all. */
static void *find_unwinder(void **cache, const char *name)
{
	void *found = real_find(cache, name, NULL);
	void *library = found ? NULL : dlopen("libgcc_s.so.1", RTLD_LAZY);

	if (library) {
		found = dlsym(library, name);
		__atomic_store_n(cache, found, __ATOMIC_RELAXED);
	}
	return found;
}

#define UNWINDER(type, name, parameters, arguments) \
	EXPORT type name parameters; \
	type name parameters \
	{ \
		static void *cache; \
		void *found = __atomic_load_n(&cache, __ATOMIC_RELAXED); \
	\
		if (!found) \
			found = find_unwinder(&cache, #name); \
		clear(); \
		return ((__typeof__(&name))found)arguments; \
	}

UNWINDER(int, _Unwind_RaiseException, (void *exception), (exception))
UNWINDER(int, _Unwind_Resume_or_Rethrow, (void *exception), (exception))
UNWINDER(int, _Unwind_ForcedUnwind, (void *exception, void *stop, void *argument), (exception, stop, argument))
UNWINDER(int, _Unwind_Backtrace, (void *each, void *argument), (each, argument))
UNWINDER(void, _Unwind_Resume, (void *exception), (exception))

EXPORT int backtrace(void **to, int most)
{
	clear();
	return REAL(backtrace)(to, most);
}

EXPORT int swapcontext(ucontext_t *restrict from, const ucontext_t *restrict to)
{
	clear();
	return REAL(swapcontext)(from, to);
}

EXPORT int setcontext(const ucontext_t *to)
{
	clear();
	return REAL(setcontext)(to);
}

EXPORT void pthread_exit(void *value)
{
	clear();
	REAL(pthread_exit)(value);
	__builtin_unreachable();
}

EXPORT void thrd_exit(int value)
{
	clear();
	REAL(thrd_exit)(value);
	__builtin_unreachable();
}
