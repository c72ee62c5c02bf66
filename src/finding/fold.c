/* SPDX-License-Identifier: MIT */
#include "fold.h"

#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "finding/finding.h"

static uint64_t block_key(const struct block *b)
{
	return b->code ? b->code : hash_pair(b->site, 1);
}

static bool is_better(const struct finding *a, const struct finding *b)
{
	return a->rank != b->rank ? a->rank < b->rank : a->verdict > b->verdict;
}

/*
 * Whether what locks say goes there: not away from a better rank, and not where another lock is known to be given
 * back.
 */
static bool belongs_to(const struct finding *locks, const struct finding *data)
{
	sync_id m = finding_lock(locks), n = finding_lock(data);

	return !finding_has_data(locks) && !is_better(locks, data) && (!m || !n || m == n);
}

static struct evidence *evidence_of(struct finding *f, const char *check)
{
	for (size_t i = 0; i < f->evidence_count; i++)
		if (strcmp(f->evidence[i].check, check) == 0)
			return &f->evidence[i];
	return NULL;
}

/* The check's word goes along; where it has said the same already, it knew as early as it knew either. */
static void fold_evidence(struct findings *f, struct finding *to, const struct evidence *e)
{
	struct evidence *have = evidence_of(to, e->check);

	if (have) {
		if (finding_way(have->kind) == finding_way(e->kind) && e->seq < have->seq)
			have->seq = e->seq;
		return;
	}
	to->evidence = arena_reserve(f->arena, to->evidence, &to->evidence_capacity, to->evidence_count,
		sizeof *to->evidence);
	to->evidence[to->evidence_count++] = *e;
}

static void fold(struct findings *f, struct finding *to, const struct finding *from)
{
	for (size_t i = 0; i < from->evidence_count; i++)
		fold_evidence(f, to, &from->evidence[i]);
	if (from->count > to->count)
		to->count = from->count;
}

void findings_fold(struct findings *f)
{
	struct map best; /* block to index + 1 of its best finding with data */
	size_t kept = 0;

	map_init(&best, f->arena);
	for (size_t i = 0; i < f->count; i++) {
		uint32_t *to = map_put(&best, block_key(&f->at[i].block));

		if (finding_has_data(&f->at[i]) && (!*to || is_better(&f->at[i], &f->at[*to - 1])))
			*to = (uint32_t)i + 1;
	}
	for (size_t i = 0; i < f->count; i++) {
		uint32_t to = map_get(&best, block_key(&f->at[i].block));

		if (to && belongs_to(&f->at[i], &f->at[to - 1])) {
			fold(f, &f->at[to - 1], &f->at[i]);
			f->at[i].links = 0; /* gone: see below */
		}
	}
	for (size_t i = 0; i < f->count; i++)
		if (f->at[i].links)
			f->at[kept++] = f->at[i];
	f->count = kept;
}
