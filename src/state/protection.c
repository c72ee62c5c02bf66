/* SPDX-License-Identifier: MIT */
#include "protection.h"

static lockset_id meet(const struct protector *by, lockset_id set, lockset_id held)
{
	return set == LOCKSET_ALL ? held : lockset_meet(by->locksets, set, held);
}

static bool owned(struct protection *p, enum protection_state state, uint32_t line)
{
	p->state = state;
	p->owner = line;
	return true;
}

/* The use is not the owner's, and the thing is not SHARED yet: whether it need not be. */
static bool stays_unshared(const struct protector *by, struct protection *p, struct use u)
{
	if (p->state == PROTECTION_NEW && by->rules & PROTECT_LOCAL)
		return owned(p, PROTECTION_LOCAL, u.line);
	if (p->state == PROTECTION_LOCAL && by->rules & PROTECT_SECOND)
		return owned(p, PROTECTION_SECOND, u.line);
	if (!u.write && by->rules & PROTECT_READ)
		return owned(p, PROTECTION_READ, 0);
	*p = (struct protection){.state = PROTECTION_SHARED, .access = LOCKSET_ALL, .write = LOCKSET_ALL};
	return false;
}

bool protection_use_shared(const struct protector *by, struct protection *p, struct use u)
{
	if (p->state != PROTECTION_SHARED && stays_unshared(by, p, u))
		return true;
	p->access = meet(by, p->access, u.held);
	if (u.write)
		p->write = meet(by, p->write, u.held);
	if (!(by->rules & PROTECT_LOCKS))
		return false;
	return !u.write && by->rules & PROTECT_WRITES ? meet(by, p->write, u.held) != 0 : p->access != 0;
}
