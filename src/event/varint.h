/* SPDX-License-Identifier: MIT */
/*
 * Numbers as bytes: little-endian words of fixed width, LEB128 and zigzag.
 *
 * The reading side is a cursor with a sticky mark: what lies behind the end, is longer than it need be, or does not
 * fit reads as 0 and sets `bad`, so a parser looks at the mark once per entry and not once per number.
 */
#ifndef FISSION_EVENT_VARINT_H
#define FISSION_EVENT_VARINT_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The longest LEB128 form of 64 bits. */
enum { VARINT_MOST = 10 };

struct bytes {
	const unsigned char *at, *end;
	bool bad;
};

static inline uint16_t load16(const unsigned char *p)
{
	uint16_t x;

	memcpy(&x, p, sizeof x);
	return le16toh(x);
}

static inline uint32_t load32(const unsigned char *p)
{
	uint32_t x;

	memcpy(&x, p, sizeof x);
	return le32toh(x);
}

static inline uint64_t load64(const unsigned char *p)
{
	uint64_t x;

	memcpy(&x, p, sizeof x);
	return le64toh(x);
}

static inline void store16(unsigned char *p, uint16_t x)
{
	x = htole16(x);
	memcpy(p, &x, sizeof x);
}

static inline void store32(unsigned char *p, uint32_t x)
{
	x = htole32(x);
	memcpy(p, &x, sizeof x);
}

static inline void store64(unsigned char *p, uint64_t x)
{
	x = htole64(x);
	memcpy(p, &x, sizeof x);
}

/* Small differences in both directions as small numbers: 0, -1, 1, -2, ... */
static inline uint64_t zigzag(uint64_t difference)
{
	return difference << 1 ^ (0 - (difference >> 63));
}

static inline uint64_t unzigzag(uint64_t z)
{
	return z >> 1 ^ (0 - (z & 1));
}

/* Writes x and returns its length, up to VARINT_MOST. */
static inline size_t varint_put(unsigned char *p, uint64_t x)
{
	size_t n = 0;

	for (; x >= 0x80; x >>= 7)
		p[n++] = (unsigned char)(x | 0x80);
	p[n++] = (unsigned char)x;
	return n;
}

static inline size_t bytes_left(const struct bytes *b)
{
	return (size_t)(b->end - b->at);
}

/* The next n bytes, or NULL with the mark set. */
static inline const unsigned char *bytes_take(struct bytes *b, size_t n)
{
	const unsigned char *p = b->at;

	if (b->bad || bytes_left(b) < n) {
		b->bad = true;
		return NULL;
	}
	b->at += n;
	return p;
}

static inline uint8_t bytes_byte(struct bytes *b)
{
	const unsigned char *p = bytes_take(b, 1);

	return p ? *p : 0;
}

/* The general case of bytes_varint. */
static inline uint64_t bytes_varint_long(struct bytes *b, uint64_t most)
{
	uint64_t x = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte = bytes_byte(b);

		if (shift == 63 && byte > 1)
			break;
		x |= (uint64_t)(byte & 0x7f) << shift;
		if (byte >= 0x80)
			continue;
		if (b->bad || x > most || (byte == 0 && shift > 0))
			break;
		return x;
	}
	b->bad = true;
	return 0;
}

/* A number of at most `most`, in as few bytes as it needs. */
static inline uint64_t bytes_varint(struct bytes *b, uint64_t most)
{
	if (!b->bad && b->at < b->end && *b->at < 0x80 && *b->at <= most)
		return *b->at++;
	return bytes_varint_long(b, most);
}

#endif
