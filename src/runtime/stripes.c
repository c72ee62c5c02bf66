/* SPDX-License-Identifier: MIT */
#include "stripes.h"

#include "runtime/os.h"

enum {
	SPINS = 100,      /* a holder that runs needs less */
	NAPS = 100,       /* of a millisecond each: one that does not run has had its turn by then */
};

struct stripe stripes[STRIPES];

static bool try_from(struct stripe *p, struct self *from, struct self *to)
{
	return __atomic_compare_exchange_n(&p->owner, &from, to, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static void relax(void)
{
#if defined __x86_64__
	__builtin_ia32_pause();
#endif
}

/* A thread that is stolen from goes on without; see the header for who that can be. */
bool stripe_wait(struct stripe *p, struct self *s)
{
	static uint32_t never; /* woken */
	struct self *owner;

	for (unsigned n = 0; n < SPINS + NAPS; n++) {
		owner = __atomic_load_n(&p->owner, __ATOMIC_RELAXED);
		if (owner == s)
			return false;
		if (!owner && try_from(p, owner, s))
			return true;
		if (n < SPINS)
			relax();
		else
			os_futex_wait(&never, 0, 1);
	}
	owner = __atomic_load_n(&p->owner, __ATOMIC_RELAXED);
	return try_from(p, owner, s);
}

void stripes_forked(void)
{
	for (unsigned i = 0; i < STRIPES; i++)
		stripes[i].owner = 0;
}
