/* SPDX-License-Identifier: MIT */
/*
 * How much a finding matters: rank 1 (act on it) to 4, and the reasons in words.
 *
 * The verdict says how sure we are that the code is not atomic; the rank how likely that is a mistake. It is decided
 * from facts about the finding, one bit each, by a table of rules: what each looks at, whether it hides or demotes,
 * and why. A block that somebody has declared to be atomic is rank 1, whatever else is true.
 */
#ifndef FISSION_POLICY_RANK_H
#define FISSION_POLICY_RANK_H

#include <stdbool.h>
#include <stdint.h>

enum rank_fact {
	FACT_DECLARED = 1 << 0,
	FACT_DATA = 1 << 1, /* conflicting data was seen */
};

struct rank {
	unsigned rank; /* 1 to 4 */
	bool hidden;
};

struct rank rank_judge(uint32_t facts);

#endif
