/* SPDX-License-Identifier: MIT */
/*
 * bench_gen: large traces for `make bench`, the same for the same options.
 *
 * A made-up program of a few dozen procedures is run by threads that a random scheduler interleaves event by event.
 * A procedure is a transaction of 8 to 12 events: it acquires one or two locks, in ascending order so that nothing
 * deadlocks, accesses variables that they guard, and releases them. Variable v is guarded by lock v mod locks. So
 * every transaction is two-phase locked, and the run is serializable. Each step of a procedure has its own place.
 *
 * Shapes:
 *   2pl    that.
 *   late   that, and, when all else is done, one transaction that another thread's splits.
 *   open   that, but the last thread does nothing but one transaction, open from the start to the end. It writes
 *          flags, each once and before anybody else reads it: it comes before whatever touches them and after
 *          nothing, hence the run stays serializable.
 *   calls  as 2pl, with functions, two deep, in the place of declared blocks.
 *   service   as calls, all of it inside one function a thread, as the main loop of a program that serves requests:
 *          no request is split, but the functions around them are, all the time.
 *
 * The program (names, procedures, locks, variables) does not depend on the number of events.
 */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/opts.h"
#include "base/rng.h"
#include "event/tables.h"
#include "event/trace.h"

enum {
	PROCEDURES = 32,
	STEPS_LEAST = 8, /* in a transaction, with its begin and end */
	STEPS_MOST = 12,
	STEPS_CALL = 2, /* for the inner function of `calls` */
	FLAGS = 64,     /* of `open` */
};

enum program_shape { TWO_PHASE, LATE, OPEN, CALLS, SERVICE, PROGRAM_SHAPES };

static const char *const shape_names[PROGRAM_SHAPES] = {"2pl", "late", "open", "calls", "service"};

struct options {
	const char *shape, *to, *path;
	unsigned long events, threads, variables, locks, seed;
	bool help;
};

struct step {
	enum event_kind kind;
	unsigned lock; /* which of the transaction's locks it takes, or is guarded by */
	code_id code;  /* of the block or function that it opens or closes */
	site_id site;
};

struct procedure {
	struct step steps[STEPS_MOST + STEPS_CALL];
	unsigned count, locks;
};

struct worker {
	const struct procedure *running; /* NULL between transactions */
	unsigned at;                     /* the next step */
	uint32_t locks[2];               /* ascending */
};

struct gen {
	struct options options;
	enum program_shape shape;
	struct arena arena;
	struct tables tables;
	struct trace_writer writer;
	struct rng rng;
	struct procedure procedures[PROCEDURES];
	struct worker *workers;
	uint32_t worker_count; /* the first threads; `open` has one thread more */
	bool *held;            /* by lock */
	unsigned places;
	unsigned flags;     /* of `open`: written so far */
	site_id flag_sites; /* the places of their write and their reads: this, and the next */
	bool ending;        /* no new transactions */
};

/* Ids of threads, variables and locks are their numbers plus one; the flags come behind the variables. */
static uint64_t id_of(uint64_t number)
{
	return number + 1;
}

static uint32_t name_add(struct gen *g, enum table_class class, const char *prefix, unsigned long number)
{
	char text[32];
	int n = snprintf(text, sizeof text, "%s%lu", prefix, number);

	return intern_add(&g->tables.names[class], text, (size_t)n);
}

static void names_add(struct gen *g, enum table_class class, const char *prefix, unsigned long count)
{
	for (unsigned long i = 0; i < count; i++)
		name_add(g, class, prefix, i);
}

static site_id place_add(struct gen *g)
{
	return name_add(g, TABLE_SITE, "file.c:", ++g->places);
}

static void step_add(struct gen *g, struct procedure *p, struct step step)
{
	step.site = place_add(g);
	p->steps[p->count++] = step;
}

static void procedure_make(struct gen *g, struct procedure *p, unsigned number)
{
	bool calls = g->shape == CALLS || g->shape == SERVICE;
	code_id outer = name_add(g, TABLE_CODE, "work", number);
	code_id inner = calls ? name_add(g, TABLE_CODE, "part", number) : 0;
	unsigned steps = STEPS_LEAST + rng_below(&g->rng, STEPS_MOST - STEPS_LEAST + 1);

	p->locks = 1 + rng_below(&g->rng, 2);
	step_add(g, p, (struct step){.kind = calls ? EVENT_ENTER : EVENT_BEGIN, .code = outer});
	for (unsigned i = 0; i < p->locks; i++)
		step_add(g, p, (struct step){.kind = EVENT_ACQUIRE, .lock = i});
	if (calls)
		step_add(g, p, (struct step){.kind = EVENT_ENTER, .code = inner});
	for (unsigned i = 0; i < steps - 2 - 2 * p->locks; i++)
		step_add(g, p, (struct step){.kind = rng_below(&g->rng, 3) ? EVENT_READ : EVENT_WRITE,
			.lock = i % p->locks});
	if (calls)
		step_add(g, p, (struct step){.kind = EVENT_EXIT, .code = inner});
	for (unsigned i = p->locks; i-- > 0;)
		step_add(g, p, (struct step){.kind = EVENT_RELEASE, .lock = i});
	step_add(g, p, (struct step){.kind = calls ? EVENT_EXIT : EVENT_END, .code = outer});
}

static void program_make(struct gen *g)
{
	const struct options *o = &g->options;

	names_add(g, TABLE_THREAD, "T", o->threads);
	names_add(g, TABLE_OBJECT, "x", o->variables);
	names_add(g, TABLE_SYNC, "m", o->locks);
	for (unsigned i = 0; i < PROCEDURES; i++)
		procedure_make(g, &g->procedures[i], i);
	if (g->shape == OPEN) {
		names_add(g, TABLE_OBJECT, "flag", FLAGS);
		g->flag_sites = place_add(g);
		place_add(g);
	}
	g->worker_count = (uint32_t)o->threads - (g->shape == OPEN);
	g->workers = arena_alloc(&g->arena, g->worker_count * sizeof *g->workers);
	g->held = arena_alloc(&g->arena, o->locks * sizeof *g->held);
}

static void put(struct gen *g, uint32_t t, enum event_kind kind, uint64_t object, site_id site)
{
	trace_put(&g->writer, &(struct event){
		.kind = (uint8_t)kind, .thread = (thread_id)id_of(t), .object = object, .site = site});
}

/* A variable that lock m guards. */
static uint64_t variable_below(struct gen *g, uint32_t m)
{
	unsigned long locks = g->options.locks, guarded = (g->options.variables - m + locks - 1) / locks;

	return m + (uint64_t)locks * rng_below(&g->rng, (uint32_t)guarded);
}

static bool runnable(const struct gen *g, const struct worker *w)
{
	const struct step *s;

	if (!w->running)
		return !g->ending;
	s = &w->running->steps[w->at];
	return s->kind != EVENT_ACQUIRE || !g->held[w->locks[s->lock]];
}

/* Any worker that can go on, or the number of workers if there is none: then all are done. */
static uint32_t pick(struct gen *g)
{
	uint32_t first = rng_below(&g->rng, g->worker_count);

	for (uint32_t i = 0; i < g->worker_count; i++) {
		uint32_t t = (first + i) % g->worker_count;

		if (runnable(g, &g->workers[t]))
			return t;
	}
	return g->worker_count;
}

static void transaction_start(struct gen *g, struct worker *w)
{
	uint32_t locks = (uint32_t)g->options.locks;
	uint32_t a = rng_below(&g->rng, locks), b = (a + 1 + rng_below(&g->rng, locks - 1)) % locks;

	w->running = &g->procedures[rng_below(&g->rng, PROCEDURES)];
	w->at = 0;
	w->locks[0] = a < b || w->running->locks == 1 ? a : b;
	w->locks[1] = a < b ? b : a;
}

static void step(struct gen *g, uint32_t t)
{
	struct worker *w = &g->workers[t];
	const struct step *s;
	uint32_t m;

	if (!w->running)
		transaction_start(g, w);
	s = &w->running->steps[w->at++];
	m = w->locks[s->lock];
	switch (s->kind) {
	case EVENT_ACQUIRE:
	case EVENT_RELEASE:
		g->held[m] = s->kind == EVENT_ACQUIRE;
		put(g, t, s->kind, id_of(m), s->site);
		break;
	case EVENT_READ:
	case EVENT_WRITE: put(g, t, s->kind, id_of(variable_below(g, m)), s->site); break;
	default: put(g, t, s->kind, s->code, s->site);
	}
	if (w->at == w->running->count)
		w->running = NULL;
}

static uint64_t flag_id(const struct gen *g, unsigned flag)
{
	return id_of(g->options.variables + flag);
}

/* The thread with the open transaction writes the next flag when its time has come, and reads old ones. */
static void flag_step(struct gen *g)
{
	uint32_t t = g->worker_count;

	if (g->writer.events >= g->options.events / FLAGS * g->flags && g->flags < FLAGS)
		put(g, t, EVENT_WRITE, flag_id(g, g->flags++), g->flag_sites);
	else
		put(g, t, EVENT_READ, flag_id(g, rng_below(&g->rng, g->flags)), g->flag_sites + 1);
}

/* What happens beside the workers' own steps, in `open`: now and then, the flags are written and read. */
static void flags_touch(struct gen *g, uint32_t t)
{
	uint32_t chance = rng_below(&g->rng, 128);

	if (chance == 0)
		flag_step(g);
	else if (chance == 1 && g->flags && g->workers[t].running)
		put(g, t, EVENT_READ, flag_id(g, rng_below(&g->rng, g->flags)), g->flag_sites + 1);
}

static void work(struct gen *g)
{
	uint32_t t;

	while (g->writer.events < g->options.events) {
		step(g, t = pick(g));
		if (g->shape == OPEN)
			flags_touch(g, t);
	}
	g->ending = true;
	while ((t = pick(g)) < g->worker_count)
		step(g, t);
}

/* T0's block reads and writes what T1's block writes in between. */
static void split_once(struct gen *g)
{
	uint64_t x = id_of(0);
	code_id outer = name_add(g, TABLE_CODE, "split", 0), inner = name_add(g, TABLE_CODE, "split", 1);

	put(g, 0, EVENT_BEGIN, outer, place_add(g));
	put(g, 0, EVENT_READ, x, place_add(g));
	put(g, 1, EVENT_BEGIN, inner, place_add(g));
	put(g, 1, EVENT_WRITE, x, place_add(g));
	put(g, 1, EVENT_END, inner, place_add(g));
	put(g, 0, EVENT_WRITE, x, place_add(g));
	put(g, 0, EVENT_END, outer, place_add(g));
}

/* The work, in whatever stays open for all of it. */
static void work_inside(struct gen *g)
{
	uint32_t threads = (uint32_t)g->options.threads, first = g->shape == OPEN ? threads - 1 : 0;
	bool service = g->shape == SERVICE, inside = service || g->shape == OPEN;
	site_id site = place_add(g);
	code_id code = inside ? name_add(g, TABLE_CODE, "loop", 0) : 0;

	for (uint32_t t = first; inside && t < threads; t++)
		put(g, t, service ? EVENT_ENTER : EVENT_BEGIN, code, site);
	work(g);
	for (uint32_t t = first; inside && t < threads; t++)
		put(g, t, service ? EVENT_EXIT : EVENT_END, code, site);
}

/* T0 starts the others, all work, T0 waits for them. */
static void program_run(struct gen *g)
{
	site_id fork = place_add(g), join = place_add(g);

	for (uint32_t t = 1; t < g->options.threads; t++)
		put(g, 0, EVENT_FORK, id_of(t), fork);
	work_inside(g);
	if (g->shape == LATE)
		split_once(g);
	for (uint32_t t = 1; t < g->options.threads; t++)
		put(g, 0, EVENT_JOIN, id_of(t), join);
}

static enum program_shape shape_named(const char *name)
{
	for (int i = 0; i < PROGRAM_SHAPES; i++)
		if (strcmp(shape_names[i], name) == 0)
			return (enum program_shape)i;
	die(STATUS_USAGE, "bench_gen: unknown shape '%s'; there are 2pl, late, open, calls and service", name);
}

static void options_check(const struct options *o)
{
	if (!o->path)
		die(STATUS_USAGE, "bench_gen: no output file; -o names it");
	if (!trace_format_named(o->to))
		die(STATUS_USAGE, "bench_gen: unknown form '%s'; there are text and binary", o->to);
	if (o->threads < 2 || o->threads > 1u << 20)
		die(STATUS_USAGE, "bench_gen: --threads is from 2 to 1048576");
	if (o->locks < 2 || o->locks > o->variables || o->variables > 1u << 30)
		die(STATUS_USAGE, "bench_gen: --locks is from 2 to --variables, which is at most 2^30");
}

static void generate(struct gen *g)
{
	const struct options *o = &g->options;

	g->shape = shape_named(o->shape);
	g->rng.state = o->seed;
	arena_init(&g->arena);
	tables_init(&g->tables, &g->arena);
	program_make(g);
	if (!trace_create(&g->writer, trace_format_named(o->to), o->path, &g->tables, &g->arena))
		die(g->writer.output.fault.status, "%s", g->writer.output.fault.text);
	program_run(g);
	if (!trace_commit(&g->writer))
		die(g->writer.output.fault.status, "%s", g->writer.output.fault.text);
	printf("{\"events\": %llu, \"bytes\": %llu}\n", (unsigned long long)g->writer.events,
		(unsigned long long)g->writer.output.written);
	arena_free(&g->arena);
}

int main(int argc, char **argv)
{
	static struct gen g = {.options = {.shape = "2pl", .to = "text", .events = 1000000, .threads = 8,
		.variables = 1000, .locks = 256, .seed = 1}};
	struct options *o = &g.options;
	const struct opt table[] = {
		{"shape", 0, OPT_TEXT, &o->shape, "SHAPE", "2pl (default), late, open, calls or service"},
		{"events", 0, OPT_COUNT, &o->events, "N", "about so many events (default 1000000)"},
		{"threads", 0, OPT_COUNT, &o->threads, "N", "default 8"},
		{"variables", 0, OPT_COUNT, &o->variables, "N", "default 1000"},
		{"locks", 0, OPT_COUNT, &o->locks, "N", "default 256"},
		{"seed", 0, OPT_COUNT, &o->seed, "N", "default 1"},
		{"to", 0, OPT_TEXT, &o->to, "FORM", "text (default) or binary"},
		{"output", 'o', OPT_TEXT, &o->path, "FILE", "where to"},
		{"help", 'h', OPT_FLAG, &o->help, NULL, "this text"},
		{0},
	};

	if (opts_parse(table, "bench_gen", argc, argv) > 0)
		die(STATUS_USAGE, "bench_gen: takes options only, not '%s'", argv[1]);
	if (o->help) {
		puts("usage: bench_gen [options] -o FILE\n\nWrites a large trace.\n");
		opts_help(table);
		return STATUS_CLEAN;
	}
	options_check(o);
	generate(&g);
	return STATUS_CLEAN;
}
