/* SPDX-License-Identifier: MIT */
/*
 * sigaction and its kin. Handlers need no help: their entries follow those of the hook that they interrupt, and the
 * program's own function is called by the kernel as ever. What has to be known is whether a longjmp leaves a handler,
 * because then the interrupted hook is never finished (self_mend). The kernel puts the address of libc's restorer on
 * the stack as the handler's return address; a jump that passes over that word leaves a handler. So the restorer's
 * address is asked for when the first handler is installed, and nothing else is done here.
 */
#include "wrap_signal.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/channel.h"
#include "runtime/real.h"

enum {
	SEEN_PAGES = 256,  /* asked for at once */
	SEEN_MOST = 1 << 26, /* bytes: a jump over more is taken for one that leaves a handler */
};

/* What the kernel means by struct sigaction. */
struct kernel_action {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

static uintptr_t restorer; /* 0: no handler was ever installed */

static void learn(int signal)
{
	struct kernel_action a = {0};
	int saved = errno;

	if (!__atomic_load_n(&restorer, __ATOMIC_RELAXED) &&
		syscall(SYS_rt_sigaction, signal, NULL, &a, sizeof a.mask) == 0 && (uintptr_t)a.handler > 1)
		__atomic_store_n(&restorer, (uintptr_t)a.restorer, __ATOMIC_RELAXED);
	errno = saved;
}

/* Whether the word is on the stack between the two. */
static bool holds(uintptr_t from, uintptr_t to, uintptr_t word)
{
	for (const uintptr_t *at = (const uintptr_t *)(from & ~(uintptr_t)7); (uintptr_t)at < to; at++)
		if (*at == word)
			return true;
	return false;
}

/* Whether all of it is mapped: a jump may go from one coroutine's stack to another's. */
static bool is_mapped(uintptr_t from, uintptr_t to)
{
	unsigned char seen[SEEN_PAGES];
	uintptr_t page = from & ~(uintptr_t)(CHANNEL_PAGE - 1);

	for (; page < to; page += SEEN_PAGES * CHANNEL_PAGE) {
		uintptr_t left = to - page;

		if (left > SEEN_PAGES * CHANNEL_PAGE)
			left = SEEN_PAGES * CHANNEL_PAGE;
		if (syscall(SYS_mincore, page, left, seen) != 0)
			return false;
	}
	return true;
}

static bool passes_restorer(uintptr_t from, uintptr_t to, uintptr_t word)
{
	if (to - from > SEEN_MOST)
		return to > from;
	return is_mapped(from, to) && holds(from, to, word);
}

bool signal_is_handled(void)
{
	return __atomic_load_n(&restorer, __ATOMIC_RELAXED) != 0;
}

/* Whether the thread is on its alternate stack, and which that is. */
static bool is_on(stack_t *stack)
{
	int saved = errno;
	bool is = syscall(SYS_sigaltstack, NULL, stack) == 0 && stack->ss_flags & SS_ONSTACK;

	errno = saved;
	return is;
}

static bool is_of(const stack_t *stack, uintptr_t place)
{
	return place - (uintptr_t)stack->ss_sp < stack->ss_size;
}

bool signal_is_apart(uintptr_t place, uintptr_t other)
{
	stack_t stack;

	return signal_is_handled() && is_on(&stack) && is_of(&stack, place) && !is_of(&stack, other);
}

/* Whoever jumps off the alternate stack leaves the handler that runs there. */
bool signal_is_left(uintptr_t from, uintptr_t to)
{
	uintptr_t word = __atomic_load_n(&restorer, __ATOMIC_RELAXED);
	stack_t stack;
	int saved = errno;
	bool left;

	if (!word)
		return false;
	left = (is_on(&stack) && !is_of(&stack, to)) || passes_restorer(from, to, word);
	errno = saved;
	return left;
}

EXPORT int sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
	int result = REAL(sigaction)(signal, action, old);

	if (action && result == 0)
		learn(signal);
	return result;
}

#define INSTALL(name) \
	EXPORT sighandler_t name(int number, sighandler_t handler); \
	sighandler_t name(int number, sighandler_t handler) \
	{ \
		sighandler_t old = REAL(name)(number, handler); \
	\
		if (old != SIG_ERR) \
			learn(number); \
		return old; \
	}

INSTALL(signal)
INSTALL(bsd_signal)
INSTALL(ssignal)
INSTALL(sysv_signal)
INSTALL(__sysv_signal)

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
INSTALL(sigset)
