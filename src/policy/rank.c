/* SPDX-License-Identifier: MIT */
#include "rank.h"

struct rank rank_judge(uint32_t facts)
{
	if (facts & FACT_DECLARED)
		return (struct rank){1, false};
	return (struct rank){facts & FACT_DATA ? 3 : 4, false};
}
