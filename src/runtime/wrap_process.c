/* SPDX-License-Identifier: MIT */
/*
 * fork. What has to happen is done by handlers of pthread_atfork, which also run where libc forks by itself (daemon,
 * forkpty). Ours are registered first: before the fork they run after the program's own, after it before them, so the
 * program's child handlers are on the child's ring already.
 *
 * The parent takes the child's process and thread numbers, its ring and the ticket before; it writes FORK after, when
 * fork() tells whether there is a child. Where libc has called fork itself, nobody tells us: there we believe it.
 *
 * vfork is left alone. Its child is the same thread as far as TLS and stack go, and its parent sleeps meanwhile: what
 * little it does is recorded as its parent's. posix_spawn, system and popen do the same inside libc.
 *
 * clone() with memory of its own is a fork. With shared memory and no TLS of its own it is a thread that nobody can
 * tell from its maker: both write into one ring, and may lose entries.
 */
#include "wrap_process.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/types.h>
#include <unistd.h>

#include "runtime/environment.h"
#include "runtime/gate.h"
#include "runtime/real.h"
#include "runtime/self.h"
#include "runtime/threads.h"
#include "runtime/trail.h"

static __thread struct {
	struct heir heir;
	struct early early;
	struct self *ring;
	void *pc;
	bool wrapped; /* fork() will say how it went */
} plan __attribute__((tls_model("initial-exec")));

static void before(void)
{
	struct self *s = self();

	plan.ring = s;
	plan.heir = (struct heir){0};
	if (!s)
		return;
	plan.heir = self_heir();
	plan.early = self_early(s);
}

static void settle(int pid)
{
	if (!plan.ring)
		return;
	self_settled(plan.heir, pid);
	self_late(plan.ring, plan.early, (struct sync){
		.kind = pid < 0 ? ENTRY_TICK : ENTRY_FORK, .object = (void *)(uintptr_t)plan.heir.number, .pc = plan.pc,
		.argument = plan.heir.process,
	});
	plan.ring = NULL;
}

static void after_in_parent(void)
{
	if (!plan.wrapped)
		settle(0);
}

static void after_in_child(void)
{
	plan.ring = NULL;
	gate_forked();
	threads_forked();
	self_forked(plan.heir);
}

void process_start(const char *path)
{
	environment_keep(path);
	pthread_atfork(before, after_in_parent, after_in_child);
}

EXPORT pid_t fork(void)
{
	pid_t pid;

	plan.wrapped = true;
	plan.pc = CALLER;
	pid = REAL(fork)();
	plan.wrapped = false;
	if (pid != 0)
		settle(pid);
	plan.pc = NULL;
	return pid;
}

/* That runs no handlers. It is missing in older libcs, where nobody can call it. */
EXPORT pid_t _Fork(void)
{
	pid_t pid;

	plan.pc = CALLER;
	before();
	pid = REAL(_Fork)();
	if (pid == 0)
		after_in_child();
	else
		settle(pid);
	plan.pc = NULL;
	return pid;
}

struct cloned {
	int (*run)(void *);
	void *argument;
};

/* The argument lies in the copy of the parent's stack. */
static int cloned(void *start)
{
	struct cloned c = *(struct cloned *)start;

	after_in_child();
	return c.run(c.argument);
}

/* The last three are there if the flags say so; passing them on always does no harm. */
EXPORT int clone(int (*run)(void *), void *stack, int flags, void *argument, ...)
{
	struct cloned c = {run, argument};
	bool forks = run && stack && !(flags & CLONE_VM);
	pid_t *parent_tid, *child_tid;
	void *tls;
	va_list words;
	int pid;

	va_start(words, argument);
	parent_tid = va_arg(words, pid_t *);
	tls = va_arg(words, void *);
	child_tid = va_arg(words, pid_t *);
	va_end(words);
	if (!forks && self_ring && flags & CLONE_VM && !(flags & (CLONE_SETTLS | CLONE_VFORK)))
		trail_off(self_ring); /* both would write it */
	if (!forks)
		return REAL(clone)(run, stack, flags, argument, parent_tid, tls, child_tid);
	plan.pc = CALLER;
	before();
	pid = REAL(clone)(cloned, stack, flags, &c, parent_tid, tls, child_tid);
	settle(pid);
	plan.pc = NULL;
	return pid;
}
