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

/* The uses of a variable that write it: from `of_at` on, skipping the others. NULL at the end. */
static const struct use *writer(const struct saturation *s, uint32_t x, uint32_t *i)
{
	while (*i < s->h->of_at[x + 1]) {
		const struct use *u = &s->h->use[s->h->of[(*i)++]];

		if (u->writes)
			return u;
	}
	return NULL;
}

/* Whether some writer of x must come after the source (INITIAL: at all) and before the reader. */
static bool is_covered(struct saturation *s, const struct reader *by, uint32_t source)
{
	uint32_t i = s->h->of_at[by->variable];

	for (const struct use *w = writer(s, by->variable, &i); w && spend(s); w = writer(s, by->variable, &i)) {
		if (w->block == by->block || w->block == source || !reach_before(s->r, w->block, by->block))
			continue;
		if (source == INITIAL || reach_before(s->r, source, w->block))
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

		for (; i != NONE && count < 2; i = s->h->use[i].same) {
			uint32_t b = s->h->use[i].block;

			if (b == by->block || reach_before(s->r, by->block, b) || is_covered(s, by, b))
				continue;
			*one = b;
			count++;
		}
	}
	return count;
}

/* The reader's only source is known: no other writer comes between. */
static bool keep_apart(struct saturation *s, const struct reader *by, uint32_t source)
{
	uint32_t i = s->h->of_at[by->variable];

	if (source != INITIAL && !reach_add(s->r, source, by->block))
		return false;
	for (const struct use *w = writer(s, by->variable, &i); w && spend(s); w = writer(s, by->variable, &i)) {
		if (w->block == by->block || w->block == source)
			continue;
		if (source == INITIAL || reach_before(s->r, source, w->block)) {
			if (!reach_add(s->r, by->block, w->block))
				return false;
		} else if (reach_before(s->r, w->block, by->block) && !reach_add(s->r, w->block, source)) {
			return false;
		}
	}
	return true;
}

static bool learn_from(struct saturation *s, const struct reader *by)
{
	uint32_t source = NONE;
	unsigned count = sources(s, by, &source);

	if (!s->left)
		return true;
	return count > 1 || (count == 1 && keep_apart(s, by, source));
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
