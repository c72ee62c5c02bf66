/* SPDX-License-Identifier: MIT */
#include "sites.h"

#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/single_threaded.h>

#include "runtime/hooks_layout.h"
#include "runtime/mute.h"
#include "runtime/self.h"

/* How much of a look and its call is good for nothing. */
static size_t bytes_too_many(void)
{
	if (self_blind)
		return __FISSION_SITE_BYTES;
	return channel && channel->mode == MODE_FILTER ? 0 : __FISSION_SITE_BYTES - CALL_BYTES;
}

/* Empty instructions. There are longer ones, for which processors take more time. */
static void make_empty(uint8_t *at, size_t bytes)
{
	static const uint8_t longest[] = {0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0};
	static const uint8_t eight[] = {0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}, three[] = {0x0f, 0x1f, 0};

	_Static_assert(__FISSION_SITE_BYTES % sizeof longest == sizeof three, "what is left of a look with its call");
	_Static_assert((__FISSION_SITE_BYTES - CALL_BYTES) % sizeof longest == sizeof eight, "and of a look alone");
	for (; bytes >= sizeof longest; at += sizeof longest, bytes -= sizeof longest)
		__builtin_memcpy(at, longest, sizeof longest);
	if (bytes == sizeof eight)
		__builtin_memcpy(at, eight, sizeof eight);
	else
		__builtin_memcpy(at, three, sizeof three);
}

struct search {
	uintptr_t at;
	uint8_t *from, *to; /* the code around it */
	unsigned long long loads; /* how many modules there have been */
};

static int find_code(struct dl_phdr_info *info, size_t size, void *search)
{
	struct search *s = search;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t from = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && p->p_flags == (PF_R | PF_X) && s->at - from < p->p_memsz) {
			s->from = (uint8_t *)from;
			s->to = s->from + p->p_memsz;
			s->loads = info->dlpi_adds;
			return 1;
		}
	}
	return 0;
}

/* The next look in the code, or NULL. */
static uint8_t *next_look(uint8_t *from, const uint8_t *to)
{
	for (; to - from >= __FISSION_SITE_BYTES; from++)
		if (*from == LOOK_CODE && mute_is_look(from))
			return from;
	return NULL;
}

void sites_adapt(const void *pc)
{
	static const uint8_t *last; /* the module's code: each of its files comes by, with no other in between */
	static unsigned long long loads;
	struct search s = {.at = (uintptr_t)pc};
	size_t bytes = bytes_too_many();
	uint8_t *look;

	if (!MUTE_CAN || !bytes || !__libc_single_threaded || !dl_iterate_phdr(find_code, &s) ||
		(s.from == last && s.loads == loads))
		return;
	last = s.from;
	loads = s.loads;
	look = next_look(s.from, s.to);
	if (!look || !mute_open(look, s.to))
		return;
	for (; look; look = next_look(look + __FISSION_SITE_BYTES, s.to))
		make_empty(look, bytes);
	mute_close(s.from, s.to);
}
