/* SPDX-License-Identifier: MIT */
#include "fold.h"

#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "finding/finding.h"
#include "policy/rank.h"

static uint64_t block_key(const struct block *b)
{
	return b->code ? b->code : hash_pair(b->site, 1);
}

static bool is_better(const struct finding *a, const struct finding *b)
{
	return a->rank != b->rank ? a->rank < b->rank : a->verdict > b->verdict;
}

/* Whether both may be about one lock: it is not known of one of them which lock is given back, or it is the same. */
static bool may_share_lock(const struct finding *locks, const struct finding *data)
{
	const struct access *a = &locks->path[0].from;

	return !data->lock || event_info[a->kind].table != TABLE_SYNC || a->object == data->lock;
}

static bool is_told(const struct finding *to, const char *check)
{
	for (size_t i = 0; i < to->evidence_count; i++)
		if (strcmp(to->evidence[i].check, check) == 0)
			return true;
	return false;
}

static void fold(struct findings *f, struct finding *to, const struct finding *from)
{
	for (size_t i = 0; i < from->evidence_count; i++) {
		if (is_told(to, from->evidence[i].check))
			continue;
		to->evidence = arena_reserve(f->arena, to->evidence, &to->evidence_capacity, to->evidence_count,
			sizeof *to->evidence);
		to->evidence[to->evidence_count++] = from->evidence[i];
	}
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

		if (f->at[i].facts & FACT_DATA && (!*to || is_better(&f->at[i], &f->at[*to - 1])))
			*to = (uint32_t)i + 1;
	}
	for (size_t i = 0; i < f->count; i++) {
		uint32_t to = map_get(&best, block_key(&f->at[i].block));

		if (to && !(f->at[i].facts & FACT_DATA) && may_share_lock(&f->at[i], &f->at[to - 1])) {
			fold(f, &f->at[to - 1], &f->at[i]);
			f->at[i].links = 0; /* gone: see below */
		}
	}
	for (size_t i = 0; i < f->count; i++)
		if (f->at[i].links)
			f->at[kept++] = f->at[i];
	f->count = kept;
}
