/* SPDX-License-Identifier: MIT */
#include "lockset.h"

#include <string.h>

#include "base/arena.h"
#include "base/hash.h"

void locksets_init(struct locksets *s, struct arena *a)
{
	s->arena = a;
	s->count = 0;
	seg_init(&s->set, a, sizeof(struct lockset));
	seg_init(&s->single, a, sizeof(lockset_id));
	map_init(&s->by_content, a);
	map_init(&s->added, a);
	map_init(&s->removed, a);
	map_init(&s->met, a);
}

struct lockset lockset_of(struct locksets *s, lockset_id set)
{
	return *(struct lockset *)seg_at(&s->set, set, sizeof(struct lockset));
}

static bool same(struct lockset a, struct lockset b)
{
	return a.count == b.count && memcmp(a.lock, b.lock, a.count * sizeof *a.lock) == 0;
}

/* The id of the set; its locks are copied if it is new. */
static lockset_id intern(struct locksets *s, struct lockset set)
{
	uint64_t key = hash_bytes(set.lock, set.count * sizeof *set.lock);
	uint32_t *id;
	sync_id *copy;

	if (!set.count)
		return 0;
	while (*(id = map_put(&s->by_content, key)) && !same(lockset_of(s, *id), set))
		key = hash_word(key + 1);
	if (*id)
		return *id;
	copy = arena_alloc(s->arena, set.count * sizeof *copy);
	memcpy(copy, set.lock, set.count * sizeof *copy);
	*id = ++s->count;
	*(struct lockset *)seg_at(&s->set, *id, sizeof set) = (struct lockset){copy, set.count};
	return *id;
}

/* Interns what is in `room`, which has space for `most` locks, and takes the room back. */
static lockset_id intern_room(struct locksets *s, sync_id *room, uint32_t count, uint32_t most)
{
	lockset_id id = intern(s, (struct lockset){room, count});

	arena_recycle(s->arena, room, most * sizeof *room);
	return id;
}

static uint64_t pair_key(uint32_t a, uint32_t b)
{
	return (uint64_t)a << 32 | b;
}

/* What is remembered is the id + 1, since 0 is an answer too. */
static lockset_id remember(struct map *in, uint64_t key, lockset_id answer)
{
	*map_put(in, key) = answer + 1;
	return answer;
}

static lockset_id add(struct locksets *s, lockset_id set, sync_id m)
{
	uint32_t known = map_get(&s->added, pair_key(set, m)), i = 0;
	struct lockset old;
	sync_id *room;

	if (known)
		return known - 1;
	old = lockset_of(s, set);
	if (lockset_has(s, set, m))
		return remember(&s->added, pair_key(set, m), set);
	room = arena_alloc(s->arena, (old.count + 1) * sizeof *room);
	for (; i < old.count && old.lock[i] < m; i++)
		room[i] = old.lock[i];
	room[i] = m;
	for (; i < old.count; i++)
		room[i + 1] = old.lock[i];
	return remember(&s->added, pair_key(set, m), intern_room(s, room, old.count + 1, old.count + 1));
}

/* Mostly it is the first, and the set is that of one lock. */
lockset_id lockset_add(struct locksets *s, lockset_id set, sync_id m)
{
	lockset_id *single;

	if (set)
		return add(s, set, m);
	single = seg_at(&s->single, m, sizeof *single);
	if (!*single)
		*single = add(s, set, m);
	return *single;
}

lockset_id lockset_remove(struct locksets *s, lockset_id set, sync_id m)
{
	uint32_t known = map_get(&s->removed, pair_key(set, m)), count = 0;
	struct lockset old = lockset_of(s, set);
	sync_id *room;

	if (known)
		return known - 1;
	if (!lockset_has(s, set, m))
		return remember(&s->removed, pair_key(set, m), set);
	room = arena_alloc(s->arena, old.count * sizeof *room);
	for (uint32_t i = 0; i < old.count; i++)
		if (old.lock[i] != m)
			room[count++] = old.lock[i];
	return remember(&s->removed, pair_key(set, m), intern_room(s, room, count, old.count));
}

/* How many locks are in both. */
static uint32_t common(struct lockset a, struct lockset b)
{
	uint32_t n = 0;

	for (uint32_t i = 0, j = 0; i < a.count && j < b.count;) {
		n += a.lock[i] == b.lock[j];
		if (a.lock[i] <= b.lock[j])
			i++;
		else
			j++;
	}
	return n;
}

/* Mostly the one is within the other or they are disjoint, which is told sooner than looked up. */
lockset_id lockset_meet_new(struct locksets *s, lockset_id a, lockset_id b)
{
	uint64_t key = a < b ? pair_key(a, b) : pair_key(b, a);
	struct lockset left = lockset_of(s, a), right = lockset_of(s, b);
	uint32_t both = common(left, right), known, count = 0;
	sync_id *room;

	if (both == 0 || both == left.count)
		return both ? a : 0;
	if (both == right.count)
		return b;
	known = map_get(&s->met, key);
	if (known)
		return known - 1;
	room = arena_alloc(s->arena, left.count * sizeof *room);
	for (uint32_t i = 0, j = 0; i < left.count && j < right.count;) {
		if (left.lock[i] == right.lock[j]) {
			room[count++] = left.lock[i++];
			j++;
		} else if (left.lock[i] < right.lock[j]) {
			i++;
		} else {
			j++;
		}
	}
	return remember(&s->met, key, intern_room(s, room, count, left.count));
}

bool lockset_has(struct locksets *s, lockset_id set, sync_id m)
{
	struct lockset of = lockset_of(s, set);

	for (uint32_t i = 0; i < of.count; i++)
		if (of.lock[i] == m)
			return true;
	return false;
}
