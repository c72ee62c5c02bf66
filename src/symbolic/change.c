/* SPDX-License-Identifier: MIT */
#include "change.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/str.h"
#include "chase/inputs.h"
#include "chase/replay_file.h"
#include "symbolic/walk_read.h"

enum { GROWS_MOST = 1 << 16, DIGITS = 32 };

/* A text on its way to other contents. */
struct bytes {
	char *at;
	size_t length, room;
	struct arena *arena;
};

static void reserve(struct bytes *b, size_t length)
{
	if (length > b->room) {
		b->at = arena_grow(b->arena, b->at, b->room, 2 * length + 64);
		b->room = 2 * length + 64;
	}
}

static struct bytes bytes_of(struct text t, struct arena *a)
{
	struct bytes b = {.arena = a};

	reserve(&b, t.length + 1);
	if (t.length)
		memcpy(b.at, t.at, t.length);
	b.length = t.length;
	return b;
}

static bool put_byte(struct bytes *b, size_t at, uint8_t value, char between)
{
	if (at >= b->length + GROWS_MOST)
		return false;
	reserve(b, at + 1);
	while (b->length <= at)
		b->at[b->length++] = between;
	b->at[at] = (char)value;
	return true;
}

/* As the text was: with 0x in front of it, or in decimal digits. */
static bool put_number(struct bytes *b, const struct walk_input *in, uint64_t value)
{
	char digits[DIGITS];
	size_t at = in->offset, old = in->length, n;
	bool hex = old > 2 && at + 2 < b->length && b->at[at] == '0' && (b->at[at + 1] | 32) == 'x';

	if (at + old > b->length)
		return false;
	if (hex)
		n = (size_t)snprintf(digits, sizeof digits, "0x%" PRIx64, value);
	else
		n = (size_t)snprintf(digits, sizeof digits, "%" PRId64, walk_signed(value, in->width));
	reserve(b, b->length + n);
	memmove(b->at + at + n, b->at + at + old, b->length - at - old);
	memcpy(b->at + at, digits, n);
	b->length += n - old;
	return true;
}

/* Inputs of one text. */

static bool is_same(const struct walk_input *a, const struct walk_input *b)
{
	if (a->source != b->source)
		return false;
	if (a->source == WALK_STDIN)
		return true;
	return a->source == WALK_ARGV ? a->index == b->index :
		a->name.length == b->name.length && memcmp(a->name.at, b->name.at, a->name.length) == 0;
}

static int compare(const void *left, const void *right)
{
	const struct walk_input *a = *(const struct walk_input *const *)left, *b = *(const struct walk_input *const *)right;

	return a->offset < b->offset ? 1 : a->offset > b->offset ? -1 : 0;
}

static bool put_little_endian(struct bytes *b, const struct walk_input *in, uint64_t value)
{
	for (unsigned i = 0; i < (in->width + 7u) / 8; i++)
		if (!put_byte(b, in->offset + i, (uint8_t)(value >> 8 * i), 0))
			return false;
	return true;
}

/* What of the changes belongs to this text: first its bytes, then its numbers from the last to the first. */
static bool apply(struct bytes *b, const struct walk *w, const struct changes *c, const struct walk_input *text)
{
	const struct walk_input **number = arena_alloc(b->arena, (c->count + 1) * sizeof *number);
	size_t numbers = 0;
	char between = text->source == WALK_NAMED ? 0 : ' ';
	bool good = true;

	for (size_t i = 0; i < c->count; i++) {
		const struct walk_input *in = &w->input[c->at[i].input];

		if (!is_same(in, text))
			continue;
		if (in->length)
			number[numbers++] = in;
		else
			good &= text->source == WALK_NAMED ? put_little_endian(b, in, c->at[i].value) :
				put_byte(b, in->offset, (uint8_t)c->at[i].value, between);
	}
	qsort(number, numbers, sizeof *number, compare);
	for (size_t i = 0; i < numbers; i++)
		for (size_t k = 0; k < c->count; k++)
			if (&w->input[c->at[k].input] == number[i])
				good &= put_number(b, number[i], c->at[k].value);
	return good;
}

/* What the text was before. */

static bool read_file(const char *path, struct bytes *b)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = 0;

	while (fd >= 0 && b->length <= REPLAY_INPUT_MOST) {
		reserve(b, b->length + 65536);
		n = read(fd, b->at + b->length, 65536);
		if (n <= 0)
			break;
		b->length += (size_t)n;
	}
	if (fd >= 0)
		close(fd);
	return fd >= 0 && n == 0;
}

/* A variable of the program that has not been given yet is what the walk has seen of it. */
static void read_named(const struct walk *w, const struct walk_input *text, struct bytes *b)
{
	for (size_t i = 0; i < w->inputs; i++)
		if (is_same(&w->input[i], text))
			put_little_endian(b, &w->input[i], w->input[i].value);
}

static bool start(struct bytes *b, const struct inputs *in, const struct walk *w, const struct walk_input *text)
{
	static const enum inputs_kind kinds[WALK_SOURCES] = {[WALK_ENV] = INPUTS_ENV, [WALK_FILE] = INPUTS_FILE,
		[WALK_NAMED] = INPUTS_NAMED};
	struct text old = {NULL, 0};
	const char *variable;

	if (text->source == WALK_STDIN) {
		old = in->stdin_bytes;
	} else if (text->source == WALK_ARGV) {
		for (uint64_t i = 0; i <= text->index; i++)
			if (!in->argv[i])
				return false;
		old = (struct text){in->argv[text->index], strlen(in->argv[text->index])};
	} else {
		old = inputs_find(&in->more, kinds[text->source], text->name);
	}
	*b = bytes_of(old, b->arena);
	if (old.at || text->source == WALK_STDIN)
		return true;
	if (text->source == WALK_FILE)
		return read_file(text->name.at, b);
	variable = text->source == WALK_ENV ? getenv(text->name.at) : NULL;
	if (variable)
		*b = bytes_of((struct text){variable, strlen(variable)}, b->arena);
	else if (text->source == WALK_NAMED)
		read_named(w, text, b);
	return true;
}

static void finish(struct inputs *in, const struct walk_input *text, struct bytes *b)
{
	bool ends = text->source == WALK_ARGV || text->source == WALK_ENV;
	const char *nul = ends ? memchr(b->at, 0, b->length) : NULL;
	size_t length = nul ? (size_t)(nul - b->at) : b->length;
	struct text new = {arena_text(b->arena, b->at, length), length};
	struct inputs_named named = {{arena_text(b->arena, text->name.at, text->name.length), text->name.length}, new};

	switch (text->source) {
	case WALK_STDIN: in->stdin_bytes = new; break;
	case WALK_ARGV: in->argv[text->index] = (char *)new.at; break;
	case WALK_ENV: inputs_set(&in->more, INPUTS_ENV, named, b->arena); break;
	case WALK_FILE: inputs_set(&in->more, INPUTS_FILE, named, b->arena); break;
	default: inputs_set(&in->more, INPUTS_NAMED, named, b->arena);
	}
}

/* Whether an earlier change is of the same text, which is done with then. */
static bool is_done(const struct walk *w, const struct changes *c, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (is_same(&w->input[c->at[k].input], &w->input[c->at[i].input]))
			return true;
	return false;
}

struct inputs *change_inputs(const struct inputs *old, const struct walk *w, const struct changes *c, struct arena *a)
{
	struct inputs *in = inputs_copy(old, a);

	for (size_t i = 0; i < c->count; i++) {
		const struct walk_input *text = &w->input[c->at[i].input];
		struct bytes b = {.arena = a};

		if (is_done(w, c, i))
			continue;
		if ((text->source == WALK_ARGV && !text->index) || !start(&b, old, w, text) || !apply(&b, w, c, text))
			return NULL;
		finish(in, text, &b);
	}
	return in;
}
