/* SPDX-License-Identifier: MIT */
/*
 * The way of chunks into a binary trace: compressed, each with its head, one behind the other. Where somebody waits for it
 * (`hurried`), events are packed instead (trace_bin_pack.h), and ways are as they are: what zstd would save of them takes
 * it 4 to 10 ns a byte, and to write one takes a third of one.
 *
 * By itself a way does that while its owner waits. It can do it beside its owner, in a thread of its own, which takes
 * the chunks in their order; the file is the same. A few may be on their way at once. To wake somebody takes as long as to
 * write a chunk, so the thread is woken when half of them are there, and goes on until there is none; the owner waits only
 * when all are. While a chunk is on its way, the output is the thread's: ask bin_way_rest() before it is touched.
 */
#ifndef FISSION_EVENT_TRACE_BIN_WAY_H
#define FISSION_EVENT_TRACE_BIN_WAY_H

#include <pthread.h>

#include "base/arena.h"
#include "event/trace_bin.h"

struct output;
struct ZSTD_CCtx_s;
struct bin_expected;

/* Bytes that are added to. */
struct column {
	unsigned char *at;
	size_t used, capacity;
};

enum { BIN_WAY_CHUNKS = 8 };

/* A chunk on its way. */
struct bin_load {
	struct column payload, stored;
	enum chunk_kind kind;
	uint32_t entries;
};

/* Chunks are numbered as they are sent; that of number n is load[n % BIN_WAY_CHUNKS]. */
struct bin_way {
	struct arena *arena;
	struct output *output;
	struct bin_load load[BIN_WAY_CHUNKS];
	struct ZSTD_CCtx_s *zstd;      /* NULL: not yet */
	struct bin_expected *expected; /* likewise, where it is hurried */
	bool hurried;
	bool wanted; /* a thread is */
	bool beside; /* there is one; what follows is shared with it */
	bool over;   /* no more will come */
	bool asleep; /* the thread waits */
	bool waited; /* its owner does */
	uint64_t sent, carried; /* chunks */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t moved, drained;
};

/* Room for n more bytes; the caller adds to `used` what it took. */
static inline unsigned char *column_room(struct arena *a, struct column *c, size_t n)
{
	if (c->used + n >= c->capacity)
		c->at = arena_reserve(a, c->at, &c->capacity, c->used + n, 1);
	return c->at + c->used;
}

/* Both must stay, and so must the way. */
void bin_way_init(struct bin_way *y, struct arena *a, struct output *o);

/*
 * Sends the payload as a chunk; it is empty then, and may lie elsewhere. If that is wanted the first events start the
 * thread, and short traces have none; if there can be none, the caller does its work.
 */
void bin_way_send(struct bin_way *y, enum chunk_kind kind, uint32_t entries, struct column *payload);

/* Waits until no chunk is on its way. */
void bin_way_rest(struct bin_way *y);

/* The same, and the thread ends; what is sent then is written at once. */
void bin_way_end(struct bin_way *y);

/* The same, for ever. */
void bin_way_free(struct bin_way *y);

#endif
