/* SPDX-License-Identifier: MIT */
#include "judge.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "chase/conflict.h"
#include "chase/execute.h"
#include "check/check.h"
#include "check/run.h"
#include "predict/nonatomic_findings.h"

enum { RANK_SHOWN = 3 }; /* at lock level, as run shows it */

/* The splits that happened, and the triples that might; in order of `checks_all`'s names. */
static const struct check *const *checks(size_t *count)
{
	static const struct check *list[3];

	list[0] = check_named("causal", strlen("causal"));
	list[1] = &check_candidates;
	list[2] = &check_wides;
	*count = sizeof list / sizeof *list;
	return list;
}

void judged_count(struct judged *j, struct arena *a)
{
	struct map times;

	map_init(&times, a);
	j->occurrence = arena_alloc(a, (j->whole.count + 1) * sizeof *j->occurrence);
	for (size_t i = 0; i < j->whole.count; i++) {
		const struct event *e = &j->whole.event[i];

		if (e->pc)
			j->occurrence[i] = ++*map_put(&times, hash_pair(hash_pair(e->thread, e->kind), e->pc));
	}
}

/* What locks alone let suspect. */
static void find_windows(struct judged *j, const struct policy *policy)
{
	struct execution *x = j->execution;
	const struct check *list[] = {check_named("sidetrack", strlen("sidetrack"))};
	struct run_setup setup = {.checks = list, .count = 1, .lenient = true, .policy = policy};
	struct run *run;

	findings_init(&j->windows, &x->arena, &x->tables);
	if (!x->locks)
		return;
	run = run_new(&x->arena, &x->tables, &j->windows, &setup);
	run_events(run, j->whole.event, j->whole.count);
	run_finish(run);
	findings_finish(&j->windows);
}

void judge(struct judged *j, struct execution *x, const struct policy *policy)
{
	struct run_setup setup = {.lenient = true, .policy = policy};
	struct run *run;

	*j = (struct judged){.execution = x};
	whole_init(&j->whole, &x->arena, &x->tables);
	whole_take(&j->whole, x->event, x->events);
	findings_init(&j->findings, &x->arena, &x->tables);
	setup.checks = checks(&setup.count);
	run = run_new(&x->arena, &x->tables, &j->findings, &setup);
	candidates_of(run, &j->whole);
	wides_of(run, &j->whole);
	run_events(run, j->whole.event, j->whole.count);
	run_finish(run);
	j->candidates = candidates_found(run, &x->arena);
	j->wides = wides_found(run, &x->arena);
	j->variables = run_variables(run);
	findings_finish(&j->findings);
	find_windows(j, policy);
	if (j->findings.count && !x->locks)
		j->fast = nonatomic_findings(&j->findings, &j->whole, 0).fast;
	for (size_t i = 0; i < j->findings.count && !x->locks; i++)
		if (judged_counts(j, &j->findings.at[i]))
			conflict_tell(j, i);
	judged_count(j, &x->arena);
}

/*
 * All of its path is about one lock, 0 if it is not: more than one lock, and it takes more than a window to be split.
 */
static sync_id lock_of(const struct finding *f)
{
	uint64_t lock = f->links ? f->path[0].from.object : 0;

	for (size_t i = 0; i < f->links; i++)
		if (event_info[f->path[i].from.kind].table != TABLE_SYNC || f->path[i].from.object != lock ||
			event_info[f->path[i].to.kind].table != TABLE_SYNC || f->path[i].to.object != lock)
			return 0;
	return (sync_id)lock;
}

/* Whether sidetrack has the window as well, and nothing hides it there. */
static bool has_window(const struct judged *j, const struct finding *f)
{
	sync_id lock = lock_of(f);

	for (size_t i = 0; lock && i < j->windows.count; i++) {
		const struct finding *w = &j->windows.at[i];

		if (w->block.code == f->block.code && finding_lock(w) == lock && !w->hidden && w->rank <= RANK_SHOWN)
			return true;
	}
	return false;
}

bool judged_counts(const struct judged *j, const struct finding *f)
{
	if (!finding_happened(f))
		return false;
	if (j->execution->locks)
		return !f->hidden && f->rank <= RANK_SHOWN && has_window(j, f);
	for (size_t i = 0; i < f->evidence_count; i++)
		if (strcmp(f->evidence[i].check, nonatomic_name) == 0)
			return strcmp(f->evidence[i].kind, "cycle") != 0;
	return false;
}

const struct finding *judged_find(const struct judged *j, uint64_t id)
{
	for (size_t i = 0; i < j->findings.count; i++)
		if (j->findings.at[i].id == id && judged_counts(j, &j->findings.at[i]))
			return &j->findings.at[i];
	return NULL;
}

/* The culprit is the first operation of another thread on the path. */
static uint64_t seq_of(const struct finding *f, int mark)
{
	if (!f->links)
		return 0;
	if (mark == MARK_FIRST)
		return f->path[0].from.seq;
	return mark == MARK_SECOND ? f->path[f->links - 1].to.seq : f->path[0].to.seq;
}

size_t judged_event(const struct judged *j, const struct finding *f, int mark)
{
	uint64_t seq = seq_of(f, mark);

	return seq && seq <= j->whole.count ? (size_t)seq - 1 : SIZE_MAX;
}

uint32_t judged_thread(const struct judged *j, thread_id t)
{
	struct text name = tables_name(&j->execution->tables, TABLE_THREAD, t);

	return name.length > 1 && name.at[0] == 'T' ? (uint32_t)strtoul(name.at + 1, NULL, 10) : 0;
}
