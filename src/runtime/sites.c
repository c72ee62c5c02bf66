/* SPDX-License-Identifier: MIT */
#include "sites.h"

#include <stddef.h>
#include <sys/single_threaded.h>

#include "runtime/abi_tsan.h"
#include "runtime/hooks_layout.h"
#include "runtime/mute.h"
#include "runtime/self.h"

static uint8_t *look_of(const int32_t *element)
{
	return (uint8_t *)element + *element;
}

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
	static const uint8_t longest[] = {0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}, rest[] = {0x0f, 0x1f, 0x44, 0, 0};

	_Static_assert(__FISSION_SITE_BYTES % sizeof longest == 0, "nothing is left of a look with its call");
	_Static_assert((__FISSION_SITE_BYTES - CALL_BYTES) % sizeof longest == sizeof rest, "that is left of a look alone");
	for (; bytes >= sizeof longest; at += sizeof longest, bytes -= sizeof longest)
		__builtin_memcpy(at, longest, sizeof longest);
	__builtin_memcpy(at, rest, bytes);
}

/* From the first to behind the last. */
static void bounds(const int32_t *from, const int32_t *to, uint8_t **first, uint8_t **last)
{
	*first = *last = look_of(from);
	for (; from < to; from++) {
		uint8_t *look = look_of(from);

		*first = look < *first ? look : *first;
		*last = look > *last ? look : *last;
	}
	*last += __FISSION_SITE_BYTES;
}

void __fission_adapt(const int32_t *from, const int32_t *to)
{
	static const int32_t *last_module;
	size_t bytes;
	uint8_t *first, *last;

	__tsan_init();
	if (!MUTE_CAN || from == to || from == last_module || !__libc_single_threaded)
		return;
	last_module = from;
	bytes = bytes_too_many();
	bounds(from, to, &first, &last);
	if (!bytes || !mute_open(first, last))
		return;
	for (; from < to; from++)
		if (mute_is_look(look_of(from)))
			make_empty(look_of(from), bytes);
	mute_close(first, last);
}
