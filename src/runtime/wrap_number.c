/* SPDX-License-Identifier: MIT */
/* Texts that become numbers, and bytes that become other bytes: in a walk it is told what became of inputs. */
/* The functions, not what headers have in their place. */
#ifndef __NO_INLINE__
#define __NO_INLINE__
#endif

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

#include "runtime/models.h"
#include "runtime/real.h"

#undef toupper
#undef tolower

static void became(const void *function, struct model_number n)
{
	symbolic_return(function, model_number(&n));
}

/* A line a function: what it returns, its name. */
#define DECIMAL(type, name) \
	EXPORT type name(const char *s) \
	{ \
		type n = REAL(name)(s); \
		if (walk_on) \
			became((const void *)name, (struct model_number){s, 8 * sizeof n, (uint64_t)n, 10}); \
		return n; \
	}

#define BASED(type, name) \
	EXPORT type name(const char *restrict s, char **restrict end, int base) \
	{ \
		type n = REAL(name)(s, end, base); \
		if (walk_on) { \
			if (end) \
				symbolic_clear(end, sizeof *end); \
			became((const void *)name, (struct model_number){s, 8 * sizeof n, (uint64_t)n, base}); \
		} \
		return n; \
	}

DECIMAL(int, atoi)
DECIMAL(long, atol)
DECIMAL(long long, atoll)
BASED(long, strtol)
BASED(long long, strtoll)
BASED(unsigned long, strtoul)
BASED(unsigned long long, strtoull)
BASED(intmax_t, strtoimax)
BASED(uintmax_t, strtoumax)

/* c, or c moved by so much if it lies between the two. */
static expr_id moved(struct operand c, int least, int most, int by)
{
	struct operand from = {0, (uint32_t)least}, to = {0, (uint32_t)most}, far = {0, (uint32_t)by};
	expr_id of[3] = {symbolic_binary(WALK_ULE, 32, (struct operand){symbolic_binary(WALK_SUB, 32, c, from), 0},
		(struct operand){0, to.value - from.value}), symbolic_binary(WALK_ADD, 32, c, far), c.expr};

	return of[0] && of[1] && of[2] ? symbolic_node(WALK_CHOOSE, 32, of) : 0;
}

EXPORT int toupper(int c)
{
	int other = REAL(toupper)(c);

	if (walk_on)
		symbolic_return((const void *)toupper,
			moved((struct operand){symbolic_argument((const void *)toupper, 0), (uint32_t)c}, 'a', 'z', 'A' - 'a'));
	return other;
}

EXPORT int tolower(int c)
{
	int other = REAL(tolower)(c);

	if (walk_on)
		symbolic_return((const void *)tolower,
			moved((struct operand){symbolic_argument((const void *)tolower, 0), (uint32_t)c}, 'A', 'Z', 'a' - 'A'));
	return other;
}
