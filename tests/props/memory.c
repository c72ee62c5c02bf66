/* SPDX-License-Identifier: MIT */
#include "memory.h"

#include <string.h>

static uint64_t written_cells(const struct steps *s)
{
	uint64_t cells = 0;

	for (size_t i = 0; i < steps_count(s); i++)
		if (steps_writes(&s->at[i]))
			cells |= s->at[i].cells;
	return cells;
}

bool sights_make(struct sights *g, const struct steps *s)
{
	g->count = 0;
	g->written = written_cells(s);
	for (size_t i = 0; i < steps_count(s); i++) {
		uint64_t left = steps_reads(&s->at[i]) ? s->at[i].cells & g->written : 0;

		for (; left; left &= left - 1) {
			if (g->count == SIGHTS_MOST)
				return false;
			g->at[g->count++] = (struct sight){(uint8_t)i, (uint8_t)__builtin_ctzll(left)};
		}
	}
	return true;
}

void view_step(struct view *v, const struct sights *g, const struct steps *s, size_t i)
{
	uint64_t left = steps_writes(&s->at[i]) ? s->at[i].cells : 0;

	for (size_t k = 0; k < g->count; k++)
		if (g->at[k].step == i)
			v->seen[k] = v->last[g->at[k].cell];
	for (; left; left &= left - 1)
		v->last[__builtin_ctzll(left)] = (uint8_t)(i + 1);
}

void view_recorded(struct view *v, const struct sights *g, const struct steps *s)
{
	*v = (struct view){{0}, {0}};
	for (size_t i = 0; i < steps_count(s); i++)
		view_step(v, g, s, s->order[i]);
}

/* The bit follows the cell: `source`, from 1, sets it, every other write clears it. */
static void follow(struct memory *m, const struct steps *s, uint64_t bit, size_t cell, size_t source)
{
	if (!source)
		m->start |= bit;
	for (size_t i = 0; i < steps_count(s); i++) {
		if (!steps_writes(&s->at[i]) || !(s->at[i].cells >> cell & 1))
			continue;
		if (i + 1 == source)
			m->serves[i] |= bit;
		else
			m->spoils[i] |= bit;
	}
}

void memory_keep(struct memory *m, const struct sights *g, const struct steps *s, const struct view *v, uint64_t strict)
{
	memset(m, 0, sizeof *m);
	for (size_t k = 0; k < g->count; k++) {
		uint64_t bit = (uint64_t)1 << k;

		if (!(strict >> g->at[k].step & 1))
			continue;
		m->reads[g->at[k].step] |= bit;
		follow(m, s, bit, g->at[k].cell, v->seen[k]);
	}
}

bool memory_keep_last(struct memory *m, const struct sights *g, const struct steps *s, const struct view *v)
{
	size_t k = g->count;

	for (uint64_t left = g->written; left; left &= left - 1, k++) {
		size_t cell = (size_t)__builtin_ctzll(left);

		if (k >= SIGHTS_MOST)
			return false;
		m->end |= (uint64_t)1 << k;
		follow(m, s, (uint64_t)1 << k, cell, v->last[cell]);
	}
	return true;
}

int state_possible(const struct steps *s, const struct memory *m, struct state at, size_t t)
{
	int i = steps_next(s, at.positions, t);

	if (i < 0 || m->reads[i] & ~at.memory || !steps_can(s, at.positions, (size_t)i))
		return -1;
	return i;
}

struct state state_after(const struct steps *s, const struct memory *m, struct state at, size_t i)
{
	at.positions += (uint64_t)1 << (8 * s->at[i].thread);
	at.memory = (at.memory & ~m->reads[i] & ~m->spoils[i]) | m->serves[i];
	return at;
}
