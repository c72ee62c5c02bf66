/* SPDX-License-Identifier: MIT */
#include "results.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/hash.h"
#include "report/story.h"
#include "scale/pack.h"

static const char *const kind_text[RESULT_KINDS] = {"campaign", "lost", "result"};

void results_init(struct results *r, struct arena *a)
{
	*r = (struct results){.arena = a};
	map_init(&r->index, a);
}

void results_add(struct results *r, enum result_kind kind, struct text id, struct text bytes)
{
	struct result *to;

	if (!address_is(id))
		return;
	r->at = arena_reserve(r->arena, r->at, &r->room, r->count, sizeof *r->at);
	to = &r->at[r->count++];
	*to = (struct result){.kind = kind, .bytes = bytes, .hash = hash_bytes(bytes.at ? bytes.at : "", bytes.length)};
	memcpy(to->id, id.at, ADDRESS);
}

static void take_entry(struct results *r, const struct pack_entry *e)
{
	for (int kind = 0; kind < RESULT_KINDS; kind++)
		if (text_is(e->kind, kind_text[kind]))
			results_add(r, (enum result_kind)kind, e->name, e->bytes);
}

static bool take_pack(struct results *r, const char *path, struct fault *fault)
{
	struct pack_entry e;
	struct text rest;

	if (!pack_slurp(&rest, r->arena, path, fault))
		return false;
	if (!pack_open(&rest)) {
		r->torn++;
		return true;
	}
	while (pack_next(&rest, &e))
		take_entry(r, &e);
	r->torn += rest.length > 0;
	return true;
}

/* A file that is being written has another name. */
static bool is_result(const char *name)
{
	size_t n = strlen(name);

	return address_is((struct text){name, n}) || (n > 5 && strcmp(name + n - 5, ".pack") == 0);
}

static bool take_directory(struct results *r, const char *path, struct fault *fault)
{
	DIR *d = opendir(path);
	struct dirent *e;
	char file[8192];

	while (d && (e = readdir(d)) && !fault_is_set(fault))
		if (is_result(e->d_name)) {
			snprintf(file, sizeof file, "%.7000s/%.300s", path, e->d_name);
			take_pack(r, file, fault);
		}
	if (d)
		closedir(d);
	return !fault_is_set(fault);
}

/* What of a depot is a file by itself: its campaign, and what was given up. */
static void take_plain(struct results *r, enum result_kind kind, const char *path, const char *id)
{
	struct fault fault = {0};
	struct text bytes;
	struct address own;

	if (access(path, R_OK) != 0 || !pack_slurp(&bytes, r->arena, path, &fault))
		return;
	own = address_of(bytes);
	results_add(r, kind, (struct text){id ? id : own.hex, ADDRESS}, bytes);
}

static void take_lost(struct results *r, const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;
	char file[8192];

	while (d && (e = readdir(d)))
		if (address_is((struct text){e->d_name, strlen(e->d_name)})) {
			snprintf(file, sizeof file, "%.7000s/%.300s", path, e->d_name);
			take_plain(r, RESULT_LOST, file, e->d_name);
		}
	if (d)
		closedir(d);
}

bool results_take(struct results *r, const char *path, struct fault *fault)
{
	char part[8192];
	struct stat s;

	if (stat(path, &s) == 0 && !S_ISDIR(s.st_mode))
		return take_pack(r, path, fault);
	if (stat(path, &s) != 0) {
		fault_set(fault, STATUS_USAGE, "%s: there are no results", path);
		return false;
	}
	snprintf(part, sizeof part, "%.7000s/campaign", path);
	take_plain(r, RESULT_CAMPAIGN, part, NULL);
	snprintf(part, sizeof part, "%.7000s/lost", path);
	take_lost(r, part);
	snprintf(part, sizeof part, "%.7000s/results", path);
	return take_directory(r, path, fault) && take_directory(r, part, fault);
}

static int compare(const void *left, const void *right)
{
	const struct result *a = left, *b = right;
	int by_id = strcmp(a->id, b->id);

	if (a->kind != b->kind || by_id)
		return a->kind != b->kind ? (int)a->kind - (int)b->kind : by_id;
	if (a->bytes.length != b->bytes.length)
		return a->bytes.length < b->bytes.length ? -1 : 1;
	return a->hash < b->hash ? -1 : a->hash > b->hash;
}

static uint64_t key_of(const char *id)
{
	return hash_bytes(id, ADDRESS);
}

static bool is_same_unit(const struct result *a, const struct result *b)
{
	return a->kind == b->kind && strcmp(a->id, b->id) == 0;
}

/* Of each unit two different copies at most. */
static void drop_repetitions(struct results *r)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->count; i++) {
		const struct result *x = &r->at[i], *last = kept ? &r->at[kept - 1] : NULL;
		bool again = last && is_same_unit(last, x);

		if (again && (compare(last, x) == 0 || (kept > 1 && is_same_unit(&r->at[kept - 2], x))))
			continue;
		if (again)
			r->at[kept - 1].differs = r->at[i].differs = true;
		r->at[kept++] = *x;
	}
	r->count = kept;
}

static void drop_found(struct results *r)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->count; i++)
		if (r->at[i].kind != RESULT_LOST || !map_get(&r->index, key_of(r->at[i].id)))
			r->at[kept++] = r->at[i];
	r->count = kept;
}

static void index_all(struct results *r)
{
	map_init(&r->index, r->arena);
	for (size_t i = r->count; i-- > 0;) /* of two copies the first one stays */
		if (r->at[i].kind == RESULT_DONE)
			*map_put(&r->index, key_of(r->at[i].id)) = (uint32_t)i + 1;
}

void results_settle(struct results *r)
{
	for (size_t i = 0; i < r->count; i++)
		r->at[i].differs = false;
	if (r->count)
		qsort(r->at, r->count, sizeof *r->at, compare);
	drop_repetitions(r);
	index_all(r);
	drop_found(r);
	index_all(r);
}

const struct result *results_find(const struct results *r, const char *id)
{
	uint32_t n = map_get(&r->index, key_of(id));

	return n ? &r->at[n - 1] : NULL;
}

void results_pack(const struct results *r, struct str *to)
{
	pack_begin(to);
	for (size_t i = 0; i < r->count; i++)
		pack_add(to, kind_text[r->at[i].kind], (struct text){r->at[i].id, ADDRESS}, r->at[i].bytes);
}
