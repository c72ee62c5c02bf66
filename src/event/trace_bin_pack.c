/* SPDX-License-Identifier: MIT */
#include "trace_bin_pack.h"

#include <string.h>

#include "event/trace_bin.h"
#include "event/varint.h"

enum { BEFORE = 4, HEAD = 2, WORD = 64 };

static size_t bit_bytes(uint32_t events)
{
	return (events + 7) / 8;
}

static inline uint16_t context_behind(uint16_t context, uint16_t head)
{
	return (uint16_t)(context << 4 ^ head);
}

size_t bin_pack_bound(size_t raw_bytes, uint32_t events)
{
	return BEFORE + raw_bytes + bit_bytes(events) + sizeof(uint64_t);
}

/* Where the others go and how far they have come. */
struct heads {
	struct bin_expected *x;
	const unsigned char *from;
	unsigned char *other;
	uint16_t context;
};

/* Up to WORD heads. Without a branch: which of them are as expected, cannot be. */
static inline uint64_t pack_some(struct heads *h, uint32_t n)
{
	unsigned char *other = h->other;
	uint16_t context = h->context;
	uint64_t bits = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint16_t head = load16(h->from + HEAD * (size_t)i);
		uint64_t is_other = h->x->head[context] != head;

		bits |= is_other << i;
		store16(other, head);
		other += HEAD * is_other;
		h->x->head[context] = head;
		context = context_behind(context, head);
	}
	h->from += HEAD * (size_t)n;
	h->other = other;
	h->context = context;
	return bits;
}

void bin_pack(struct bin_expected *x, struct bin_packed *p)
{
	size_t behind = (size_t)load32(p->raw + 8) + load32(p->raw + 12);
	size_t before = p->raw_bytes - behind - HEAD * (size_t)p->events;
	unsigned char *bits = p->stored + BEFORE + before;
	struct heads h = {x, p->raw + before, bits + bit_bytes(p->events), 0};

	memset(x, 0, sizeof *x);
	store32(p->stored, (uint32_t)before);
	memcpy(p->stored + BEFORE, p->raw, before);
	for (uint32_t done = 0; done < p->events; done += WORD) {
		uint32_t n = p->events - done < WORD ? p->events - done : WORD;
		unsigned char word[sizeof(uint64_t)];

		store64(word, pack_some(&h, n));
		memcpy(bits + done / 8, word, bit_bytes(n));
	}
	memcpy(h.other, h.from, behind);
	p->stored_bytes = (size_t)(h.other + behind - p->stored);
}

static size_t others(const unsigned char *bits, uint32_t events)
{
	size_t n = 0;

	for (size_t i = 0; i < bit_bytes(events); i++)
		n += (size_t)__builtin_popcount(bits[i]);
	return n;
}

static void unpack_heads(struct bin_expected *x, const struct bin_packed *p, const unsigned char *bits, unsigned char *to)
{
	const unsigned char *other = bits + bit_bytes(p->events);
	uint16_t context = 0;

	memset(x, 0, sizeof *x);
	for (uint32_t i = 0; i < p->events; i++) {
		unsigned is_other = bits[i / 8] >> i % 8 & 1;
		uint16_t head = is_other ? load16(other) : x->head[context];

		other += HEAD * (size_t)is_other;
		x->head[context] = head;
		store16(to + HEAD * (size_t)i, head);
		context = context_behind(context, head);
	}
}

/* The bits are looked at before anything is taken by them: then all lengths are known, and must add up. */
bool bin_unpack(struct bin_expected *x, const struct bin_packed *p)
{
	const size_t heads = HEAD * (size_t)p->events, rest = BEFORE + bit_bytes(p->events);
	const unsigned char *bits;
	size_t before, other, behind;

	if (p->stored_bytes < rest || !p->events || heads > p->raw_bytes)
		return false;
	before = load32(p->stored);
	if (before > p->stored_bytes - rest || before > p->raw_bytes - heads)
		return false;
	bits = p->stored + BEFORE + before;
	other = HEAD * others(bits, p->events);
	behind = p->raw_bytes - heads - before;
	if (other > p->stored_bytes || rest + before + other + behind != p->stored_bytes ||
		(p->events % 8 && bits[p->events / 8] >> p->events % 8))
		return false;
	memcpy(p->raw, p->stored + BEFORE, before);
	unpack_heads(x, p, bits, p->raw + before);
	memcpy(p->raw + before + heads, p->stored + p->stored_bytes - behind, behind);
	return true;
}
