/* SPDX-License-Identifier: MIT */
#include "shares.h"

#include <assert.h>
#include <string.h>

void shares_init(struct shares *s, struct arena *a, size_t element, struct shares_owner by)
{
	*s = (struct shares){.arena = a, .element = element, .by = by, .count = SHARES_OWN};
	seg_init(&s->of, a, sizeof(uint32_t));
	seg_init(&s->own, a, element);
	seg_init(&s->record, a, element);
	seg_init(&s->users, a, sizeof(uint32_t));
}

static void *record_at(struct shares *s, uint32_t i)
{
	return seg_at(&s->record, i, s->element);
}

static uint32_t *users_of(struct shares *s, uint32_t i)
{
	return seg_at(&s->users, i, sizeof(uint32_t));
}

static uint32_t record_new(struct shares *s)
{
	uint32_t i = s->freed;

	if (!i)
		return ++s->count;
	memcpy(&s->freed, record_at(s, i), sizeof s->freed);
	memset(record_at(s, i), 0, sizeof s->freed);
	return i;
}

static void use(struct shares *s, uint32_t i)
{
	if (i != SHARES_NOTHING)
		++*users_of(s, i);
}

static void leave(struct shares *s, uint32_t i)
{
	if (i == SHARES_NOTHING || --*users_of(s, i))
		return;
	s->by.drop(s->by.self, record_at(s, i));
	memcpy(record_at(s, i), &s->freed, sizeof s->freed);
	s->freed = i;
}

void shares_part(struct shares *s, uint64_t x)
{
	uint32_t *word = shares_word(s, x), from = *word;

	if (from != SHARES_NOTHING)
		s->by.copy(s->by.self, seg_at(&s->own, x, s->element), record_at(s, from));
	leave(s, from);
	*word = SHARES_OWN;
}

/* The first of two places for the step. */
static struct share_step *step_of(struct shares *s, uint32_t from, const struct share_deed *deed)
{
	uint64_t h = from;

	for (size_t i = 0; i < SHARE_KEY; i++)
		h = h * 31 + deed->key[i];
	h ^= h >> 32;
	return s->step[(uint32_t)h * 0x9E3779B1u >> (32 - SHARES_STEP_BITS)];
}

static bool is_step(const struct share_step *p, uint32_t from, const struct share_deed *deed)
{
	uint64_t differ = p->from ^ from;

	for (size_t i = 0; i < SHARE_KEY; i++)
		differ |= p->deed.key[i] ^ deed->key[i];
	return p->to && !differ;
}

static void step_forget(struct shares *s, struct share_step *p)
{
	if (!p->to)
		return;
	leave(s, p->from);
	leave(s, p->to);
	p->to = 0;
}

/* A new record for the variable to have, and a step that leads to it: instead of the one that was asked for less lately. */
static void step_make(struct shares *s, struct share_step *p, uint32_t from, const struct share_deed *deed)
{
	uint32_t to = record_new(s);

	s->by.copy(s->by.self, record_at(s, to), record_at(s, from));
	use(s, from);
	use(s, to);
	step_forget(s, &p[1]);
	p[1] = p[0];
	p[0] = (struct share_step){from, to, *deed};
}

/* Whether it is known, and then it is the first of its two. */
static bool step_find(struct share_step *p, uint32_t from, const struct share_deed *deed)
{
	struct share_step other = p[1];

	if (is_step(&p[0], from, deed))
		return true;
	if (!is_step(&other, from, deed))
		return false;
	p[1] = p[0];
	p[0] = other;
	return true;
}

void *shares_become(struct shares *s, uint64_t x, const struct share_deed *deed)
{
	uint32_t *word = shares_word(s, x), from = *word;
	struct share_step *p = step_of(s, from, deed);
	bool known = step_find(p, from, deed);

	assert(from != SHARES_OWN);
	if (!known)
		step_make(s, p, from, deed);
	use(s, p->to);
	leave(s, from);
	*word = p->to;
	return known ? NULL : record_at(s, p->to);
}

void shares_claim(struct shares *s, uint64_t x)
{
	uint32_t i = *shares_word(s, x);

	shares_part(s, x);
	for (size_t k = 0; k < 2 * SHARES_STEPS; k++)
		if (s->step[k / 2][k % 2].to == i)
			step_forget(s, &s->step[k / 2][k % 2]);
}

void shares_split(struct shares *s, uint64_t x, uint64_t y)
{
	uint32_t from = *shares_word(s, x);

	if (from != SHARES_OWN)
		use(s, from);
	else
		s->by.copy(s->by.self, seg_at(&s->own, y, s->element), seg_at(&s->own, x, s->element));
	*shares_word(s, y) = from;
}

/* A place of its own stays: what had one will need it again. */
void shares_forget(struct shares *s, uint64_t x)
{
	uint32_t *word = shares_word(s, x);

	if (*word == SHARES_OWN) {
		s->by.drop(s->by.self, seg_at(&s->own, x, s->element));
		return;
	}
	leave(s, *word);
	*word = SHARES_NOTHING;
}
