/* SPDX-License-Identifier: MIT */
/*
 * What the functions of a program are declared to be: by sections of its files (include/fission.h), and as the lock
 * and unlock functions that a configuration names.
 *
 * Ranges of addresses of a process, found by a walk that is made once an address; and patterns of names.
 */
#ifndef FISSION_COLLECT_ROLES_H
#define FISSION_COLLECT_ROLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"
#include "base/map.h"

struct arena;
struct policy;

enum role {
	ROLE_NONE,
	ROLE_ATOMIC,        /* declared to be atomic */
	ROLE_ASSUME_ATOMIC, /* taken to be */
	ROLE_ASSUME_MOVER,
	ROLE_LOCK,          /* when it is left, a lock is held */
	ROLE_UNLOCK,
};

struct role_of {
	uint8_t role;  /* enum role */
	uint32_t pair; /* of lock and unlock functions: which */
};

struct role_range {
	uint64_t start, end;
	uint32_t process;
	struct role_of of;
};

struct roles {
	struct arena *arena;
	const struct policy *policy; /* NULL: none */
	struct role_range *range;
	size_t count, capacity;
	bool locks; /* the policy names some */
	struct map known; /* address and process to its role and 1, and the pair above that */
};

void roles_init(struct roles *r, struct arena *a, const struct policy *policy);

/*
 * A program or library is loaded: reads its file. `silent` is called with each place about which nothing is to be
 * said; the text is good until it returns.
 */
void roles_module(struct roles *r, uint32_t process, const char *path, uint64_t base, void *to,
	void (*silent)(void *to, struct text place));

/* Slow path of roles_of. */
struct role_of roles_find(struct roles *r, uint32_t process, uint64_t pc, struct text name);

/* What the function is that has the address in it and goes by the name. */
static inline struct role_of roles_of(struct roles *r, uint32_t process, uint64_t pc, struct text name)
{
	return r->count || r->locks ? roles_find(r, process, pc, name) : (struct role_of){0};
}

#endif
