/* SPDX-License-Identifier: MIT */
/*
 * Packed events chunks: what is written where somebody waits for it, as all of a program does while it is recorded.
 *
 * The heads of an events chunk are half of it, and nearly each can be told from those before. So a head is one bit: it is
 * the one that came last behind the same few; or it is another, which stands beside. Everything else is left as it is:
 * differences of addresses hardly shrink, however long one tries.
 *
 *   before 4     bytes in front of the heads
 *   those bytes
 *   bits         per head, the lowest of a byte first; 0: as expected. The rest of the last byte is 0
 *   heads 2      those that were not
 *   the bytes behind the heads
 *
 * What is expected is kept in a table by the low 16 bits of a context, 0 at first as is the table; behind each head the
 * context is itself << 4 ^ head.
 *
 * Cost: 1.5 ns an event; zstd takes 5 to 16 for the whole chunk. The file is 1.4 to 4 times as large as by zstd, and half
 * to a third of what it would be by itself: docs/record.md.
 */
#ifndef FISSION_EVENT_TRACE_BIN_PACK_H
#define FISSION_EVENT_TRACE_BIN_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BIN_CONTEXTS = 1 << 16 };

/* What was behind each context. */
struct bin_expected {
	uint16_t head[BIN_CONTEXTS];
};

/* A chunk of so many events in both forms. */
struct bin_packed {
	unsigned char *raw, *stored;
	size_t raw_bytes, stored_bytes;
	uint32_t events;
};

/* How many bytes `stored` may take at most, and is written to. */
size_t bin_pack_bound(size_t raw_bytes, uint32_t events);

/* From raw to stored; sets stored_bytes. The raw payload is one of ours. */
void bin_pack(struct bin_expected *x, struct bin_packed *p);

/* From stored to raw. False: the lengths do not fit, or a bit is set behind the last one. */
bool bin_unpack(struct bin_expected *x, const struct bin_packed *p);

#endif
