/* SPDX-License-Identifier: MIT */
#include "compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "event/tables.h"
#include "finding/finding.h"

/* That a check has named a block, in words. */
struct claim {
	char text[256];
	uint64_t activations;
	bool observed;
};

struct claims {
	struct claim *at;
	size_t count, capacity;
};

static const char *name_of(const struct findings *f, const struct block *b)
{
	return b->code ? tables_name(f->tables, TABLE_CODE, b->code).at : tables_name(f->tables, TABLE_SITE, b->site).at;
}

static void add_claim(struct claims *c, struct arena *a, struct claim claim)
{
	for (size_t i = 0; i < c->count; i++)
		if (strcmp(c->at[i].text, claim.text) == 0) {
			c->at[i].activations += claim.activations;
			c->at[i].observed |= claim.observed;
			return;
		}
	c->at = arena_reserve(a, c->at, &c->capacity, c->count, sizeof claim);
	c->at[c->count++] = claim;
}

static void claims_of(struct claims *c, struct arena *a, const struct findings *f)
{
	for (size_t i = 0; i < f->count; i++)
		for (size_t k = 0; k < f->at[i].evidence_count; k++) {
			const struct evidence *e = &f->at[i].evidence[k];
			struct claim claim = {.activations = e->activations, .observed = e->verdict == VERDICT_OBSERVED};

			snprintf(claim.text, sizeof claim.text, "%s %s", e->check, name_of(f, &f->at[i].block));
			add_claim(c, a, claim);
		}
	for (size_t i = 0; i < f->hazards; i++) {
		struct claim claim = {.activations = 1};

		snprintf(claim.text, sizeof claim.text, "%s", f->hazard[i]->kind == HAZARD_RACE ? "race" : "deadlock");
		add_claim(c, a, claim);
	}
}

static const struct claim *find(const struct claims *c, const char *text)
{
	for (size_t i = 0; i < c->count; i++)
		if (strcmp(c->at[i].text, text) == 0)
			return &c->at[i];
	return NULL;
}

static size_t report_missing(const struct claims *has, const struct claims *lacks, const char *where)
{
	size_t n = 0;

	for (size_t i = 0; i < has->count; i++) {
		const struct claim *c = &has->at[i], *other = find(lacks, c->text);

		if (other && (other->observed || !c->observed))
			continue;
		fprintf(stderr, "both: %s: %s%s, %llu times\n", where, c->text, c->observed ? " observed" : "",
			(unsigned long long)c->activations);
		n++;
	}
	return n;
}

/* For information: a check that names a block more often in one stream. */
static void report_counts(const struct claims *full, const struct claims *filtered)
{
	for (size_t i = 0; i < full->count; i++) {
		const struct claim *c = &full->at[i], *other = find(filtered, c->text);

		if (other && other->activations != c->activations)
			fprintf(stderr, "both: count: %s: %llu in full, %llu filtered\n", c->text,
				(unsigned long long)c->activations, (unsigned long long)other->activations);
	}
}

size_t compare_findings(const struct findings *full, const struct findings *filtered)
{
	struct claims a = {0}, b = {0};

	claims_of(&a, full->arena, full);
	claims_of(&b, filtered->arena, filtered);
	report_counts(&a, &b);
	return report_missing(&a, &b, "only in full") + report_missing(&b, &a, "only filtered");
}
