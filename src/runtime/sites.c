/* SPDX-License-Identifier: MIT */
#include "sites.h"

#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/single_threaded.h>

#include "runtime/hooks_layout.h"
#include "runtime/mute.h"
#include "runtime/self.h"

/* A look with a number: what it begins with, and what is right before the call. */
struct load_self {
	uint8_t code[5]; /* into r10, from the thread's own */
	int32_t at;
} __attribute__((packed));

struct load_number {
	uint8_t code[2]; /* into r9d: how far the place is from the first */
	uint32_t place;
} __attribute__((packed));

enum { LOOK_BYTES = __FISSION_SITE_BYTES - CALL_BYTES,
	NUMBER_FREE = LOOK_BYTES - sizeof(struct load_self) - sizeof(struct load_number) };

/* How a short look begins. */
struct load_marks {
	struct load_self head; /* into r9 */
	uint8_t look[3];       /* into r10 */
	uint8_t mask[3];       /* into r11d */
	int32_t mask_at;
} __attribute__((packed));

/* How much of a look and its call is good for nothing. */
static size_t bytes_too_many(void)
{
	if (self_blind)
		return __FISSION_SITE_BYTES;
	return channel && channel->mode == MODE_FILTER ? 0 : LOOK_BYTES;
}

/*
 * Where the filter is wanted looks stay, and ask for the marks where they are from the thread's own place, which is known by
 * now: an instruction less, in as many bytes.
 */
static void make_short(uint8_t *look)
{
	struct load_marks m = {
		.head = {{0x64, 0x4c, 0x8b, 0x0c, 0x25}, (int32_t)(mute_hooks_offset() + __FISSION_HOOKS_MARKS)},
		.look = {0x4d, 0x8b, 0x11},
		.mask = {0x45, 0x8b, 0x99},
		.mask_at = look[sizeof m - 1], /* in one byte, the last that this stands for */
	};

	__builtin_memcpy(look, &m, sizeof m);
}

/* Whether all is recorded, in trails. */
static bool trails_wanted(void)
{
	return !self_blind && channel && !channel->mode && channel->trails;
}

/* Empty instructions. There are longer ones, for which processors take more time. */
static void make_empty(uint8_t *at, size_t bytes)
{
	static const uint8_t longest[] = {0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0};
	static const uint8_t eight[] = {0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}, three[] = {0x0f, 0x1f, 0};

	_Static_assert(__FISSION_SITE_BYTES % sizeof longest == sizeof three, "what is left of a look with its call");
	_Static_assert(NUMBER_FREE % sizeof longest == sizeof three, "or between its number");
	_Static_assert(LOOK_BYTES % sizeof longest == sizeof eight, "and of a look alone");
	for (; bytes >= sizeof longest; at += sizeof longest, bytes -= sizeof longest)
		__builtin_memcpy(at, longest, sizeof longest);
	if (bytes == sizeof eight)
		__builtin_memcpy(at, eight, sizeof eight);
	else
		__builtin_memcpy(at, three, sizeof three);
}

/* Numbers. */

enum { HOOK_MOST = 4096, HOOKS = 64 };

static uintptr_t numbered[TRAIL_NUMBERED]; /* where each returns to; the first is nobody's */
static uint32_t numbers = 1;

/* Where the hook is entered by number, NULL: nowhere. The module's code ends at `to`. */
static const uint8_t *entry_in(const uint8_t *hook, const uint8_t *to)
{
	static const uint8_t mark[] = {__FISSION_NUMBERED};

	if (to - hook > HOOK_MOST)
		to = hook + HOOK_MOST;
	for (const uint8_t *at = hook; to - at >= (ptrdiff_t)sizeof mark; at++) {
		size_t i = 0;

		while (i < sizeof mark && at[i] == mark[i])
			i++;
		if (i == sizeof mark)
			return at + i;
	}
	return NULL;
}

/* Each file has its own, and looks for them one file after the other. */
static const uint8_t *entry_of(const uint8_t *hook, const struct sites_code *c)
{
	static struct { const uint8_t *hook, *entry; } known[HOOKS];
	size_t i = (uintptr_t)hook / 16 % HOOKS;

	if (hook < c->from || hook >= c->to)
		return NULL;
	if (known[i].hook != hook) {
		known[i].hook = hook;
		known[i].entry = entry_in(hook, c->to);
	}
	return known[i].entry;
}

bool sites_give_number(uint8_t *look, const struct sites_code *c)
{
	struct load_self self = {{0x64, 0x4c, 0x8b, 0x14, 0x25}, (int32_t)(mute_hooks_offset() + __FISSION_HOOKS_TRAIL)};
	struct load_number number = {{0x41, 0xb9}, numbers * SITE};
	uint8_t *call = look + LOOK_BYTES;
	const uint8_t *entry = numbers < TRAIL_NUMBERED && *call == CALL_CODE ? entry_of(mute_target(call), c) : NULL;
	int32_t offset = (int32_t)(entry - (call + CALL_BYTES));

	if (!entry)
		return false;
	__builtin_memcpy(look, &self, sizeof self);
	make_empty(look + sizeof self, NUMBER_FREE);
	__builtin_memcpy(call - sizeof number, &number, sizeof number);
	__builtin_memcpy(call + 1, &offset, sizeof offset);
	numbered[numbers++] = (uintptr_t)(call + CALL_BYTES);
	return true;
}

uint32_t sites_number(const void *pc)
{
	uint32_t place;

	if (numbers == 1)
		return 0;
	__builtin_memcpy(&place, (const uint8_t *)pc - CALL_BYTES - sizeof place, sizeof place);
	return place % SITE == 0 && place / SITE < numbers && numbered[place / SITE] == (uintptr_t)pc ? place / SITE : 0;
}

struct search {
	uintptr_t at;
	struct sites_code code; /* around it */
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
			s->code = (struct sites_code){(uint8_t *)from, (uint8_t *)from + p->p_memsz};
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

	if (!MUTE_CAN || !__libc_single_threaded || !dl_iterate_phdr(find_code, &s) ||
		(s.code.from == last && s.loads == loads))
		return;
	last = s.code.from;
	loads = s.loads;
	look = next_look(s.code.from, s.code.to);
	if (!look || !mute_open(look, s.code.to))
		return;
	for (; look; look = next_look(look + __FISSION_SITE_BYTES, s.code.to))
		if (!bytes)
			make_short(look);
		else if (!trails_wanted() || !sites_give_number(look, &s.code))
			make_empty(look, bytes);
	mute_close(s.code.from, s.code.to);
}
