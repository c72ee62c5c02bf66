/* SPDX-License-Identifier: MIT */
#include "clocks.h"

#include "base/fail.h"

void clocks_init(struct clocks *c, struct arena *a, enum clocks_order order)
{
	c->arena = a;
	c->order = order;
	seg_init(&c->line, a, sizeof(struct line_clock));
	seg_init(&c->lock, a, sizeof(struct lock_clock));
	seg_init(&c->semaphore, a, sizeof(struct vclock));
	seg_init(&c->atomic, a, sizeof(struct vclock));
}

void clocks_start(struct clocks *c, uint32_t line)
{
	struct line_clock *l = seg_at(&c->line, line, sizeof *l);

	vclock_set(&l->now, c->arena, line, 1);
}

static inline struct line_clock *line_of(struct clocks *c, uint32_t line)
{
	struct line_clock *l = seg_at(&c->line, line, sizeof *l);

	if (__builtin_expect(vclock_get(&l->now, line) == 0, 0))
		clocks_start(c, line);
	return l;
}

static inline struct vclock *now_of(struct clocks *c, uint32_t line)
{
	return &line_of(c, line)->now;
}

static struct lock_clock *lock_of(struct clocks *c, uint64_t m)
{
	return seg_at(&c->lock, m, sizeof(struct lock_clock));
}

/* Others can have learned of the line's time: what comes now is later. */
static inline void tick_now(struct vclock *now, uint32_t line)
{
	if (now->at[line] == UINT32_MAX)
		die(STATUS_UNFIT, "a thread with more than %u synchronisations", UINT32_MAX);
	now->at[line]++;
}

static void tick(struct clocks *c, uint32_t line)
{
	tick_now(now_of(c, line), line);
}

void clocks_acquire(struct clocks *c, const struct event *e)
{
	struct lock_clock *m = lock_of(c, e->object);
	struct vclock *now = now_of(c, e->line);

	if (!epoch_within(m->last, now))
		vclock_join(now, c->arena, &m->exclusive);
	if (e->kind != EVENT_ACQUIRE_SHARED && m->readers)
		vclock_join(now, c->arena, &m->shared);
}

static void release_shared(struct clocks *c, struct lock_clock *m, const struct vclock *now)
{
	if (m->readers)
		vclock_join(&m->shared, c->arena, now);
	else
		vclock_copy(&m->shared, c->arena, now);
	m->readers = true;
}

/* Who acquired the exclusive side knows the readers before. A lenient run may let go what was never acquired. */
static void release_exclusive(struct clocks *c, struct lock_clock *m, const struct vclock *now)
{
	vclock_copy(&m->exclusive, c->arena, now);
	if (m->readers && vclock_within(&m->shared, now))
		m->readers = false;
}

void clocks_release(struct clocks *c, const struct event *e)
{
	struct lock_clock *m = lock_of(c, e->object);
	struct vclock *now = now_of(c, e->line);

	if (e->kind == EVENT_RELEASE_SHARED) {
		release_shared(c, m, now);
	} else {
		release_exclusive(c, m, now);
		m->last = (struct epoch){e->line, now->at[e->line]};
	}
	tick_now(now, e->line);
}

static const struct vclock nothing;

/*
 * A line that had a thread before goes on where that one stopped: everything of it comes before the new one. But its
 * fences and relaxed loads were its own.
 */
void clocks_fork(struct clocks *c, uint32_t parent, uint32_t child)
{
	vclock_copy(&line_of(c, child)->released, c->arena, &nothing);
	vclock_copy(&line_of(c, child)->read, c->arena, &nothing);
	vclock_join(now_of(c, child), c->arena, now_of(c, parent));
	tick(c, child);
	tick(c, parent);
}

void clocks_join(struct clocks *c, uint32_t parent, uint32_t child)
{
	vclock_join(now_of(c, parent), c->arena, now_of(c, child));
}

void clocks_arrive(struct clocks *c, uint32_t line, struct vclock *round)
{
	vclock_join(round, c->arena, now_of(c, line));
	tick(c, line);
}

void clocks_depart(struct clocks *c, uint32_t line, const struct vclock *round)
{
	vclock_join(now_of(c, line), c->arena, round);
}

void clocks_post(struct clocks *c, const struct event *e)
{
	vclock_join(seg_at(&c->semaphore, e->object, sizeof(struct vclock)), c->arena, now_of(c, e->line));
	tick(c, e->line);
}

void clocks_take(struct clocks *c, const struct event *e)
{
	vclock_join(now_of(c, e->line), c->arena, seg_at(&c->semaphore, e->object, sizeof(struct vclock)));
}

/* Atomics. */

static bool acquires(const struct clocks *c, const struct event *e)
{
	return c->order == CLOCKS_CAUSES || e->order == ORDER_CONSUME || e->order == ORDER_ACQUIRE ||
	       e->order == ORDER_ACQ_REL || e->order == ORDER_SEQ_CST;
}

static bool releases(const struct clocks *c, const struct event *e)
{
	return c->order == CLOCKS_CAUSES || e->order == ORDER_RELEASE || e->order == ORDER_ACQ_REL ||
	       e->order == ORDER_SEQ_CST;
}

static void fence(struct clocks *c, const struct event *e)
{
	struct line_clock *l = line_of(c, e->line);

	if (acquires(c, e))
		vclock_join(&l->now, c->arena, &l->read);
	if (releases(c, e)) {
		vclock_copy(&l->released, c->arena, &l->now);
		tick(c, e->line);
	}
}

/* A relaxed load passes on what it read only at the line's next acquire fence. */
static void load(struct clocks *c, const struct event *e, const struct vclock *x)
{
	struct line_clock *l = line_of(c, e->line);

	vclock_join(acquires(c, e) ? &l->now : &l->read, c->arena, x);
}

/* A plain store starts anew; a read-modify-write adds to what it has read. Relaxed: as of the last release fence. */
static void store(struct clocks *c, const struct event *e, struct vclock *x)
{
	struct line_clock *l = line_of(c, e->line);
	const struct vclock *passed = releases(c, e) ? &l->now : &l->released;

	if (e->kind == EVENT_ATOMIC_RMW)
		vclock_join(x, c->arena, passed);
	else
		vclock_copy(x, c->arena, passed);
	tick(c, e->line);
}

void clocks_atomic(struct clocks *c, const struct event *e)
{
	struct vclock *x;

	if (e->kind == EVENT_ATOMIC_FENCE) {
		fence(c, e);
		return;
	}
	x = seg_at(&c->atomic, e->object, sizeof *x);
	if (e->kind != EVENT_ATOMIC_STORE)
		load(c, e, x);
	if (e->kind != EVENT_ATOMIC_LOAD)
		store(c, e, x);
}

bool clocks_reads(struct clocks *c, const struct event *e, struct epoch p)
{
	const struct vclock *x = seg_at(&c->atomic, e->object, sizeof *x);

	return e->kind != EVENT_ATOMIC_STORE && acquires(c, e) && epoch_within(p, x);
}

/* Most variables are no atomics: nothing is made for those. */
static bool is_atomic(const struct clocks *c, uint64_t x)
{
	const struct vclock *clock = seg_hint(&c->atomic, x, sizeof *clock);

	return clock && clock->lines;
}

void clocks_split(struct clocks *c, uint64_t x, uint64_t y)
{
	if (is_atomic(c, x))
		vclock_copy(seg_at(&c->atomic, y, sizeof(struct vclock)), c->arena,
			seg_at(&c->atomic, x, sizeof(struct vclock)));
}

void clocks_forget(struct clocks *c, uint64_t x)
{
	if (is_atomic(c, x))
		vclock_copy(seg_at(&c->atomic, x, sizeof(struct vclock)), c->arena, &nothing);
}
