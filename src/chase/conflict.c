/* SPDX-License-Identifier: MIT */
#include "conflict.h"

#include <stdlib.h>

#include "base/arena.h"
#include "chase/execute.h"
#include "chase/judge.h"
#include "finding/moment.h"

enum { FAR = 256 }; /* steps of the block that are looked at on either side */

/* Two accesses that conflict: one of the block, one of another thread inside of the window. */
struct clash {
	uint32_t mine, other, loc;
};

/* Steps of the trace. */
struct window {
	const struct whole *w;
	uint32_t thread;
	uint32_t begin;        /* of the block */
	uint32_t opens, closes; /* the block's two ends */
};

static bool overlap(const struct step *a, const struct step *b, uint32_t *loc)
{
	*loc = a->object > b->object ? a->object : b->object;
	return step_is_access(a) && step_is_access(b) && (step_writes(a) || step_writes(b)) &&
		*loc < a->object + a->locs && *loc < b->object + b->locs;
}

static bool find_other(const struct window *k, uint32_t mine, struct clash *to)
{
	for (uint32_t i = k->opens + 1; i < k->closes; i++) {
		uint32_t loc;

		if (k->w->step[i].thread == k->thread || !overlap(&k->w->step[mine], &k->w->step[i], &loc))
			continue;
		*to = (struct clash){mine, i, loc};
		return true;
	}
	return false;
}

static bool find_first(const struct window *k, struct clash *to)
{
	const uint32_t *list = whole_thread_steps(k->w, k->thread).at;

	for (uint32_t i = k->w->step[k->opens].at + 1, n = 0; i-- > 0 && list[i] >= k->begin && n < FAR; n++)
		if (find_other(k, list[i], to))
			return true;
	return false;
}

/* Up to where the section ends that begins at the window's end. */
static bool find_second(const struct window *k, struct clash *to)
{
	struct slice all = whole_thread_steps(k->w, k->thread);
	uint32_t end = k->w->step[k->closes].kind == STEP_ACQUIRE ? k->w->step[k->closes].mate : k->closes;

	for (uint32_t i = k->w->step[k->closes].at, n = 0; i < all.count && all.at[i] <= end && n < FAR; i++, n++)
		if (find_other(k, all.at[i], to))
			return true;
	return false;
}

/* Moments. */

static int compare(const void *left, const void *right)
{
	const struct moment *a = left, *b = right;

	return a->access.seq < b->access.seq ? -1 : a->access.seq > b->access.seq;
}

/* How many operations of the row's thread come between the row before and it. */
static uint32_t skipped_before(const struct whole *w, const struct moment *row, size_t i)
{
	uint32_t n = 0;
	size_t before = i;

	while (before > 0 && row[before - 1].access.thread != row[i].access.thread)
		before--;
	if (!before)
		return row[i].skipped;
	for (uint64_t seq = row[before - 1].access.seq + 1; seq < row[i].access.seq && seq <= w->count; seq++)
		n += w->event[seq - 1].thread == row[i].access.thread && w->step_of[seq - 1] != NO_STEP;
	return n;
}

static void add_rows(struct judged *j, struct finding *f)
{
	const struct link *path = f->path;
	const struct moment own[] = {
		{.access = path[0].from, .role = ROLE_FIRST}, {.access = path[0].to, .role = ROLE_CULPRIT},
		{.access = path[1].from, .role = ROLE_CULPRIT}, {.access = path[1].to, .role = ROLE_SECOND},
	};
	struct moment *row = arena_alloc(&j->execution->arena, (f->moments_count + 4) * sizeof *row);
	size_t n = 0;

	for (size_t i = 0; i < f->moments_count && f->moments_count + 4 <= MOMENTS_MOST; i++) {
		row[n] = f->moments[i];
		row[n++].role = ROLE_NONE;
	}
	for (size_t i = 0; i < 4; i++)
		if (i != 2 || own[2].access.seq != own[1].access.seq)
			row[n++] = own[i];
	qsort(row, n, sizeof *row, compare);
	for (size_t i = 0; i < n; i++)
		row[i].skipped = skipped_before(&j->whole, row, i);
	f->moments = row;
	f->moments_count = n;
}

/* The step of an operation of the path, or the next one behind it. */
static uint32_t step_at(const struct whole *w, uint64_t seq)
{
	return seq && seq <= w->count ? w->first_of[seq - 1] : (uint32_t)NO_STEP;
}

/* False if the trace does not have it. */
static bool window_of(struct window *k, const struct whole *w, const struct finding *f)
{
	*k = (struct window){.w = w, .begin = step_at(w, f->block.seq), .opens = step_at(w, f->path[0].from.seq),
		.closes = step_at(w, f->path[f->links - 1].to.seq)};
	if (k->begin >= w->steps || k->opens >= w->steps || k->closes >= w->steps)
		return false;
	k->thread = w->step[k->opens].thread;
	return w->step[k->closes].thread == k->thread;
}

void conflict_tell(struct judged *j, size_t finding)
{
	struct finding *f = &j->findings.at[finding];
	const struct whole *w = &j->whole;
	struct link *path;
	struct window k;
	struct clash a, b;

	if (finding_has_data(f) || !window_of(&k, w, f) || !find_first(&k, &a) || !find_second(&k, &b))
		return;
	path = arena_alloc(&j->execution->arena, 2 * sizeof *path);
	path[0] = (struct link){candidate_access(w, a.mine, a.loc), candidate_access(w, a.other, a.loc), true};
	path[1] = (struct link){candidate_access(w, b.other, b.loc), candidate_access(w, b.mine, b.loc), true};
	f->lock = finding_lock(f);
	f->path = path;
	f->links = 2;
	add_rows(j, f);
	findings_learn(&j->findings, finding, f->facts);
}
