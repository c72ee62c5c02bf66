/* SPDX-License-Identifier: MIT */
#include "launch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/hash.h"
#include "scale/pack.h"

const struct launcher *const launchers_all[] = {&launch_local, &launch_parallel, &launch_slurm, NULL};

enum { BATCH_MOST = 1000, TIMES = 4, PAUSE = 1000000 /* nanoseconds */ };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

const struct launcher *launcher_named(const char *name)
{
	for (size_t i = 0; launchers_all[i]; i++)
		if (strcmp(launchers_all[i]->name, name) == 0)
			return launchers_all[i];
	return NULL;
}

static unsigned long processors(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n > 0 ? (unsigned long)n : 1;
}

/* Lines that name a host. */
static unsigned long hosts_of(const char *path, struct arena *a, struct fault *fault)
{
	unsigned long n = 0;
	struct text file;

	if (!pack_slurp(&file, a, path, fault))
		return 0;
	for (const char *p = file.at, *end = p + file.length; p < end;) {
		const char *line = memchr(p, '\n', (size_t)(end - p));
		size_t length = line ? (size_t)(line - p) : (size_t)(end - p), blank = strspn(p, " \t");

		n += blank < length && p[blank] != '#';
		p += length + 1;
	}
	if (!n)
		fault_set(fault, STATUS_USAGE, "%s: names no host; one a line, as user@host", path);
	return n;
}

bool launch_open(struct launch *l, const struct launch_setup *setup, struct fault *fault)
{
	*l = (struct launch){.setup = *setup, .feed = -1, .keep = -1};
	arena_init(&l->arena);
	map_init(&l->index, &l->arena);
	l->setup.jobs = setup->jobs ? setup->jobs : processors();
	l->slots = l->setup.jobs;
	if (setup->hosts)
		l->slots *= hosts_of(setup->hosts, &l->arena, fault);
	return !fault_is_set(fault) && (!setup->how->open || setup->how->open(l, fault));
}

static uint64_t key_of(const struct address *id)
{
	return hash_bytes(id->hex, ADDRESS);
}

static bool has_result(const struct launch *l, const struct launch_task *t)
{
	struct arena a;
	struct text result;
	bool has;

	arena_init(&a);
	has = depot_result(l->setup.depot, &a, t->id.hex, &result);
	arena_free(&a);
	return has;
}

bool launch_submit(struct launch *l, const struct address *id, double limit)
{
	uint32_t *known = map_put(&l->index, key_of(id));

	if (*known)
		return false;
	l->task = arena_reserve(&l->arena, l->task, &l->task_room, l->tasks, sizeof *l->task);
	l->task[l->tasks++] = (struct launch_task){.id = *id, .limit = limit};
	*known = (uint32_t)l->tasks;
	if (has_result(l, &l->task[l->tasks - 1])) {
		l->task[l->tasks - 1].state = TASK_DONE;
		l->done++;
		return true;
	}
	l->waits++;
	return true;
}

bool launch_is_idle(const struct launch *l)
{
	return !l->waits && l->running < l->slots;
}

void launch_hurry(struct launch *l, const struct address *id)
{
	l->urgent = map_get(&l->index, key_of(id));
}

enum task_state launch_state(const struct launch *l, const struct address *id)
{
	uint32_t n = map_get(&l->index, key_of(id));

	return n ? l->task[n - 1].state : TASK_LOST;
}

size_t launch_left(const struct launch *l)
{
	return l->tasks - l->done - l->lost;
}

double launch_eta(const struct launch *l)
{
	double each = l->made ? l->spent / (double)l->made : 0;

	return each * (double)launch_left(l) / (double)(l->slots ? l->slots : 1);
}

/* Starting. */

/* So much work that the start of its worker is a fifth of it, at most. */
static double wanted_seconds(const struct launch *l)
{
	double start = l->ended ? (l->spent - l->worked) / (double)l->ended : 0, wanted = l->setup.how->batch;

	return TIMES * start > wanted ? TIMES * start : wanted;
}

/* One that was lost goes alone: whatever it does to its worker, it does to nobody else. */
static size_t size_due(const struct launch *l)
{
	double each = l->made ? l->worked / (double)l->made : 0, wanted = wanted_seconds(l);
	size_t fair = l->waits / l->slots + (l->waits % l->slots != 0);
	size_t by_cost = !l->made ? 1 : each <= 0 ? BATCH_MOST : (size_t)(wanted / each) + 1;
	size_t n = by_cost < fair ? by_cost : fair;

	return n < 1 ? 1 : n > BATCH_MOST ? BATCH_MOST : n;
}

static void take(struct launch *l, struct launch_batch *b, size_t number)
{
	struct launch_task *t = &l->task[number];

	t->state = TASK_RUNS;
	l->waits--;
	b->limit += t->limit;
	b->task[b->count++] = number;
}

/* What somebody waits for goes alone, too. */
static void fill(struct launch *l, struct launch_batch *b, size_t most)
{
	b->task = arena_alloc(&l->arena, most * sizeof *b->task);
	while (l->first < l->tasks && l->task[l->first].state != TASK_WAITS)
		l->first++;
	if (l->urgent && l->task[l->urgent - 1].state == TASK_WAITS) {
		take(l, b, l->urgent - 1);
		return;
	}
	for (size_t i = l->first; i < l->tasks && b->count < most; i++) {
		const struct launch_task *t = &l->task[i];

		if (t->state != TASK_WAITS || (t->attempts && b->count))
			continue;
		take(l, b, i);
		if (t->attempts)
			return;
	}
}

static bool start(struct launch *l, struct fault *fault)
{
	struct launch_batch *b;

	l->batch = arena_reserve(&l->arena, l->batch, &l->batch_room, l->batches, sizeof *l->batch);
	b = &l->batch[l->batches];
	*b = (struct launch_batch){.number = ++l->number, .start = now(), .errors = -1};
	l->batches++;
	l->running++;
	fill(l, b, size_due(l));
	return l->setup.how->start(l, b, fault);
}

/* Ending. */

double launch_side(const char *path)
{
	static const char key[] = "\"seconds\": ";
	FILE *f = fopen(path, "r");
	double seconds = 0;
	char line[1024];

	while (f && fgets(line, sizeof line, f)) {
		const char *at = strstr(line, key);

		seconds += at ? strtod(at + strlen(key), NULL) : 0;
	}
	if (f)
		fclose(f);
	return seconds;
}

static void give_up(struct launch *l, struct launch_task *t, const struct launch_batch *b)
{
	char path[DEPOT_PATH], text[512];
	struct fault fault = {0};
	int n = snprintf(text, sizeof text, "given up after %u attempts; the last one: %s\n", t->attempts,
		*b->why ? b->why : "it ended without a result, and said nothing");

	t->state = TASK_LOST;
	l->lost++;
	l->waits--;
	depot_path(l->setup.depot, "lost", t->id.hex, path);
	if (!pack_publish(path, (struct text){text, (size_t)n}, &fault))
		warn("%s", fault.text);
}

static void settle(struct launch *l, struct launch_task *t, const struct launch_batch *b)
{
	if (has_result(l, t)) {
		t->state = TASK_DONE;
		l->done++;
		return;
	}
	t->attempts++;
	t->state = TASK_WAITS;
	l->waits++;
	l->first = 0;
	if (t->attempts >= LAUNCH_ATTEMPTS)
		give_up(l, t, b);
}

static void add_cost(struct launch *l, const struct launch_batch *b)
{
	double seconds = now() - b->start;

	l->ended++;
	l->spent += seconds;
	l->worked += b->worked > 0 && b->worked < seconds ? b->worked : seconds;
}

static void end(struct launch *l, struct launch_batch *b)
{
	size_t done = l->done;

	b->over = true;
	l->running--;
	for (size_t i = 0; i < b->count; i++)
		settle(l, &l->task[b->task[i]], b);
	if (l->done > done)
		add_cost(l, b);
	l->made += l->done - done;
	if (b->errors >= 0)
		close(b->errors);
	b->errors = -1;
}

/* Whether anything has ended. */
static bool end_what_is_over(struct launch *l)
{
	bool any = false;

	for (size_t i = 0; i < l->batches; i++) {
		struct launch_batch *b = &l->batch[i];

		if (b->over)
			continue;
		if (!l->setup.how->ended(l, b)) {
			if (now() - b->start < 2 * b->limit)
				continue;
			snprintf(b->why, sizeof b->why, "no result in twice its limit of %.0f s", b->limit);
			if (l->setup.how->stop)
				l->setup.how->stop(l, b);
		}
		end(l, b);
		any = true;
	}
	return any;
}

/* What has ended long ago is not looked at again. */
static void forget(struct launch *l)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->batches; i++)
		if (!l->batch[i].over)
			l->batch[kept++] = l->batch[i];
	l->batches = kept;
}

bool launch_poll(struct launch *l, struct fault *fault)
{
	bool any = end_what_is_over(l);

	if (any)
		forget(l);
	while (l->waits && l->running < l->slots) {
		if (!start(l, fault))
			return false;
		any = true;
	}
	if (!any)
		nanosleep(&(struct timespec){.tv_nsec = PAUSE}, NULL);
	return true;
}

void launch_close(struct launch *l)
{
	for (size_t i = 0; i < l->batches; i++)
		if (!l->batch[i].over && l->setup.how->stop)
			l->setup.how->stop(l, &l->batch[i]);
	if (l->setup.how->close)
		l->setup.how->close(l);
	arena_free(&l->arena);
}
