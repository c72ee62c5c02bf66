/* SPDX-License-Identifier: MIT */
/*
 * sidetrack: could another thread have taken a lock between two of a block's acquires of it?
 *
 * Reported is the innermost block that holds two acquires of one lock, the *window*, and another thread's acquire, the
 * *culprit*, that was before the window (BEFORE), in it (IN) or after it (AFTER) and need not have been. IN with
 * conflicting data was `observed`: the run was split there. BEFORE and AFTER are `predicted` where accesses are
 * known and show that the culprit's section fits into the window and conflicts with both of its ends; findings_finish
 * takes that back where races or deadlocks are in the way. Everything else is `suspected`.
 *
 * SideTrack (Yi, Sadowski, Flanagan, PADTAD 2009), Figure 6, whose rules are named below. [ENTER], [EXIT] and H_t are
 * the open activations; [FORK], [JOIN] and C_t are the clocks of CLOCKS_CAUSES, which also know barriers, semaphores,
 * waits and atomics. Ours beyond the paper: shared sides of a lock exclude each other's windows only where a side
 * is exclusive; blocks nest, and a window is two acquires in a row; BEFORE goes to the window that a block's
 * first acquire opens; a prediction needs a data witness, a culprit whose section is known to end (it waits for nobody
 * and takes leaves only, see section.h) and, for BEFORE, a window whose thread has learned nothing from the culprit
 * or what followed it: otherwise, put first, it might never acquire again.
 *
 * Why a prediction holds. AFTER: let the run go as recorded up to the second acquire, and after it only what the
 * culprit's thread had seen. The lock is free, because its sections behind the second acquire come after it, and the
 * culprit has not seen that. BEFORE: let the run go up to the second acquire without the culprit and all that
 * came after it, but for the window's own thread, which owes nothing to any of that; the culprit is where it was.
 * Either way what was read was written before, in a program without races. Then the culprit takes the lock.
 *
 * State, with the paper's symbols; times stand for clocks, because whoever has seen u's time k has seen all of u up to
 * the operation that ended k:
 *   lock.acquired    A_m, of the exclusive side; the shared one has its own
 *   lock.released    R_m, likewise
 *   lock.newest      V_m, a window for each line, the newest first. A window by the exclusive side has seen all that
 *                    are older, so a line that has seen it needs to look no further
 *   visit.last       m in H_t: the line's last acquire of the lock; held by a block, it makes the next one second.
 *                    A table for each line, out of which goes what is older than every open block
 *   visit.culprit    m in I_t: what that acquire could have come before
 *   line.pending     reports that wait for a section to end, so that its data can be looked at
 * Everything belongs to the run and is touched by its handlers only.
 *
 * Cost: constant an acquire and release, a step more for each window that is news; accesses cost nothing unless
 * another check asks for them. Data is looked for at most TRIES times for the same places.
 */
#include "check/sidetrack.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"
#include "check/check.h"
#include "check/section.h"

enum { TRIES = 8, VISITS_LEAST = 16 };

enum kind { BEFORE, IN, AFTER };

static const char *const kind_text[] = {[BEFORE] = "BEFORE", [IN] = "IN", [AFTER] = "AFTER"};

enum { EXCLUSIVE, SHARED, SIDES };

/* An operation on a lock: when it was, in the clocks' time, and its acquire. */
struct instant {
	struct epoch when;
	struct mark acquire;
	uint32_t changes; /* of variables, when it was acquired */
};

struct window {
	struct window *newer, *older;
	struct epoch when; /* of the second acquire */
	struct block block;
	struct mark first, second;
	uint32_t changes; /* at the first acquire */
	bool inside;      /* all of the second section was in the block */
};

/* What one line has to do with one lock. */
struct visit {
	sync_id lock;
	uint32_t changes; /* at `last` */
	struct mark last; /* its last acquire in a block */
	struct window *window; /* the line's, of the lock; NULL if it was not looked up since */
	uint64_t before;  /* seq of the one before that */
	struct mark culprit;
	uint32_t culprit_changes;
	uint32_t round; /* the line's, or the place is free */
};

struct readers {
	struct instant acquired, released;
};

struct lock {
	struct mark acquire; /* the last one of the exclusive side */
	clock_time acquired, released; /* of its line; 0 while it is held */
	uint32_t changes;
	struct window *newest;
	struct readers *readers; /* NULL while there were none */
};

_Static_assert(sizeof(struct lock) == 64, "one cache line");

/* A report that waits for a section to end. */
struct pending {
	enum kind kind;
	sync_id lock;
	struct window window; /* a copy */
	struct mark culprit;
	uint32_t changes; /* at the earliest of its acquires */
	uint64_t end;     /* where the section that it waited for was over, 0 if it never was */
	uint64_t key;
};

struct line {
	struct pending *pending;
	size_t count, capacity;
	struct visit *visit; /* open addressing, at most half full */
	uint32_t visits, used;
	uint32_t round;  /* from 1 */
	uint64_t latest; /* seq of the last visit */
	/* Of the line, found once: none of it ever moves. */
	struct section_list *sections;
	const struct activations *open;
	const struct vclock *now; /* in CLOCKS_CAUSES */
};

struct sidetrack {
	struct run *run;
	struct sections sections;
	struct seg lock;       /* struct lock */
	struct seg line;       /* struct line */
	struct seg window;     /* struct window by number */
	struct map windows;    /* (line, lock) to the number */
	uint32_t window_count;
	struct map waited;     /* locks that somebody has waited with */
	struct map tried;      /* the places of a report to how often it was made */
	sidetrack_listener *told;
	void *listener;
};

static struct lock *lock_of(struct sidetrack *s, uint64_t m)
{
	return seg_at(&s->lock, m, sizeof(struct lock));
}

static __attribute__((cold, noinline)) void line_find(struct sidetrack *s, struct line *l, uint32_t t)
{
	l->sections = sections_of(&s->sections, t);
	l->open = run_open(s->run, t);
	l->now = clocks_of(&s->run->clocks[CLOCKS_CAUSES], t);
}

static inline struct line *line_of(struct sidetrack *s, uint32_t t)
{
	struct line *l = seg_at(&s->line, t, sizeof(struct line));

	if (__builtin_expect(!l->now, 0))
		line_find(s, l, t);
	return l;
}

static unsigned side_of(uint8_t kind)
{
	return kind == EVENT_ACQUIRE_SHARED || kind == EVENT_RELEASE_SHARED ? SHARED : EXCLUSIVE;
}

static bool is_shared(const struct mark *acquire)
{
	return side_of(acquire->kind) == SHARED;
}

/* A shared culprit passes by a shared end of the window. */
static bool conflicts(const struct mark *first, const struct mark *second, const struct mark *culprit)
{
	return !is_shared(culprit) || !(is_shared(first) || is_shared(second));
}

/* The place of the lock in the line's table, or the free one where it would be. */
static struct visit *visit_find(const struct line *l, sync_id m)
{
	uint32_t i = (uint32_t)hash_word(m) & (l->visits - 1);

	while (l->visit[i].round == l->round && l->visit[i].lock != m)
		i = (i + 1) & (l->visits - 1);
	return &l->visit[i];
}

static uint64_t oldest_block(const struct activations *open)
{
	const struct activation *a = activations_outermost(open);

	return a ? a->begin : UINT64_MAX;
}

static bool is_live(const struct line *l, const struct visit *v, uint64_t since)
{
	return v->round == l->round && mark_seq(&v->last) >= since;
}

/* Makes the table anew with what is live; `l->used` says how many that are. */
static void visits_move(struct sidetrack *s, struct line *l, uint64_t since)
{
	struct line old = *l;

	for (l->visits = VISITS_LEAST; l->visits < 4 * l->used; l->visits *= 2)
		continue;
	l->visit = arena_alloc(s->run->arena, l->visits * sizeof *l->visit);
	for (uint32_t i = 0; i < old.visits; i++)
		if (is_live(&old, &old.visit[i], since))
			*visit_find(l, old.visit[i].lock) = old.visit[i];
	if (old.visits)
		arena_recycle(s->run->arena, old.visit, old.visits * sizeof *old.visit);
}

/* Forgets what no open block holds: mostly everything, then nothing has to be looked at. */
static __attribute__((noinline)) void visits_sweep(struct sidetrack *s, struct line *l, uint64_t since)
{
	bool all = l->latest < since && l->visits == VISITS_LEAST && l->round < UINT32_MAX;

	l->used = 0;
	if (all) {
		l->round++;
		return;
	}
	for (uint32_t i = 0; i < l->visits; i++)
		l->used += is_live(l, &l->visit[i], since);
	if (!l->round)
		l->round = 1;
	visits_move(s, l, since);
}

/* What the line has to do with the lock; valid until it is asked for another one. */
static inline struct visit *visit_of(struct sidetrack *s, struct line *l, const struct event *e)
{
	struct visit *v;

	if (__builtin_expect(2 * l->used >= l->visits, 0))
		visits_sweep(s, l, oldest_block(l->open));
	v = visit_find(l, (sync_id)e->object);
	if (v->round != l->round) {
		v->lock = (sync_id)e->object;
		v->round = l->round;
		v->last.at = 0; /* what else an acquire sets is void then */
		v->window = NULL;
		l->used++;
	}
	l->latest = e->seq;
	return v;
}

/* Saying it. */

static struct access access_of_mark(const struct mark *m, sync_id lock)
{
	return (struct access){
		.kind = m->kind, .flags = m->flags, .thread = m->thread, .object = lock, .site = m->site,
		.stack = m->stack, .seq = mark_seq(m),
	};
}

static struct access access_of_note(struct run *run, const struct note *n, thread_id t)
{
	struct access a = {
		.kind = n->kind, .flags = n->flags, .thread = t, .value = n->value, .site = n->site,
		.stack = n->stack, .seq = n->seq,
	};

	run_variable(run, n->object, &a);
	return a;
}

static void path_of_locks(const struct pending *p, struct link *path)
{
	struct access culprit = access_of_mark(&p->culprit, p->lock);

	path[0] = (struct link){access_of_mark(&p->window.first, p->lock), culprit, false};
	path[1] = (struct link){culprit, access_of_mark(&p->window.second, p->lock), false};
}

static void path_of_data(struct sidetrack *s, const struct pending *p, const struct witness *w, struct link *path)
{
	thread_id t = p->window.first.thread, u = p->culprit.thread;

	path[0] = (struct link){access_of_note(s->run, &w->first, t), access_of_note(s->run, &w->in, u), true};
	path[1] = (struct link){access_of_note(s->run, &w->out, u), access_of_note(s->run, &w->second, t), true};
}

static void report(struct sidetrack *s, const struct pending *p, struct finding *f, struct promise promise)
{
	struct evidence e = {.check = "sidetrack", .kind = kind_text[p->kind], .promise = promise};

	e.seq = mark_seq(p->kind == AFTER ? &p->culprit : &p->window.second);
	f->block = p->window.block;
	f->links = 2;
	findings_add(s->run->findings, f, e);
	if (s->told)
		s->told(s->listener, &(struct sidetrack_report){
			f->block, p->lock, mark_seq(&p->window.first), mark_seq(&p->culprit),
			mark_seq(&p->window.second), f->verdict, e, f->path});
}

/* How sure it is. */

static struct stretch culprit_section(struct sidetrack *s, const struct pending *p)
{
	struct stretch section = {mark_line(&p->culprit), mark_seq(&p->culprit), p->end};

	return p->kind == AFTER ? section : section_of(&s->sections, section.line, p->lock, section.from);
}

/*
 * In a prediction the culprit comes directly before the second acquire, behind all that the window's thread did
 * before. In the run itself, only the first section is sure to be before the culprit by more than luck.
 */
static bool find_witness(struct sidetrack *s, const struct pending *p, struct witness *w)
{
	uint32_t t = mark_line(&p->window.first);
	struct section_window parts = {.culprit = culprit_section(s, p), .changes = p->changes};

	parts.first = (struct stretch){t, mark_seq(&p->window.first), mark_seq(&p->window.second)};
	if (p->kind == IN)
		parts.first = section_of(&s->sections, t, p->lock, parts.first.from);
	parts.second = section_of(&s->sections, t, p->lock, mark_seq(&p->window.second));
	return p->window.inside && section_witness(&s->sections, &parts, w);
}

/*
 * Where a lock goes with a condition, a section looks at what it protects and does its work or waits: what the culprit has
 * done behind the window it might not do in it. And one that begins behind a wait may have needed somebody to wake it.
 * Readers that were let in beside the second acquire get out, so that an exclusive culprit gets in, where the lock is a
 * leaf.
 */
static bool after_is_certain(struct sidetrack *s, const struct pending *p)
{
	return !map_get(&s->waited, p->lock) &&
	       (!is_shared(&p->window.second) || section_is_leaf(&s->sections, p->lock));
}

/* A shared culprit has not kept out other readers, of which one might have learned of it before it got out. */
static bool before_is_certain(struct sidetrack *s, const struct pending *p)
{
	uint64_t first = mark_seq(&p->window.first), second = mark_seq(&p->window.second);
	struct stretch half = {mark_line(&p->window.first), first, second};

	return !is_shared(&p->culprit) &&
	       section_stands_alone(&s->sections, half, mark_seq(&p->culprit), p->changes);
}

/* What the prediction rests on; a section without locks inside has no part in a deadlock. */
static struct promise promise_of(const struct pending *p, struct stretch culprit, bool nested)
{
	uint64_t second = mark_seq(&p->window.second);
	sync_id lock = nested ? p->lock : 0;

	if (p->kind == BEFORE)
		return (struct promise){culprit.from, second, lock};
	return (struct promise){second, nested ? culprit.to : culprit.from, lock};
}

static bool is_certain(struct sidetrack *s, const struct pending *p, struct promise *promise)
{
	struct stretch culprit = culprit_section(s, p);
	bool nested;

	if (!section_returns(&s->sections, culprit, &nested))
		return false;
	*promise = promise_of(p, culprit, nested);
	return p->kind == AFTER ? after_is_certain(s, p) : before_is_certain(s, p);
}

static void settle(struct sidetrack *s, const struct pending *p)
{
	struct link path[2];
	struct finding f = {.path = path, .lock = p->lock, .verdict = VERDICT_SUSPECTED};
	struct promise promise = {0};
	struct witness w;

	if (!s->run->accesses || !find_witness(s, p, &w)) {
		path_of_locks(p, path);
	} else {
		path_of_data(s, p, &w, path);
		if (p->kind == IN)
			f.verdict = VERDICT_OBSERVED;
		else if (is_certain(s, p, &promise))
			f.verdict = VERDICT_PREDICTED;
	}
	if (f.verdict > VERDICT_SUSPECTED)
		*map_put(&s->tried, p->key) = TRIES;
	report(s, p, &f, promise);
}

/* A report before it is known whether it is one too many; then it becomes pending, with copies. */
struct suspicion {
	enum kind kind;
	sync_id lock;
	const struct window *window;
	const struct mark *culprit;
	uint32_t changes;
};

/* The same places, whoever and whatever lock it is; a trace without places has the lock instead. */
static uint64_t key_of(const struct suspicion *p)
{
	const struct window *w = p->window;
	uint64_t sites = hash_pair(w->first.site, w->second.site);
	uint64_t block = hash_pair(w->block.code ? w->block.code : w->block.site, w->block.code != 0);

	if (!w->first.site || !w->second.site)
		sites = hash_pair(sites, p->lock);
	return hash_pair(hash_pair(block, sites), hash_pair(p->culprit->site, p->kind + 1u));
}

/* Waits for the line to give the lock back, unless there is nothing to be seen then. */
static void suspect(struct sidetrack *s, struct suspicion x, uint32_t waits_for)
{
	struct line *l = line_of(s, waits_for);
	uint64_t key = key_of(&x);
	uint32_t *tried = map_put(&s->tried, key);
	struct pending p;

	if (*tried >= TRIES)
		return;
	++*tried;
	p = (struct pending){x.kind, x.lock, *x.window, *x.culprit, x.changes, 0, key};
	if (!s->run->accesses) {
		settle(s, &p);
		return;
	}
	l->pending = arena_reserve(s->run->arena, l->pending, &l->capacity, l->count, sizeof p);
	l->pending[l->count++] = p;
}

/* Whether the window's block, uncut since the first acquire, is still open. */
static bool still_holds(struct sidetrack *s, const struct window *w)
{
	const struct activations *open = run_open(s->run, mark_line(&w->first));

	for (size_t i = open->depth; i-- > 0 && open->at[i].begin >= w->block.seq;)
		if (open->at[i].begin == w->block.seq)
			return activation_since(open, &open->at[i]) <= mark_seq(&w->first);
	return false;
}

/* The section that started with the last acquire of the lock is over: what waited for that is settled. */
static __attribute__((noinline)) void settle_all(struct sidetrack *s, struct line *l, const struct event *e)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->count; i++) {
		struct pending *p = &l->pending[i];

		if (e && p->lock != e->object) {
			l->pending[kept++] = *p;
			continue;
		}
		p->end = e ? e->seq : 0;
		if (p->kind != AFTER)
			p->window.inside = still_holds(s, &p->window);
		settle(s, p);
	}
	l->count = kept;
}

/* The rules. */

/* If V_m is not before C_t: AFTER. Then e, not yet done, could have been done before the window's second acquire. */
static __attribute__((noinline)) void after(struct sidetrack *s, const struct lock *m, const struct event *e, const struct vclock *now)
{
	struct mark culprit = mark_of(e);

	for (const struct window *w = m->newest; w; w = w->older) {
		bool known = w->when.line == e->line || epoch_within(w->when, now);

		if (known && !is_shared(&w->second))
			return;
		if (!known && conflicts(&w->first, &w->second, &culprit))
			suspect(s, (struct suspicion){AFTER, (sync_id)e->object, w, &culprit, w->changes}, e->line);
	}
}

static struct instant exclusive(const struct lock *m, clock_time when)
{
	return (struct instant){{mark_line(&m->acquire), when}, m->acquire, m->changes};
}

/* The latest acquire that e conflicts with and has not seen, or none. */
static inline struct instant interfering(const struct lock *m, const struct event *e, const struct vclock *now)
{
	if (vclock_get(now, mark_line(&m->acquire)) < m->acquired)
		return exclusive(m, m->acquired);
	if (m->readers && side_of(e->kind) == EXCLUSIVE && !epoch_within(m->readers->acquired.when, now))
		return m->readers->acquired;
	return (struct instant){0};
}

/* [FIRST ACQUIRE], of a block or of a block within it. */
static inline void first_acquire(struct sidetrack *s, struct instant culprit, struct visit *v, const struct mark *mark)
{
	v->before = mark_seq(&v->last);
	v->last = *mark;
	v->changes = s->sections.changes;
	v->culprit.at = 0;
	if (__builtin_expect(culprit.acquire.at != 0, 0)) {
		v->culprit = culprit.acquire;
		v->culprit_changes = culprit.changes;
	}
}

/* If m is in I_t: BEFORE. */
static void before(struct sidetrack *s, const struct visit *v, const struct window *w, const struct event *e)
{
	if (v->culprit.at && conflicts(&w->first, &w->second, &v->culprit))
		suspect(s, (struct suspicion){BEFORE, v->lock, w, &v->culprit, v->culprit_changes}, e->line);
}

/* If R_m is not before C_t: IN. */
static void in(struct sidetrack *s, const struct lock *m, const struct window *w, const struct event *e)
{
	struct instant released[SIDES] = {exclusive(m, m->released)};
	const struct vclock *now = line_of(s, e->line)->now;

	if (m->readers)
		released[SHARED] = m->readers->released;
	for (unsigned side = 0; side < SIDES; side++) {
		const struct instant *r = &released[side];

		if (epoch_within(r->when, now) || !conflicts(&w->first, &w->second, &r->acquire))
			continue;
		suspect(s, (struct suspicion){IN, (sync_id)e->object, w, &r->acquire, w->changes}, e->line);
		return;
	}
}

static struct window *window_of(struct sidetrack *s, struct visit *v, const struct event *e)
{
	uint32_t *number;

	if (v->window)
		return v->window;
	number = map_put(&s->windows, (uint64_t)e->line << 32 | (uint32_t)e->object);
	if (!*number)
		*number = ++s->window_count;
	return v->window = seg_at(&s->window, *number, sizeof(struct window));
}

/* Takes the line's window out of the list, if it is there. */
static void window_pull(struct lock *m, const struct window *w)
{
	if (w->newer)
		w->newer->older = w->older;
	else if (m->newest == w)
		m->newest = w->older;
	if (w->older)
		w->older->newer = w->newer;
}

static void window_push(struct lock *m, struct window *w)
{
	w->newer = NULL;
	w->older = m->newest;
	if (w->older)
		w->older->newer = w;
	m->newest = w;
}

/*
 * The innermost block that holds the line's last acquire of the lock, or NULL. The end of a wait has the number of
 * the event behind it, but is before that: a block that opens there does not hold it.
 */
static const struct activation *block_since(const struct activations *open, const struct mark *last)
{
	const struct activation *a = last->at ? activations_holding(open, mark_seq(last)) : NULL;

	if (a && last->flags & EVENT_WAITED && a->begin == mark_seq(last))
		return activations_holding(open, mark_seq(last) - 1);
	return a;
}

/*
 * [SECOND ACQUIRE], if it is one: V_m becomes this window. The block's first acquire is the one whose past makes it
 * BEFORE. The surer kind is told first: of two that are as sure, a finding shows that one.
 */
static __attribute__((noinline)) void second_acquire(struct sidetrack *s, struct lock *m, struct visit *v, const struct event *e)
{
	const struct activations *open = run_open(s->run, e->line);
	const struct activation *a = block_since(open, &v->last);
	struct window *w;

	if (!a)
		return;
	w = window_of(s, v, e);
	window_pull(m, w);
	w->when = (struct epoch){e->line, clocks_time(&s->run->clocks[CLOCKS_CAUSES], e->line)};
	w->block = block_of(a, e->thread);
	w->first = v->last;
	w->second = mark_of(e);
	w->changes = v->changes;
	w->inside = false;
	in(s, m, w, e);
	if (v->before < activation_since(open, a))
		before(s, v, w, e);
	window_push(m, w);
}

/* Whether a block may hold the line's last acquire of the lock: the outermost does if any does. */
static inline bool may_be_second(const struct line *l, const struct visit *v)
{
	const struct activation *oldest = activations_outermost(l->open);

	return oldest && oldest->begin <= mark_seq(&v->last);
}

/*
 * [OUTSIDE ACQUIRE], if the line is in no block, is nobody's window; but in a live run a function may be entered
 * after its first acquire (run.h).
 */
static inline void visit(struct sidetrack *s, struct line *l, struct lock *m, const struct event *e,
	const struct mark *mark)
{
	struct visit *v = visit_of(s, l, e);

	if (may_be_second(l, v))
		second_acquire(s, m, v, e);
	first_acquire(s, interfering(m, e, l->now), v, mark);
}

static struct readers *readers_of(struct sidetrack *s, struct lock *m)
{
	if (!m->readers)
		m->readers = arena_alloc(s->run->arena, sizeof *m->readers);
	return m->readers;
}

/* What a mover does is nobody's window and nobody's culprit, and makes nobody the last. */
static void sidetrack_acquire(void *self, const struct event *e)
{
	struct sidetrack *s = self;
	struct lock *m = lock_of(s, e->object);
	struct line *l = line_of(s, e->line);
	clock_time time = l->now->at[e->line];
	struct mark mark = mark_of(e);

	section_enter(&s->sections, l->sections, e->object, &mark);
	if (__builtin_expect(e->flags & EVENT_WAITED, 0))
		*map_put(&s->waited, e->object) = 1;
	if (e->assumed & ASSUMED_MOVER)
		return;
	if (m->newest)
		after(s, m, e, l->now);
	visit(s, l, m, e, &mark);
	if (__builtin_expect(side_of(e->kind) == SHARED, 0)) {
		readers_of(s, m)->acquired = (struct instant){{e->line, time}, mark, s->sections.changes};
		return;
	}
	m->acquire = mark;
	m->acquired = time;
	m->released = 0;
	m->changes = s->sections.changes;
}

/* The second section of the line's window is over, if that is what the acquire began. */
static __attribute__((noinline)) void leave_window(struct sidetrack *s, struct lock *m, const struct mark *acquire)
{
	struct window *w = m->newest;

	while (w && is_shared(acquire) && w->second.at != acquire->at)
		w = w->older;
	if (w && w->second.at == acquire->at)
		w->inside = still_holds(s, w);
}

/* [RELEASE]. */
static void sidetrack_release(void *self, const struct event *e)
{
	struct sidetrack *s = self;
	struct lock *m = lock_of(s, e->object);
	struct line *l = line_of(s, e->line);
	struct mark acquire = section_leave(l->sections, e->object);
	clock_time time = l->now->at[e->line];

	if (!acquire.at || e->assumed & ASSUMED_MOVER)
		return;
	if (is_shared(&acquire))
		readers_of(s, m)->released = (struct instant){{e->line, time}, acquire, 0};
	else if (acquire.at == m->acquire.at)
		m->released = time;
	if (m->newest)
		leave_window(s, m, &acquire);
	if (l->count)
		settle_all(s, l, e);
}

/* Waiting for others inside of a section: the locks are no leaves. */
static void sidetrack_waits(void *self, const struct event *e)
{
	struct sidetrack *s = self;

	if (e->kind != EVENT_FORK)
		sections_busy(&s->sections, e->line);
}

static void sidetrack_atomic(void *self, const struct event *e)
{
	struct sidetrack *s = self;

	sections_busy(&s->sections, e->line);
}

static void sidetrack_split(void *self, uint64_t x, uint64_t y)
{
	struct sidetrack *s = self;

	sections_change(&s->sections, x);
	sections_change(&s->sections, y);
}

static void sidetrack_forget(void *self, uint64_t x)
{
	struct sidetrack *s = self;

	sections_change(&s->sections, x);
}

static void sidetrack_finish(void *self)
{
	struct sidetrack *s = self;

	for (uint32_t t = 1; t <= s->run->lines; t++)
		settle_all(s, line_of(s, t), NULL);
}

static void *sidetrack_start(struct run *run)
{
	struct sidetrack *s = arena_alloc(run->arena, sizeof *s);

	s->run = run;
	sections_init(&s->sections, run);
	seg_init(&s->lock, run->arena, sizeof(struct lock));
	seg_init(&s->line, run->arena, sizeof(struct line));
	seg_init(&s->window, run->arena, sizeof(struct window));
	map_init(&s->windows, run->arena);
	map_init(&s->tried, run->arena);
	map_init(&s->waited, run->arena);
	return s;
}

void sidetrack_listen(void *check, sidetrack_listener *told, void *self)
{
	struct sidetrack *s = check;

	s->told = told;
	s->listener = self;
}

const struct check check_sidetrack = {
	.name = "sidetrack",
	.summary = "locks that a block takes twice, and who could have taken them in between",
	.needs = NEED_CAUSES,
	.modest = true,
	.start = sidetrack_start,
	.finish = sidetrack_finish,
	.on = {
		[ON_ACQUIRE] = sidetrack_acquire,
		[ON_RELEASE] = sidetrack_release,
		[ON_CUT] = sidetrack_waits,
		[ON_TAKE] = sidetrack_waits,
		[ON_ATOMIC] = sidetrack_atomic,
	},
	.split = sidetrack_split,
	.forget = sidetrack_forget,
};
