/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a binary trace: reading ends, and what was read is the same after it was written and read again, as
 * binary and as text.
 *
 * A file is a header and chunks with lengths and checksums, which no fuzzer guesses, and perhaps compressed ones,
 * where a changed byte mostly tells nothing. So the bytes are tried twice, as they are and with everything that
 * guards them made right (mend), and what is changed is the file with its chunks unpacked.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/hash.h"
#include "event/trace_bin.h"
#include "event/varint.h"

enum { UNPACKED_MOST = 1 << 16 };

static struct chunk_head head_at(const uint8_t *p)
{
	return (struct chunk_head){.kind = p[0], .flags = p[1], .number = load16(p + 2), .entries = load32(p + 4),
		.raw = load32(p + 8), .stored = load32(p + 12), .checksum = load64(p + 16)};
}

static void mend_header(uint8_t *p)
{
	memcpy(p, bin_magic, BIN_MAGIC);
	store16(p + 8, BIN_VERSION);
	store32(p + 12, load32(p + 12) & BIN_FEATURES);
	store64(p + 16, hash_bytes(p, 16));
}

/* Numbers the chunks, cuts lengths to what is there, and makes the checksums right. */
static void mend(uint8_t *data, size_t size)
{
	size_t at = BIN_HEADER;
	uint16_t number = 0;

	if (size < BIN_HEADER)
		return;
	mend_header(data);
	while (size - at >= BIN_CHUNK_HEAD) {
		uint8_t *payload = data + at + BIN_CHUNK_HEAD;
		size_t left = size - at - BIN_CHUNK_HEAD;
		struct chunk_head h = head_at(data + at);

		h.number = number++;
		h.stored = h.stored < left ? h.stored : (uint32_t)left;
		h.raw = h.flags & CHUNK_FLAGS ? h.raw : h.stored;
		h.checksum = hash_bytes(payload, h.stored);
		chunk_head_put(data + at, &h);
		at += BIN_CHUNK_HEAD + h.stored;
	}
}

static void read_and_write(const uint8_t *data, size_t size)
{
	struct fuzz_trace f;

	fuzz_read(&f, fuzz_file(data, size), false);
	if (f.opened) {
		fuzz_round_trip(&f, &trace_bin);
		fuzz_round_trip(&f, &trace_text);
	}
	fuzz_free(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size + 1);

	read_and_write(data, size);
	memcpy(copy, data, size);
	mend(copy, size);
	read_and_write(copy, size);
	free(copy);
	return 0;
}

#ifndef FUZZ_STANDALONE
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

/* Writes the chunk as it would be without compression, if that is possible; returns its length there. */
static size_t unpack_chunk(const uint8_t *from, struct chunk_head h, uint8_t *to, size_t room)
{
	size_t n = h.stored;

	if (room < BIN_CHUNK_HEAD + (size_t)h.stored)
		return 0;
	memcpy(to + BIN_CHUNK_HEAD, from + BIN_CHUNK_HEAD, h.stored);
	if (h.flags & CHUNK_ZSTD) {
		n = ZSTD_decompress(to + BIN_CHUNK_HEAD, room - BIN_CHUNK_HEAD, from + BIN_CHUNK_HEAD, h.stored);
		if (ZSTD_isError(n))
			return 0;
		h.flags = 0;
	}
	if (!(h.flags & CHUNK_PACKED))
		h.raw = (uint32_t)n;
	h.stored = (uint32_t)n;
	chunk_head_put(to, &h);
	return BIN_CHUNK_HEAD + n;
}

static size_t unpack(const uint8_t *data, size_t size, uint8_t *to)
{
	size_t at = BIN_HEADER, used = BIN_HEADER, n;

	if (size < BIN_HEADER)
		return 0;
	memcpy(to, data, BIN_HEADER);
	while (size - at >= BIN_CHUNK_HEAD) {
		struct chunk_head h = head_at(data + at);

		if (h.stored > size - at - BIN_CHUNK_HEAD)
			return 0;
		n = unpack_chunk(data + at, h, to + used, UNPACKED_MOST - used);
		if (n == 0)
			return 0;
		at += BIN_CHUNK_HEAD + h.stored;
		used += n;
	}
	return used;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
	static uint8_t unpacked[UNPACKED_MOST];
	size_t n = unpack(data, size, unpacked);

	(void)seed;
	if (n && n <= most) {
		memcpy(data, unpacked, n);
		size = n;
	}
	size = LLVMFuzzerMutate(data, size, most);
	mend(data, size);
	return size;
}
#endif
