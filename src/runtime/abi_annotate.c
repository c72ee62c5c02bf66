/* SPDX-License-Identifier: MIT */
/* What include/fission.h calls. */
#include "runtime/real.h"
#include "runtime/self.h"

EXPORT void __fission_atomic_begin(const char *label);
EXPORT void __fission_atomic_end(const char *label);
EXPORT void __fission_assume(int what, const void *address, unsigned long bytes);
EXPORT void __fission_name(const void *address, const char *name);
EXPORT void __fission_lock_acquire(const void *lock);
EXPORT void __fission_lock_release(const void *lock);

static void text(enum entry_kind kind, const void *address, const char *words, void *pc)
{
	struct self *s = self();

	if (s)
		self_text(s, kind, address, pc, words ? words : "");
}

void __fission_atomic_begin(const char *label)
{
	text(ENTRY_BEGIN, NULL, label, CALLER);
}

void __fission_atomic_end(const char *label)
{
	text(ENTRY_END, NULL, label, CALLER);
}

void __fission_name(const void *address, const char *name)
{
	text(ENTRY_NAME, address, name, CALLER);
}

/* What a newer header may say is nothing that an older collector would understand. */
void __fission_assume(int what, const void *address, unsigned long bytes)
{
	struct self *s = self();

	if (s && what == ASSUME_GUARDED && bytes)
		self_put(s, entry_first(ENTRY_ASSUME, ASSUME_GUARDED, (uintptr_t)address), bytes);
}

static void sync(enum entry_kind kind, const void *lock, void *pc)
{
	struct self *s = self();

	if (s)
		self_sync(s, (struct sync){.kind = kind, .object = lock, .pc = pc});
}

void __fission_lock_acquire(const void *lock)
{
	sync(ENTRY_ACQUIRE, lock, CALLER);
}

void __fission_lock_release(const void *lock)
{
	sync(ENTRY_RELEASE, lock, CALLER);
}
