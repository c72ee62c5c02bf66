/* SPDX-License-Identifier: MIT */
#include "moment.h"

#include <string.h>

static bool is_acquire(const struct moment *m)
{
	return m->access.kind == EVENT_ACQUIRE || m->access.kind == EVENT_ACQUIRE_SHARED;
}

/* Whether the lock of the acquire, which is before the moment, is still held there. */
static bool holds(const struct moment *acquire, const struct moment *m)
{
	return is_acquire(acquire) && acquire->access.thread == m->access.thread &&
	       (!acquire->until || acquire->until >= m->access.seq);
}

size_t moments_held(const struct moment *at, size_t i, size_t *to)
{
	size_t n = 0;

	for (size_t k = 0; k < i; k++)
		if (holds(&at[k], &at[i]))
			to[n++] = k;
	return n;
}

static bool excludes(const struct moment *a, const struct moment *b)
{
	return is_acquire(b) && a->access.object == b->access.object &&
	       (a->access.kind == EVENT_ACQUIRE || b->access.kind == EVENT_ACQUIRE);
}

/* Whether the block, right before its moment i, holds nothing that moments `from` to `count` take. */
static bool is_free(const struct moment *at, size_t i, size_t from, size_t count)
{
	for (size_t k = 0; k < i; k++)
		for (size_t j = from; holds(&at[k], &at[i]) && j < count; j++)
			if (excludes(&at[k], &at[j]))
				return false;
	return true;
}

static size_t role_at(const struct moment *at, size_t count, enum role role)
{
	size_t i = 0;

	while (i < count && at[i].role != role)
		i++;
	return i;
}

/* Where in the block, which is the first `own` moments, the others come in. */
static size_t gap_of(const struct moment *at, size_t own, size_t count)
{
	size_t first = role_at(at, own, ROLE_FIRST), second = role_at(at, own, ROLE_SECOND);

	for (size_t i = first + 1; i <= second && i < own; i++)
		if (is_free(at, i, own, count))
			return i;
	return first + 1 < own ? first + 1 : own;
}

static void reverse(struct moment *at, size_t from, size_t to)
{
	while (from + 1 < to) {
		struct moment m = at[from];

		at[from++] = at[--to];
		at[to] = m;
	}
}

/* From the block and the others to the block up to the gap, the others, the rest of the block. */
static void order_other(struct moment *at, size_t count)
{
	size_t own = 0, gap;

	while (own < count && at[own].access.thread == at[0].access.thread)
		own++;
	gap = gap_of(at, own, count);
	reverse(at, gap, own);
	reverse(at, own, count);
	reverse(at, gap, count);
}

/* The end of a thread has the number of the join that comes after it, its start that of the fork before. */
static bool is_before(const struct moment *a, const struct moment *b)
{
	return a->access.seq < b->access.seq || (a->access.seq == b->access.seq && a->ends && !b->ends);
}

/* Stable, and quick for threads that are in order already. */
static void order_seen(struct moment *at, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct moment m = at[i];
		size_t to = i;

		while (to && is_before(&m, &at[to - 1]))
			to--;
		memmove(&at[to + 1], &at[to], (i - to) * sizeof m);
		at[to] = m;
	}
}

void moments_order(struct moment *at, size_t count, const struct finding *f)
{
	if (finding_happened(f))
		order_seen(at, count);
	else
		order_other(at, count);
}
