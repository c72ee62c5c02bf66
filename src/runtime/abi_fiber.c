/* SPDX-License-Identifier: MIT */
/*
 * Fibers, by <sanitizer/tsan_interface.h>: each is a thread of the recording, with a ring of its own.
 *
 * A switch is a post by the fiber that is left and a wait by the one that goes on, unless the program wants no order.
 * A fiber is begun by who made it and never joined. The record of a fiber is a page, made and unmade with it.
 */
#include <stddef.h>

#include "runtime/os.h"
#include "runtime/told.h"

enum { SWITCH_NO_SYNC = 1 };

struct fiber {
	struct self *ring; /* NULL: nothing of it is recorded */
};

static __thread struct fiber thread_fiber __attribute__((tls_model("initial-exec")));
static __thread struct fiber *current __attribute__((tls_model("initial-exec"))); /* NULL: the thread's own */

static struct fiber *fiber_now(void)
{
	return current ? current : &thread_fiber;
}

EXPORT void *__tsan_get_current_fiber(void);
EXPORT void *__tsan_create_fiber(unsigned flags);
EXPORT void __tsan_destroy_fiber(void *fiber);
EXPORT void __tsan_switch_to_fiber(void *fiber, unsigned flags);
EXPORT void __tsan_set_fiber_name(void *fiber, const char *name);

void *__tsan_get_current_fiber(void)
{
	return fiber_now();
}

void *__tsan_create_fiber(unsigned flags)
{
	struct self *s = self();
	struct fiber *f = os_map(sizeof *f, -1);
	uint32_t number = s ? self_number() : 0;

	(void)flags;
	if (!f || !s)
		return f;
	self_sync(s, (struct sync){.kind = ENTRY_FORK, .object = (void *)(uintptr_t)number, .pc = CALLER});
	f->ring = self_made(number);
	return f;
}

void __tsan_destroy_fiber(void *fiber)
{
	struct fiber *f = fiber;

	if (!f || f == &thread_fiber)
		return;
	if (f->ring)
		self_unmade(f->ring);
	os_unmap(f, sizeof *f);
}

void __tsan_switch_to_fiber(void *fiber, unsigned flags)
{
	struct fiber *to = fiber;

	if (!to || to == fiber_now() || !self())
		return;
	if (!(flags & SWITCH_NO_SYNC))
		told(ENTRY_SEM_POST, to, CALLER);
	fiber_now()->ring = self_switch(to->ring);
	current = to == &thread_fiber ? NULL : to;
	if (!(flags & SWITCH_NO_SYNC))
		told(ENTRY_SEM_WAIT, to, CALLER);
}

void __tsan_set_fiber_name(void *fiber, const char *name)
{
	(void)fiber;
	(void)name;
}
