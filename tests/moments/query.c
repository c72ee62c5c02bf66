/* SPDX-License-Identifier: MIT */
/*
 * The moments of each finding of a trace, for tests/moments/run.py: moments_query CHECKS TRACE.
 *
 * A finding is a line "of BLOCK", then a line for each of its threads whose creation is known, then one for each
 * moment: thread, operation, object, value, role, the locks that it holds, and how many events before it are left out.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "check/check.h"
#include "check/run.h"
#include "event/trace.h"
#include "finding/finding.h"
#include "finding/moment.h"

static const struct tables *tables;

static void put(const char *before, enum table_class class, uint64_t id)
{
	struct text t = tables_name(tables, class, (uint32_t)id);

	printf("%s%.*s", before, (int)t.length, t.at);
}

static void put_object(const struct access *a)
{
	if (a->flags & EVENT_ADDRESSED)
		printf(" 0x%" PRIx64, a->object);
	else if (a->kind)
		put(" ", event_info[a->kind].table, a->object);
	if (event_is_access(a->kind) && a->flags & EVENT_VALUED)
		printf("=%" PRId64, (int64_t)a->value);
	if (a->site)
		put(" ", TABLE_SITE, a->site);
}

static void put_held(const struct finding *f, size_t i)
{
	size_t *held = calloc(i + 1, sizeof *held), n = moments_held(f->moments, i, held);

	for (size_t k = 0; k < n; k++)
		put(k ? "," : " holding ", TABLE_SYNC, f->moments[held[k]].access.object);
	free(held);
}

static void put_moment(const struct finding *f, size_t i)
{
	static const char *const role[] = {"", " FIRST", " CULPRIT", " SECOND"};
	const struct moment *m = &f->moments[i];

	put("", TABLE_THREAD, m->access.thread);
	printf(" %s", m->access.kind ? event_info[m->access.kind].word : m->ends ? "end" : "start");
	put_object(&m->access);
	printf("%s", role[m->role]);
	if (m->role)
		put_held(f, i);
	if (m->skipped)
		printf(" skipped %" PRIu32, m->skipped);
	printf("\n");
}

static bool is_first(const struct finding *f, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (f->moments[k].access.thread == f->moments[i].access.thread)
			return false;
	return true;
}

static void put_creation(const struct findings *set, thread_id t)
{
	const struct access *a = findings_creation(set, t);

	if (!a)
		return;
	put("created ", TABLE_THREAD, t);
	put(" by ", TABLE_THREAD, a->thread);
	put(" ", TABLE_SITE, a->site);
	if (a->stack)
		put(" in ", TABLE_CODE, tables_frame(tables, a->stack).code);
	printf("\n");
}

static void put_finding(const struct findings *set, const struct finding *f)
{
	put("of ", TABLE_CODE, f->block.code);
	printf("\n");
	for (size_t i = 0; i < f->moments_count; i++)
		if (is_first(f, i))
			put_creation(set, f->moments[i].access.thread);
	for (size_t i = 0; i < f->moments_count; i++)
		put_moment(f, i);
}

static size_t checks_named(char *names, const struct check **to)
{
	size_t n = 0;

	for (char *word = strtok(names, ","); word && n < CHECKS_MOST; word = strtok(NULL, ","))
		if ((to[n] = check_named(word, strlen(word))))
			n++;
	return n;
}

static bool feed(struct trace *t, struct run *run)
{
	struct event events[TRACE_BATCH];
	size_t n;

	while ((n = trace_next(t, events, TRACE_BATCH)) > 0)
		if (run_events(run, events, n) < n)
			return false;
	run_finish(run);
	return true;
}

int main(int argc, char **argv)
{
	const struct check *checks[CHECKS_MOST];
	struct run_setup setup = {.checks = checks};
	struct findings findings;
	struct tables names;
	struct arena arena;
	struct trace trace;

	if (argc != 3)
		return 2;
	arena_init(&arena);
	tables_init(&names, &arena);
	findings_init(&findings, &arena, &names);
	tables = &names;
	setup.count = checks_named(argv[1], checks);
	if (!trace_open(&trace, argv[2], &names, false) ||
		!feed(&trace, run_new(&arena, &names, &findings, &setup)))
		return 1;
	trace_close(&trace);
	findings_finish(&findings);
	for (size_t i = 0; i < findings.count; i++)
		put_finding(&findings, &findings.at[i]);
	arena_free(&arena);
	return 0;
}
