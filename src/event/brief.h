/* SPDX-License-Identifier: MIT */
/*
 * An event in brief: an access of a known place and size, or a call, of which nothing else is to be said. Nearly all of
 * a recording is that, and it is handed on in rows of one thread: a third of an event's bytes, and one call a row.
 *
 * `what` has all that a place in the code says each time that it is come by, so that who has seen it before knows it
 * again by two words.
 */
#ifndef FISSION_EVENT_BRIEF_H
#define FISSION_EVENT_BRIEF_H

#include <stddef.h>

#include "event/event.h"

struct brief {
	uint64_t object; /* of an access: the address; of a call: the function */
	uint64_t pc;
	uint64_t what;   /* size 8 | kind 8 | site 32 */
};

/* Events of one thread, in order. */
struct briefs {
	thread_id thread;
	const struct brief *at;
	size_t count;
};

static inline uint64_t brief_what(uint8_t kind, uint8_t size, site_id site)
{
	return (uint64_t)size << 40 | (uint64_t)kind << 32 | site;
}

static inline uint8_t brief_kind(const struct brief *b)
{
	return (uint8_t)(b->what >> 32);
}

static inline struct event brief_event(const struct brief *b, thread_id thread)
{
	uint32_t size = (uint32_t)(b->what >> 40);

	return (struct event){
		.kind = brief_kind(b), .flags = size ? EVENT_SIZED | EVENT_ADDRESSED : 0, .thread = thread, .object = b->object,
		.size = size, .site = (site_id)b->what, .pc = b->pc,
	};
}

#endif
