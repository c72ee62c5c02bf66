/* SPDX-License-Identifier: MIT */
#include "roles.h"

#include <string.h>

#include "base/arena.h"
#include "collect/elf_sections.h"
#include "policy/policy.h"
#include "runtime/channel.h"

/* One module on its way. */
struct module_reader {
	struct roles *roles;
	uint32_t process;
	uint64_t base;
};

void roles_init(struct roles *r, struct arena *a, const struct policy *policy)
{
	*r = (struct roles){.arena = a, .policy = policy};
	map_init(&r->known, a);
}

static void add(const struct module_reader *m, uint64_t start, uint64_t size, struct role_of of)
{
	struct roles *r = m->roles;

	r->range = arena_reserve(r->arena, r->range, &r->capacity, r->count, sizeof *r->range);
	r->range[r->count++] = (struct role_range){m->base + start, m->base + start + size, m->process, of};
	map_init(&r->known, r->arena); /* answers may be others now */
}

/* With g++ a dot and a number follow. */
static enum role role_of_section(struct text name)
{
	static const char *const names[] = {
		[ROLE_ATOMIC] = "fission_atomic", [ROLE_ASSUME_ATOMIC] = "fission_assume_atomic",
		[ROLE_ASSUME_MOVER] = "fission_assume_mover",
	};

	for (int i = ROLE_ATOMIC; i <= ROLE_ASSUME_MOVER; i++) {
		size_t n = strlen(names[i]);

		if (name.length >= n && memcmp(name.at, names[i], n) == 0 && (name.length == n || name.at[n] == '.'))
			return (enum role)i;
	}
	return ROLE_NONE;
}

static bool is_silent_section(struct text name)
{
	return name.length == strlen("fission_no_warn") && memcmp(name.at, "fission_no_warn", name.length) == 0;
}

static void silent_places(struct text all, void *to, void (*silent)(void *to, struct text place))
{
	for (size_t i = 0, n; i < all.length; i += n + 1) {
		n = strnlen(all.at + i, all.length - i);
		if (n)
			silent(to, (struct text){all.at + i, n});
	}
}

static void take_function(void *to, struct text name, uint64_t start, uint64_t size)
{
	const struct module_reader *m = to;
	uint32_t pair;
	enum policy_lock side = policy_lock(m->roles->policy, name, &pair);

	if (side != LOCK_NONE && size)
		add(m, start, size, (struct role_of){side == LOCK_TAKES ? ROLE_LOCK : ROLE_UNLOCK, pair});
}

void roles_module(struct roles *r, uint32_t process, const char *path, uint64_t base, void *to,
	void (*silent)(void *to, struct text place))
{
	struct module_reader m = {r, process, base};
	struct elf_sections e;
	struct arena scratch;

	arena_init(&scratch);
	elf_sections_open(&e, &scratch, path);
	for (size_t i = 0; i < e.count; i++) {
		enum role role = role_of_section(e.at[i].name);

		if (role != ROLE_NONE)
			add(&m, e.at[i].address, e.at[i].size, (struct role_of){(uint8_t)role, 0});
		else if (is_silent_section(e.at[i].name))
			silent_places(elf_section_content(&e, &e.at[i]), to, silent);
	}
	if (r->policy && policy_has_locks(r->policy))
		elf_sections_functions(&e, &m, take_function);
	elf_sections_close(&e);
	arena_free(&scratch);
}

/* What was loaded last lies there now. */
struct role_of roles_find(struct roles *r, uint32_t process, uint64_t pc)
{
	uint32_t *known = map_put(&r->known, pc | (uint64_t)process << ADDRESS_BITS);

	if (!*known) {
		*known = 1;
		for (size_t i = r->count; i-- > 0 && *known == 1;)
			if (r->range[i].process == process && pc - r->range[i].start < r->range[i].end - r->range[i].start)
				*known = (uint32_t)i + 2;
	}
	return *known > 1 ? r->range[*known - 2].of : (struct role_of){0};
}
