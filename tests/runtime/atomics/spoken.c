// SPDX-License-Identifier: MIT
// The annotations of <sanitizer/tsan_interface.h> and the dynamic ones: prints the objects, the recording has the events.
#include <pthread.h>
#include <sanitizer/tsan_interface.h>
#include <stdatomic.h>
#include <stdio.h>
#include <ucontext.h>

void AnnotateHappensBefore(const char *, int, const volatile void *);
void AnnotateHappensAfter(const char *, int, const volatile void *);
void AnnotateRWLockCreate(const char *, int, const volatile void *);
void AnnotateRWLockDestroy(const char *, int, const volatile void *);
void AnnotateRWLockAcquired(const char *, int, const volatile void *, long);
void AnnotateRWLockReleased(const char *, int, const volatile void *, long);
void AnnotateIgnoreReadsBegin(const char *, int);
void AnnotateIgnoreReadsEnd(const char *, int);
void AnnotateIgnoreWritesBegin(const char *, int);
void AnnotateIgnoreWritesEnd(const char *, int);
void AnnotateIgnoreSyncBegin(const char *, int);
void AnnotateIgnoreSyncEnd(const char *, int);
void AnnotateBenignRaceSized(const char *, int, const volatile void *, long, const char *);
void __tsan_ignore_thread_begin(void);
void __tsan_ignore_thread_end(void);

static char order, lock, shared;
static int seen, unread, unwritten, unseen, racy;
static atomic_int inside, unordered;
static int fiber_steps;
static ucontext_t main_context, fiber_context;
static void *main_fiber, *fiber;
static char stack[1 << 16];

static void locks(void)
{
	int levels;

	__tsan_mutex_create(&lock, __tsan_mutex_write_reentrant);
	for (int i = 0; i < 2; i++) {
		__tsan_mutex_pre_lock(&lock, 0);
		inside++; /* what the lock is made of */
		__tsan_mutex_post_lock(&lock, 0, 0);
	}
	levels = __tsan_mutex_pre_unlock(&lock, __tsan_mutex_recursive_unlock);
	__tsan_mutex_post_unlock(&lock, 0);
	printf("levels %d\n", levels);
	__tsan_mutex_pre_lock(&lock, __tsan_mutex_try_lock);
	__tsan_mutex_post_lock(&lock, __tsan_mutex_try_lock | __tsan_mutex_try_lock_failed, 0);
	__tsan_mutex_pre_lock(&lock, __tsan_mutex_read_lock);
	__tsan_mutex_post_lock(&lock, __tsan_mutex_read_lock, 0);
	__tsan_mutex_pre_unlock(&lock, __tsan_mutex_read_lock);
	__tsan_mutex_pre_divert(&lock, 0);
	seen = 1;
	__tsan_mutex_post_divert(&lock, 0);
	inside++;
	__tsan_mutex_post_unlock(&lock, __tsan_mutex_read_lock);
	__tsan_mutex_pre_signal(&lock, 0);
	inside++;
	__tsan_mutex_post_signal(&lock, 0);
	__tsan_mutex_destroy(&lock, 0);
	AnnotateRWLockCreate(__FILE__, __LINE__, &shared);
	AnnotateRWLockAcquired(__FILE__, __LINE__, &shared, 1);
	AnnotateRWLockReleased(__FILE__, __LINE__, &shared, 1);
	AnnotateRWLockAcquired(__FILE__, __LINE__, &shared, 0);
	AnnotateRWLockReleased(__FILE__, __LINE__, &shared, 0);
	AnnotateRWLockDestroy(__FILE__, __LINE__, &shared);
}

static void ignored(void)
{
	AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
	unread = unread + 1;
	AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
	AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
	unwritten = unwritten + 1;
	AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
	__tsan_ignore_thread_begin();
	unseen = unseen + 1;
	__tsan_ignore_thread_end();
	AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
	unordered++;
	AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
}

static void in_fiber(void)
{
	fiber_steps++;
	__tsan_switch_to_fiber(main_fiber, 0);
	swapcontext(&fiber_context, &main_context);
}

static void fibers(void)
{
	main_fiber = __tsan_get_current_fiber();
	fiber = __tsan_create_fiber(0);
	__tsan_set_fiber_name(fiber, "fiber");
	getcontext(&fiber_context);
	fiber_context.uc_stack.ss_sp = stack;
	fiber_context.uc_stack.ss_size = sizeof stack;
	makecontext(&fiber_context, in_fiber, 0);
	__tsan_switch_to_fiber(fiber, 0);
	swapcontext(&main_context, &fiber_context);
	__tsan_destroy_fiber(fiber);
	fiber_steps++;
}

int main(void)
{
	void *tag = __tsan_external_register_tag("thing");

	__tsan_external_register_header(tag, "a thing");
	__tsan_external_assign_tag(&seen, tag);
	__tsan_external_read(&seen, __builtin_return_address(0), tag);
	__tsan_external_write(&seen, __builtin_return_address(0), tag);
	__tsan_release(&order);
	__tsan_acquire(&order);
	AnnotateHappensBefore(__FILE__, __LINE__, &order);
	AnnotateHappensAfter(__FILE__, __LINE__, &order);
	AnnotateBenignRaceSized(__FILE__, __LINE__, &racy, sizeof racy, "it is");
	locks();
	ignored();
	fibers();
	__tsan_flush_memory();
	printf("seen %p unread %p unwritten %p unseen %p racy %p inside %p unordered %p fiber_steps %p\n", (void *)&seen,
		(void *)&unread, (void *)&unwritten, (void *)&unseen, (void *)&racy, (void *)&inside, (void *)&unordered,
		(void *)&fiber_steps);
	return 0;
}
