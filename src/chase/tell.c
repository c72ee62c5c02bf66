/* SPDX-License-Identifier: MIT */
#include "tell.h"

#include <stdlib.h>

#include "chase/chase.h"
#include "chase/execute.h"
#include "chase/judge.h"
#include "policy/rank.h"
#include "report/report.h"

static uint32_t facts_of(const struct chase_hit *h)
{
	return FACT_REPRODUCED | (h->harm ? FACT_HARM : 0);
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

/* Best rank first. */
static int compare(const void *left, const void *right)
{
	const struct report_trace *a = left, *b = right;
	unsigned x = a->findings->count ? a->findings->at[0].rank : 0, y = b->findings->count ? b->findings->at[0].rank : 0;

	return x < y ? -1 : x > y;
}

static size_t make_traces(const struct chase *c, struct chase_told *told, struct report_trace *to, struct arena *a)
{
	size_t n = 0;

	tables_init(&told->tables, a);
	findings_init(&told->findings, a, &told->tables);
	to[n++] = (struct report_trace){.path = c->setup->argv[0], .tables = &told->tables, .findings = &told->findings,
		.events = c->events};
	for (size_t i = 0; i < c->hits; i++)
		if (!i || c->hit[i].judged != c->hit[i - 1].judged)
			to[n++] = trace_of(c, c->hit[i].judged, a);
	qsort(to + 1, n - 1, sizeof *to, compare);
	return n;
}

static void tell_failures(const struct chase *c, struct report *r, struct arena *a)
{
	struct text *file = arena_alloc(a, c->failures * sizeof *file);

	r->failure = arena_alloc(a, c->failures * sizeof *r->failure);
	r->failure_replay = file;
	for (; r->failures < c->failures; r->failures++) {
		r->failure[r->failures] = c->failure[r->failures].story;
		file[r->failures] = c->failure[r->failures].file;
	}
}

void chase_tell(struct chase *c, struct chase_told *told, struct report *r, struct arena *a)
{
	struct report_trace *traces = arena_alloc(a, (c->hits + 1) * sizeof *traces);

	r->count = make_traces(c, told, traces, a);
	r->trace = traces;
	tell_failures(c, r, a);
}
