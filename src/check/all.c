/* SPDX-License-Identifier: MIT */
/* The table of checks: a new one is one line here and one file beside it. */
#include "check.h"

#include <string.h>

extern const struct check check_causal, check_aerodrome, check_velodrome, check_oracle, check_sidetrack;
extern const struct check check_atomizer, check_reduction, check_blocks, check_races, check_deadlocks, check_views;

const struct check *const checks_all[] = {
	&check_causal,
	&check_aerodrome,
	&check_velodrome,
	&check_sidetrack,
	&check_oracle,
	&check_atomizer,
	&check_reduction,
	&check_blocks,
	&check_races,
	&check_deadlocks,
	&check_views,
	NULL,
};

const struct check *check_named(const char *name, size_t length)
{
	for (size_t i = 0; checks_all[i]; i++)
		if (strlen(checks_all[i]->name) == length && memcmp(checks_all[i]->name, name, length) == 0)
			return checks_all[i];
	return NULL;
}
