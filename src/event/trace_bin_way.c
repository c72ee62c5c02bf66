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
static bool compress(struct bin_way *y, struct bin_load *l)
{
	const struct column *p = &l->payload;
	size_t n;

	if (!y->zstd)
		y->zstd = new_context();
	if (!y->zstd)
		return false;
	n = ZSTD_compress2(y->zstd, l->stored.at, ZSTD_compressBound(p->used), p->at, p->used);
	l->stored.used = n;
	return !ZSTD_isError(n) && n < p->used;
}

/* The same of events, in a hurry. */
static bool pack(struct bin_way *y, struct bin_load *l)
{
	struct bin_packed p = {.raw = l->payload.at, .stored = l->stored.at, .raw_bytes = l->payload.used,
		.events = l->entries};

	bin_pack(y->expected, &p);
	l->stored.used = p.stored_bytes;
	return p.stored_bytes < p.raw_bytes;
}

/* Returns what the chunk's head is to say of it; 0: it is stored as it is. */
static uint8_t make_small(struct bin_way *y, struct bin_load *l)
{
	if (l->kind == CHUNK_TRAILS)
		return 0;
	if (!y->hurried || (l->kind != CHUNK_EVENTS && l->kind != CHUNK_WAYS))
		return compress(y, l) ? CHUNK_ZSTD : 0;
	return l->kind == CHUNK_EVENTS && pack(y, l) ? CHUNK_PACKED : 0;
}

static void carry(struct bin_way *y, uint64_t number)
{
	struct bin_load *l = &y->load[number % BIN_WAY_CHUNKS];
	uint8_t flags = make_small(y, l);
	const struct column *c = flags ? &l->stored : &l->payload;
	unsigned char head[BIN_CHUNK_HEAD];

	if (l->payload.used > BIN_RAW_MOST)
		fault_set(&y->output->fault, STATUS_TRACE, "%s: a name is too long for a binary trace", y->output->name);
	chunk_head_put(head, &(struct chunk_head){.kind = (uint8_t)l->kind, .flags = flags, .number = (uint16_t)number,
		.entries = l->entries, .raw = (uint32_t)l->payload.used, .stored = (uint32_t)c->used,
		.checksum = hash_bytes(c->at, c->used)});
	output_write(y->output, head, sizeof head);
	output_write(y->output, c->at, c->used);
}

/* Under the lock: until there are no more than so many chunks on their way. */
static void wait_until(struct bin_way *y, uint64_t most)
{
	y->waited = true;
	if (y->sent - y->carried > most)
		pthread_cond_signal(&y->moved);
	while (y->sent - y->carried > most)
		pthread_cond_wait(&y->drained, &y->lock);
	y->waited = false;
}

/* Under the lock, by the thread. The owner has room again when half of it is free: see above. */
static void carry_some(struct bin_way *y)
{
	while (y->sent != y->carried) {
		pthread_mutex_unlock(&y->lock);
		carry(y, y->carried);
		pthread_mutex_lock(&y->lock);
		y->carried++;
		if (y->waited && y->sent - y->carried <= BIN_WAY_CHUNKS / 2)
			pthread_cond_signal(&y->drained);
	}
}

static void *carry_all(void *self)
{
	struct bin_way *y = self;

	pthread_mutex_lock(&y->lock);
	for (carry_some(y); !y->over; carry_some(y)) {
		y->asleep = true;
		pthread_cond_wait(&y->moved, &y->lock);
		y->asleep = false;
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
	pthread_cond_init(&y->drained, NULL);
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
	wait_until(y, 0);
	pthread_mutex_unlock(&y->lock);
}

static void go(struct bin_way *y)
{
	if (!y->beside) {
		carry(y, y->sent++);
		y->carried = y->sent;
		return;
	}
	pthread_mutex_lock(&y->lock);
	y->sent++;
	if (y->asleep && y->sent - y->carried >= BIN_WAY_CHUNKS / 2)
		pthread_cond_signal(&y->moved);
	if (y->sent - y->carried == BIN_WAY_CHUNKS)
		wait_until(y, BIN_WAY_CHUNKS / 2);
	pthread_mutex_unlock(&y->lock);
}

/* Room for the chunk in its other form. The arena is the caller's: the thread has none. */
static size_t room_for(struct bin_way *y, size_t bytes, uint32_t entries)
{
	size_t zstd = ZSTD_compressBound(bytes), packed = bin_pack_bound(bytes, entries);

	if (y->hurried && !y->expected)
		y->expected = arena_alloc(y->arena, sizeof *y->expected);
	return zstd > packed ? zstd : packed;
}

/* The place of the next one is free: go() has waited for it. */
void bin_way_send(struct bin_way *y, enum chunk_kind kind, uint32_t entries, struct column *payload)
{
	struct bin_load *l = &y->load[y->sent % BIN_WAY_CHUNKS];
	struct column was = l->payload;

	if (y->wanted && (kind == CHUNK_EVENTS || kind == CHUNK_TRAILS))
		start(y);
	l->payload = *payload;
	l->kind = kind;
	l->entries = entries;
	l->stored.used = 0;
	if (kind != CHUNK_TRAILS)
		column_room(y->arena, &l->stored, room_for(y, payload->used, entries));
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
