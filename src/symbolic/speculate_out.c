/* SPDX-License-Identifier: MIT */
#include "speculate_out.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/str.h"
#include "report/json_out.h"
#include "symbolic/naming.h"
#include "symbolic/speculate.h"

static void write_locks(const struct speculation *s, struct json_out *j, uint32_t hold)
{
	struct holds_set set = holds_at(&s->follow.holds, hold);

	json_open(j, "locks", '[');
	for (size_t i = 0; i < set.count; i++)
		json_word(j, NULL, name_of_lock(&s->follow, &set.at[i]));
	json_close(j, ']');
}

static void write_touch(const struct speculation *s, struct json_out *j, const char *key, const struct touch *t)
{
	struct unit_function *f = unit_function_at(&s->units.at[t->place.unit], t->place.ordinal);

	json_open(j, key, '{');
	json_word(j, "operation", t->write ? "write" : "read");
	json_word(j, "where", units_where(&s->units, t->place));
	json_word(j, "function", f->name);
	json_number(j, "thread", t->thread);
	json_bool(j, "speculative", t->node != 0);
	write_locks(s, j, t->hold);
	json_close(j, '}');
}

/*
 * What a walk tells of the decision if it goes along the edge; nothing of the default of a switch. As a text: it may be
 * any number of 64 bits, for which parsers of JSON have no room.
 */
static void write_value(struct json_out *j, LLVMValueRef branch, uint32_t edge)
{
	LLVMValueRef of = LLVMIsASwitchInst(branch) && edge ? LLVMGetOperand(branch, 2 * edge) : NULL;
	char value[24];

	if (!of && !LLVMIsABranchInst(branch))
		return;
	snprintf(value, sizeof value, "%" PRIu64, of ? (uint64_t)LLVMConstIntGetZExtValue(of) : !edge);
	json_word(j, "value", value);
}

static void write_branch(const struct speculation *s, struct json_out *j, const struct region *r)
{
	struct unit *u = &s->units.at[r->branch.unit];
	char hash[20];

	snprintf(hash, sizeof hash, "%016" PRIx64, u->hash);
	json_open(j, "needs", '{');
	json_word(j, "where", units_where(&s->units, r->branch));
	json_word(j, "function", unit_function_at(u, r->branch.ordinal)->name);
	json_number(j, "thread", r->thread);
	json_word(j, "unit", hash);
	json_number(j, "ordinal", r->branch.ordinal);
	json_number(j, "edge", r->edge);
	write_value(j, unit_value(u, r->branch.ordinal), r->edge);
	json_close(j, '}');
}

static void write_candidate(const struct speculation *s, struct json_out *j, const struct triple *t)
{
	json_open(j, NULL, '{');
	json_word(j, "kind", triple_kind_text[t->kind]);
	json_number(j, "rank", t->class);
	json_word(j, "why", triple_class_text[t->class]);
	json_word(j, "variable", name_of_variable(&s->follow, t->first.place));
	write_branch(s, j, t->region);
	write_touch(s, j, "first", &t->first);
	write_touch(s, j, "culprit", &t->culprit);
	write_touch(s, j, "second", &t->second);
	json_number(j, "more", t->more);
	json_number(j, "group", t->defect);
	json_close(j, '}');
}

static void write_rungs(const struct speculation *s, struct json_out *j)
{
	json_open(j, "rungs", '[');
	json_open(j, NULL, '{');
	json_word(j, "rule", "cold edges");
	json_number(j, "count", s->edges);
	json_close(j, '}');
	for (int i = 0; i < RUNGS; i++) {
		json_open(j, NULL, '{');
		json_word(j, "rule", rung_text[i]);
		json_number(j, "count", s->triples.rungs[i]);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void write_limits(const struct speculation *s, struct json_out *j)
{
	json_open(j, "limits", '{');
	json_number(j, "addresses_known", s->known);
	json_number(j, "addresses_unknown", s->unknown);
	json_number(j, "regions", s->regions);
	json_number(j, "regions_that_abort", s->aborts);
	json_number(j, "regions_cut_short", s->cut_short);
	json_number(j, "calls_too_deep", s->deep);
	json_number(j, "records", s->follow.records);
	json_number(j, "records_skipped", s->follow.skipped);
	json_bool(j, "walk_full", s->follow.full);
	json_close(j, '}');
}

void speculate_write(const struct speculation *s, struct str *to)
{
	struct json_out j = {.to = to};

	json_open(&j, NULL, '{');
	json_open(&j, "candidates", '[');
	for (size_t i = 0; i < s->triples.count && s->triples.at[i].told; i++)
		write_candidate(s, &j, &s->triples.at[i]);
	json_close(&j, ']');
	write_rungs(s, &j);
	write_limits(s, &j);
	json_close(&j, '}');
	str_char(to, '\n');
}
