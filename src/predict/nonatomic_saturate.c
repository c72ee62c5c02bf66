/* SPDX-License-Identifier: MIT */
#include "nonatomic_saturate.h"

#include "predict/nonatomic.h"
#include "predict/nonatomic_reach.h"

enum { NONE = HISTORY_NONE, INITIAL = NONE - 1 };

/* A block that reads a value from a variable: the end of the run, too. */
struct reader {
	uint32_t block, variable, value;
};

struct saturation {
	struct reach *r;
	const struct history *h;
	uint64_t left; /* of the budget */
};

static bool spend(struct saturation *s)
{
	return s->left && s->left--;
}

/* How many of the writers, which are of one thread, must come before the block. */
static uint32_t writers_before(const struct saturation *s, struct writers w, uint32_t block)
{
	uint32_t low = 0, high = w.count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (reach_before(s->r, s->h->use[w.use[middle]].block, block))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The last writer of the thread that must come before the reader and is not it; NONE. */
static uint32_t last_before(const struct saturation *s, const struct reader *by, struct writers w)
{
	uint32_t n = writers_before(s, w, by->block);

	n -= n > 0 && s->h->use[w.use[n - 1]].block == by->block;
	return n ? s->h->use[w.use[n - 1]].block : (uint32_t)NONE;
}

/* The first writer of the thread that must come after the source, which is not INITIAL, and is not it; NONE. */
static uint32_t first_after(const struct saturation *s, uint32_t source, struct writers w)
{
	uint32_t low = 0, high = w.count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2, b = s->h->use[w.use[middle]].block;

		if (b == source || !reach_before(s->r, source, b))
			low = middle + 1;
		else
			high = middle;
	}
	return low < w.count ? s->h->use[w.use[low]].block : (uint32_t)NONE;
}

/*
 * Whether some writer of x must come after the source (INITIAL: at all) and before the reader. If one of a thread does,
 * the last one before the reader does.
 */
static bool is_covered(struct saturation *s, const struct reader *by, uint32_t source)
{
	for (uint32_t t = 0; t < s->h->q->threads && spend(s); t++) {
		uint32_t last = last_before(s, by, history_writers(s->h, by->variable, t));

		if (last != NONE && last != source && (source == INITIAL || reach_before(s->r, source, last)))
			return true;
	}
	return false;
}

/* How many sources the reader has, up to 2, and one of them. */
static unsigned sources(struct saturation *s, const struct reader *by, uint32_t *one)
{
	uint32_t initial = s->h->initial[by->variable];
	unsigned count = 0;

	if ((!initial || initial == by->value) && !is_covered(s, by, INITIAL)) {
		*one = INITIAL;
		count++;
	}
	for (int unknown = 0; unknown < 2; unknown++) {
		uint32_t i = history_leaving(s->h, by->variable, unknown ? 0 : by->value);

		for (; i != NONE && count < 2 && spend(s); i = s->h->use[i].same) {
			uint32_t b = s->h->use[i].block;

			if (b == by->block || reach_before(s->r, by->block, b) || is_covered(s, by, b))
				continue;
			*one = b;
			count++;
		}
	}
	return count;
}

/*
 * No writer of the thread comes between the source and the reader: those that must come before the reader come before
 * the source, and those that must come after the source after the reader. It takes the last of the ones, the first of
 * the others.
 */
static bool keep_apart(struct saturation *s, const struct reader *by, uint32_t source, struct writers w)
{
	uint32_t last = last_before(s, by, w), first;

	if (source == INITIAL)
		first = w.count ? s->h->use[w.use[0]].block : (uint32_t)NONE;
	else
		first = first_after(s, source, w);
	if (source != INITIAL && last != NONE && last != source && !reach_add(s->r, last, source))
		return false;
	return first == NONE || first == by->block || reach_add(s->r, by->block, first);
}

/* The reader's only source is known. */
static bool take_source(struct saturation *s, const struct reader *by, uint32_t source)
{
	if (source != INITIAL && !reach_add(s->r, source, by->block))
		return false;
	for (uint32_t t = 0; t < s->h->q->threads && spend(s); t++)
		if (!keep_apart(s, by, source, history_writers(s->h, by->variable, t)))
			return false;
	return true;
}

static bool learn_from(struct saturation *s, const struct reader *by)
{
	uint32_t source = NONE;
	unsigned count = sources(s, by, &source);

	if (!s->left)
		return true;
	return count > 1 || (count == 1 && take_source(s, by, source));
}

/* One round over all readers. False at a contradiction. */
static bool round_goes(struct saturation *s, uint32_t *op)
{
	for (uint32_t i = 0; i < s->h->uses && s->left; i++) {
		const struct use *u = &s->h->use[i];

		*op = u->first;
		if (u->reads && u->ext && !learn_from(s, &(struct reader){u->block, u->variable, u->ext}))
			return false;
	}
	return true;
}

/* The write that has left its value in x: the last one. */
static uint32_t last_write(const struct history *h, uint32_t x)
{
	uint32_t last = 0;

	for (uint32_t i = h->of_at[x]; i < h->of_at[x + 1]; i++) {
		const struct use *u = &h->use[h->of[i]];

		if (u->writes && u->last_write > last)
			last = u->last_write;
	}
	return last;
}

static bool end_goes(struct saturation *s, uint32_t *op)
{
	for (uint32_t x = 0; x < s->h->q->variables && s->left; x++) {
		if (s->h->final[x] && !learn_from(s, &(struct reader){reach_end(s->r), x, s->h->final[x]})) {
			*op = last_write(s->h, x);
			return false;
		}
	}
	return true;
}

bool saturate(struct reach *r, bool final, uint64_t budget, uint32_t *op)
{
	struct saturation s = {r, r->h, budget};
	uint64_t before;

	do {
		before = r->work;
		if (!round_goes(&s, op) || (final && !end_goes(&s, op)))
			return false;
	} while (r->work != before && s.left);
	return true;
}
