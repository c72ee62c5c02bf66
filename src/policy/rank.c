/* SPDX-License-Identifier: MIT */
#include "rank.h"

/*
 * What was made to happen is neither hidden nor demoted: these rules guess that nobody minds, and values say otherwise.
 * Hiding comes before evidence: in a loop, one round's read and the next round's write look like any stale value.
 * Evidence comes before demotion: each of the demoting rules alone would lose a known bug or may do so, and all of
 * those show evidence. That both sections are the block's own, or that nothing conflicts, says something only where no
 * conflict was seen. Two reads of two variables are a mistake only if these belong together, as a length and its text
 * do; where the program itself treats them as separate, that is not rank 2.
 */
const struct rank_rule rank_rules[] = {
	{"declared", FACT_DECLARED, 0, RANK_PROMOTE, 1, "somebody has declared the block to be atomic"},
	{"harm", FACT_HARM, 0, RANK_PROMOTE, 1,
		"when it was made to happen, the program failed, or did what it does in no serial order"},

	{"wait", FACT_REACQUIRE, FACT_REPRODUCED, RANK_HIDE, 4,
		"the second section begins where a condition wait ends, which lets others in on purpose"},
	{"same-site", FACT_SAME_SITE, FACT_REPRODUCED, RANK_HIDE, 4,
		"the second section begins at the same place as the first: a loop, each round of which is atomic"},
	{"backward", FACT_BACKWARD, FACT_REPRODUCED, RANK_HIDE, 4,
		"the second section stands before the first in the source: a loop that comes around"},
	{"start-routine", FACT_START, FACT_REPRODUCED, RANK_HIDE, 4,
		"the block is all that its thread does, which nobody expects to be atomic"},
	{"foreign", FACT_FOREIGN, FACT_REPRODUCED, RANK_HIDE, 4, "the block is in code that is not the project's own"},

	{"stale-pointer", FACT_POINTER, 0, RANK_PROMOTE, 1,
		"a pointer loaded in the first section is used in the second, and not loaded again"},
	{"lost-update", FACT_UPDATE, 0, RANK_PROMOTE, 1,
		"what the first section has read is written by the second without another look, over the culprit's write"},
	{"stale-value", FACT_VALUE, 0, RANK_PROMOTE, 1,
		"the second section writes a value that the first has read and the culprit has changed"},

	{"reproduced", FACT_REPRODUCED, 0, RANK_PROMOTE, 2,
		"it was made to happen, and no serial order explains the values"},

	{"commutes", FACT_COMMUTES, 0, RANK_DEMOTE, 4, "all sections only add to it, so their order does not matter"},
	{"cyclic", FACT_CYCLIC, 0, RANK_DEMOTE, 4,
		"the block goes around in a loop over the same lock or variable, and each round may be what is atomic"},
	{"wait-inside", FACT_WAIT, 0, RANK_DEMOTE, 4,
		"there is a condition wait between the sections, which lets others in on purpose"},
	{"waiter", FACT_WAITER, FACT_DATA, RANK_DEMOTE, 4,
		"the function waits on a condition elsewhere: it serves others, and each round may be what is atomic"},
	{"other-lock", FACT_OTHER_LOCK, 0, RANK_DEMOTE, 4,
		"another lock is held throughout, and may be the one that matters"},
	{"before-only", FACT_BEFORE, 0, RANK_DEMOTE, 4, "the culprit was only seen before the first section"},
	{"apart", FACT_APART, FACT_DATA, RANK_DEMOTE, 4,
		"nothing that the culprit's section touches conflicts with both sections"},
	{"both-direct", FACT_DIRECT, FACT_DATA, RANK_DEMOTE, 4,
		"both sections are the function's own code, whose author saw the lock being given back"},

	{"scattered", FACT_DATA | FACT_SCATTERED, 0, RANK_PROMOTE, 3,
		"the sections only read, each something else, under different locks or changed by different sections"},
	{"pattern", FACT_DATA, FACT_COMMUTES, RANK_PROMOTE, 2,
		"the culprit's accesses conflict with both sections, and do not commute"},
	{"two-callees", FACT_CALLEES, 0, RANK_PROMOTE, 3,
		"the sections are in two calls, each atomic by itself, and nothing says that together they need not be"},
	{"plain", 0, 0, RANK_PROMOTE, 3, "nothing is known that speaks for a mistake, or against one"},
};

const size_t rank_rule_count = sizeof rank_rules / sizeof *rank_rules;

static bool holds(const struct rank_rule *r, uint32_t facts)
{
	return (facts & r->facts) == r->facts && !(facts & r->unless);
}

const struct rank_rule *rank_rule(uint32_t facts)
{
	const struct rank_rule *r = rank_rules;

	while (!holds(r, facts))
		r++;
	return r;
}

struct rank rank_judge(uint32_t facts)
{
	const struct rank_rule *r = rank_rule(facts);

	return (struct rank){r->rank, r->act == RANK_HIDE};
}

const struct rank_rule *rank_next_reason(uint32_t facts, size_t *at)
{
	bool first = *at == 0;

	while (*at < rank_rule_count) {
		const struct rank_rule *r = &rank_rules[(*at)++];

		if (holds(r, facts) && (r->facts || first))
			return r;
	}
	return NULL;
}
