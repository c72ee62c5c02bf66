/* SPDX-License-Identifier: MIT */
/*
 * Vector clocks over lines, and epochs.
 *
 * A clock says for each line how much of it has been seen: its component is the line's time. A line's time goes up
 * after each operation from which others can learn, so whoever has seen time k of line u has seen all that u did
 * before it went to k + 1. Therefore "the operation of u at time k is known to C" is one comparison, k <= C[u]: an
 * epoch, written u@k, stands for the whole clock of that operation.
 *
 * Representation: an array that reaches as far as the highest line seen; what lies beyond is 0.
 * Cost: get and set constant, join linear in the lines.
 */
#ifndef FISSION_STATE_VCLOCK_H
#define FISSION_STATE_VCLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct arena;

typedef uint32_t clock_time;

enum { VCLOCK_LEAST = 8 }; /* lines of the smallest array */

struct vclock {
	clock_time *at; /* by line */
	uint32_t lines; /* at[0] to at[lines - 1] exist */
};

/* One line's time; time 0 is none. */
struct epoch {
	uint32_t line;
	clock_time time;
};

static inline clock_time vclock_get(const struct vclock *c, uint32_t line)
{
	return line < c->lines ? c->at[line] : 0;
}

void vclock_set(struct vclock *c, struct arena *a, uint32_t line, clock_time time);

/* c becomes the later of both in each component. Returns whether anything was news. */
bool vclock_join(struct vclock *c, struct arena *a, const struct vclock *from);

/* Makes c equal to `from`. */
void vclock_copy(struct vclock *c, struct arena *a, const struct vclock *from);

/* The same for arrays of the least size, which are most of all and need no loop; false: they are not. */
static inline bool vclock_copy_least(struct vclock *c, const struct vclock *from)
{
	if (c->lines != VCLOCK_LEAST || from->lines != VCLOCK_LEAST)
		return false;
	memcpy(c->at, from->at, VCLOCK_LEAST * sizeof *c->at);
	return true;
}

/* Whether a is before or equal to b in every component. */
bool vclock_within(const struct vclock *a, const struct vclock *b);

/* Whether the epoch is known to the clock; the empty epoch is. */
static inline bool epoch_within(struct epoch e, const struct vclock *c)
{
	return e.time <= vclock_get(c, e.line);
}

#endif
