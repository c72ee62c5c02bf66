/* SPDX-License-Identifier: MIT */
#include "multilockset.h"

#include <string.h>

#include "base/arena.h"
#include "state/held.h"

enum {
	CONCURRENT_WRITES = 1,
	CONCURRENT_READ = 2, /* with a write */
	WRITTEN = 4,
	READ = 8,
	SECOND = 16, /* it belongs to its last owner */
	SHARED = 32, /* it belongs to nobody: locks are intersected */
	SHARED_WRITTEN = 64,
	MANY = 128, /* several lines have touched it */
	MERGED = 256, /* it had too many read sets */
};

/* Periods of which none is before another. */
struct front {
	period_id *at;
	uint32_t count, capacity;
	period_id last; /* that was added */
};

struct variable {
	life_id life;
	uint32_t flags;
	uint32_t line;  /* that touched it first */
	uint32_t owner; /* while it has one */
	struct front reads, writes;
	lockset_id write_set;  /* WriteSet; without MULTILOCKSET_SETS what is held at every access */
	lockset_id read_set;   /* the last that was looked for in ReadSets */
	lockset_id *read_sets; /* ReadSets */
	uint32_t read_count, read_capacity;
};

struct life {
	uint64_t x;
	life_id whole; /* of which it is a part, 0 for none */
	uint8_t class;
};

void multilockset_init(struct multilockset *m, struct arena *a, struct locksets *locksets, struct periods *periods)
{
	*m = (struct multilockset){.arena = a, .locksets = locksets, .periods = periods};
	seg_init(&m->variable, a, sizeof(struct variable));
	seg_init(&m->life, a, sizeof(struct life));
	map_init(&m->met, a);
}

static inline struct variable *of(struct multilockset *m, uint64_t x)
{
	return seg_at(&m->variable, x, sizeof(struct variable));
}

static struct life *life_at(struct multilockset *m, life_id life)
{
	return seg_at(&m->life, life, sizeof(struct life));
}

static life_id life_new(struct multilockset *m, uint64_t x, life_id whole)
{
	*life_at(m, ++m->lives) = (struct life){.x = x, .whole = whole};
	if (x >= m->variables)
		m->variables = x + 1;
	return m->lives;
}

static inline life_id life_of(struct multilockset *m, struct variable *p, uint64_t x)
{
	if (__builtin_expect(!p->life, 0))
		p->life = life_new(m, x, 0);
	return p->life;
}

life_id multilockset_life(struct multilockset *m, uint64_t x)
{
	return life_of(m, of(m, x), x);
}

/* Periods. */

/* Whether the period, which has only come now, can run at the same time as one of the front. */
static bool front_meets(struct multilockset *m, const struct front *f, period_id now)
{
	for (uint32_t i = 0; i < f->count; i++)
		if (f->at[i] != now && !period_before(m->periods, f->at[i], now))
			return true;
	return false;
}

static void front_add(struct multilockset *m, struct front *f, period_id now)
{
	uint32_t kept = 0;
	size_t capacity = f->capacity;

	for (uint32_t i = 0; i < f->count; i++)
		if (f->at[i] != now && !period_before(m->periods, f->at[i], now))
			f->at[kept++] = f->at[i];
	f->at = arena_reserve(m->arena, f->at, &capacity, kept, sizeof *f->at);
	f->capacity = (uint32_t)capacity;
	f->at[kept++] = now;
	f->count = kept;
	f->last = now;
}

/*
 * A period that is in the front already has been compared with all that came before it, and what comes later is
 * compared with it.
 */
static inline void meet_periods(struct multilockset *m, struct variable *p, period_id now, bool write)
{
	struct front *mine = write ? &p->writes : &p->reads;

	if (mine->last == now)
		return;
	if (write && !(p->flags & CONCURRENT_WRITES) && front_meets(m, &p->writes, now))
		p->flags |= CONCURRENT_WRITES;
	if (!(p->flags & CONCURRENT_READ) && front_meets(m, write ? &p->reads : &p->writes, now))
		p->flags |= CONCURRENT_READ;
	if (!(p->flags & CONCURRENT_READ) || (write && !(p->flags & CONCURRENT_WRITES)))
		front_add(m, mine, now);
	else
		mine->last = now;
}

/* Locks. */

/* Whether all locks of a are in b. Most sets are of a size: then nothing is looked up, and no answer is kept. */
static bool is_within(struct multilockset *m, lockset_id a, lockset_id b)
{
	return a == b || (lockset_of(m->locksets, a).count < lockset_of(m->locksets, b).count &&
		lockset_within(m->locksets, a, b));
}

/* Whether the set has been added before. Some set within it is in ReadSets ever after, until the life ends. */
static bool was_met(struct multilockset *m, const struct variable *p, lockset_id set)
{
	uint32_t *met;

	if (p->read_count <= READ_SETS_FEW)
		return false;
	met = map_put(&m->met, (uint64_t)p->life << 32 | set);
	return (*met)++;
}

/*
 * ReadSets stays a set of sets of which none is within another. So does it if there are too many: the set has none of
 * them within it, so what it has in common with the last one is smaller than both, and takes the last one's place.
 */
static void read_sets_add(struct multilockset *m, struct variable *p, lockset_id set)
{
	uint32_t kept = 0;
	size_t capacity = p->read_capacity;

	for (uint32_t i = 0; i < p->read_count; i++)
		if (is_within(m, p->read_sets[i], set))
			return;
	if (p->read_count == READ_SETS_MOST) {
		set = lockset_meet(m->locksets, set, p->read_sets[READ_SETS_MOST - 1]);
		p->flags |= MERGED;
	}
	for (uint32_t i = 0; i < p->read_count; i++)
		if (!is_within(m, set, p->read_sets[i]))
			p->read_sets[kept++] = p->read_sets[i];
	p->read_sets = arena_reserve(m->arena, p->read_sets, &capacity, kept, sizeof set);
	p->read_capacity = (uint32_t)capacity;
	p->read_sets[kept++] = set;
	p->read_count = kept;
}

static inline void figure_3(struct multilockset *m, struct variable *p, const struct held *held, bool write)
{
	if (write) {
		p->write_set = p->flags & WRITTEN ? lockset_meet(m->locksets, p->write_set, held->exclusive) : held->exclusive;
	} else if (!(p->flags & READ) || p->read_set != held->all) {
		if (!was_met(m, p, held->all))
			read_sets_add(m, p, held->all);
		p->read_set = held->all;
	}
}

/* Eraser, after one owner or two. */
static void eraser(struct multilockset *m, struct variable *p, const struct event *e, lockset_id held)
{
	if (!(p->flags & SHARED)) {
		if (p->owner == e->line)
			return;
		if (!p->owner || !(p->flags & SECOND)) {
			if (p->owner || m->with & MULTILOCKSET_ESCAPE)
				p->flags |= SECOND;
			p->owner = e->line;
			return;
		}
		p->flags |= SHARED;
		p->write_set = held;
	}
	p->write_set = lockset_meet(m->locksets, p->write_set, held);
	if (!event_is_read(e->kind))
		p->flags |= SHARED_WRITTEN;
}

/* What has not escaped belongs to its thread, with all its parts. */
static void private_access(struct multilockset *m, struct variable *p, const struct event *e)
{
	if (m->with & MULTILOCKSET_SETS || p->flags & SHARED)
		return;
	p->owner = e->line;
	p->flags |= SECOND;
}

life_id multilockset_access(struct multilockset *m, const struct event *e, const struct held *held)
{
	struct variable *p = of(m, e->object);
	bool write = !event_is_read(e->kind);
	life_id life;

	if (e->flags & EVENT_PRIVATE && m->with & MULTILOCKSET_ESCAPE) {
		private_access(m, p, e);
		return 0;
	}
	life = life_of(m, p, e->object);
	if (!p->line)
		p->line = e->line;
	else if (p->line != e->line)
		p->flags |= MANY;
	if (m->with & MULTILOCKSET_PERIODS)
		meet_periods(m, p, period_now(m->periods, e->line), write);
	if (m->with & MULTILOCKSET_SETS)
		figure_3(m, p, held, write);
	else
		eraser(m, p, e, write ? held->exclusive : held->all);
	p->flags |= write ? WRITTEN : READ;
	return life;
}

/* Answers. */

static bool is_concurrent(const struct multilockset *m, const struct variable *p)
{
	return !(m->with & MULTILOCKSET_PERIODS) || p->flags & (CONCURRENT_WRITES | CONCURRENT_READ);
}

/* The cases of Figure 3: no write, no lock at all writes, some lock at all writes. */
static bool is_racy(struct multilockset *m, const struct variable *p)
{
	if (!(m->with & MULTILOCKSET_SETS))
		return p->flags & SHARED && p->flags & SHARED_WRITTEN && !p->write_set && is_concurrent(m, p);
	if (!(p->flags & WRITTEN))
		return false;
	if (!p->write_set)
		return is_concurrent(m, p);
	for (uint32_t i = 0; i < p->read_count && p->flags & CONCURRENT_READ; i++)
		if (lockset_disjoint(m->locksets, p->read_sets[i], p->write_set))
			return true;
	return false;
}

static void settle(struct multilockset *m, const struct variable *p)
{
	struct life *l = life_at(m, p->life);

	if (!p->life)
		return;
	if (is_racy(m, p)) {
		l->class |= LIFE_RACY;
		m->merged += p->write_set && p->flags & MERGED;
	}
	if (p->flags & MANY && p->flags & WRITTEN && is_concurrent(m, p))
		l->class |= LIFE_SHARED;
}

static void front_copy(struct multilockset *m, struct front *to, const struct front *from)
{
	*to = *from;
	to->at = from->at ? arena_alloc(m->arena, from->capacity * sizeof *to->at) : NULL;
	if (from->count)
		memcpy(to->at, from->at, from->count * sizeof *to->at);
}

/* Both parts have lives of their own from here on, or accesses to one would count for the other. */
void multilockset_split(struct multilockset *m, uint64_t x, uint64_t y)
{
	struct variable *from = of(m, x), *to = of(m, y);
	life_id whole = from->life;

	*to = *from;
	front_copy(m, &to->reads, &from->reads);
	front_copy(m, &to->writes, &from->writes);
	to->read_sets = from->read_sets ? arena_alloc(m->arena, from->read_capacity * sizeof *to->read_sets) : NULL;
	if (from->read_count)
		memcpy(to->read_sets, from->read_sets, from->read_count * sizeof *to->read_sets);
	if (!whole)
		return;
	from->life = life_new(m, x, whole);
	to->life = life_new(m, y, whole);
}

void multilockset_forget(struct multilockset *m, uint64_t x)
{
	struct variable *p = of(m, x);

	settle(m, p);
	arena_recycle(m->arena, p->reads.at, p->reads.capacity * sizeof *p->reads.at);
	arena_recycle(m->arena, p->writes.at, p->writes.capacity * sizeof *p->writes.at);
	arena_recycle(m->arena, p->read_sets, p->read_capacity * sizeof *p->read_sets);
	*p = (struct variable){0};
}

void multilockset_finish(struct multilockset *m)
{
	for (uint64_t x = 0; x < m->variables; x++)
		settle(m, of(m, x));
	for (life_id i = m->lives; i; i--)
		life_at(m, life_at(m, i)->whole)->class |= life_at(m, i)->class;
}

unsigned multilockset_class(struct multilockset *m, life_id life)
{
	return life_at(m, life)->class;
}

uint64_t multilockset_variable(struct multilockset *m, life_id life)
{
	return life_at(m, life)->x;
}
