/* SPDX-License-Identifier: MIT */
#include "trace_bin_way.h"

#include <signal.h>
#include <zstd.h>

#include "base/hash.h"
#include "base/output.h"
#include "event/trace_bin_pack.h"

/*
 * Level 3 is about a tenth smaller, and takes up to twice as long; those below 1 are up to half larger, and hardly faster.
 * What repeats in columns is long, or not worth looking for: with a table that stays near and no short matches, files are
 * as large, and take a tenth to a third less time.
 */
enum { LEVEL = 1, HASH_LOG = 12, LEAST_MATCH = 7 };

void bin_way_init(struct bin_way *y, struct arena *a, struct output *o)
{
	*y = (struct bin_way){.arena = a, .output = o};
}

static ZSTD_CCtx *new_context(void)
{
	ZSTD_CCtx *c = ZSTD_createCCtx();

	if (c) {
		ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, LEVEL);
		ZSTD_CCtx_setParameter(c, ZSTD_c_hashLog, HASH_LOG);
		ZSTD_CCtx_setParameter(c, ZSTD_c_minMatch, LEAST_MATCH);
	}
	return c;
}

/*
 * Compresses the payload; false if it is better stored as it is. There is room for it. What zstd needs for that is kept
 * from chunk to chunk: it is large, and the system would have to clear it each time.
 */
static bool compress(struct bin_way *y)
{
	const struct column *p = &y->payload;
	size_t n;

	if (!y->zstd)
		y->zstd = new_context();
	if (!y->zstd)
		return false;
	n = ZSTD_compress2(y->zstd, y->stored.at, ZSTD_compressBound(p->used), p->at, p->used);
	y->stored.used = n;
	return !ZSTD_isError(n) && n < p->used;
}

/* The same of events, in a hurry. */
static bool pack(struct bin_way *y)
{
	struct bin_packed p = {.raw = y->payload.at, .stored = y->stored.at, .raw_bytes = y->payload.used,
		.events = y->entries};

	bin_pack(y->expected, &p);
	y->stored.used = p.stored_bytes;
	return p.stored_bytes < p.raw_bytes;
}

/* Returns what the chunk's head is to say of it; 0: it is stored as it is. */
static uint8_t make_small(struct bin_way *y)
{
	if (!y->hurried || (y->kind != CHUNK_EVENTS && y->kind != CHUNK_WAYS))
		return compress(y) ? CHUNK_ZSTD : 0;
	return y->kind == CHUNK_EVENTS && pack(y) ? CHUNK_PACKED : 0;
}

static void carry(struct bin_way *y)
{
	uint8_t flags = make_small(y);
	const struct column *c = flags ? &y->stored : &y->payload;
	unsigned char head[BIN_CHUNK_HEAD];

	if (y->payload.used > BIN_RAW_MOST)
		fault_set(&y->output->fault, STATUS_TRACE, "%s: a name is too long for a binary trace", y->output->name);
	chunk_head_put(head, &(struct chunk_head){.kind = (uint8_t)y->kind, .flags = flags,
		.number = y->chunks++, .entries = y->entries, .raw = (uint32_t)y->payload.used,
		.stored = (uint32_t)c->used, .checksum = hash_bytes(c->at, c->used)});
	output_write(y->output, head, sizeof head);
	output_write(y->output, c->at, c->used);
}

/* Under the lock. */
static void wait_until(struct bin_way *y, bool busy)
{
	while (y->busy != busy && !(busy && y->over))
		pthread_cond_wait(&y->moved, &y->lock);
}

static void *carry_all(void *self)
{
	struct bin_way *y = self;

	pthread_mutex_lock(&y->lock);
	for (wait_until(y, true); y->busy; wait_until(y, true)) {
		pthread_mutex_unlock(&y->lock);
		carry(y);
		pthread_mutex_lock(&y->lock);
		y->busy = false;
		pthread_cond_signal(&y->moved);
	}
	pthread_mutex_unlock(&y->lock);
	return NULL;
}

/* Signals are for whoever has started it. */
static void start(struct bin_way *y)
{
	sigset_t all, before;

	y->wanted = false;
	pthread_mutex_init(&y->lock, NULL);
	pthread_cond_init(&y->moved, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	y->beside = pthread_create(&y->thread, NULL, carry_all, y) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void bin_way_rest(struct bin_way *y)
{
	if (!y->beside)
		return;
	pthread_mutex_lock(&y->lock);
	wait_until(y, false);
	pthread_mutex_unlock(&y->lock);
}

static void go(struct bin_way *y)
{
	if (!y->beside) {
		carry(y);
		return;
	}
	pthread_mutex_lock(&y->lock);
	y->busy = true;
	pthread_cond_signal(&y->moved);
	pthread_mutex_unlock(&y->lock);
}

/* Room for the chunk in its other form. The arena is the caller's: the thread has none. */
static size_t room_for(struct bin_way *y, size_t bytes)
{
	size_t zstd = ZSTD_compressBound(bytes), packed = bin_pack_bound(bytes, y->entries);

	if (y->hurried && !y->expected)
		y->expected = arena_alloc(y->arena, sizeof *y->expected);
	return zstd > packed ? zstd : packed;
}

void bin_way_send(struct bin_way *y, enum chunk_kind kind, uint32_t entries, struct column *payload)
{
	struct column was;

	if (y->wanted && kind == CHUNK_EVENTS)
		start(y);
	bin_way_rest(y);
	was = y->payload;
	y->payload = *payload;
	y->kind = kind;
	y->entries = entries;
	y->stored.used = 0;
	column_room(y->arena, &y->stored, room_for(y, payload->used));
	*payload = was;
	payload->used = 0;
	go(y);
}

void bin_way_end(struct bin_way *y)
{
	y->wanted = false;
	bin_way_rest(y);
	if (!y->beside)
		return;
	pthread_mutex_lock(&y->lock);
	y->over = true;
	pthread_cond_signal(&y->moved);
	pthread_mutex_unlock(&y->lock);
	pthread_join(y->thread, NULL);
	y->beside = false;
}

void bin_way_free(struct bin_way *y)
{
	bin_way_end(y);
	ZSTD_freeCCtx(y->zstd);
	y->zstd = NULL;
}
