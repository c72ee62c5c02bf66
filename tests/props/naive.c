/* SPDX-License-Identifier: MIT */
#include "naive.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "check/oracle.h"
#include "event/event.h"

/* WORK: how many places all interleavings of a trace may have. */
enum { MOVES_MOST = 2 * REORDER_EVENTS_MOST, WORK = 30000 };

/* An event, or the acquire that comes right before it because its thread waited. */
struct move {
	const struct event *event;
	bool back;
};

struct naive {
	const struct event *events;
	size_t n;
	bool reads;		      /* are to see what they see in the trace, */
	const struct event *loose[2]; /* except from these on in their threads */
	struct move history[MOVES_MOST];
	size_t length;
	size_t *work;			/* left */
	bool (*prefix)(struct naive *); /* whether the search is at its goal */
	bool (*end)(struct naive *);	/* the same, where nothing can be added */
	uint64_t lock, first, culprit, second;
	enum serial_order order;
};

static const struct event *event_of(const struct naive *x, uint64_t seq)
{
	for (size_t i = 0; i < x->n; i++)
		if (x->events[i].seq == seq)
			return &x->events[i];
	return NULL;
}

static bool has_happened(const struct naive *x, const struct event *e)
{
	for (size_t i = 0; i < x->length; i++)
		if (x->history[i].event == e && !x->history[i].back)
			return true;
	return false;
}

/* The thread's event before this one in the trace, or none. */
static const struct event *previous(const struct naive *x, const struct event *e)
{
	thread_id t = e->thread;

	while (e-- > x->events)
		if (e->thread == t)
			return e;
	return NULL;
}

static bool next_move(const struct naive *x, thread_id t, struct move *m)
{
	const struct event *e = x->events, *before;

	while (e < x->events + x->n && (e->thread != t || has_happened(x, e)))
		e++;
	if (e == x->events + x->n)
		return false;
	before = previous(x, e);
	*m = (struct move){e, before && before->kind == EVENT_WAIT};
	for (size_t i = 0; i < x->length; i++)
		if (x->history[i].event == e)
			m->back = false;
	return true;
}

/* ---- The rules. ---- */

struct held {
	unsigned depth, before_wait;
	bool shared;
};

static uint64_t mutex_of(const struct naive *x, const struct move *m)
{
	return m->back ? previous(x, m->event)->mutex : 0;
}

static void hold_on(struct held *h, const struct naive *x, const struct move *m, uint64_t lock)
{
	const struct event *e = m->event;

	if (m->back) {
		if (mutex_of(x, m) == lock)
			h->depth = h->before_wait;
	} else if ((e->kind == EVENT_ACQUIRE || e->kind == EVENT_ACQUIRE_SHARED) && e->object == lock) {
		h->shared = h->depth++ ? h->shared : e->kind == EVENT_ACQUIRE_SHARED;
	} else if ((e->kind == EVENT_RELEASE || e->kind == EVENT_RELEASE_SHARED) && e->object == lock) {
		h->depth--;
	} else if (e->kind == EVENT_WAIT && e->mutex == lock) {
		h->before_wait = h->depth;
		h->depth = 0;
	}
}

/* How the thread holds the lock after the first moves. */
static struct held held_after(const struct naive *x, size_t moves, thread_id t, uint64_t lock)
{
	struct held h = {0, 0, false};

	for (size_t i = 0; i < moves; i++)
		if (x->history[i].event->thread == t)
			hold_on(&h, x, &x->history[i], lock);
	return h;
}

static bool lock_allows(const struct naive *x, const struct move *m)
{
	uint8_t kind = m->event->kind;
	uint64_t lock = m->back ? mutex_of(x, m) : m->event->object;
	bool shared = m->back ? held_after(x, x->length, m->event->thread, lock).shared : kind == EVENT_ACQUIRE_SHARED;

	if (!m->back && kind != EVENT_ACQUIRE && kind != EVENT_ACQUIRE_SHARED)
		return true;
	for (size_t i = 0; i < x->length; i++) {
		struct held h = held_after(x, x->length, x->history[i].event->thread, lock);

		if (x->history[i].event->thread != m->event->thread && h.depth && !(shared && h.shared))
			return false;
	}
	return true;
}

static bool fork_allows(const struct naive *x, uint64_t thread)
{
	for (size_t i = 0; i < x->n; i++)
		if (x->events[i].kind == EVENT_FORK && x->events[i].object == thread && !has_happened(x, &x->events[i]))
			return false;
	return true;
}

static bool join_allows(const struct naive *x, const struct event *join)
{
	if (join->kind != EVENT_JOIN)
		return true;
	for (size_t i = 0; i < x->n; i++)
		if (x->events[i].thread == join->object && !has_happened(x, &x->events[i]))
			return false;
	return fork_allows(x, join->object);
}

/* The last of the barrier's arrivals up to this one that begins a round, as in the trace. */
static const struct event *round_of(const struct naive *x, const struct event *arrival)
{
	const struct event *begin = NULL;
	uint64_t missing = 0;

	for (const struct event *e = x->events; e <= arrival; e++) {
		if (e->kind != EVENT_BARRIER || e->object != arrival->object)
			continue;
		if (missing == 0) {
			begin = e;
			missing = e->count;
		}
		missing--;
	}
	return begin;
}

static bool barrier_allows(const struct naive *x, const struct event *e)
{
	const struct event *arrival = previous(x, e);

	if (!arrival || arrival->kind != EVENT_BARRIER)
		return true;
	for (const struct event *k = x->events; k < x->events + x->n; k++)
		if (k->kind == EVENT_BARRIER && k->object == arrival->object &&
			round_of(x, k) == round_of(x, arrival) && !has_happened(x, k))
			return false;
	return true;
}

static int units(const struct event *e, uint64_t semaphore)
{
	if (e->object != semaphore)
		return 0;
	return (e->kind == EVENT_SEM_POST) - (e->kind == EVENT_SEM_WAIT);
}

static bool semaphore_allows(const struct naive *x, const struct event *e)
{
	int least = 0, sum = 0, now = 0;

	if (e->kind != EVENT_SEM_WAIT)
		return true;
	for (size_t i = 0; i < x->n; i++) {
		sum += units(&x->events[i], e->object);
		least = sum < least ? sum : least;
	}
	for (size_t i = 0; i < x->length; i++)
		now += x->history[i].back ? 0 : units(x->history[i].event, e->object);
	return now - least > 0;
}

static uint64_t bytes_of(const struct event *e)
{
	if (!(e->flags & EVENT_ADDRESSED))
		return 1;
	return e->flags & EVENT_SIZED ? e->size : 1;
}

static bool writes(const struct event *e, const struct event *reader, uint64_t byte)
{
	bool alloc = e->kind == EVENT_ALLOC && e->flags & EVENT_ADDRESSED;

	if (!alloc && (!event_is_access(e->kind) || event_is_read(e->kind)))
		return false;
	if ((e->flags & EVENT_ADDRESSED) != (reader->flags & EVENT_ADDRESSED))
		return false;
	return byte >= e->object && byte - e->object < (alloc ? e->count : bytes_of(e));
}

/* Who wrote the byte last, before the move with the number. */
static const struct event *writer_at(const struct naive *x, size_t moves, const struct event *reader, uint64_t byte)
{
	while (moves-- > 0)
		if (!x->history[moves].back && writes(x->history[moves].event, reader, byte))
			return x->history[moves].event;
	return NULL;
}

static const struct event *writer_recorded(const struct naive *x, const struct event *reader, uint64_t byte)
{
	for (const struct event *e = reader; e-- > x->events;)
		if (writes(e, reader, byte))
			return e;
	return NULL;
}

static bool is_loose(const struct naive *x, const struct event *e)
{
	for (size_t i = 0; i < 2; i++)
		if (x->loose[i] && x->loose[i]->thread == e->thread && x->loose[i] <= e)
			return true;
	return !x->reads;
}

static bool reads_something(const struct event *e)
{
	return event_is_read(e->kind) || e->kind == EVENT_ATOMIC_RMW;
}

static bool read_allows(const struct naive *x, const struct event *e)
{
	if (!reads_something(e) || is_loose(x, e))
		return true;
	for (uint64_t i = 0; i < bytes_of(e); i++)
		if (writer_at(x, x->length, e, e->object + i) != writer_recorded(x, e, e->object + i))
			return false;
	return true;
}

static bool allows(const struct naive *x, const struct move *m)
{
	if (!lock_allows(x, m) || !fork_allows(x, m->event->thread))
		return false;
	if (m->back)
		return true;
	return join_allows(x, m->event) && barrier_allows(x, m->event) && semaphore_allows(x, m->event) &&
	       read_allows(x, m->event);
}

/* ---- Every interleaving. ---- */

/* Whether some thread has its first event here: each is tried once. */
static bool is_first(const struct naive *x, size_t i)
{
	return !previous(x, &x->events[i]);
}

static bool walk(struct naive *x)
{
	bool last = true;

	if (*x->work == 0)
		return false;
	--*x->work;
	if (x->prefix && x->prefix(x))
		return true;
	for (size_t i = 0; i < x->n; i++) {
		struct move m;

		if (!is_first(x, i) || !next_move(x, x->events[i].thread, &m) || !allows(x, &m))
			continue;
		last = false;
		x->history[x->length++] = m;
		if (walk(x))
			return true;
		x->length--;
	}
	return last && x->end && x->end(x);
}

static enum reorder_answer walk_all(struct naive *x)
{
	size_t work = WORK;

	x->work = &work;
	if (walk(x))
		return REORDER_YES;
	return work ? REORDER_NO : REORDER_UNDECIDED;
}

/* ---- Windows. ---- */

static bool acquires(const struct naive *x, const struct move *m, uint64_t seq, uint64_t lock)
{
	const struct event *e = m->event;

	if (e->seq != seq)
		return false;
	if (m->back)
		return mutex_of(x, m) == lock;
	return (e->kind == EVENT_ACQUIRE || e->kind == EVENT_ACQUIRE_SHARED) && e->object == lock;
}

/* The number of the first move that acquires the lock at the event with the seq; MOVES_MOST if none has. */
static size_t acquire_at(const struct naive *x, uint64_t seq)
{
	for (size_t i = 0; i < x->length; i++)
		if (acquires(x, &x->history[i], seq, x->lock))
			return i;
	return MOVES_MOST;
}

static size_t release_at(const struct naive *x, size_t acquire)
{
	thread_id t = x->history[acquire].event->thread;

	for (size_t i = acquire + 1; i < x->length; i++)
		if (x->history[i].event->thread == t && !held_after(x, i + 1, t, x->lock).depth)
			return i;
	return MOVES_MOST;
}

static bool is_window_split(struct naive *x)
{
	size_t a = acquire_at(x, x->first), c = acquire_at(x, x->culprit), b = acquire_at(x, x->second);

	return a < c && c < b && b < MOVES_MOST && release_at(x, c) < b;
}

static bool is_acquire_of(const struct naive *x, uint64_t seq, uint64_t lock)
{
	const struct event *e = event_of(x, seq), *before = previous(x, e);
	struct move event = {e, false}, back = {e, true};

	return acquires(x, &event, seq, lock) ||
	       (before && before->kind == EVENT_WAIT && acquires(x, &back, seq, lock));
}

static bool is_common(const struct naive *x, uint64_t lock)
{
	return is_acquire_of(x, x->first, lock) && is_acquire_of(x, x->culprit, lock) &&
	       is_acquire_of(x, x->second, lock);
}

static uint64_t common_lock(const struct naive *x)
{
	for (const struct event *e = x->events; e < x->events + x->n; e++) {
		if ((e->kind == EVENT_ACQUIRE || e->kind == EVENT_ACQUIRE_SHARED) && is_common(x, e->object))
			return e->object;
		if (e->kind == EVENT_WAIT && is_common(x, e->mutex))
			return e->mutex;
	}
	return 0;
}

static bool is_in_order(const struct naive *x)
{
	const struct event *a = event_of(x, x->first), *c = event_of(x, x->culprit), *b = event_of(x, x->second);

	return a->thread == b->thread && a < b && c->thread != a->thread;
}

enum reorder_answer naive_confirms(
	const struct event *events, size_t n, uint64_t first, uint64_t culprit, uint64_t second)
{
	struct naive x = {.events = events, .n = n, .reads = true, .prefix = is_window_split};

	x.first = first;
	x.culprit = culprit;
	x.second = second;
	x.lock = common_lock(&x);
	x.loose[0] = event_of(&x, culprit);
	return x.lock && is_in_order(&x) ? walk_all(&x) : REORDER_NO;
}

static size_t happened_at(const struct naive *x, uint64_t seq)
{
	for (size_t i = 0; i < x->length; i++)
		if (x->history[i].event->seq == seq && !x->history[i].back)
			return i;
	return MOVES_MOST;
}

static bool is_data_split(struct naive *x)
{
	size_t b = happened_at(x, x->second);

	return happened_at(x, x->first) < happened_at(x, x->culprit) && happened_at(x, x->culprit) < b &&
	       b < MOVES_MOST;
}

enum reorder_answer naive_confirms_data(const struct event *events, size_t n, uint64_t a, uint64_t b, uint64_t c)
{
	struct naive x = {.events = events, .n = n, .reads = true, .prefix = is_data_split};

	x.first = a;
	x.culprit = b;
	x.second = c;
	x.loose[0] = event_of(&x, b);
	x.loose[1] = event_of(&x, c);
	return is_in_order(&x) ? walk_all(&x) : REORDER_NO;
}

/* ---- Ends. ---- */

static size_t open_blocks(const struct naive *x, thread_id t)
{
	size_t depth = 0;

	for (size_t i = 0; i < x->length; i++)
		if (x->history[i].event->thread == t && !x->history[i].back) {
			depth += x->history[i].event->kind == EVENT_BEGIN;
			depth -= x->history[i].event->kind == EVENT_END;
		}
	return depth;
}

static bool is_incomplete(struct naive *x)
{
	for (size_t i = 0; i < x->n; i++)
		if (!has_happened(x, &x->events[i]))
			return true;
	return false;
}

/* An event of a thread that is in a block has not happened. */
static bool is_cut(const struct naive *x)
{
	for (size_t i = 0; i < x->n; i++)
		if (!has_happened(x, &x->events[i]) && open_blocks(x, x->events[i].thread))
			return true;
	return false;
}

enum reorder_answer naive_deadlocks(const struct event *events, size_t n)
{
	struct naive x = {.events = events, .n = n, .end = is_incomplete};

	return walk_all(&x);
}

static enum reorder_answer opposite(enum reorder_answer answer)
{
	return answer == REORDER_UNDECIDED ? answer : answer == REORDER_YES ? REORDER_NO : REORDER_YES;
}

/* Memory from malloc: to map it anew for every interleaving would take most of the time. */
static void *chunk_take(size_t bytes)
{
	void *p = aligned_alloc(64, (bytes + 63) & ~(size_t)63);

	if (!p)
		abort();
	return memset(p, 0, bytes);
}

static void chunk_give(void *p, size_t bytes)
{
	(void)bytes;
	free(p);
}

static bool has_cycle(struct naive *x)
{
	struct event sequence[REORDER_EVENTS_MOST];
	struct oracle_verdict v;
	struct arena a = {.more = chunk_take, .less = chunk_give};
	size_t n = 0;

	if (is_cut(x))
		return true;
	for (size_t i = 0; i < x->length; i++)
		if (!x->history[i].back) {
			sequence[n] = *x->history[i].event;
			sequence[n].seq = n + 1;
			n++;
		}
	oracle_judge(sequence, n, &a, &v);
	arena_free(&a);
	return v.first_bad[x->order == SERIAL_DATA ? ORACLE_DATA : ORACLE_FULL] != 0;
}

enum reorder_answer naive_atomic_by_conflicts(const struct event *events, size_t n, enum serial_order order)
{
	struct naive x = {.events = events, .n = n, .end = has_cycle, .order = order};

	return opposite(walk_all(&x));
}

/* ---- Views. ---- */

/* The number of the move in the history, which has it. */
static size_t number_of(const struct naive *x, const struct event *e)
{
	size_t i = 0;

	while (x->history[i].event != e || x->history[i].back)
		i++;
	return i;
}

/* Every byte of the event has the same writer in both, before it, or at the end. */
static bool bytes_agree(const struct naive *x, const struct naive *y, const struct event *e, bool at_end)
{
	size_t i = at_end ? x->length : number_of(x, e), j = at_end ? y->length : number_of(y, e);

	for (uint64_t k = 0; k < bytes_of(e); k++)
		if (writer_at(x, i, e, e->object + k) != writer_at(y, j, e, e->object + k))
			return false;
	return true;
}

static bool views_agree(const struct naive *x, const struct naive *y)
{
	for (size_t i = 0; i < x->length; i++) {
		const struct event *e = x->history[i].event;

		if (x->history[i].back || !event_is_access(e->kind))
			continue;
		if ((reads_something(e) && !bytes_agree(x, y, e, false)) || !bytes_agree(x, y, e, true))
			return false;
	}
	return true;
}

/* Adds the thread's next transaction, if x has one more. */
static bool transact(const struct naive *x, struct naive *y, thread_id t)
{
	struct move m;

	do {
		if (!next_move(y, t, &m) || (!m.back && !has_happened(x, m.event)))
			return false;
		if (m.back && !has_happened(x, m.event)) /* x may have come back and no further */
			return false;
		if (!allows(y, &m))
			return false;
		y->history[y->length++] = m;
	} while (open_blocks(y, t) && next_move(y, t, &m));
	return true;
}

static size_t events_in(const struct naive *x)
{
	size_t n = 0;

	for (size_t i = 0; i < x->length; i++)
		n += !x->history[i].back;
	return n;
}

/* Whether y, which is serial, can be made one with the events and the view of x. */
static bool finds_serial(const struct naive *x, struct naive *y)
{
	size_t length = y->length;

	if (*x->work == 0)
		return true;
	--*x->work;
	if (events_in(y) == events_in(x))
		return views_agree(x, y);
	for (size_t i = 0; i < x->n; i++) {
		if (is_first(x, i) && transact(x, y, x->events[i].thread) && finds_serial(x, y))
			return true;
		y->length = length;
	}
	return false;
}

static bool is_not_serial(struct naive *x)
{
	struct naive y = {.events = x->events, .n = x->n};

	return is_cut(x) || !finds_serial(x, &y);
}

enum reorder_answer naive_atomic_by_view(const struct event *events, size_t n)
{
	struct naive x = {.events = events, .n = n, .end = is_not_serial};

	return opposite(walk_all(&x));
}

enum reorder_answer naive_serial_by_view(const struct event *sequence, size_t n)
{
	struct naive x = {.events = sequence, .n = n}, y = x;
	size_t work = WORK;
	bool found;

	x.work = &work;
	for (const struct event *e = sequence; e < sequence + n; e++) {
		const struct event *before = previous(&x, e);

		if (before && before->kind == EVENT_WAIT)
			x.history[x.length++] = (struct move){e, true};
		x.history[x.length++] = (struct move){e, false};
	}
	found = finds_serial(&x, &y);
	if (!work)
		return REORDER_UNDECIDED;
	return found ? REORDER_YES : REORDER_NO;
}
