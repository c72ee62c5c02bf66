/* SPDX-License-Identifier: MIT */
#include "nonatomic_history.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "predict/nonatomic.h"
#include "predict/nonatomic_conflicts.h"

static void *allot(const struct history *h, size_t count, size_t size)
{
	return arena_alloc(h->arena, (count ? count : 1) * size);
}

/* Values. */

static void values_number(struct history *h)
{
	const struct nonatomic_question *q = h->q;
	struct map numbers;
	uint32_t count = 0;

	map_init(&numbers, h->arena);
	h->value = allot(h, q->ops, sizeof *h->value);
	h->initial = allot(h, q->variables, sizeof *h->initial);
	h->final = allot(h, q->variables, sizeof *h->final);
	for (size_t i = 0; i < q->ops + (q->initial ? q->variables : 0); i++) {
		bool op = i < q->ops;
		bool known = op ? q->op[i].known : q->initial[i - q->ops].known;
		uint32_t *number;

		if (!known)
			continue;
		number = map_put(&numbers, op ? q->op[i].value : q->initial[i - q->ops].value);
		if (!*number)
			*number = ++count;
		*(op ? &h->value[i] : &h->initial[i - q->ops]) = *number;
	}
}

/* What a variable holds as the run goes on. */
struct content {
	uint32_t value;
	uint32_t writer; /* the op that wrote it; HISTORY_NONE: what was there at first */
	bool written, unexplained;
};

/* A value that was not known becomes known when somebody reads it. */
static void content_read(struct history *h, struct content *c, uint32_t x, uint32_t value)
{
	if (!value || c->value == value)
		return;
	if (c->value) {
		h->unexplained += !c->unexplained;
		c->unexplained = true;
		return;
	}
	c->value = value;
	*(c->writer == HISTORY_NONE ? &h->initial[x] : &h->value[c->writer]) = value;
}

/* The run itself: the first value of each variable, the last one, and what an access without a value must have had. */
static void values_run(struct history *h)
{
	const struct nonatomic_question *q = h->q;
	struct content *content = allot(h, q->variables, sizeof *content);

	for (uint32_t x = 0; x < q->variables; x++)
		content[x] = (struct content){.value = h->initial[x], .writer = HISTORY_NONE};
	for (uint32_t i = 0; i < q->ops; i++) {
		struct content *c = &content[q->op[i].variable];

		if (q->op[i].in_run && !h->value[i])
			h->value[i] = c->value;
		if (q->op[i].writes)
			*c = (struct content){h->value[i], i, true, c->unexplained};
		else
			content_read(h, c, q->op[i].variable, h->value[i]);
	}
	for (uint32_t i = 0; i < q->ops; i++)
		if (content[q->op[i].variable].unexplained)
			h->value[i] = 0;
	for (uint32_t x = 0; x < q->variables; x++) {
		h->initial[x] = content[x].unexplained ? 0 : h->initial[x];
		h->final[x] = content[x].unexplained || !content[x].written ? 0 : content[x].value;
	}
}

/* Blocks and chains. */

static void chains_make(struct history *h)
{
	const struct nonatomic_question *q = h->q;

	h->block = allot(h, q->blocks, sizeof *h->block);
	h->chain = allot(h, q->blocks, sizeof *h->chain);
	h->chain_at = allot(h, (size_t)q->threads + 1, sizeof *h->chain_at);
	for (uint32_t b = 0; b < q->blocks; b++) {
		assert(q->thread_of[b] < q->threads);
		h->block[b].thread = q->thread_of[b];
		h->block[b].position = h->chain_at[q->thread_of[b] + 1]++;
	}
	for (uint32_t t = 0; t < q->threads; t++)
		h->chain_at[t + 1] += h->chain_at[t];
	for (uint32_t b = 0; b < q->blocks; b++)
		h->chain[h->chain_at[h->block[b].thread] + h->block[b].position] = b;
}

/* Uses. */

/* An op of a block as a number: by variable, then in the run's order. */
static uint64_t sort_key(const struct history *h, uint32_t op)
{
	return (uint64_t)h->q->op[op].variable << 32 | op;
}

static int compare_keys(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

/* The op is the next of the block on the use's variable. A read tells what the access before it read or wrote. */
static void use_extend(struct history *h, struct use *u, uint32_t i, uint32_t *current)
{
	uint32_t v = h->value[i];

	if (h->q->op[i].writes) {
		u->first_write = u->writes ? u->first_write : i;
		u->last_write = i;
		u->writes = true;
		u->exp = *current = v;
	} else if (*current && v && *current != v && h->local[0] == HISTORY_NONE) {
		h->local[0] = i;
		h->local[1] = u->last;
	} else if (v) {
		*(u->writes ? &u->exp : &u->ext) = v;
		*current = v;
	}
	u->last = i;
}

/* The uses of one block, from its ops. */
static void uses_of_block(struct history *h, uint32_t b, const uint64_t *key, uint32_t n)
{
	struct history_block *k = &h->block[b];
	struct use *u = NULL;
	uint32_t current = 0;

	k->first = h->uses;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t x = (uint32_t)(key[i] >> 32), op = (uint32_t)key[i];

		k->begin = i == 0 || op < k->begin ? op : k->begin;
		k->end = op > k->end ? op : k->end;
		if (!u || u->variable != x) {
			u = &h->use[h->uses++];
			*u = (struct use){.block = b, .variable = x, .reads = !h->q->op[op].writes, .first = op,
				.first_write = HISTORY_NONE, .last_write = HISTORY_NONE, .same = HISTORY_NONE};
			current = 0;
		}
		use_extend(h, u, op, &current);
	}
	k->uses = h->uses - k->first;
}

static void uses_make(struct history *h)
{
	const struct nonatomic_question *q = h->q;
	uint32_t *at = allot(h, (size_t)q->blocks + 1, sizeof *at), *filled = allot(h, q->blocks, sizeof *filled);
	uint64_t *key = allot(h, q->ops, sizeof *key);

	for (size_t i = 0; i < q->ops; i++)
		at[q->op[i].block + 1]++;
	for (uint32_t b = 0; b < q->blocks; b++)
		at[b + 1] += at[b];
	for (uint32_t i = 0; i < q->ops; i++)
		key[at[q->op[i].block] + filled[q->op[i].block]++] = sort_key(h, i);
	h->use = allot(h, q->ops, sizeof *h->use);
	for (uint32_t b = 0; b < q->blocks; b++) {
		if (at[b + 1] - at[b] > 1)
			qsort(key + at[b], at[b + 1] - at[b], sizeof *key, compare_keys);
		uses_of_block(h, b, key + at[b], at[b + 1] - at[b]);
	}
}

static uint64_t leaving_key(uint32_t x, uint32_t value)
{
	return (uint64_t)x << 32 | value;
}

static void uses_by_variable(struct history *h)
{
	const struct nonatomic_question *q = h->q;
	uint32_t *filled = allot(h, q->variables, sizeof *filled);

	h->of = allot(h, h->uses, sizeof *h->of);
	h->of_at = allot(h, (size_t)q->variables + 1, sizeof *h->of_at);
	for (uint32_t i = 0; i < h->uses; i++)
		h->of_at[h->use[i].variable + 1]++;
	for (uint32_t x = 0; x < q->variables; x++)
		h->of_at[x + 1] += h->of_at[x];
	for (uint32_t i = 0; i < h->uses; i++)
		h->of[h->of_at[h->use[i].variable] + filled[h->use[i].variable]++] = i;
}

static void writers_put(struct history *h, uint32_t *filled, uint32_t b)
{
	for (uint32_t i = h->block[b].first; i < h->block[b].first + h->block[b].uses; i++) {
		uint32_t x = h->use[i].variable;

		if (h->use[i].writes)
			h->writer[h->writer_at[x] + filled[x]++] = i;
	}
}

static void writers_make(struct history *h)
{
	uint32_t variables = h->q->variables;
	uint32_t *filled = allot(h, variables, sizeof *filled);

	h->writer = allot(h, h->uses, sizeof *h->writer);
	h->writer_at = allot(h, (size_t)variables + 1, sizeof *h->writer_at);
	for (uint32_t i = 0; i < h->uses; i++)
		h->writer_at[h->use[i].variable + 1] += h->use[i].writes;
	for (uint32_t x = 0; x < variables; x++)
		h->writer_at[x + 1] += h->writer_at[x];
	for (uint32_t i = 0; i < h->q->blocks; i++)
		writers_put(h, filled, h->chain[i]);
}

/* The first writer of x, from `low` on, whose thread is not before t. */
static uint32_t writers_from(const struct history *h, uint32_t x, uint32_t low, uint32_t t)
{
	uint32_t high = h->writer_at[x + 1];

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (h->block[h->use[h->writer[middle]].block].thread < t)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct writers history_writers(const struct history *h, uint32_t x, uint32_t thread)
{
	uint32_t from = writers_from(h, x, h->writer_at[x], thread);

	return (struct writers){h->writer + from, writers_from(h, x, from, thread + 1) - from};
}

static void uses_by_value(struct history *h)
{
	map_init(&h->by_value, h->arena);
	for (uint32_t i = 0; i < h->uses; i++) {
		struct use *u = &h->use[i];
		uint32_t *head;

		if (!u->writes)
			continue;
		head = map_put(&h->by_value, leaving_key(u->variable, u->exp));
		u->same = *head ? *head - 1 : (uint32_t)HISTORY_NONE;
		*head = i + 1;
	}
}

const struct use *history_use(const struct history *h, uint32_t b, uint32_t x)
{
	const struct use *u = h->use + h->block[b].first;
	uint32_t low = 0, high = h->block[b].uses;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (u[middle].variable < x)
			low = middle + 1;
		else
			high = middle;
	}
	return low < h->block[b].uses && u[low].variable == x ? &u[low] : NULL;
}

uint32_t history_leaving(const struct history *h, uint32_t x, uint32_t value)
{
	uint32_t i = map_get(&h->by_value, leaving_key(x, value));

	return i ? i - 1 : (uint32_t)HISTORY_NONE;
}

void history_make(struct history *h, struct arena *a, const struct nonatomic_question *q)
{
	assert(q->ops < HISTORY_NONE);
	*h = (struct history){.arena = a, .q = q, .local = {HISTORY_NONE, HISTORY_NONE}};
	values_number(h);
	values_run(h);
	chains_make(h);
	uses_make(h);
	uses_by_variable(h);
	writers_make(h);
	uses_by_value(h);
	h->cyclic = conflicts_rank(h);
}
