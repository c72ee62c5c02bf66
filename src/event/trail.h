/* SPDX-License-Identifier: MIT */
/*
 * Trails: what a thread did, as its own hooks have written it down, a byte or two an event.
 *
 * A place in the code that is come by again does what it did before, a stride further: so hook and reader both keep, of
 * each place, what it will do next and which one will come behind it; and while that comes true, the hook counts, and writes nothing. That
 * takes no more of the tool than to copy bytes; what they mean is found out by whoever reads the trace.
 *
 *   token 2        place << 2: it did what was expected; place 0: nothing, to fill up
 *   token 2        n << 2 + 1: so many times the place came that was expected, and did what was. It is the one that came
 *                  last behind the place before
 *   token 2 | 4    place << 2 + 2: it did something else. Of an access how far it is from the last one, of a call how much
 *                  deeper than the one before; INT32_MIN, which is neither, of an access: the address comes behind it, 6 bytes.
 *                  With place 0: a note, below, by the collector
 *   token 4        difference << 8 | n << 2 + 3: a slip. The expected came n times, and then the place that was expected did
 *                  something else: so much further than the last time, or so much more deeper, with a sign
 *
 * An access expects the address `next`, and then that it goes on by `stride`. Of one that was not expected, `stride` is
 * how far it is from the last one, and `next` so much further. Both are 0 at first, and wrap around at 48 bits. A call
 * expects to be as much deeper than the call before it in the trail as the last time. A depth is the distance of the frame
 * from the end of the thread's stack, in bytes; 0 at first, and whenever the place of a call is defined.
 *
 * Behind a place comes, at first, the first one: that of number 1, which is also the one before all others.
 *
 * Places are numbered by thread. A number is defined by a note before it is used, and may be defined again: then it is
 * another place, or the same one, which nothing is expected of.
 *
 *   note  2 2 | sort 1 | kind 1 | size 1 | 0 1 | place 2 | pc 8 | key 8 | depth 4 | gone 4 | site 4 | code 4 |
 *         leave 4 | 0 4
 *     DEFINE  place, kind (enum trail_kind), pc, with the process above; size and site of an access; of an entry its
 *             function (code), where it is called from (site), and the place that functions are left at which it finds
 *             open (leave); of an exit site, and how much deeper than itself the frame was if it is gone (key, in bytes)
 *     ENTER, EXIT, UNWIND  a call that was told in another way: depth, and that of a frame that is gone, in units
 *     COUNT   the trail was taken while the hook had counted so many (depth), and not written it: the next count in the
 *             trail has them, too
 *     FINISH  the thread ends: what is open is left
 *
 * Calls are made to nest here, by the depth of frames: a function that lies as deep as a new one, or deeper, was left
 * without an exit (longjmp, an exception through C, pthread_exit). collect/translate.c does the same where it is told of
 * calls one by one.
 *
 * Nothing is trusted: places must be defined, and what they name must be in the tables. Cost: 5 to 10 ns an event; memory
 * follows the places and open functions of threads that live.
 */
#ifndef FISSION_EVENT_TRAIL_H
#define FISSION_EVENT_TRAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"
#include "event/varint.h"

enum {
	TRAIL_PLACES = 1 << 14, /* of a thread; they are numbered from 1, and the last one is not used */
	TRAIL_COUNT_MOST = 16000,
	TRAIL_COUNTED = 1, TRAIL_MISS = 2, TRAIL_SLIPPED = 3, /* in the low bits of a token */
	TRAIL_TOKEN_BITS = 2,
	TRAIL_SLIP_COUNT = 63, TRAIL_SLIP_MOST = 1 << 23,
	TRAIL_MISS_MOST = 1 << 30, /* what is further is an address */
	TRAIL_LONGEST = 16,               /* no token that a hook writes has more bytes */
	TRAIL_DEPTHS = 1 << 28,           /* bytes: what is deeper is told in another way */
	TRAIL_UNIT = 16,                  /* of depths in notes */
	TRAIL_DEPTH_UNKNOWN = 0xffffff,
	TRAIL_NOTE = 48,
};

#define TRAIL_NO_STRIDE ((uint64_t)1 << 31) /* of a call that never came: no two depths differ so much */

enum trail_kind { TRAIL_READ = 1, TRAIL_WRITE, TRAIL_ENTRY, TRAIL_LEAVE, TRAIL_KINDS };

enum trail_sort { TRAIL_DEFINE = 1, TRAIL_ENTER, TRAIL_EXIT, TRAIL_UNWIND, TRAIL_FINISH, TRAIL_COUNT, TRAIL_SORTS };

struct trail_note {
	uint8_t sort, kind, size;
	uint16_t place;
	uint64_t pc, key;
	uint32_t depth, gone;
	site_id site;
	code_id code;
	site_id leave;
};

void trail_note_put(unsigned char to[TRAIL_NOTE], const struct trail_note *n);

struct trail_thread;

/* All threads' trails, while they are read. */
struct trails {
	struct trail_thread **thread; /* by thread_id; NULL: none yet */
	size_t capacity;
};

/* A part of a trail that is being read. */
struct trail_span {
	struct bytes bytes;
	thread_id thread;
	bool silent; /* of no event; what is expected changes */
	uint32_t sites, codes; /* that are known */
	const char *wrong; /* what cannot be read, in words; NULL while all is well */
	bool no_memory;    /* that is why */
};

/* Up to `most` events; fewer at the end of the span, and with `wrong`. `seq` and `line` are 0. */
size_t trail_next(struct trails *t, struct trail_span *s, struct event *events, size_t most);

/* Whether there may be more: what is left of a call counts, too. */
bool trail_any(const struct trails *t, const struct trail_span *s);

void trails_free(struct trails *t);

#endif
