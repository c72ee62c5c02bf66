/* SPDX-License-Identifier: MIT */
/*
 * The filter in a test: its own code, with everything at hand, and what it needs of the library, of which nothing becomes.
 * The test itself takes what is put into rings.
 */
#ifndef FISSION_TESTS_UNIT_FILTER_ALONE_H
#define FISSION_TESTS_UNIT_FILTER_ALONE_H

#include "../../src/runtime/filter.c"

#define BORDER ((uintptr_t)0x100000000000) /* between two leaves */

/* An entry. */
struct said {
	uint64_t first, second, third;
};

struct channel *channel;
__thread struct self_hooks self_hooks;
uint16_t frames_calm[1 << CALM_BITS];

void frames_tell_some(struct self *s)
{
	(void)s;
}

void frames_tell_all(struct self *s)
{
	(void)s;
}

void self_tick_over(struct self *s)
{
	(void)s;
}

#endif
