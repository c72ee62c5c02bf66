/* SPDX-License-Identifier: MIT */
#include "finding.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "event/place.h"
#include "policy/rank.h"

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
	map_init(&f->by_id, a);
	map_init(&f->by_places, a);
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

/*
 * (block, variable): what makes two reports one defect. Threads, values, culprits and the places within the block do
 * not count, nor where the function was called.
 */
static uint64_t defect_key(const struct finding *r)
{
	uint64_t h = mix(r->block.code, r->block.code ? 0 : r->block.site);

	return mix_object(mix_object(h, &r->path[0].from), &r->path[r->links - 1].to);
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

/* Threads' names are left out as threads are: who forks whom is told by the kinds. */
static uint64_t mix_stable(uint64_t h, const struct tables *tables, const struct access *a)
{
	enum table_class class = event_info[a->kind].table;

	h = mix(h, a->kind);
	if (!(a->flags & EVENT_ADDRESSED) && class != TABLE_THREAD && class != TABLE_NONE)
		h = mix_text(h, tables_name(tables, class, (uint32_t)a->object));
	if (a->stack)
		h = mix_text(h, tables_name(tables, TABLE_CODE, tables_frame(tables, a->stack).code));
	return mix_file(h, tables, a->site);
}

/*
 * The fingerprint: names of functions, variables and files and the kinds of the accesses; no line numbers,
 * addresses, threads or event numbers. Two findings of one run that agree in all of that are numbered.
 */
static uint64_t fingerprint(struct findings *f, const struct finding *r)
{
	uint64_t h = mix_text(r->block.declared, tables_name(f->tables, TABLE_CODE, r->block.code));

	h = mix_file(h, f->tables, r->block.site);
	for (size_t i = 0; i < r->links; i++)
		h = mix_stable(mix_stable(h, f->tables, &r->path[i].from), f->tables, &r->path[i].to);
	while (map_get(&f->by_id, h & UINT32_MAX))
		h = mix(h, 1);
	*map_put(&f->by_id, h & UINT32_MAX) = 1;
	return h & UINT32_MAX;
}

static bool has_data(const struct finding *r)
{
	for (size_t i = 0; i < r->links; i++)
		if (!r->path[i].data)
			return false;
	return true;
}

static void judge(struct finding *f)
{
	struct rank rank;

	if (f->block.declared)
		f->facts |= FACT_DECLARED;
	if (has_data(f))
		f->facts |= FACT_DATA;
	rank = rank_judge(f->facts);
	f->rank = rank.rank;
	f->hidden = rank.hidden;
}

/* The check's entry in the finding, made if need be. */
static struct evidence *evidence_of(struct findings *f, struct finding *to, struct evidence e)
{
	for (size_t i = 0; i < to->evidence_count; i++)
		if (strcmp(to->evidence[i].check, e.check) == 0)
			return &to->evidence[i];
	to->evidence = arena_reserve(f->arena, to->evidence, &to->evidence_capacity, to->evidence_count, sizeof e);
	to->evidence[to->evidence_count] = e;
	return &to->evidence[to->evidence_count++];
}

/* The earliest event at which the check knew, and how many activations it has named: in order, so each once. */
static void add_evidence(struct findings *f, struct finding *to, struct evidence e, uint64_t activation)
{
	struct evidence *have = evidence_of(f, to, e);

	if (e.seq < have->seq)
		have->seq = e.seq;
	if (e.verdict > have->verdict) {
		have->verdict = e.verdict;
		have->kind = e.kind;
		have->promise = e.promise;
	}
	if (activation != have->latest)
		have->activations += e.times ? e.times : 1;
	have->latest = activation;
	if (have->activations > to->count)
		to->count = have->activations;
}

static void take_path(struct findings *f, struct finding *to, const struct finding *r)
{
	struct link *path = arena_alloc(f->arena, r->links * sizeof *path);

	memcpy(path, r->path, r->links * sizeof *path);
	to->block = r->block;
	to->path = path;
	to->links = r->links;
	to->verdict = r->verdict;
	to->facts = r->facts;
	judge(to);
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

static bool has_evidence_of(const struct finding *f, const char *check)
{
	for (size_t i = 0; i < f->evidence_count; i++)
		if (strcmp(f->evidence[i].check, check) == 0)
			return true;
	return false;
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

	if (!have || r->verdict == VERDICT_SUSPECTED || have->verdict == VERDICT_SUSPECTED)
		return have;
	if (mine->to.seq != other->to.seq)
		return NULL;
	return mine->from.seq == other->from.seq || !has_evidence_of(have, check) ? have : NULL;
}

void findings_add(struct findings *f, const struct finding *r, struct evidence evidence)
{
	uint32_t *by_defect = map_put(&f->by_defect, defect_key(r));
	struct finding *to = *by_defect ? &f->at[*by_defect - 1] : same_block(f, r, evidence.check);

	if (!to)
		to = finding_new(f, r);
	else if (r->verdict > to->verdict)
		take_path(f, to, r);
	*by_defect = (uint32_t)(to - f->at) + 1;
	if (to->block.seq == r->block.seq)
		*map_put(&f->by_block, to->block.seq) = *by_defect;
	evidence.verdict = r->verdict;
	add_evidence(f, to, evidence, r->block.seq);
}

/* Best rank first, then best verdict, then the order in which they were found. */
static int compare(const void *left, const void *right)
{
	const struct finding *a = left, *b = right;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->verdict != b->verdict)
		return a->verdict > b->verdict ? -1 : 1;
	return a->number < b->number ? -1 : 1;
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

/* A prediction that does not keep what it promised is a suspicion, and says what is in the way. */
static void discharge(struct findings *f, struct finding *of, struct evidence *e)
{
	if (e->verdict != VERDICT_PREDICTED)
		return;
	of->hindrance = in_the_way(f, &e->promise);
	of->unchecked = !f->looked[HAZARD_RACE] || !f->looked[HAZARD_DEADLOCK];
	if (of->hindrance || of->unchecked)
		e->verdict = VERDICT_SUSPECTED;
}

static void discharge_all(struct findings *f, struct finding *of)
{
	of->verdict = VERDICT_SUSPECTED;
	for (size_t i = 0; i < of->evidence_count; i++) {
		discharge(f, of, &of->evidence[i]);
		if (of->evidence[i].verdict > of->verdict)
			of->verdict = of->evidence[i].verdict;
	}
	judge(of);
}

void findings_finish(struct findings *f)
{
	for (size_t i = 0; i < f->count; i++)
		discharge_all(f, &f->at[i]);
	if (f->count)
		qsort(f->at, f->count, sizeof *f->at, compare);
	for (size_t i = 0; i < f->count; i++)
		f->at[i].id = fingerprint(f, &f->at[i]);
}

bool findings_declared(const struct findings *f)
{
	for (size_t i = 0; i < f->count; i++)
		if (f->at[i].block.declared)
			return true;
	return false;
}
