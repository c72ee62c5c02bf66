/* SPDX-License-Identifier: MIT */
/*
 * Who touched a thing last: the last write, and the last read of each line since that write.
 *
 * The thing is a variable, or a lock (a release of the exclusive side writes it, one of the shared side reads it),
 * or a semaphore (a post reads it). A mark is the operation itself, so that a finding can show it.
 *
 * Representation: exactly one cache line. One reader lies in place; from the second on, `read.at` is LAST_MANY and
 * the marks lie in an open-addressed table keyed by line, at most half full. Invariant: no two marks of one line.
 * Cost: constant; a write clears the readers. Failure: none but the arena's.
 */
#ifndef FISSION_STATE_LAST_H
#define FISSION_STATE_LAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"

struct arena;

/* A live run has times for event numbers, which need 45 bits: collect/translate.c. */
enum { MARK_LINE_BITS = 19 };

/* The largest line and event number that a mark can hold; run.c sees to it that there are no larger ones. */
static const uint64_t MARK_LINE_MOST = ((uint64_t)1 << MARK_LINE_BITS) - 1;
static const uint64_t MARK_SEQ_MOST = ((uint64_t)1 << (64 - MARK_LINE_BITS)) - 2;

struct mark {
	uint64_t at; /* seq and line; 0 for none */
	uint64_t value;
	site_id site;
	stack_id stack;
	thread_id thread;
	uint8_t kind;
	uint8_t flags;
};

#define LAST_MANY UINT64_MAX

struct last {
	struct mark write;
	union {
		struct mark read;
		struct {
			uint64_t many; /* LAST_MANY */
			struct mark *table;
			uint32_t count, capacity;
		} readers;
	};
};

_Static_assert(sizeof(struct last) == 64, "one cache line");

static inline uint64_t mark_seq(const struct mark *m)
{
	return m->at >> MARK_LINE_BITS;
}

static inline uint32_t mark_line(const struct mark *m)
{
	return (uint32_t)m->at & (uint32_t)MARK_LINE_MOST;
}

static inline struct mark mark_of(const struct event *e)
{
	return (struct mark){
		.at = e->seq << MARK_LINE_BITS | e->line,
		.value = e->value,
		.site = e->site,
		.stack = e->stack,
		.thread = e->thread,
		.kind = e->kind,
		.flags = e->flags,
	};
}

/* Slow path of last_read: a second reader, or one more. */
void last_read_many(struct last *l, struct arena *a, struct mark m);

/* Slow path of last_write: takes the table back. */
void last_clear(struct last *l, struct arena *a);

static inline void last_read(struct last *l, struct arena *a, struct mark m)
{
	if (l->read.at == 0 || (l->read.at != LAST_MANY && mark_line(&l->read) == mark_line(&m)))
		l->read = m;
	else
		last_read_many(l, a, m);
}

static inline void last_write(struct last *l, struct arena *a, struct mark m)
{
	if (__builtin_expect(l->read.at == LAST_MANY, 0))
		last_clear(l, a);
	l->write = m;
	l->read.at = 0;
}

/* The readers as an array of `*n` marks, some of which may be none. */
static inline const struct mark *last_readers(const struct last *l, size_t *n)
{
	if (l->read.at != LAST_MANY) {
		*n = l->read.at != 0;
		return &l->read;
	}
	*n = l->readers.capacity;
	return l->readers.table;
}

/* The readers are about to be looked at. */
static inline __attribute__((always_inline)) void last_fetch_rest(const struct last *l)
{
	if (l->read.at != LAST_MANY)
		return;
	__builtin_prefetch(l->readers.table, 1);
	__builtin_prefetch((const char *)l->readers.table + 64, 1);
}

/* Makes `to` the same as `from`, with readers of its own. `to` must be empty. */
void last_copy(struct last *to, const struct last *from, struct arena *a);

/* Forgets everything. */
void last_reset(struct last *l, struct arena *a);

#endif
