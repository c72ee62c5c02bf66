/* SPDX-License-Identifier: MIT */
/*
 * The layout of binary traces. All words are little-endian; "varint" is LEB128 in its shortest form.
 *
 *   file      header, chunks, and as the last chunk the end
 *   header    magic 8 | version 2 | optional features 2 | required features 4 | XXH3 of these 16 bytes 8
 *   chunk     kind 1 | flags 1 | number 2 | entries 4 | raw length 4 | stored length 4 | XXH3 of the payload 8 |
 *             XXH3 of these 24 bytes 8 | payload, stored length bytes
 *
 * The number counts the chunks from 0 (its low 16 bits): one that is missing, doubled or moved shows. Because the
 * head has a checksum of its own, a length can be trusted before the payload is there, and so a file that was cut
 * is told apart from one that was damaged. With CHUNK_ZSTD the payload is one zstd frame of raw length bytes; with
 * CHUNK_PACKED, which only events have and only where the header says so (BIN_FEATURE_PACKED), it is what
 * trace_bin_pack.h says.
 *
 *   strings   per entry: class 1 | length varint | bytes. Ids of a class count up from 1, over all chunks
 *   stacks    per entry, as varints: parent | code | site. Ids count up from 1
 *   modules   per entry: path length varint | bytes | build-id length varint | bytes | base varint | size varint
 *   events    below
 *   end       number of events in the file, without those of trails 8
 *   addresses of code, of recordings only; for each template of the events chunk that comes next: the address that
 *             its events came from (pc in struct event), as a varint, zigzag difference to the one before
 *   loops     of the events chunk that comes next; per loop, as varints: events between the loop before and this one |
 *             items | how many events the loop stands for | per item: zigzag stride. So many events of the chunk as
 *             there are items are what a loop does the first time. The others are the same in turn, again and again,
 *             each with the object that its template had last and the item's stride more. They are accesses of
 *             addresses, without values, in one run; and they are not counted among the chunk's entries
 *   ways      of items of the loops chunk before, which have no strides (0 is written): per item, items between the one
 *             before and this, over all loops, varint | width 1, 1 to 8 | for each event of the item behind the loop's
 *             first round, in so many bytes: zigzag difference to the object that its template had last
 *
 *   spans     of the trails chunk that comes next; per span, as varints: events of the events chunk behind that between the
 *             span before and this one | thread | bytes << 1, + 1 if nothing becomes of them. The events chunk may be
 *             missing if no span is behind an event
 *   trails    the bytes of the spans, one behind the other: event/trail.h. Its head says 0 entries
 *
 * Whatever an entry refers to stands before it. An events chunk needs nothing else of the other events chunks:
 *
 *   templates 4 | bytes of runs 4 | bytes of objects 4 | bytes of values 4
 *   templates per template: kind 1 | order << 4 + flags 1 | size varint, if the flags say so |
 *             site varint, zigzag difference to the template before | stack varint
 *   runs      per run, as varints: thread | how many events in a row are of this thread
 *   heads     per event: template << 3 + width code 2
 *   objects   per event: zigzag difference to the object that the template had last (0 at first), in as many
 *             bytes as the width code says: 0 1 2 3 4 5 6 8
 *   values    per event whose template has a value, count or mutex: width 1 | that many bytes, 0 to 8
 *
 * Why so: a place in the code nearly always gives the same kind, flags, size, place and stack. Those are checked
 * once per template and chunk instead of once per event, an event costs a table look-up and one masked load, and
 * columns of equal things are what zstd is good at. Records with a varint per field were 1.3 to 1.9 times as large
 * before compression.
 */
#ifndef FISSION_EVENT_TRACE_BIN_H
#define FISSION_EVENT_TRACE_BIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"

struct brief_loop;
struct briefs;
struct trace_writer;

enum {
	BIN_VERSION = 1,
	BIN_MAGIC = 8,
	BIN_HEADER = 24,
	BIN_CHUNK_HEAD = 32,
	BIN_EVENTS_HEAD = 16,
	BIN_RAW_MOST = 1 << 25,     /* bytes of a chunk: twice the longest line of a text trace */
	BIN_EVENTS_MOST = 1 << 16,  /* events of a chunk */
	BIN_TEMPLATES_MOST = 1 << 13,
	BIN_LOOP_MOST = 64,         /* items of a loop */
	BIN_LOOPS_MOST = 1 << 20,   /* events that the loops of a chunk stand for, all together */
	BIN_WAYS_MOST = 8 * BIN_LOOPS_MOST, /* bytes of differences, of the ways of a chunk */
	BIN_SPANS_MOST = 1 << 17,   /* of a chunk */
	BIN_WIDTH_BITS = 3,
	BIN_WIDTHS = 1 << BIN_WIDTH_BITS,
};

enum chunk_kind {
	CHUNK_STRINGS = 1, CHUNK_STACKS, CHUNK_MODULES, CHUNK_EVENTS, CHUNK_END, CHUNK_ADDRESSES, CHUNK_LOOPS, CHUNK_WAYS,
	CHUNK_SPANS, CHUNK_TRAILS, CHUNK_KINDS
};

enum chunk_flag { CHUNK_ZSTD = 1, CHUNK_PACKED = 2, CHUNK_FLAGS = 3 };

/* Required features. */
enum bin_feature { BIN_FEATURE_PACKED = 1, BIN_FEATURE_TRAILS = 2, BIN_FEATURES = 3 };

struct chunk_head {
	uint8_t kind, flags;
	uint16_t number;
	uint32_t entries, raw, stored;
	uint64_t checksum;
};

/* What a kind of event carries besides thread, site and stack. */
enum bin_part { PART_NEVER, PART_MAYBE, PART_ALWAYS };

struct bin_parts {
	uint8_t flags;  /* that may be set */
	uint8_t order;  /* enum bin_part */
	uint8_t object;
	uint8_t value;  /* PART_MAYBE: with EVENT_VALUED */
};

/* As PNG's: the first byte shows a channel of 7 bits, CR LF and LF one that converts line ends. */
extern const unsigned char bin_magic[BIN_MAGIC];

/* Bytes of an object's difference by width code. */
extern const uint8_t bin_width[BIN_WIDTHS];

struct bin_parts bin_parts_of(uint8_t kind);

/* Whether the text may stand in the tables: control characters other than the tab may not. */
bool bin_text_fits(const char *text, size_t n);

void chunk_head_put(unsigned char to[BIN_CHUNK_HEAD], const struct chunk_head *h);

/* The writing half; trace.h has the struct that joins both. */
void trace_bin_start(struct trace_writer *w);
void trace_bin_put(struct trace_writer *w, const struct event *e);
void trace_bin_put_briefs(struct trace_writer *w, const struct briefs *b);
void trace_bin_put_loop(struct trace_writer *w, const struct brief_loop *l);
void trace_bin_finish(struct trace_writer *w);
void trace_bin_drop(struct trace_writer *w);

/*
 * Before the first event: the caller is in a hurry. Large chunks are not compressed, events are packed, and nobody waits
 * for the disk.
 */
void trace_bin_hurry(struct trace_writer *w);

/* Likewise: there may be trails. */
void trace_bin_trails(struct trace_writer *w);

/* The next of a thread's trail (event/trail.h), behind all events that were put; whole tokens. Silent: see there. */
void trace_bin_put_trail(struct trace_writer *w, thread_id thread, const void *bytes, size_t n, bool silent);

/* From here on chunks are written beside the caller. Not for who forks and then goes on writing. */
void trace_bin_beside(struct trace_writer *w);

/* Writes everything that was put so far as chunks; those that are written beside the caller may still be on their way. */
void trace_bin_flush(struct trace_writer *w);

#endif
