/* SPDX-License-Identifier: MIT */
#include "lines.h"

#include "base/arena.h"
#include "base/fail.h"

void lines_init(struct lines *l, struct arena *a)
{
	*l = (struct lines){.arena = a};
	seg_init(&l->of_thread, a, sizeof(uint32_t));
	seg_init(&l->spare, a, sizeof(uint32_t));
	seg_init(&l->past, a, sizeof(struct line_past));
}

static uint32_t *line_slot(struct lines *l, thread_id t)
{
	return seg_at(&l->of_thread, t, sizeof(uint32_t));
}

static uint32_t *spare_slot(struct lines *l, uint32_t line)
{
	return seg_at(&l->spare, line, sizeof(uint32_t));
}

uint32_t lines_new(struct lines *l, thread_id t)
{
	if (l->count == MARK_LINE_MOST)
		die(STATUS_UNFIT, "more than %llu threads at a time", (unsigned long long)MARK_LINE_MOST);
	return *line_slot(l, t) = ++l->count;
}

/* Takes the first line that t may give away, or a new one. */
static uint32_t line_for(struct lines *l, thread_id t, thread_id u)
{
	uint32_t *list = spare_slot(l, lines_of(l, t));
	uint32_t line = *list;

	if (!line)
		return lines_of(l, u);
	*list = *spare_slot(l, line);
	*spare_slot(l, line) = 0;
	return *line_slot(l, u) = line;
}

static struct line_past *past_of(struct lines *l, uint32_t line)
{
	return seg_at(&l->past, line, sizeof(struct line_past));
}

uint32_t lines_fork(struct lines *l, const struct event *fork)
{
	uint32_t line = line_for(l, fork->thread, (thread_id)fork->object);
	struct line_past *p = past_of(l, line);

	p->birth = arena_reserve(l->arena, p->birth, &p->capacity, p->count, sizeof *p->birth);
	p->birth[p->count++] = (struct birth){mark_of(fork), (thread_id)fork->object, p->joins};
	p->joins = (struct marks){0};
	return line;
}

const struct birth *lines_birth(struct lines *l, uint32_t line, uint64_t seq)
{
	const struct line_past *p = past_of(l, line);
	size_t i = p->count;

	while (i && mark_seq(&p->birth[i - 1].fork) > seq)
		i--;
	return i ? &p->birth[i - 1] : NULL;
}

static void joined(struct lines *l, uint32_t line, const struct event *join)
{
	struct marks *m = &past_of(l, line)->joins;

	m->at = arena_reserve(l->arena, m->at, &m->capacity, m->count, sizeof *m->at);
	m->at[m->count] = mark_of(join);
	m->at[m->count++].value = join->object;
}

/* The joined thread's own list is put behind its line, and the joining thread's list behind that. */
void lines_join(struct lines *l, const struct event *join)
{
	uint32_t line = lines_of(l, (thread_id)join->object);
	uint32_t *list = spare_slot(l, lines_of(l, join->thread));
	uint32_t last = line;

	joined(l, line, join);
	while (*spare_slot(l, last)) {
		last = *spare_slot(l, last);
		joined(l, last, join);
	}
	*spare_slot(l, last) = *list;
	*list = line;
}
