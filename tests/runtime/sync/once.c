/* SPDX-License-Identifier: MIT */
/* link: -lstdc++ */
#include <stdint.h>

#include "scenario.h"

static pthread_once_t o = PTHREAD_ONCE_INIT, inner = PTHREAD_ONCE_INIT;
static once_flag f = ONCE_FLAG_INIT;
static int64_t guard;

int __pthread_once(pthread_once_t *, void (*)(void));
int __cxa_guard_acquire(int64_t *);
void __cxa_guard_release(int64_t *);
void __cxa_guard_abort(int64_t *);

static void hello(void)
{
	say_text("runs");
}

static void nested(void)
{
	SAY(pthread_once(&inner, hello));
	say_text("outer");
}

static void *call_o(void *unused)
{
	SAY(pthread_once(&o, hello));
	SAY(pthread_once(&o, hello));
	return unused;
}

/* scenario runs_once: pthread_once __pthread_once
 * says: runs 0 0 0 0 0
 * events: T1 sem_post(o) fork(T2) T2 sem_wait(o) T1 join(T2)
 */
static void runs_once(void)
{
	SAY(__pthread_once(&o, hello));
	SAY(pthread_once(&o, hello));
	elsewhere(call_o);
	SAY(__pthread_once(&o, hello));
}

/* scenario within: pthread_once
 * says: runs 0 outer 0 0
 * events: T1 sem_post(inner) sem_post(o)
 */
static void within(void)
{
	SAY(pthread_once(&o, nested));
	SAY(pthread_once(&inner, nested));
}

static void leave(void)
{
	say_text("leaves");
	pthread_exit(NULL);
}

static void *call_and_leave(void *unused)
{
	pthread_once(&o, leave);
	return unused;
}

/* scenario left: pthread_once
 * says: leaves runs 0 0 0
 * events: T1 fork(T2) join(T2) sem_post(o) fork(T3) T3 sem_wait(o) T1 join(T3)
 */
static void left(void)
{
	elsewhere(call_and_leave);
	SAY(pthread_once(&o, hello));
	elsewhere(call_o);
}

static void *call_f(void *unused)
{
	call_once(&f, hello);
	return unused;
}

/* scenario c11: call_once
 * says: runs
 * events: T1 sem_post(f) fork(T2) T2 sem_wait(f) T1 join(T2)
 */
static void c11(void)
{
	call_once(&f, hello);
	call_once(&f, hello);
	elsewhere(call_f);
}

static void *acquire_guard(void *unused)
{
	say_number(__cxa_guard_acquire(&guard));
	return unused;
}

/* scenario guards: __cxa_guard_acquire __cxa_guard_release
 * says: 1 1 0
 * events: T1 atomic_store(guard,1,release) fork(T2) T2 atomic_load(guard,1,acquire) T1 join(T2)
 */
static void guards(void)
{
	say_number(__cxa_guard_acquire(&guard));
	__cxa_guard_abort(&guard);
	say_number(__cxa_guard_acquire(&guard));
	__cxa_guard_release(&guard);
	elsewhere(acquire_guard);
}
