/* SPDX-License-Identifier: MIT */
#include "pairs.h"

#include "report/json_out.h"

/* In this order: what comes first is what is said of a cell. */
static const struct {
	unsigned mask, state;
	char sign;
	const char *word;
} states[] = {
	{PAIRS_SPLIT | PAIRS_ACCEPTED, PAIRS_SPLIT, '#', "split"},
	{PAIRS_DEADLOCK, PAIRS_DEADLOCK, 'D', "deadlock"},
	{PAIRS_FAILED, PAIRS_FAILED, '!', "crash or hang"},
	{PAIRS_SPLIT, PAIRS_SPLIT, 'o', "accepted"},
	{PAIRS_TRIED, PAIRS_TRIED, '.', "nothing was found"},
	{0, 0, ' ', "not tried"},
};

static size_t row_of(unsigned state)
{
	size_t i = 0;

	while ((state & states[i].mask) != states[i].state)
		i++;
	return i;
}

bool pairs_tells(const struct pairs_cell *c)
{
	return (c->state & ~(unsigned)PAIRS_TRIED) != 0;
}

char pairs_sign(unsigned state)
{
	return states[row_of(state)].sign;
}

const char *pairs_word(unsigned state)
{
	return states[row_of(state)].word;
}

unsigned pairs_state(const struct pairs_finding *f)
{
	return f->state | (f->accepted ? PAIRS_ACCEPTED : 0);
}

static bool has(const struct pairs *p, size_t i, size_t k, unsigned state)
{
	const struct pairs_cell *c = pairs_at(p, i, k);

	return (c->state & state) && !(state == PAIRS_SPLIT && (c->state & PAIRS_ACCEPTED));
}

uint64_t pairs_with(const struct pairs *p, unsigned state)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->count; i++)
		for (size_t k = i; k < p->count; k++)
			n += has(p, i, k, state) || has(p, k, i, state);
	return n;
}

/* JSON. */

static void add_operations(struct json_out *j, const struct pairs *p)
{
	json_open(j, "operations", '[');
	for (size_t i = 0; i < p->count; i++) {
		json_open(j, NULL, '{');
		json_text(j, "name", p->operation[i].name);
		json_bool(j, "other", p->operation[i].other);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void add_states(struct json_out *j, unsigned state)
{
	static const struct {
		unsigned bit;
		const char *word;
	} bits[] = {
		{PAIRS_SPLIT, "split"}, {PAIRS_ACCEPTED, "accepted"}, {PAIRS_DEADLOCK, "deadlock"}, {PAIRS_FAILED, "failed"},
	};

	json_open(j, "state", '[');
	for (size_t i = 0; i < sizeof bits / sizeof *bits; i++)
		if (state & bits[i].bit)
			json_word(j, NULL, bits[i].word);
	json_close(j, ']');
}

static void add_findings(struct json_out *j, const struct pairs_cell *c)
{
	json_open(j, "findings", '[');
	for (size_t i = 0; i < c->findings; i++) {
		json_open(j, NULL, '{');
		json_text(j, "id", c->finding[i].id);
		if (c->finding[i].variable.length)
			json_text(j, "variable", c->finding[i].variable);
		add_states(j, c->finding[i].state);
		json_word(j, "objects", c->finding[i].crossed ? "crossed" : "same");
		json_bool(j, "accepted", c->finding[i].accepted);
		json_close(j, '}');
	}
	json_close(j, ']');
}

/* Cells that were not tried are left out. */
static void add_cells(struct json_out *j, const struct pairs *p)
{
	json_open(j, "cells", '[');
	for (size_t i = 0; i < p->count * p->count; i++) {
		if (!p->cell[i].state)
			continue;
		json_open(j, NULL, '{');
		json_text(j, "operation", p->operation[i / p->count].name);
		json_text(j, "with", p->operation[i % p->count].name);
		add_states(j, p->cell[i].state);
		add_findings(j, &p->cell[i]);
		json_close(j, '}');
	}
	json_close(j, ']');
}

void pairs_json(const struct pairs *p, const struct look *look, struct str *to)
{
	struct json_out j = {.to = to};

	(void)look;
	json_open(&j, NULL, '{');
	json_number(&j, "version", 1);
	json_text(&j, "program", p->program);
	json_text(&j, "object", p->object);
	json_number(&j, "tried", p->tried);
	json_number(&j, "pairs", p->count * (p->count + 1) / 2);
	json_number(&j, "split", pairs_with(p, PAIRS_SPLIT));
	json_number(&j, "deadlocks", pairs_with(p, PAIRS_DEADLOCK));
	json_number(&j, "failed", pairs_with(p, PAIRS_FAILED));
	json_number(&j, "executions", p->executions);
	add_operations(&j, p);
	add_cells(&j, p);
	json_close(&j, '}');
}
