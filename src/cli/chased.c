/* SPDX-License-Identifier: MIT */
#include "chased.h"

#include "base/arena.h"
#include "chase/chase.h"
#include "chase/execute.h"
#include "chase/judge.h"
#include "policy/rank.h"
#include "report/report.h"

/* By its locks alone a split is what it was before: nothing says that anybody minds, unless the program fails. */
static uint32_t facts_of(const struct chase_hit *h)
{
	return (h->judged->execution->locks ? 0 : FACT_REPRODUCED) | (h->harm ? FACT_HARM : 0);
}

/* Of the execution's findings those that were reproduced, and as such. */
static void keep_hits(const struct chase *c, struct judged *j)
{
	size_t kept = 0;

	for (size_t i = 0; i < j->findings.count; i++)
		for (size_t k = 0; k < c->hits; k++)
			if (c->hit[k].judged == j && c->hit[k].finding == i) {
				findings_testify(&j->findings, i, (struct evidence){.check = "chase", .kind = "replayed",
					.seq = j->findings.at[i].path[j->findings.at[i].links - 1].to.seq});
				j->findings.at[i].verdict = VERDICT_REPRODUCED;
				findings_learn(&j->findings, i, j->findings.at[i].facts | facts_of(&c->hit[k]));
				j->findings.at[kept++] = j->findings.at[i];
			}
	j->findings.count = kept;
	j->findings.hazards = 0;
}

static struct report_trace trace_of(const struct chase *c, struct judged *j, struct arena *a)
{
	struct report_chased *chased = arena_alloc(a, c->hits * sizeof *chased);
	struct report_trace t = {.path = c->setup->argv[0], .tables = &j->execution->tables, .findings = &j->findings,
		.variables = j->variables, .chased = chased};

	for (size_t i = 0; i < c->hits; i++)
		if (c->hit[i].judged == j)
			chased[t.chases++] = (struct report_chased){j->findings.at[c->hit[i].finding].id, c->hit[i].then,
				c->hit[i].outcome, c->hit[i].outcomes, c->hit[i].file};
	keep_hits(c, j);
	return t;
}

size_t chased_traces(const struct chase *c, struct arena *a, struct report_trace *to)
{
	size_t n = 0;

	for (size_t i = 0; i < c->hits; i++)
		if (!i || c->hit[i].judged != c->hit[i - 1].judged)
			to[n++] = trace_of(c, c->hit[i].judged, a);
	return n;
}
