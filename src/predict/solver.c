/* SPDX-License-Identifier: MIT */
#include "solver.h"

#include <ccadical.h>
#include <limits.h>

static CCaDiCaL *cadical(struct solver *s)
{
	return (CCaDiCaL *)s;
}

struct solver *solver_new(void)
{
	CCaDiCaL *s = ccadical_init();

	ccadical_set_option(s, "quiet", 1);
	return (struct solver *)s;
}

void solver_delete(struct solver *s)
{
	ccadical_release(cadical(s));
}

void solver_clause(struct solver *s, const int *literals, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ccadical_add(cadical(s), literals[i]);
	ccadical_add(cadical(s), 0);
}

enum solver_answer solver_solve(struct solver *s, uint32_t conflicts)
{
	enum { SATISFIABLE = 10, UNSATISFIABLE = 20 };
	int answer;

	ccadical_limit(cadical(s), "conflicts", conflicts < INT_MAX ? (int)conflicts : INT_MAX);
	answer = ccadical_solve(cadical(s));
	return answer == SATISFIABLE ? SOLVER_YES : answer == UNSATISFIABLE ? SOLVER_NO : SOLVER_GAVE_UP;
}

bool solver_value(struct solver *s, int variable)
{
	return ccadical_val(cadical(s), variable) > 0;
}
