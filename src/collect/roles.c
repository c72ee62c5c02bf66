/* SPDX-License-Identifier: MIT */
#include "roles.h"

#include <string.h>

#include "base/arena.h"
#include "policy/policy.h"
#include "runtime/channel.h"
#include "symbols/elf_file.h"

/* One module on its way. */
struct module_reader {
	struct roles *roles;
	uint32_t process;
	uint64_t base;
};

void roles_init(struct roles *r, struct arena *a, const struct policy *policy)
{
	*r = (struct roles){.arena = a, .policy = policy, .locks = policy && policy_has_locks(policy)};
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

static void take_section(const struct module_reader *m, Elf_Scn *scn, struct text name, const GElf_Shdr *header,
	void *to, void (*silent)(void *to, struct text place))
{
	enum role role = role_of_section(name);
	Elf_Data *data = role == ROLE_NONE && is_silent_section(name) ? elf_rawdata(scn, NULL) : NULL;

	if (role != ROLE_NONE)
		add(m, header->sh_addr, header->sh_size, (struct role_of){(uint8_t)role, 0});
	if (data && data->d_buf)
		silent_places((struct text){data->d_buf, data->d_size}, to, silent);
}

void roles_module(struct roles *r, uint32_t process, const char *path, uint64_t base, void *to,
	void (*silent)(void *to, struct text place))
{
	struct module_reader m = {r, process, base};
	struct elf_file f;
	Elf_Scn *scn = NULL;
	GElf_Shdr header;
	size_t names;

	if (!elf_file_open(&f, path))
		return;
	while (elf_getshdrstrndx(f.elf, &names) == 0 && (scn = elf_nextscn(f.elf, scn))) {
		const char *name = gelf_getshdr(scn, &header) ? elf_strptr(f.elf, names, header.sh_name) : NULL;

		if (name)
			take_section(&m, scn, (struct text){name, strlen(name)}, &header, to, silent);
	}
	elf_file_close(&f);
}

/* What was loaded last lies there now. */
static struct role_of find_range(const struct roles *r, uint32_t process, uint64_t pc)
{
	for (size_t i = r->count; i-- > 0;)
		if (r->range[i].process == process && pc - r->range[i].start < r->range[i].end - r->range[i].start)
			return r->range[i].of;
	return (struct role_of){0};
}

static struct role_of find_lock(const struct roles *r, struct text name)
{
	uint32_t pair = 0;

	switch (policy_lock(r->policy, name, &pair)) {
	case LOCK_TAKES: return (struct role_of){ROLE_LOCK, pair};
	case LOCK_GIVES: return (struct role_of){ROLE_UNLOCK, pair};
	default: return (struct role_of){0};
	}
}

struct role_of roles_find(struct roles *r, uint32_t process, uint64_t pc, struct text name)
{
	uint32_t *known = map_put(&r->known, pc | (uint64_t)process << ADDRESS_BITS);
	struct role_of of;

	if (!*known) {
		of = find_range(r, process, pc);
		if (!of.role && r->locks)
			of = find_lock(r, name);
		*known = of.pair << 8 | (of.role + 1u);
	}
	return (struct role_of){(uint8_t)((*known & 255) - 1), *known >> 8};
}
