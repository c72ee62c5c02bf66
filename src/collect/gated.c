/* SPDX-License-Identifier: MIT */
#include "gated.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "event/event.h"
#include "sched/order.h"

void gated_init(struct gated_run *g, struct arena *a, struct naming *n, struct merge_listener to)
{
	*g = (struct gated_run){.arena = a, .naming = n, .to = to};
	g->numbers = arena_alloc(a, RINGS_MOST * sizeof *g->numbers);
}

static void begin(void *self, uint32_t ring, const struct self *thread)
{
	struct gated_run *g = self;

	g->numbers[ring] = thread->process == 1 ? thread->thread : 0;
	g->to.begin(g->to.self, ring, thread);
}

static void add(struct gated_run *g, struct segment s)
{
	g->segments = arena_reserve(g->arena, g->segments, &g->capacity, g->count, sizeof *g->segments);
	g->segments[g->count++] = s;
}

static void entry(void *self, uint32_t ring, const struct entry *e)
{
	struct gated_run *g = self;

	if (e->kind == ENTRY_SWITCH && g->numbers[ring] && (uint32_t)e->argument)
		add(g, (struct segment){.thread = g->numbers[ring], .kind = e->small, .pc = e->pc,
			.run = (uint32_t)e->argument, .flags = e->argument >> 32 & 1 ? ORDER_EXPIRES : 0});
	g->to.entry(g->to.self, ring, e);
}

static void finish(void *self, uint32_t ring)
{
	struct gated_run *g = self;

	g->to.finish(g->to.self, ring);
}

struct merge_listener gated_listener(struct gated_run *g)
{
	return (struct merge_listener){g, begin, entry, finish};
}

/* The executed order. */

/* Of the first process; the newest at a place counts. */
static size_t module_of(const struct tables *t, uint64_t pc)
{
	for (size_t i = t->module_count; i-- > 0;)
		if (pc - t->modules[i].base < t->modules[i].size)
			return i;
	return t->module_count;
}

static const char *file_name(struct text path)
{
	const char *slash = path.length ? strrchr(path.at, '/') : NULL;

	return slash ? slash + 1 : path.length ? path.at : "";
}

/* A name that is too long, or none, is no name to find it by. */
static bool is_fit(const struct module *m)
{
	size_t n = strlen(file_name(m->path));

	return n > 0 && n < ORDER_NAME && m->build_id.length < ORDER_BUILD_ID;
}

/* Whoever runs by the order finds modules by name, and takes the first. */
static size_t first_named(const struct tables *t, const char *name)
{
	size_t i = 0;

	while (i < t->module_count && (!is_fit(&t->modules[i]) || strcmp(file_name(t->modules[i].path), name) != 0))
		i++;
	return i;
}

static struct order_step step_of(const struct tables *t, const struct segment *s)
{
	struct order_step p = {.thread = s->thread, .kind = s->kind, .module = ORDER_NO_MODULE, .run = s->run,
		.flags = s->flags};
	size_t i = s->pc ? module_of(t, s->pc) : t->module_count;

	if (i < t->module_count && is_fit(&t->modules[i])) {
		p.module = (uint32_t)first_named(t, file_name(t->modules[i].path));
		p.offset = s->pc - t->modules[i].base;
	}
	return p;
}

/* All modules that have a name are listed, in the order of the tables; those that have none under another's. */
static void name_modules(struct order *o, const struct tables *t)
{
	for (size_t i = 0; i < t->module_count; i++) {
		struct order_module *m = (struct order_module *)(o + 1) + i;
		bool fit = is_fit(&t->modules[i]);

		snprintf(m->name, sizeof m->name, "%s", fit ? file_name(t->modules[i].path) : "?");
		snprintf(m->build_id, sizeof m->build_id, "%.*s", fit ? (int)t->modules[i].build_id.length : 0,
			fit && t->modules[i].build_id.length ? t->modules[i].build_id.at : "");
	}
}

/* Behind the last change of threads the one that had got the turn went on to the end; in a deadlock nobody did. */
static struct order *executed(struct gated_run *g, const struct order *by, uint32_t last)
{
	const struct tables *t = g->naming->tables;
	size_t steps = g->count + (last != 0);
	struct order *o = arena_alloc(g->arena, sizeof *o + t->module_count * sizeof(struct order_module) +
		steps * sizeof(struct order_step));
	struct order_step *at;

	*o = (struct order){.magic = ORDER_MAGIC, .version = ORDER_VERSION, .strategy = "replay", .seed = by->seed,
		.modules = (uint32_t)t->module_count, .steps = (uint32_t)steps};
	name_modules(o, t);
	at = (struct order_step *)((struct order_module *)(o + 1) + o->modules);
	for (size_t i = 0; i < g->count; i++)
		at[i] = step_of(t, &g->segments[i]);
	if (last)
		at[g->count] = (struct order_step){.thread = last, .kind = ORDER_FINISH, .module = ORDER_NO_MODULE,
			.run = UINT32_MAX};
	return o;
}

void gated_tell(struct gated_run *g, const struct channel *c, const struct order *o, struct gated *out)
{
	const struct gate_report *r = &c->gate;

	out->started = r->started;
	out->steps = r->steps;
	out->switches = r->switches;
	out->diverged = r->diverged_at != 0;
	out->diverged_at = r->diverged_at;
	out->done = r->done;
	/* The last segment of a replay may be without end. */
	out->finished = !out->diverged && r->done + (o->steps && order_step(o, o->steps - 1)->run == UINT32_MAX) >= o->steps;
	out->deadlock = r->end == GATE_DEADLOCK;
	out->outside = r->outside;
	out->real = r->real;
	if (r->started)
		out->executed = executed(g, o, out->deadlock ? 0 : r->holder);
}

/* Words. */

static const char *word_of(uint32_t kind)
{
	static const char *const words[] = {
		[ORDER_START - ORDER_START] = "start", [ORDER_FINISH - ORDER_START] = "end",
		[ORDER_WOKEN - ORDER_START] = "wait", [ORDER_DEPART - ORDER_START] = "barrier",
		[ORDER_ONCE - ORDER_START] = "once", [ORDER_YIELD - ORDER_START] = "yield",
		[ORDER_INPUT - ORDER_START] = "input or output",
	};

	if (kind >= ORDER_START && kind < ORDER_KINDS)
		return words[kind - ORDER_START];
	return kind < EVENT_KINDS && event_info[kind].word ? event_info[kind].word : "?";
}

static struct text object_of(struct gated_run *g, const struct gate_stand *s)
{
	static const struct text none = {"", 0};

	if (!s->object || s->kind == EVENT_JOIN || s->kind == ORDER_INPUT || s->kind == ORDER_YIELD ||
		event_is_access((uint8_t)s->kind))
		return none;
	return tables_name(g->naming->tables, TABLE_SYNC, naming_sync(g->naming, 1, s->object, s->pc));
}

static void tell_waiting(struct gated_run *g, const struct self *s, struct str *to)
{
	struct gate_stand at = s->stand;
	struct text what = object_of(g, &at);
	site_id site = naming_site(g->naming, 1, at.pc);

	str_printf(to, "T%u %s %s", s->thread, at.can ? "stands before" : "waits at", word_of(at.kind));
	if (what.length)
		str_printf(to, " %.*s", (int)what.length, what.at);
	if (!at.can && at.blocker == s->thread)
		str_add(to, " for itself");
	else if (!at.can && at.blocker)
		str_printf(to, " for T%u", at.blocker);
	if (site) {
		str_add(to, " at ");
		str_bytes(to, tables_name(g->naming->tables, TABLE_SITE, site).at,
			tables_name(g->naming->tables, TABLE_SITE, site).length);
	}
}

/* Where it is nobody knows; where it came from is something. */
static void tell_running(struct gated_run *g, const struct self *s, bool holds, struct str *to)
{
	site_id site = naming_site(g->naming, 1, s->stand.pc);

	str_printf(to, "T%u %s", s->thread, holds ? "runs" : "is not under control");
	if (holds && site) {
		str_add(to, " since ");
		str_bytes(to, tables_name(g->naming->tables, TABLE_SITE, site).at,
			tables_name(g->naming->tables, TABLE_SITE, site).length);
	}
}

const char *gated_stands(struct gated_run *g, struct channel *c)
{
	struct str text;

	str_init(&text, g->arena);
	for (uint32_t i = 0; i < RINGS_MOST && i < __atomic_load_n(&c->rings, __ATOMIC_ACQUIRE); i++) {
		const struct self *s = channel_ring(c, i);

		if (__atomic_load_n(&s->state, __ATOMIC_ACQUIRE) != RING_USED || s->process != 1)
			continue;
		if (s->stand.waits)
			tell_waiting(g, s, &text);
		else
			tell_running(g, s, c->gate.holder == s->thread, &text);
		str_char(&text, '\n');
	}
	return text.at;
}
