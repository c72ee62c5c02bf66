/* SPDX-License-Identifier: MIT */
/* What the reader and the writer of binary traces share. */
#include "trace_bin.h"

#include "base/hash.h"
#include "event/event.h"
#include "event/tables.h"
#include "event/varint.h"

const unsigned char bin_magic[BIN_MAGIC] = {0x89, 'F', 'T', 'R', '\r', '\n', 0x1a, '\n'};

const uint8_t bin_width[BIN_WIDTHS] = {0, 1, 2, 3, 4, 5, 6, 8};

enum { ACCESS_FLAGS = EVENT_SIZED | EVENT_VALUED | EVENT_UNSIGNED };

static const struct bin_parts parts[] = {
	[SHAPE_ACCESS] = {ACCESS_FLAGS, PART_NEVER, PART_ALWAYS, PART_MAYBE},
	[SHAPE_ONE] = {0, PART_NEVER, PART_ALWAYS, PART_NEVER},
	[SHAPE_TWO] = {0, PART_NEVER, PART_ALWAYS, PART_ALWAYS},
	[SHAPE_COUNT] = {0, PART_NEVER, PART_ALWAYS, PART_ALWAYS},
	[SHAPE_ATOMIC] = {ACCESS_FLAGS, PART_ALWAYS, PART_ALWAYS, PART_MAYBE},
	[SHAPE_ORDER] = {0, PART_ALWAYS, PART_NEVER, PART_NEVER},
	[SHAPE_LABEL] = {0, PART_NEVER, PART_MAYBE, PART_NEVER},
};

struct bin_parts bin_parts_of(uint8_t kind)
{
	struct bin_parts p = parts[event_info[kind].shape];

	if (event_info[kind].table == TABLE_OBJECT)
		p.flags |= EVENT_ADDRESSED;
	return p;
}

bool bin_text_fits(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)text[i];

		if ((c < ' ' && c != '\t') || c == 127)
			return false;
	}
	return true;
}

void chunk_head_put(unsigned char to[BIN_CHUNK_HEAD], const struct chunk_head *h)
{
	to[0] = h->kind;
	to[1] = h->flags;
	store16(to + 2, h->number);
	store32(to + 4, h->entries);
	store32(to + 8, h->raw);
	store32(to + 12, h->stored);
	store64(to + 16, h->checksum);
	store64(to + 24, hash_bytes(to, 24));
}
