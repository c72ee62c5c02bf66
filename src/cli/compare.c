/* SPDX-License-Identifier: MIT */
#include "compare.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "event/tables.h"
#include "finding/finding.h"

static uint64_t key_of(const char *check, uint64_t begin)
{
	return hash_pair(begin, (uint64_t)check[0] << 8 | (uint64_t)check[1]);
}

/* Whether the check's word rests on nothing but edges: then it names every single activation, and is as sure. */
static bool is_exact(const char *check)
{
	return strcmp(check, "sidetrack") != 0;
}

/* sidetrack gives up on places of which it has seen enough: of that, only which blocks it names is compared. */
static void told(void *self, const struct finding *report, const struct evidence *e)
{
	struct claims *c = self;
	struct text name = tables_name(c->of->tables, TABLE_CODE, report->block.code);
	uint64_t block = is_exact(e->check) ? report->block.seq : hash_bytes(name.at, name.length);
	uint32_t *index = map_put(&c->known, key_of(e->check, block));

	if (!*index) {
		c->at = arena_reserve(c->of->arena, c->at, &c->capacity, c->count, sizeof *c->at);
		c->at[c->count++] = (struct claim){.check = e->check, .begin = block, .code = report->block.code,
			.verdict = (int)report->verdict, .thread = report->block.thread, .split = e->seq};
		*index = (uint32_t)c->count;
		return;
	}
	if (c->at[*index - 1].verdict < (int)report->verdict)
		c->at[*index - 1].verdict = (int)report->verdict;
	c->at[*index - 1].split = e->seq;
}

void claims_listen(struct claims *c, struct findings *f)
{
	*c = (struct claims){.of = f};
	map_init(&c->known, f->arena);
	f->told = told;
	f->listener = c;
}

static size_t races(const struct findings *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->hazards; i++)
		n += f->hazard[i]->kind == HAZARD_RACE;
	return n;
}

/*
 * Whether an activation inside of that one was named: the outer one is split by the same access, and whether it is named
 * for itself depends on whether that is met once more after the inner one has ended, which the filter need not tell.
 */
static bool has_inner(const struct claims *c, const struct claim *outer)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct claim *k = &c->at[i];

		if (is_exact(k->check) && strcmp(k->check, outer->check) == 0 && k->thread == outer->thread &&
			k->verdict >= outer->verdict && k->begin > outer->begin && k->begin < outer->split)
			return true;
	}
	return false;
}

static size_t report_missing(const struct claims *has, const struct claims *lacks, const char *where)
{
	size_t n = 0;

	for (size_t i = 0; i < has->count; i++) {
		const struct claim *c = &has->at[i];
		uint32_t index = map_get(&lacks->known, key_of(c->check, c->begin));

		if (index && (!is_exact(c->check) || lacks->at[index - 1].verdict >= c->verdict))
			continue;
		if (is_exact(c->check) && has_inner(lacks, c))
			continue;
		fprintf(stderr, "both: only %s: %s %s, %s, begun at %llu\n", where, c->check,
			c->code ? tables_name(has->of->tables, TABLE_CODE, c->code).at : "a block", verdict_text[c->verdict],
			(unsigned long long)c->begin);
		n++;
	}
	return n;
}

static size_t weaker(const struct claims *than, const struct claims *these)
{
	size_t n = 0;

	for (size_t i = 0; i < than->count; i++) {
		uint32_t index = map_get(&these->known, key_of(than->at[i].check, than->at[i].begin));

		n += index && these->at[index - 1].verdict < than->at[i].verdict;
	}
	return n;
}

size_t claims_compare(const struct claims *full, const struct claims *filtered)
{
	size_t a = races(full->of), b = races(filtered->of);

	if (a || b)
		fprintf(stderr, "both: %zu races in full, %zu filtered\n", a, b);
	fprintf(stderr, "both: %zu of sidetrack's are surer in full, %zu filtered\n", weaker(full, filtered),
		weaker(filtered, full));
	return report_missing(full, filtered, "in full") + report_missing(filtered, full, "filtered") + (a != b);
}
