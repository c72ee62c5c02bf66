/* SPDX-License-Identifier: MIT */
#include "finding.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "event/place.h"
#include "finding/fold.h"
#include "finding/window.h"
#include "policy/rank.h"

enum { TRIES_MOST = 4 };

const char *const verdict_text[VERDICTS] = {
	[VERDICT_SUSPECTED] = "suspected",
	[VERDICT_PREDICTED] = "predicted",
	[VERDICT_OBSERVED] = "observed",
	[VERDICT_REPRODUCED] = "reproduced",
};

void findings_init(struct findings *f, struct arena *a, const struct tables *tables)
{
	*f = (struct findings){.arena = a, .tables = tables};
	map_init(&f->by_defect, a);
	map_init(&f->by_block, a);
	map_init(&f->by_window, a);
	map_init(&f->by_id, a);
	map_init(&f->by_places, a);
	map_init(&f->loops, a);
	map_init(&f->waiters, a);
	seg_init(&f->created, a, sizeof(struct access));
}

static uint64_t mix(uint64_t h, uint64_t x)
{
	return hash_word(h * 31 + x);
}

/* The variable or lock; what has no name goes by the place that uses it. */
static uint64_t mix_object(uint64_t h, const struct access *a)
{
	if (a->flags & EVENT_ADDRESSED)
		return mix(mix(h, a->site), EVENT_ADDRESSED);
	return mix(mix(h, a->object), event_info[a->kind].table);
}

static uint64_t mix_block(const struct block *b)
{
	return mix(b->code, b->code ? 0 : b->site);
}

/*
 * (block, variable): what makes two reports one defect. Threads, values, culprits and the places within the block do
 * not count, nor where the function was called; but what happens between two rounds of a loop and what happens
 * within one are two defects, of which the former is usually none.
 */
static uint64_t defect_key(const struct finding *r, bool loop)
{
	return mix(mix_object(mix_object(mix_block(&r->block), &r->path[0].from), &r->path[r->links - 1].to), loop);
}

/* Whether the window goes from one round of a loop to another. What was declared is taken literally. */
static bool is_loop(const struct findings *f, const struct finding *r)
{
	return !r->block.declared && window_shape_of(f->tables, r) & FACTS_LOOP;
}

/*
 * Locks without a name that were made at one place, "lock@pool.c:12#3", are one kind of lock: what remains is
 * "lock@pool.c:12".
 */
static struct text kind_of_lock(struct text name)
{
	size_t n = name.length;

	if (n < 5 || memcmp(name.at, "lock@", 5) != 0)
		return name;
	while (n > 0 && name.at[n - 1] >= '0' && name.at[n - 1] <= '9')
		n--;
	return n > 0 && n < name.length && name.at[n - 1] == '#' ? (struct text){name.at, n - 1} : name;
}

/* (block, variable or lock), the latter also without a name. */
static uint64_t loop_key(const struct findings *f, const struct finding *r, const struct access *a)
{
	uint64_t object = a->object;

	if (event_info[a->kind].table == TABLE_SYNC) {
		struct text name = kind_of_lock(tables_name(f->tables, TABLE_SYNC, (uint32_t)a->object));

		object = hash_bytes(name.at, name.length);
	}
	return mix(mix(mix_block(&r->block), object), event_info[a->kind].table);
}

static uint64_t mix_text(uint64_t h, struct text t)
{
	return mix(h, hash_bytes(t.at, t.length));
}

/* The file of a place: line numbers move when code is edited. */
static uint64_t mix_file(uint64_t h, const struct tables *tables, site_id site)
{
	return mix_text(h, place_parse(tables_name(tables, TABLE_SITE, site)).file);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * Where what moves ends, if it begins at `i`: 0x and digits, a line's number behind a colon, [7] or []. Otherwise `i`.
 */
static size_t moving_end(struct text t, size_t i)
{
	size_t at = i + (t.at[i] == '[');

	if (i + 1 < t.length && t.at[i] == '0' && t.at[i + 1] == 'x')
		for (at = i + 2; at < t.length && (is_digit(t.at[at]) || (t.at[at] >= 'a' && t.at[at] <= 'f'));)
			at++;
	else if (t.at[i] == '[' || (i && t.at[i - 1] == ':'))
		while (at < t.length && is_digit(t.at[at]))
			at++;
	if (t.at[i] == '[')
		return at < t.length && t.at[at] == ']' ? at + 1 : i;
	return at;
}

/* A name without what moves in it: the line where a lock was made, "lock@bank.c:12", an offset, an element. */
static uint64_t mix_name(uint64_t h, struct text t)
{
	size_t from = 0;

	for (size_t i = 0; i < t.length; i++) {
		size_t end = moving_end(t, i);

		if (end == i)
			continue;
		h = mix_text(h, (struct text){t.at + from, i - from});
		from = end;
		i = end - 1;
	}
	return from < t.length ? mix_text(h, (struct text){t.at + from, t.length - from}) : h;
}

/* The variable or lock by its name; memory without one by the function and file that use it. */
static uint64_t mix_stable(uint64_t h, const struct tables *tables, const struct access *a)
{
	enum table_class class = event_info[a->kind].table;

	if (!(a->flags & EVENT_ADDRESSED) && class != TABLE_THREAD && class != TABLE_NONE)
		return mix_name(mix(h, class), tables_name(tables, class, (uint32_t)a->object));
	if (a->stack)
		h = mix_text(h, tables_name(tables, TABLE_CODE, tables_frame(tables, a->stack).code));
	return mix_file(h, tables, a->site);
}

/*
 * The fingerprint: what makes it one defect, by names: the block and its variable or lock. No line numbers, addresses,
 * threads or event numbers, no culprit, and nothing of how it was seen: another schedule shows the same defect
 * otherwise. Two findings of one run that agree in all of that are numbered.
 */
static uint64_t fingerprint(struct findings *f, const struct finding *r)
{
	uint64_t h = mix_text(r->block.declared, tables_name(f->tables, TABLE_CODE, r->block.code));

	h = mix_file(h, f->tables, r->block.site);
	h = mix_stable(mix_stable(h, f->tables, &r->path[0].from), f->tables, &r->path[r->links - 1].to);
	while (map_get(&f->by_id, h & UINT32_MAX))
		h = mix(h, 1);
	*map_put(&f->by_id, h & UINT32_MAX) = 1;
	return h & UINT32_MAX;
}

bool finding_has_data(const struct finding *r)
{
	for (size_t i = 0; i < r->links; i++)
		if (!r->path[i].data)
			return false;
	return true;
}

bool finding_happened(const struct finding *f)
{
	for (size_t i = 0; i < f->links; i++)
		if (f->path[i].from.seq > f->path[i].to.seq)
			return false;
	return true;
}

sync_id finding_lock(const struct finding *f)
{
	const struct access *a = &f->path[f->links - 1].to;

	if (f->lock || finding_has_data(f) || event_info[a->kind].table != TABLE_SYNC)
		return f->lock;
	return (sync_id)a->object;
}

static bool is_cyclic(const struct findings *f, const struct finding *r)
{
	return map_get(&f->loops, loop_key(f, r, &r->path[0].from)) ||
	       map_get(&f->loops, loop_key(f, r, &r->path[r->links - 1].to));
}

/* The facts that come from all reports together, and the rank. */
static void judge(struct findings *f, struct finding *of)
{
	struct rank rank;

	if (of->block.declared)
		of->facts |= FACT_DECLARED;
	if (finding_has_data(of))
		of->facts |= FACT_DATA;
	if (is_cyclic(f, of))
		of->facts |= FACT_CYCLIC;
	if (map_get(&f->waiters, of->block.code))
		of->facts |= FACT_WAITER;
	if (of->ways == WAY_BEFORE)
		of->facts |= FACT_BEFORE;
	else
		of->facts &= ~(uint32_t)FACT_BEFORE;
	rank = rank_judge(of->facts);
	of->rank = rank.rank;
	of->hidden = rank.hidden;
}

void findings_waiter(struct findings *f, code_id code)
{
	if (code)
		*map_put(&f->waiters, code) = 1;
}

void findings_learn(struct findings *f, size_t i, uint32_t facts)
{
	f->at[i].facts = facts;
	judge(f, &f->at[i]);
}

/* The check's entry in the finding, made if need be. */
static struct evidence *evidence_of(struct findings *f, struct finding *to, struct evidence e)
{
	for (size_t i = 0; i < to->evidence_count; i++)
		if (strcmp(to->evidence[i].check, e.check) == 0)
			return &to->evidence[i];
	to->evidence = arena_reserve(f->arena, to->evidence, &to->evidence_capacity, to->evidence_count, sizeof e);
	e.round = f->round;
	to->evidence[to->evidence_count] = e;
	return &to->evidence[to->evidence_count++];
}

enum way finding_way(const char *kind)
{
	return strcmp(kind, "BEFORE") == 0 ? WAY_BEFORE : strcmp(kind, "AFTER") == 0 ? WAY_AFTER : WAY_IN;
}

/* The earliest event at which the check knew, and how many activations it has named: in order, so each once. */
static void add_evidence(struct findings *f, struct finding *to, struct evidence e, uint64_t activation)
{
	struct evidence *have = evidence_of(f, to, e);

	bool same_way = finding_way(have->kind) == finding_way(e.kind);

	if (e.verdict > have->verdict) {
		have->verdict = e.verdict;
		have->promise = e.promise;
		have->kind = e.kind;
		have->seq = same_way && have->seq < e.seq ? have->seq : e.seq;
	} else if (same_way && e.seq < have->seq) {
		have->seq = e.seq;
	}
	if (have->round == f->round) {
		if (activation != have->latest)
			have->activations += e.times ? e.times : 1;
		have->latest = activation;
	}
	if (have->activations > to->count)
		to->count = have->activations;
}

void findings_testify(struct findings *f, size_t i, struct evidence e)
{
	e.verdict = VERDICT_SUSPECTED;
	*evidence_of(f, &f->at[i], e) = e;
}

static void drop_path(struct findings *f, const struct link *path, size_t links)
{
	if (path)
		arena_recycle(f->arena, (void *)path, links * sizeof *path);
}

static void drop_moments(struct findings *f, const struct moment *moments, size_t count)
{
	if (moments)
		arena_recycle(f->arena, (void *)moments, count * sizeof *moments);
}

/* The finding is without a path for now. */
static void drop_way(struct findings *f, struct finding *of)
{
	drop_path(f, of->path, of->links);
	drop_moments(f, of->moments, of->moments_count);
	of->path = NULL;
	of->moments = NULL;
	of->moments_count = 0;
}

void findings_surround(struct findings *f, size_t i, const struct moment *moments, size_t count)
{
	struct finding *of = &f->at[i];
	struct moment *copy;

	if (count < of->moments_count || !count)
		return;
	copy = arena_alloc(f->arena, count * sizeof *copy);
	memcpy(copy, moments, count * sizeof *copy);
	drop_moments(f, of->moments, of->moments_count);
	of->moments = copy;
	of->moments_count = count;
}

static bool matters_more(uint32_t facts, uint32_t than)
{
	struct rank a = rank_judge(facts), b = rank_judge(than);

	return a.rank != b.rank ? a.rank < b.rank : b.hidden && !a.hidden;
}

void findings_tighten(struct findings *f, size_t i, const struct link *first)
{
	struct finding *of = &f->at[i];
	struct link *path = arena_alloc(f->arena, 2 * sizeof *path);

	path[0] = *first;
	path[1] = of->path[of->links - 1];
	drop_way(f, of);
	of->path = path;
	of->links = 2;
}

/* Chooses between the window that it has and the one before: the better rank, in doubt the earlier. */
static void settle(struct findings *f, struct finding *of)
{
	struct split w = of->before;

	if (!w.path)
		return;
	of->before.path = NULL;
	if (matters_more(of->facts, w.facts)) {
		drop_path(f, w.path, w.links);
		drop_moments(f, w.moments, w.moments_count);
		return;
	}
	drop_way(f, of);
	of->block = w.block;
	of->path = w.path;
	of->links = w.links;
	of->facts = w.facts;
	of->moments = w.moments;
	of->moments_count = w.moments_count;
}

static void set_aside(struct findings *f, struct finding *of)
{
	settle(f, of);
	of->before = (struct split){of->block, of->path, of->links, of->facts, of->moments, of->moments_count};
	of->path = NULL;
	of->moments = NULL;
	of->moments_count = 0;
	of->tries++;
}

static void take_path(struct findings *f, struct finding *to, const struct finding *r)
{
	struct link *path = arena_alloc(f->arena, r->links * sizeof *path);

	memcpy(path, r->path, r->links * sizeof *path);
	drop_way(f, to);
	to->block = r->block;
	to->path = path;
	to->links = r->links;
	to->verdict = r->verdict;
	to->lock = r->lock;
	to->facts = r->facts;
	judge(f, to);
	f->fresh = arena_reserve(f->arena, f->fresh, &f->fresh_capacity, f->fresh_count, sizeof *f->fresh);
	f->fresh[f->fresh_count++] = (uint32_t)(to - f->at);
}

static struct finding *finding_new(struct findings *f, const struct finding *r)
{
	struct finding *to;

	f->at = arena_reserve(f->arena, f->at, &f->capacity, f->count, sizeof *f->at);
	to = &f->at[f->count++];
	*to = (struct finding){.number = f->count};
	take_path(f, to, r);
	return to;
}

bool finding_has_evidence(const struct finding *f, const char *check)
{
	for (size_t i = 0; i < f->evidence_count; i++)
		if (strcmp(f->evidence[i].check, check) == 0)
			return true;
	return false;
}

/* Whether both may be about one lock: it is not known of one of them which lock is given back, or it is the same. */
static bool may_share_lock(const struct finding *a, const struct finding *b)
{
	sync_id m = finding_lock(a), n = finding_lock(b);

	return !m || !n || m == n;
}

/*
 * The finding of the same activation that this report speaks of too. Either one of the two was seen by locks alone,
 * and data says the same more exactly; or the same event closes the window, and it is the same culprit (one access to
 * several variables) or another check that came by another path.
 */
static struct finding *same_block(struct findings *f, const struct finding *r, const char *check)
{
	uint32_t i = map_get(&f->by_block, r->block.seq);
	struct finding *have = i ? &f->at[i - 1] : NULL;
	const struct link *mine = &r->path[r->links - 1], *other = have ? &have->path[have->links - 1] : NULL;

	if (!have || is_loop(f, have) != is_loop(f, r))
		return NULL;
	if (!finding_has_data(r) || !finding_has_data(have))
		return may_share_lock(r, have) ? have : NULL;
	if (mine->to.seq != other->to.seq)
		return NULL;
	return mine->from.seq == other->from.seq || !finding_has_evidence(have, check) ? have : NULL;
}

/*
 * Whether the window was reported in an earlier round: then this is a block around the one that was blamed for it,
 * which is named there and not reported again.
 */
static bool is_around(struct findings *f, const struct finding *r)
{
	const struct access *first = &r->path[0].from, *second = &r->path[r->links - 1].to;
	uint64_t key = mix(mix_object(mix(first->kind, first->site), first), second->kind);
	uint32_t *round = map_put(&f->by_window, mix(mix_object(key, second), second->site));

	if (!*round)
		*round = f->round + 1;
	return *round < f->round + 1;
}

/*
 * Another window, as sure as the one it has, that may matter more: which it does is known once it was looked at. Not
 * for ever, since a block may have as many as the trace is long.
 */
static bool is_worth_a_try(const struct finding *r, const struct finding *have)
{
	return r->verdict == have->verdict && have->rank > 1 && have->tries < TRIES_MOST &&
	       (r->path[0].from.site != have->path[0].from.site ||
		       r->path[r->links - 1].to.site != have->path[have->links - 1].to.site);
}

static void improve(struct findings *f, struct finding *to, const struct finding *r)
{
	if (is_worth_a_try(r, to))
		set_aside(f, to);
	else if (r->verdict > to->verdict)
		settle(f, to);
	else
		return;
	take_path(f, to, r);
}

void findings_add(struct findings *f, const struct finding *r, struct evidence evidence)
{
	bool loop = is_loop(f, r);
	uint32_t *by_defect = map_put(&f->by_defect, defect_key(r, loop));
	struct finding *to = *by_defect ? &f->at[*by_defect - 1] : same_block(f, r, evidence.check);
	bool around = is_around(f, r);

	if (f->told)
		f->told(f->listener, r, &evidence);
	if (!to && around)
		return;
	if (loop) {
		*map_put(&f->loops, loop_key(f, r, &r->path[0].from)) = 1;
		*map_put(&f->loops, loop_key(f, r, &r->path[r->links - 1].to)) = 1;
	}
	if (!to)
		to = finding_new(f, r);
	else
		improve(f, to, r);
	to->ways |= finding_way(evidence.kind);
	if (!to->lock)
		to->lock = r->lock;
	*by_defect = (uint32_t)(to - f->at) + 1;
	if (to->block.seq == r->block.seq)
		*map_put(&f->by_block, to->block.seq) = *by_defect;
	evidence.verdict = r->verdict;
	add_evidence(f, to, evidence, r->block.seq);
}

/* The best way of a finding: IN before AFTER before BEFORE. */
static int best_way(const struct finding *f)
{
	return f->ways & -f->ways;
}

/* Best rank first, hidden ones last; then best verdict, then way, then the order in which they were found. */
static int compare(const void *left, const void *right)
{
	const struct finding *a = left, *b = right;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->hidden != b->hidden)
		return a->hidden ? 1 : -1;
	if (a->verdict != b->verdict)
		return a->verdict > b->verdict ? -1 : 1;
	if (best_way(a) != best_way(b))
		return best_way(a) < best_way(b) ? -1 : 1;
	return a->number < b->number ? -1 : 1;
}

/* Threads. */

void findings_created(struct findings *f, const struct event *fork)
{
	*(struct access *)seg_at(&f->created, fork->object, sizeof(struct access)) = (struct access){
		.kind = fork->kind, .thread = fork->thread, .object = fork->object, .site = fork->site, .stack = fork->stack,
		.seq = fork->seq,
	};
}

const struct access *findings_creation(const struct findings *f, thread_id t)
{
	const struct access *a = seg_hint(&f->created, t, sizeof *a);

	return a && a->kind ? a : NULL;
}

/* Hazards. */

struct hazard *findings_hazard(struct findings *f, const struct hazard *h)
{
	uint64_t key = h->kind;
	uint32_t *index;
	struct access *at;
	struct hazard *to;

	for (size_t i = 0; i < h->count; i++)
		key = mix(mix_object(key, &h->at[i]), h->at[i].site);
	index = map_put(&f->by_places, key);
	if (*index) {
		to = f->hazard[*index - 1];
		to->times++;
		if (h->since < to->since)
			to->since = h->since;
		if (h->until > to->until)
			to->until = h->until;
		return to;
	}
	to = arena_alloc(f->arena, sizeof *to);
	at = arena_alloc(f->arena, h->count * sizeof *at);
	memcpy(at, h->at, h->count * sizeof *at);
	*to = *h;
	to->at = at;
	to->times = 1;
	f->hazard = arena_reserve(f->arena, f->hazard, &f->hazard_capacity, f->hazards, sizeof *f->hazard);
	f->hazard[f->hazards++] = to;
	*index = (uint32_t)f->hazards;
	return to;
}

void findings_limit(struct findings *f, const char *text, uint64_t times)
{
	if (!times)
		return;
	for (size_t i = 0; i < f->limits; i++)
		if (strcmp(f->limit[i].text, text) == 0) {
			f->limit[i].times += times;
			return;
		}
	f->limit = arena_reserve(f->arena, f->limit, &f->limit_capacity, f->limits, sizeof *f->limit);
	f->limit[f->limits++] = (struct limit){text, times};
}

static bool touches(const struct hazard *h, const struct promise *p)
{
	if (h->kind == HAZARD_RACE)
		return h->since <= p->to && h->until >= p->from;
	for (size_t i = 0; i < h->count; i++)
		if (h->at[i].object == p->lock)
			return true;
	return false;
}

static const struct hazard *in_the_way(const struct findings *f, const struct promise *p)
{
	for (size_t i = 0; i < f->hazards; i++)
		if (touches(f->hazard[i], p))
			return f->hazard[i];
	return NULL;
}

static bool same_object(const struct access *a, const struct access *b)
{
	return event_is_access(a->kind) && a->object == b->object &&
		(a->flags & EVENT_ADDRESSED) == (b->flags & EVENT_ADDRESSED);
}

/* A race on a variable by which two operations of the path are ordered. */
static const struct hazard *race_on(const struct findings *f, const struct finding *of)
{
	for (size_t i = 0; i < f->hazards; i++)
		for (size_t k = 0; f->hazard[i]->kind == HAZARD_RACE && k < of->links; k++)
			if (same_object(&of->path[k].from, f->hazard[i]->at) || same_object(&of->path[k].to, f->hazard[i]->at))
				return f->hazard[i];
	return NULL;
}

/* What was observed in a recording rests on no order that was made up. */
static void discharge_observed(struct findings *f, struct finding *of, struct evidence *e)
{
	const struct hazard *race = race_on(f, of);

	if (!race && f->looked[HAZARD_RACE])
		return;
	of->hindrance = race;
	of->guessed = race;
	of->unchecked = !race;
	e->verdict = VERDICT_SUSPECTED;
}

/* A prediction that does not keep what it promised is a suspicion, and says what is in the way. */
static void discharge(struct findings *f, struct finding *of, struct evidence *e)
{
	if (f->incomplete && e->verdict > VERDICT_SUSPECTED) {
		of->incomplete = true;
		e->verdict = VERDICT_SUSPECTED;
		return;
	}
	if (e->verdict == VERDICT_OBSERVED && f->recorded)
		discharge_observed(f, of, e);
	if (e->verdict != VERDICT_PREDICTED)
		return;
	of->hindrance = in_the_way(f, &e->promise);
	of->unchecked = !f->looked[HAZARD_RACE] || !f->looked[HAZARD_DEADLOCK];
	if (of->hindrance || of->unchecked)
		e->verdict = VERDICT_SUSPECTED;
}

static void discharge_all(struct findings *f, struct finding *of)
{
	settle(f, of);
	of->verdict = VERDICT_SUSPECTED;
	for (size_t i = 0; i < of->evidence_count; i++) {
		discharge(f, of, &of->evidence[i]);
		if (of->evidence[i].verdict > of->verdict)
			of->verdict = of->evidence[i].verdict;
	}
	judge(f, of);
}

/*
 * Code that is split is split for every variable that it uses there. The best of its findings stands for them; what
 * somebody has declared is told for each.
 */
static void mark_again(struct findings *f)
{
	struct map seen;

	map_init(&seen, f->arena);
	for (size_t i = 0; i < f->count; i++) {
		struct finding *of = &f->at[i];
		uint32_t *times = of->block.code && !of->block.declared ? map_put(&seen, of->block.code) : NULL;

		of->again = times && (*times)++ > 0;
	}
}

void findings_finish(struct findings *f)
{
	for (size_t i = 0; i < f->count; i++)
		discharge_all(f, &f->at[i]);
	findings_fold(f);
	if (f->count)
		qsort(f->at, f->count, sizeof *f->at, compare);
	for (size_t i = 0; i < f->count; i++)
		f->at[i].id = fingerprint(f, &f->at[i]);
	mark_again(f);
}
