/* SPDX-License-Identifier: MIT */
#include "candidate.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "check/run.h"
#include "finding/window.h"
#include "policy/rank.h"
#include "symbols/namer.h"

const char *const pattern_text[PATTERNS] = {
	"read-write-write", "read-write-read", "write-write-read", "write-read-write",
};
const char *const exclusion_text[EXCLUSIONS] = {"a lock that is held throughout", "fork, join or a barrier"};

enum { PAIRS_MOST = 32 }; /* of the same two places and block */

/* Two accesses of one activation to one location. */
struct pair {
	uint32_t first, second, loc;
	struct block block;
};

struct finder {
	struct run *run;
	const struct whole *w;
	uint64_t seq; /* of the last event that was looked at */
	struct pair *pair;
	size_t pairs, capacity;
	struct map times; /* of (places, kinds, block): how many pairs there are */
};

static void *finder_start(struct run *run)
{
	struct finder *f = arena_alloc(run->arena, sizeof *f);

	f->run = run;
	map_init(&f->times, run->arena);
	return f;
}

void candidates_of(struct run *run, const struct whole *w)
{
	((struct finder *)run_check_state(run, check_candidates.name))->w = w;
}

static const struct event *event_at(const struct whole *w, uint32_t step)
{
	return &w->event[w->step[step].event];
}

static uint64_t mix(uint64_t key, uint64_t x)
{
	return hash_bytes(&(uint64_t[]){key, x}, 2 * sizeof x);
}

static uint64_t mix_step(uint64_t key, const struct whole *w, uint32_t step)
{
	return mix(mix(key, event_at(w, step)->site), w->step[step].kind);
}

/* ---- Pairs: while the blocks are open. ---- */

static void add_pair(struct finder *f, struct pair p)
{
	uint32_t *times = map_put(&f->times, mix_step(mix_step(p.block.code, f->w, p.first), f->w, p.second));

	if (*times >= PAIRS_MOST)
		return;
	++*times;
	f->pair = arena_reserve(f->run->arena, f->pair, &f->capacity, f->pairs, sizeof p);
	f->pair[f->pairs++] = p;
}

/* A new life of the memory: nothing before it belongs to what comes after. */
static bool is_birth(const struct whole *w, uint32_t step)
{
	return event_at(w, step)->kind == EVENT_ALLOC;
}

static void look_back(struct finder *f, uint32_t step, uint32_t loc, const struct activations *open)
{
	const struct whole *w = f->w;
	struct slice all = whole_loc_steps(w, loc);
	uint32_t i = slice_before(all, step);

	for (uint32_t seen = 0; i-- > 0 && seen < LOOK_BACK && !is_birth(w, all.at[i]); seen++) {
		const struct activation *a;

		if (w->step[all.at[i]].thread != w->step[step].thread)
			continue;
		a = activations_holding(open, event_at(w, all.at[i])->seq);
		if (!a)
			return;
		add_pair(f, (struct pair){all.at[i], step, loc, block_of(a, event_at(w, step)->thread)});
	}
}

static void finder_access(void *self, const struct event *e)
{
	struct finder *f = self;
	struct activations *open = run_open(f->run, e->line);
	uint32_t step = f->w->step_of[e->seq - 1];
	const struct step *s;

	if (e->seq == f->seq || step == NO_STEP || e->assumed || !activations_outermost(open))
		return;
	f->seq = e->seq;
	s = &f->w->step[step];
	for (uint32_t x = s->object; x < s->object + s->locs; x++)
		look_back(f, step, x, open);
}

const struct check check_candidates = {
	.name = "candidates",
	.summary = "three accesses that would split a block",
	.single = true,
	.start = finder_start,
	.on = {[ON_ACCESS] = finder_access},
};

/* ---- Triples. ---- */

/* All candidates as they are made: also those that have no instance. */
struct making {
	struct arena *arena;
	const struct whole *w;
	struct must must;
	struct candidate *at;
	size_t count, capacity;
	struct map known;          /* the triple to index + 1 */
	uint8_t *excluded;         /* by index: enum exclusion + 1, the last reason */
	size_t excluded_capacity;
};

static bool conflict(const struct step *a, const struct step *b)
{
	return step_writes(a) || step_writes(b);
}

/* What a read-modify-write counts as: the pattern that matters most among those that it makes. */
static int pattern_of(const struct step *a, const struct step *x, const struct step *b)
{
	if (!conflict(a, x) || !conflict(x, b))
		return -1;
	if (step_reads(a) && step_writes(x) && step_writes(b))
		return PATTERN_RWW;
	if (step_reads(a) && step_writes(x))
		return PATTERN_RWR;
	if (step_writes(x) && step_reads(b))
		return PATTERN_WWR;
	return step_reads(x) && step_writes(b) ? PATTERN_WRW : -1;
}

bool candidate_is_locked(const struct whole *w, const struct instance *i)
{
	const struct step *e1 = &w->step[i->first], *e2 = &w->step[i->culprit], *e3 = &w->step[i->second];

	for (uint32_t h = e3->held; h; h = w->holding[h].next) {
		const struct step *mine = &w->step[w->holding[h].acquire];

		for (uint32_t k = e2->held; k && mine->at < e1->at; k = w->holding[k].next) {
			const struct step *other = &w->step[w->holding[k].acquire];

			if (other->object == mine->object && !(other->shared && mine->shared))
				return true;
		}
	}
	return false;
}

static bool is_ordered(const struct must *m, const struct instance *i)
{
	return must_before(m, i->culprit, i->first) || must_before(m, i->second, i->culprit);
}

/* By how many steps the culprit misses the window. */
static uint32_t distance_of(const struct instance *i)
{
	return i->culprit < i->first ? i->first - i->culprit : i->culprit > i->second ? i->culprit - i->second : 0;
}

static struct candidate *candidate_of(struct making *m, const struct instance *i, int pattern)
{
	const struct whole *w = m->w;
	uint64_t key = mix_step(mix_step(mix_step(i->block.code, w, i->first), w, i->culprit), w, i->second);
	uint32_t *index = map_put(&m->known, mix(key, i->block.declared));

	if (!*index) {
		m->at = arena_reserve(m->arena, m->at, &m->capacity, m->count, sizeof *m->at);
		m->excluded = arena_reserve(m->arena, m->excluded, &m->excluded_capacity, m->count, 1);
		m->at[m->count] = (struct candidate){event_at(w, i->first)->site, event_at(w, i->culprit)->site,
			event_at(w, i->second)->site, .pattern = (uint8_t)pattern, .number = m->count};
		*index = (uint32_t)++m->count;
	}
	return &m->at[*index - 1];
}

/* Keeps the nearest ones, in doubt the earlier. */
static void add_instance(struct candidate *c, const struct instance *i)
{
	uint32_t at = c->instances;

	while (at > 0 && c->instance[at - 1].distance > i->distance)
		at--;
	if (at == INSTANCES_MOST)
		return;
	if (c->instances < INSTANCES_MOST)
		c->instances++;
	memmove(&c->instance[at + 1], &c->instance[at], (c->instances - 1 - at) * sizeof *i);
	c->instance[at] = *i;
}

static void consider(struct making *m, const struct pair *p, uint32_t culprit)
{
	const struct whole *w = m->w;
	struct instance i = {.first = p->first, .culprit = culprit, .second = p->second, .loc = p->loc, .block = p->block};
	int pattern = pattern_of(&w->step[p->first], &w->step[culprit], &w->step[p->second]);
	struct candidate *c;

	if (w->step[culprit].thread == w->step[p->first].thread || pattern < 0)
		return;
	c = candidate_of(m, &i, pattern);
	i.distance = distance_of(&i);
	if (candidate_is_locked(w, &i))
		m->excluded[c - m->at] = EXCLUDED_LOCK + 1;
	else if (is_ordered(&m->must, &i))
		m->excluded[c - m->at] = EXCLUDED_ORDER + 1;
	else
		add_instance(c, &i);
}

static void find_culprits(struct making *m, const struct pair *p)
{
	struct slice all = whole_loc_steps(m->w, p->loc);
	uint32_t from = slice_before(all, p->second);

	for (uint32_t i = from, n = 0; i-- > 0 && n < LOOK_AROUND && !is_birth(m->w, all.at[i]); n++)
		consider(m, p, all.at[i]);
	for (uint32_t i = from + 1, n = 0; i < all.count && n < LOOK_AROUND && !is_birth(m->w, all.at[i]); i++, n++)
		consider(m, p, all.at[i]);
}

/* ---- What matters most. ---- */

struct access step_access(const struct whole *w, uint32_t step)
{
	const struct event *e = event_at(w, step);

	return (struct access){.kind = e->kind, .flags = e->flags, .thread = e->thread, .object = e->object,
		.value = e->value, .size = e->size, .site = e->site, .stack = e->stack, .seq = e->seq};
}

struct access candidate_access(const struct whole *w, uint32_t step, uint32_t loc)
{
	struct access a = step_access(w, step);
	uint32_t name = 0;

	if (!(a.flags & EVENT_ADDRESSED))
		return a;
	a.object = w->edge[loc];
	a.size = (uint32_t)(w->edge[loc + 1] - w->edge[loc]);
	a.flags |= EVENT_SIZED;
	if (w->tables->namer)
		name = namer_variable(w->tables->namer, a.object, a.size);
	if (w->tables->namer && !name)
		name = namer_heap(w->tables->namer, a.object, a.size, a.seq);
	if (name) {
		a.object = name;
		a.flags &= (uint8_t)~EVENT_ADDRESSED;
	}
	return a;
}

struct finding candidate_finding(const struct whole *w, const struct candidate *c, const struct instance *i,
	struct link path[2])
{
	struct access x = candidate_access(w, i->culprit, i->loc);

	path[0] = (struct link){candidate_access(w, i->first, i->loc), x, true};
	path[1] = (struct link){x, candidate_access(w, i->second, i->loc), true};
	return (struct finding){.block = i->block, .path = path, .links = 2, .facts = c->facts};
}

/* Whether the second access writes without having read again since the first. */
static bool is_blind(const struct whole *w, const struct instance *i)
{
	struct slice all = whole_thread_steps(w, w->step[i->first].thread);

	if (w->step[i->second].kind != STEP_WRITE)
		return false;
	for (uint32_t k = w->step[i->first].at + 1; k < w->step[i->second].at; k++)
		if (step_touches(&w->step[all.at[k]], i->loc) && step_reads(&w->step[all.at[k]]))
			return false;
	return true;
}

static uint32_t facts_of(const struct whole *w, const struct candidate *c)
{
	struct link path[2];
	struct finding f = candidate_finding(w, c, &c->instance[0], path);
	uint32_t facts = FACT_DATA | window_shape_of(w->tables, &f);

	if (f.block.declared)
		facts |= FACT_DECLARED;
	if (c->pattern == PATTERN_RWW && is_blind(w, &c->instance[0]))
		facts |= FACT_UPDATE;
	return facts;
}

static int compare(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;
	struct rank x = rank_judge(a->facts), y = rank_judge(b->facts);

	if (x.hidden != y.hidden)
		return x.hidden ? 1 : -1;
	if (x.rank != y.rank)
		return x.rank < y.rank ? -1 : 1;
	if (a->pattern != b->pattern)
		return a->pattern < b->pattern ? -1 : 1;
	if (a->instance[0].distance != b->instance[0].distance)
		return a->instance[0].distance < b->instance[0].distance ? -1 : 1;
	return a->number < b->number ? -1 : 1;
}

struct candidates candidates_found(struct run *run, struct arena *a)
{
	const struct finder *f = run_check_state(run, check_candidates.name);
	struct making m = {.arena = a, .w = f->w};
	struct candidates found = {0};

	map_init(&m.known, a);
	must_init(&m.must, a, f->w);
	for (size_t i = 0; i < f->pairs; i++)
		find_culprits(&m, &f->pair[i]);
	found.at = m.at;
	for (size_t i = 0; i < m.count; i++) {
		if (!m.at[i].instances) {
			found.excluded[m.excluded[i] - 1]++;
			continue;
		}
		m.at[i].facts = facts_of(f->w, &m.at[i]);
		found.at[found.count++] = m.at[i];
	}
	if (found.count)
		qsort(found.at, found.count, sizeof *found.at, compare);
	return found;
}

bool candidates_feed(struct run *run, const struct whole *w)
{
	struct event events[TRACE_BATCH];

	for (size_t from = 0, n; from < w->count; from += n) {
		n = w->count - from < TRACE_BATCH ? w->count - from : TRACE_BATCH;
		memcpy(events, w->event + from, n * sizeof *events);
		if (run_events(run, events, n) < n)
			return false;
	}
	return true;
}

struct candidates candidates_in(const struct whole *w, const struct policy *policy, struct arena *a)
{
	const struct check *checks[] = {&check_candidates};
	struct findings findings;
	struct run *run;

	findings_init(&findings, a, w->tables);
	run = run_new(a, w->tables, &findings, &(struct run_setup){.checks = checks, .count = 1, .lenient = true,
		.policy = policy});
	candidates_of(run, w);
	candidates_feed(run, w);
	run_finish(run);
	return candidates_found(run, a);
}
