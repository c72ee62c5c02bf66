/* SPDX-License-Identifier: MIT */
/*
 * bench_check MODE FILE: one way through one trace, and what it cost, as a line of JSON.
 *
 * One mode a process, so that the peak of its memory is its own. The times are those of the whole process.
 *
 *   read         reads the file, and counts the lines of a text trace
 *   parse        makes events of it
 *   wellformed   and makes a run of them, with no check
 *   CHECKS       and runs these checks: names with commas, each perhaps with its parts: sidetrack,blocks=1v+escape
 */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/input.h"
#include "check/check.h"
#include "check/run.h"
#include "event/trace.h"
#include "finding/finding.h"

struct outcome {
	uint64_t events;
	size_t findings;
};

/* A trace opened, with what a run over it needs. */
struct job {
	struct arena arena;
	struct tables tables;
	struct findings findings;
	struct trace trace;
};

static void job_open(struct job *j, const char *path)
{
	arena_init(&j->arena);
	tables_init(&j->tables, &j->arena);
	findings_init(&j->findings, &j->arena, &j->tables);
	if (!trace_open(&j->trace, path, &j->tables, false))
		die(j->trace.fault.status, "%s", j->trace.fault.text);
}

static struct outcome job_close(struct job *j)
{
	struct outcome o = {j->trace.events, j->findings.count};

	if (fault_is_set(&j->trace.fault))
		die(j->trace.fault.status, "%s", j->trace.fault.text);
	if (j->trace.incomplete)
		die(STATUS_TRACE, "%s: cut off", j->trace.input.name);
	trace_close(&j->trace);
	arena_free(&j->arena);
	return o;
}

static uint64_t lines_in(const char *at, const char *end)
{
	uint64_t n = 0;

	while ((at = memchr(at, '\n', (size_t)(end - at)))) {
		at++;
		n++;
	}
	return n;
}

/* The events of a binary trace are not counted: that would be parsing it. */
static struct outcome read_only(const char *path)
{
	struct outcome o = {0};
	struct fault fault = {0};
	struct input in;
	bool text;

	if (!input_open(&in, path, &fault))
		die(fault.status, "%s", fault.text);
	input_need(&in, 64, &fault);
	text = !trace_bin.fits(in.at, (size_t)(in.end - in.at));
	do {
		if (text)
			o.events += lines_in(in.at, in.end);
		in.at = in.end;
	} while (input_more(&in, &fault));
	if (fault_is_set(&fault))
		die(fault.status, "%s", fault.text);
	input_close(&in);
	return o;
}

static struct outcome parse_only(const char *path)
{
	struct event events[TRACE_BATCH];
	static struct job j;

	job_open(&j, path);
	while (trace_next(&j.trace, events, TRACE_BATCH) > 0)
		;
	return job_close(&j);
}

/* What a mode names. */
struct choice {
	const struct check *check[CHECKS_MOST];
	unsigned refinements[CHECKS_MOST];
	size_t count;
};

static struct outcome check_with(const struct choice *c, const char *path)
{
	struct event events[TRACE_BATCH];
	static struct job j;
	struct run_setup setup = {.checks = c->check, .count = c->count, .refinements = c->refinements};
	struct run *run;
	size_t n;

	job_open(&j, path);
	run = run_new(&j.arena, &j.tables, &j.findings, &setup);
	while ((n = trace_next(&j.trace, events, TRACE_BATCH)) > 0)
		if (run_events(run, events, n) < n)
			die(STATUS_TRACE, "%s: %s", path, run_wellformed(run)->why);
	run_finish(run);
	findings_finish(&j.findings);
	return job_close(&j);
}

static unsigned part_named(const struct check *c, const char *name)
{
	for (const struct refinement *r = c->refinements; r && r->name; r++)
		if (strcmp(r->name, name) == 0)
			return r->bits;
	die(STATUS_USAGE, "bench_check: %s has no part '%s'", c->name, name);
}

/* "name" or "name=part+part". */
static void choose(struct choice *c, char *word)
{
	char *parts = strchr(word, '='), *rest;
	const struct check *check;

	if (parts)
		*parts++ = '\0';
	check = check_named(word, strlen(word));
	if (!check || c->count == CHECKS_MOST)
		die(STATUS_USAGE, "bench_check: unknown mode '%s'; there are read, parse, wellformed and the checks", word);
	c->check[c->count] = check;
	c->refinements[c->count] = parts ? 0 : check->standard;
	for (char *p = parts ? strtok_r(parts, "+", &rest) : NULL; p; p = strtok_r(NULL, "+", &rest))
		c->refinements[c->count] |= part_named(check, p);
	c->count++;
}

static struct outcome outcome_of(const char *mode, const char *path)
{
	struct choice c = {.count = 0};
	char words[512], *rest;

	if (strcmp(mode, "read") == 0)
		return read_only(path);
	if (strcmp(mode, "parse") == 0)
		return parse_only(path);
	snprintf(words, sizeof words, "%s", strcmp(mode, "wellformed") == 0 ? "" : mode);
	for (char *word = strtok_r(words, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
		choose(&c, word);
	return check_with(&c, path);
}

/*
 * The peak of this program's resident memory, in bytes. Not getrusage's, which also counts what the process was
 * before it became this program: a copy of whoever started it.
 */
static unsigned long peak(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	unsigned long kilobytes = 0;
	char line[256];

	if (!f)
		die(STATUS_UNFIT, "/proc/self/status: cannot be read");
	while (fgets(line, sizeof line, f))
		if (sscanf(line, "VmHWM: %lu", &kilobytes) == 1)
			break;
	fclose(f);
	return kilobytes * 1024;
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	double start = now();
	struct outcome o;
	struct rusage usage;

	if (argc != 3)
		die(STATUS_USAGE, "usage: bench_check read|parse|wellformed|CHECKS FILE");
	o = outcome_of(argv[1], argv[2]);
	getrusage(RUSAGE_SELF, &usage);
	printf("{\"mode\": \"%s\", \"events\": %llu, \"user\": %.6f, \"system\": %.6f, \"wall\": %.6f, "
	       "\"peak\": %lu, \"findings\": %zu}\n",
		argv[1], (unsigned long long)o.events, seconds(usage.ru_utime), seconds(usage.ru_stime),
		now() - start, peak(), o.findings);
	return STATUS_CLEAN;
}
