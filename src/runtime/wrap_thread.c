/* SPDX-License-Identifier: MIT */
/*
 * Threads: create, join, the end.
 *
 * The maker takes the new thread's number and the fork's ticket before the thread exists, and writes the entry once
 * it does: the child's own first ticket is greater. Its slots are taken before, too, because libc allocates memory on
 * the way, which has tickets of its own. A thread ends when the destructors of its keys have run, so ours
 * asks to be called again for as many rounds as there are.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

#include "runtime/os.h"
#include "runtime/real.h"
#include "runtime/self.h"
#include "runtime/threads.h"

struct start {
	void *(*routine)(void *);
	void *argument;
	uint32_t number;
};

static pthread_key_t key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;

static void ending(void *rounds)
{
	uintptr_t left = (uintptr_t)rounds;

	if (left > 1)
		pthread_setspecific(key, (void *)(left - 1));
	else
		self_finish();
}

static void make_key(void)
{
	pthread_key_create(&key, ending);
}

static void *routine(void *argument)
{
	struct start start = *(struct start *)argument;

	os_unmap(argument, sizeof start);
	self_begin(start.number);
	pthread_setspecific(key, (void *)(uintptr_t)PTHREAD_DESTRUCTOR_ITERATIONS);
	return start.routine(start.argument);
}

EXPORT int pthread_create(pthread_t *handle, const pthread_attr_t *attr, void *(*run)(void *), void *argument)
{
	struct self *s = self();
	struct start *start = s ? os_map(sizeof *start, -1) : NULL;
	struct early early;
	uint32_t number;
	int result;

	if (!start)
		return REAL(pthread_create)(handle, attr, run, argument);
	REAL(pthread_once)(&key_once, make_key);
	number = self_number();
	*start = (struct start){run, argument, number};
	early = self_early(s);
	result = REAL(pthread_create)(handle, attr, routine, start);
	self_late(s, early, (struct sync){
		.kind = result == 0 ? ENTRY_FORK : ENTRY_TICK, .object = (void *)(uintptr_t)number, .pc = CALLER,
	});
	if (result != 0)
		os_unmap(start, sizeof *start);
	else
		threads_add(*handle, number);
	return result;
}

static void joined(int result, pthread_t handle, void *pc)
{
	struct self *s = self();
	uint32_t number = result == 0 ? threads_take(handle) : 0;

	if (s && number)
		self_sync(s, (struct sync){.kind = ENTRY_JOIN, .object = (void *)(uintptr_t)number, .pc = pc});
}

EXPORT int pthread_join(pthread_t handle, void **value)
{
	int result = REAL(pthread_join)(handle, value);

	joined(result, handle, CALLER);
	return result;
}

EXPORT int pthread_tryjoin_np(pthread_t handle, void **value)
{
	int result = REAL(pthread_tryjoin_np)(handle, value);

	joined(result, handle, CALLER);
	return result;
}

EXPORT int pthread_timedjoin_np(pthread_t handle, void **value, const struct timespec *until)
{
	int result = REAL(pthread_timedjoin_np)(handle, value, until);

	joined(result, handle, CALLER);
	return result;
}

EXPORT int pthread_clockjoin_np(pthread_t handle, void **value, clockid_t clock, const struct timespec *until)
{
	int result = REAL(pthread_clockjoin_np)(handle, value, clock, until);

	joined(result, handle, CALLER);
	return result;
}
