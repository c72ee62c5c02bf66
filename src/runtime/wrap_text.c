/* SPDX-License-Identifier: MIT */
/*
 * Bytes and lines that stdio reads, and variables of the environment: in a walk they are inputs. Nothing is told. What
 * else reads files stands in wrap_block.c, since it may block, and its buffers are told.
 */
/* The functions, not what headers have in their place. */
#ifndef __NO_INLINE__
#define __NO_INLINE__
#endif

#include <stdio.h>
#include <stdlib.h>

#include "runtime/inputs.h"
#include "runtime/models.h"
#include "runtime/real.h"

#undef getc
#undef getchar
#undef getc_unlocked
#undef getchar_unlocked
#undef fgetc_unlocked

static int64_t position(FILE *f)
{
	return walk_on && inputs_position(fileno(f)) >= 0 ? ftello(f) : -1;
}

/* The expression of the byte that was read there. */
static expr_id byte_read(FILE *f, int64_t at, int c)
{
	struct place p;
	uint8_t byte = (uint8_t)c;
	expr_id e;

	if (at < 0 || at >= INPUTS_BYTES_MOST || c == EOF || !inputs_descriptor(fileno(f), &p))
		return 0;
	p.offset = (uint32_t)at;
	inputs_mark(&byte, 1, p);
	e = symbolic_cast(WALK_ZEXT, 32, symbolic_load(&byte, 1, byte));
	symbolic_clear(&byte, 1);
	return e;
}

#define BYTE(name, parameters, arguments, file) \
	EXPORT int name parameters \
	{ \
		int64_t at = position(file); \
		int c = REAL(name) arguments; \
		if (walk_on) \
			symbolic_return((const void *)name, byte_read(file, at, c)); \
		return c; \
	}

BYTE(fgetc, (FILE *f), (f), f)
BYTE(getc, (FILE *f), (f), f)
BYTE(getchar, (void), (), stdin)
BYTE(fgetc_unlocked, (FILE *f), (f), f)
BYTE(getc_unlocked, (FILE *f), (f), f)
BYTE(getchar_unlocked, (void), (), stdin)

#define LINE(name, parameters, arguments) \
	EXPORT ssize_t name parameters \
	{ \
		int64_t at = position(f); \
		ssize_t n = REAL(name) arguments; \
		if (walk_on) { \
			if (n > 0) \
				inputs_have_read(fileno(f), at, *to, n); \
			symbolic_clear(to, sizeof *to); \
			symbolic_clear(room, sizeof *room); \
			if (n > 0) \
				symbolic_clear(*to + n, 1); \
			model_nothing((const void *)name); \
		} \
		return n; \
	}

LINE(getline, (char **restrict to, size_t *restrict room, FILE *restrict f), (to, room, f))
LINE(getdelim, (char **restrict to, size_t *restrict room, int end, FILE *restrict f), (to, room, end, f))

/* The value is an input from when somebody asks for it. */
EXPORT char *getenv(const char *name)
{
	char *value = REAL(getenv)(name);
	size_t n = 0;

	if (!walk_on)
		return value;
	while (value && value[n])
		n++;
	if (value && !symbolic_any(value, n + 1)) {
		uint64_t index = inputs_name(WALK_ENV, name);

		if (index)
			inputs_mark(value, n + 1, (struct place){WALK_ENV, index, 0});
	}
	model_nothing((const void *)getenv);
	return value;
}
