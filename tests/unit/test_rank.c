/* SPDX-License-Identifier: MIT */
/* The table of ranks: which rule wins; and what findings make of evidence that no trace can give alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "finding/finding.h"
#include "finding/window.h"
#include "policy/rank.h"

static const uint32_t every_fact = (FACT_HARM << 1) - 1;

static const struct rank_rule *rule_named(const char *name)
{
	for (size_t i = 0; i < rank_rule_count; i++)
		if (strcmp(rank_rules[i].name, name) == 0)
			return &rank_rules[i];
	fail_msg("no rule %s", name);
	return NULL;
}

/* Each rule decides where only its own facts hold, and does what it says. */
static void each_rule_decides(void **state)
{
	(void)state;
	for (size_t i = 0; i < rank_rule_count; i++) {
		const struct rank_rule *r = &rank_rules[i];
		struct rank rank = rank_judge(r->facts);

		assert_ptr_equal(rank_rule(r->facts), r);
		assert_int_equal(rank.rank, r->rank);
		assert_int_equal(rank.hidden, r->act == RANK_HIDE);
		assert_true(r->act == RANK_PROMOTE ? r->rank < 4 : r->rank == 4);
	}
}

static void declared_beats_everything(void **state)
{
	(void)state;
	for (uint32_t bit = 1; bit & every_fact; bit <<= 1) {
		struct rank rank = rank_judge(FACT_DECLARED | bit);

		assert_int_equal(rank.rank, 1);
		assert_false(rank.hidden);
	}
	assert_int_equal(rank_judge(every_fact).rank, 1);
	assert_false(rank_judge(every_fact).hidden);
}

static uint32_t facts_of(enum rank_act act, unsigned rank)
{
	uint32_t facts = 0, first = FACT_DECLARED | FACT_HARM;

	for (size_t i = 0; i < rank_rule_count; i++)
		if (rank_rules[i].act == act && rank_rules[i].rank == rank && !(rank_rules[i].facts & first))
			facts |= rank_rules[i].facts;
	return facts;
}

/* Hidden, whatever else; then evidence; then demoted; then the pattern. */
static void precedence(void **state)
{
	uint32_t hiding = facts_of(RANK_HIDE, 4), evidence = facts_of(RANK_PROMOTE, 1), demoting = facts_of(RANK_DEMOTE, 4);

	(void)state;
	assert_int_equal(hiding, FACTS_HIDING);
	for (uint32_t bit = 1; bit & every_fact; bit <<= 1) {
		if (bit & hiding)
			assert_true(rank_judge(bit | evidence | demoting | FACT_DATA).hidden);
		if (bit & evidence)
			assert_int_equal(rank_judge(bit | demoting | FACT_DATA | FACT_CALLEES).rank, 1);
		if (bit & demoting && bit != FACT_DIRECT && bit != FACT_APART)
			assert_int_equal(rank_judge(bit | FACT_DATA | FACT_CALLEES).rank, 4);
	}
	assert_int_equal(rank_judge(FACT_DATA | FACT_DIRECT | FACT_APART).rank, 2);
	assert_int_equal(rank_judge(FACT_CALLEES | FACT_APART).rank, 4);
}

/* Rank 2 at worst, 1 with evidence or harm, and never hidden. */
static void reproduced_stays(void **state)
{
	(void)state;
	for (uint32_t bit = 1; bit & every_fact; bit <<= 1) {
		struct rank rank = rank_judge(FACT_REPRODUCED | bit);

		assert_in_range(rank.rank, 1, 2);
		assert_false(rank.hidden);
		assert_int_equal(rank_judge(FACT_REPRODUCED | FACT_HARM | bit).rank, 1);
	}
	assert_int_equal(rank_judge(FACT_REPRODUCED | FACT_UPDATE | FACT_SAME_SITE).rank, 1);
}

static void reasons(void **state)
{
	size_t at = 0;

	(void)state;
	assert_string_equal(rank_next_reason(FACT_UPDATE | FACT_OTHER_LOCK, &at)->name, "lost-update");
	assert_string_equal(rank_next_reason(FACT_UPDATE | FACT_OTHER_LOCK, &at)->name, "other-lock");
	assert_null(rank_next_reason(FACT_UPDATE | FACT_OTHER_LOCK, &at));
	at = 0;
	assert_ptr_equal(rank_next_reason(0, &at), rule_named("plain"));
	assert_null(rank_next_reason(0, &at));
}

/* Findings. */

struct bench {
	struct arena arena;
	struct tables tables;
	struct findings findings;
};

static int setup(void **state)
{
	static struct bench b;

	arena_init(&b.arena);
	tables_init(&b.tables, &b.arena);
	findings_init(&b.findings, &b.arena, &b.tables);
	*state = &b;
	return 0;
}

static int teardown(void **state)
{
	arena_free(&((struct bench *)*state)->arena);
	return 0;
}

/* Sidetrack's word on a block that is number n in the trace, on lock n. */
static void say(struct bench *b, unsigned n, const char *kind)
{
	struct link path[2] = {{{.kind = EVENT_ACQUIRE, .object = n, .seq = 10 * n + 1}, {.kind = EVENT_ACQUIRE, .seq = 5}, false},
		{{.kind = EVENT_ACQUIRE, .seq = 5}, {.kind = EVENT_ACQUIRE, .object = n, .seq = 10 * n + 3}, false}};
	struct finding f = {.block = {.code = n, .seq = 10 * n}, .path = path, .links = 2, .verdict = VERDICT_SUSPECTED};

	for (unsigned i = 1; i <= n; i++)
		intern_add(&b->tables.names[TABLE_SYNC], (char[]){(char)('a' + i)}, 1);
	for (unsigned i = 1; i <= n; i++)
		intern_add(&b->tables.names[TABLE_CODE], (char[]){(char)('a' + i)}, 1);
	findings_add(&b->findings, &f, (struct evidence){.check = "sidetrack", .kind = kind, .seq = 10 * n + 3});
}

static void before_only(void **state)
{
	struct bench *b = *state;

	say(b, 1, "BEFORE");
	say(b, 2, "BEFORE");
	say(b, 2, "AFTER");
	findings_finish(&b->findings);
	assert_int_equal(b->findings.at[0].block.code, 2);
	assert_int_equal(b->findings.at[0].rank, 3);
	assert_ptr_equal(rank_rule(b->findings.at[1].facts), rule_named("before-only"));
}

static void in_before_after_before_before(void **state)
{
	struct bench *b = *state;

	say(b, 1, "AFTER");
	say(b, 2, "IN");
	findings_finish(&b->findings);
	assert_int_equal(b->findings.at[0].block.code, 2);
}

/* A block whose variable is read, written by another and read again, as data makes it sure. */
static void see(struct bench *b)
{
	struct link path[2] = {{{.kind = EVENT_READ, .object = 1, .seq = 1}, {.kind = EVENT_WRITE, .object = 1, .seq = 2}, true},
		{{.kind = EVENT_WRITE, .object = 1, .seq = 2}, {.kind = EVENT_READ, .object = 1, .seq = 3}, true}};
	struct finding f = {.block = {.code = 1, .seq = 1}, .path = path, .links = 2, .verdict = VERDICT_OBSERVED};

	intern_add(&b->tables.names[TABLE_OBJECT], "x", 1);
	intern_add(&b->tables.names[TABLE_CODE], "f", 1);
	findings_add(&b->findings, &f, (struct evidence){.check = "causal", .kind = "split", .seq = 3});
}

static void whole_run_is_sure(void **state)
{
	struct bench *b = *state;

	see(b);
	findings_finish(&b->findings);
	assert_int_equal(b->findings.at[0].verdict, VERDICT_OBSERVED);
}

static void missing_events_make_unsure(void **state)
{
	struct bench *b = *state;

	see(b);
	b->findings.incomplete = true;
	findings_finish(&b->findings);
	assert_int_equal(b->findings.at[0].verdict, VERDICT_SUSPECTED);
	assert_true(b->findings.at[0].incomplete);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(whole_run_is_sure, setup, teardown),
		cmocka_unit_test_setup_teardown(missing_events_make_unsure, setup, teardown),
		cmocka_unit_test(each_rule_decides),
		cmocka_unit_test(declared_beats_everything),
		cmocka_unit_test(precedence),
		cmocka_unit_test(reproduced_stays),
		cmocka_unit_test(reasons),
		cmocka_unit_test_setup_teardown(before_only, setup, teardown),
		cmocka_unit_test_setup_teardown(in_before_after_before_before, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
