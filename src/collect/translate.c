/* SPDX-License-Identifier: MIT */
#include "translate.h"

#include <string.h>

#include "base/arena.h"

enum { KNOWN_SITES = 1 << 12 };

void translate_init(struct translate *t, struct arena *a, struct namer *namer, void *to,
	void (*event)(void *to, struct event *e))
{
	*t = (struct translate){.arena = a, .to = to, .event = event, .stream = STREAM_FULL};
	naming_init(&t->naming, a, namer);
	seg_init(&t->tracks, a, sizeof(struct track));
	t->sites = arena_alloc(a, KNOWN_SITES * sizeof *t->sites);
}

static site_id site_of(struct translate *t, const struct track *k, uint64_t pc)
{
	struct known_site *s = &t->sites[(pc ^ pc >> 12) & (KNOWN_SITES - 1)];

	if (s->pc != pc || s->process != k->process)
		*s = (struct known_site){pc, k->process, naming_site(&t->naming, k->process, pc)};
	return s->site;
}

static struct track *track_at(struct translate *t, uint32_t ring)
{
	return seg_at(&t->tracks, ring, sizeof(struct track));
}

/* An access waits for its value until the thread's next entry, which may be it. */
static void flush(struct translate *t, struct track *k)
{
	if (!k->pending)
		return;
	k->pending = false;
	t->event(t->to, &k->access);
}

static void put(struct translate *t, struct track *k, struct event e)
{
	e.thread = k->thread;
	e.seq = k->time;
	t->event(t->to, &e);
}

/* Time. */

static const uint64_t TIME_MOST = ((uint64_t)1 << TIME_BITS) - 2;

/* It never goes back, whatever the entry says. */
static void advance(struct track *k, uint64_t time)
{
	if (time > k->time && time <= TIME_MOST)
		k->time = time;
}

static void tell_time(struct track *k, const struct entry *e)
{
	if (entry_is_sync(e->kind)) {
		k->ticket = e->ticket > k->ticket ? e->ticket : k->ticket;
		advance(k, e->ticket << TICK_BITS);
	} else if (e->kind <= ENTRY_WRITE_RANGE) {
		advance(k, k->ticket << TICK_BITS | (e->extra & ((1 << TICK_BITS) - 1)));
	} else if (e->kind == ENTRY_TIME) {
		k->stamped = e->second > k->time && e->second <= TIME_MOST;
		advance(k, e->second);
	}
}

/* What opens has a time of its own. */
static void need_time(const struct translate *t, struct track *k)
{
	if (t->timed && !k->stamped)
		k->time++;
	k->stamped = false;
}

/* Memory. */

static uint64_t place_in(const struct track *k, uint64_t address)
{
	return naming_address(k->process, address);
}

static void access(struct translate *t, struct track *k, const struct entry *e, uint8_t kind)
{
	k->access = (struct event){
		.kind = kind, .flags = EVENT_SIZED | EVENT_ADDRESSED, .thread = k->thread, .size = e->small,
		.object = place_in(k, e->address), .site = site_of(t, k, e->pc), .seq = k->time,
	};
	if (t->values) {
		k->pending = true;
		return;
	}
	t->event(t->to, &k->access);
}

static void range(struct translate *t, struct track *k, const struct entry *e, uint8_t kind)
{
	for (uint64_t done = 0; done < e->argument && done < (uint64_t)1 << ADDRESS_BITS;) {
		uint64_t left = e->argument - done, n = left < EVENT_SIZE_MOST ? left : EVENT_SIZE_MOST;

		put(t, k, (struct event){
			.kind = kind, .flags = EVENT_SIZED | EVENT_ADDRESSED, .size = (uint32_t)n,
			.object = place_in(k, e->address + done), .site = site_of(t, k, e->pc),
		});
		done += n;
	}
}

static void value(struct track *k, const struct entry *e)
{
	if (!k->pending)
		return;
	k->access.flags |= EVENT_VALUED;
	k->access.value = e->second;
}

static void atomic(struct translate *t, struct track *k, const struct entry *e, uint8_t kind)
{
	put(t, k, (struct event){
		.kind = kind, .flags = EVENT_SIZED | EVENT_ADDRESSED, .size = e->extra,
		.order = e->small < ORDERS ? e->small : (uint8_t)ORDER_SEQ_CST,
		.object = place_in(k, e->address), .site = site_of(t, k, e->pc),
	});
}

static void fence(struct translate *t, struct track *k, const struct entry *e)
{
	put(t, k, (struct event){
		.kind = EVENT_ATOMIC_FENCE, .order = e->small < ORDERS ? e->small : (uint8_t)ORDER_SEQ_CST,
		.site = site_of(t, k, e->pc),
	});
}

static void memory(struct translate *t, struct track *k, const struct entry *e, uint8_t kind)
{
	put(t, k, (struct event){
		.kind = kind, .flags = EVENT_ADDRESSED, .object = place_in(k, e->address),
		.count = kind == EVENT_ALLOC ? e->argument : 0, .site = site_of(t, k, e->pc),
	});
}

/* The past. */

/* Who had the ring at that time; 0 if nobody did. */
static thread_id tenant_at(const struct track *k, uint64_t time)
{
	size_t low = 0, high = k->tenants;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (k->tenant[middle].since <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? k->tenant[low - 1].thread : 0;
}

static void tenant_add(struct translate *t, struct track *k)
{
	k->tenant = arena_reserve(t->arena, k->tenant, &k->tenant_capacity, k->tenants, sizeof *k->tenant);
	k->tenant[k->tenants++] = (struct tenant){k->time, k->thread};
}

/* The address in the process's code with that lower half; 0 if there is none or more than one. */
static uint64_t code_at(const struct translate *t, uint32_t process, uint32_t half)
{
	uint64_t found = 0;

	for (size_t i = 0; i < t->code_count; i++) {
		const struct code_range *c = &t->code[i];
		uint64_t at = (c->base & ~(uint64_t)UINT32_MAX) | half;

		if (at < c->base)
			at += (uint64_t)1 << 32;
		if (c->process != process || at - c->base >= c->size)
			continue;
		if (found)
			return 0;
		found = at;
	}
	return found;
}

/* Bytes of granules, from the first of each run of them. */
static void past_run(struct translate *t, const struct track *k, struct event e, const struct entry *of)
{
	unsigned bytes = of->second >> 4 & 15, first, n = 0;
	uint32_t granules = (uint32_t)(of->argument >> 32);

	for (first = 0; bytes >> first; first += n + 1) {
		for (n = 0; bytes >> (first + n) & 1; n++)
			;
		if (!n)
			continue;
		e.object = place_in(k, of->address + first);
		e.size = granules > 1 ? granules * 4 : n;
		t->past(t->to, &e);
	}
}

static void past(struct translate *t, const struct track *k, const struct entry *e)
{
	uint64_t time = e->second >> 8 & (((uint64_t)1 << TIME_BITS) - 1);
	uint32_t ring = (uint32_t)(e->second >> (8 + TIME_BITS));
	thread_id who = ring < RINGS_MOST ? tenant_at(track_at(t, ring), time) : 0;
	uint64_t pc = code_at(t, k->process, (uint32_t)e->argument);

	if (!who || !t->past || time > TIME_MOST || e->argument >> 32 > EVENT_SIZE_MOST / 4) {
		t->unknown++;
		return;
	}
	past_run(t, k, (struct event){
		.kind = e->small & 1 ? EVENT_WRITE : EVENT_READ, .flags = EVENT_SIZED | EVENT_ADDRESSED, .thread = who,
		.site = pc ? site_of(t, k, pc) : 0, .seq = time, .value = pc ? naming_code(&t->naming, k->process, pc) : 0,
	}, e);
}

/* Calls. */

static void leave(struct translate *t, struct track *k, uint64_t pc)
{
	put(t, k, (struct event){
		.kind = EVENT_EXIT, .object = k->open[--k->count].code, .site = site_of(t, k, pc),
	});
}

static uint32_t depth_of(const struct entry *e)
{
	return (uint32_t)e->extra << 8 | e->small;
}

/* Functions whose frames are as deep as this or deeper were left. */
static void unwind(struct translate *t, struct track *k, uint32_t depth, uint64_t pc)
{
	while (depth != DEPTH_UNKNOWN && k->count && k->open[k->count - 1].depth != DEPTH_UNKNOWN &&
		k->open[k->count - 1].depth >= depth)
		leave(t, k, pc);
}

static void enter(struct translate *t, struct track *k, const struct entry *e)
{
	code_id code = naming_code(&t->naming, k->process, e->pc);

	unwind(t, k, depth_of(e), e->pc);
	need_time(t, k);
	k->open = arena_reserve(t->arena, k->open, &k->capacity, k->count, sizeof *k->open);
	k->open[k->count++] = (struct open_function){code, depth_of(e)};
	put(t, k, (struct event){
		.kind = EVENT_ENTER, .object = code, .site = site_of(t, k, e->address),
	});
}

static uint32_t depth_in(const struct track *k, uint64_t place)
{
	uint64_t depth = (k->stack - place) / DEPTH_UNIT;

	return place && depth < DEPTH_UNKNOWN ? (uint32_t)depth : DEPTH_UNKNOWN;
}

/* Whether the innermost function, but for what was left without an exit, has its frame there. */
static bool is_open_at(const struct track *k, uint32_t depth)
{
	size_t i = k->count;

	while (i && k->open[i - 1].depth != DEPTH_UNKNOWN && k->open[i - 1].depth > depth)
		i--;
	return depth != DEPTH_UNKNOWN && i && k->open[i - 1].depth == depth;
}

/* The exit of a function that was entered before the thread was known has nothing to leave. */
static void leave_one(struct translate *t, struct track *k, const struct entry *e)
{
	uint32_t depth = depth_of(e), gone = depth_in(k, e->address);

	if (is_open_at(k, gone)) {
		unwind(t, k, gone, e->pc);
		return;
	}
	if (depth != DEPTH_UNKNOWN)
		unwind(t, k, depth + 1, e->pc);
	if (k->count && (depth == DEPTH_UNKNOWN || k->open[k->count - 1].depth >= depth))
		leave(t, k, e->pc);
}

/* Blocks and names. */

static void block(struct translate *t, struct track *k, const struct entry *e, uint8_t kind)
{
	need_time(t, k);
	put(t, k, (struct event){
		.kind = kind, .site = site_of(t, k, e->pc),
		.object = e->extra ? intern_add(&t->naming.tables->names[TABLE_CODE], e->text, e->extra) : 0,
	});
}

static void module(struct translate *t, struct track *k, const struct entry *e)
{
	naming_module(&t->naming, k->process, k->pid, (struct module){
		.path = {e->text, e->extra}, .base = e->address, .size = k->range,
	});
	t->code = arena_reserve(t->arena, t->code, &t->code_capacity, t->code_count, sizeof *t->code);
	t->code[t->code_count++] = (struct code_range){k->process, e->address, k->range};
}

/* Synchronisation. */

static void sync(struct translate *t, struct track *k, const struct entry *e, uint8_t kind)
{
	put(t, k, (struct event){
		.kind = kind, .object = naming_sync(&t->naming, k->process, e->address, e->pc),
		.site = site_of(t, k, e->pc),
	});
}

static void wait(struct translate *t, struct track *k, const struct entry *e)
{
	put(t, k, (struct event){
		.kind = EVENT_WAIT, .object = naming_sync(&t->naming, k->process, e->address, e->pc),
		.mutex = naming_sync(&t->naming, k->process, e->argument & (((uint64_t)1 << ADDRESS_BITS) - 1), e->pc),
		.site = site_of(t, k, e->pc),
	});
}

static void arrive(struct translate *t, struct track *k, const struct entry *e)
{
	put(t, k, (struct event){
		.kind = EVENT_BARRIER, .object = naming_sync(&t->naming, k->process, e->address, e->pc),
		.count = e->argument, .site = site_of(t, k, e->pc),
	});
}

static void thread(struct translate *t, struct track *k, const struct entry *e, uint8_t kind)
{
	uint32_t process = kind == EVENT_FORK && e->argument ? (uint32_t)e->argument : k->process;

	put(t, k, (struct event){
		.kind = kind, .object = naming_thread(&t->naming, process, (uint32_t)e->address),
		.site = site_of(t, k, e->pc),
	});
}

static void begin(void *self, uint32_t ring, const struct self *s)
{
	struct translate *t = self;
	struct track *k = track_at(t, ring);

	k->process = s->process;
	k->pid = s->pid;
	k->thread = naming_thread(&t->naming, s->process, s->thread);
	k->count = 0;
	k->pending = false;
	k->stamped = false;
}

/* In the full stream a wait ends with whatever its thread does next; here that may be silent. */
static void awake(struct translate *t, struct track *k)
{
	if (t->timed)
		put(t, k, (struct event){.kind = EVENT_NONE});
}

static void finish(void *self, uint32_t ring)
{
	struct translate *t = self;
	struct track *k = track_at(t, ring);

	flush(t, k);
	while (k->count)
		leave(t, k, 0);
}

static void take(void *self, uint32_t ring, const struct entry *e)
{
	struct translate *t = self;
	struct track *k = track_at(t, ring);

	if (e->stream && e->stream != t->stream)
		return;
	if (e->kind != ENTRY_VALUE)
		flush(t, k);
	if (t->timed)
		tell_time(k, e);
	switch ((enum entry_kind)e->kind) {
	case ENTRY_READ: case ENTRY_READ_VOLATILE: access(t, k, e, EVENT_READ); break;
	case ENTRY_WRITE: case ENTRY_WRITE_VOLATILE: access(t, k, e, EVENT_WRITE); break;
	case ENTRY_READ_RANGE: range(t, k, e, EVENT_READ); break;
	case ENTRY_WRITE_RANGE: range(t, k, e, EVENT_WRITE); break;
	case ENTRY_SIZE: k->range = e->second; break;
	case ENTRY_VALUE: value(k, e); break;
	case ENTRY_PAST: past(t, k, e); break;
	case ENTRY_TIME: break;
	case ENTRY_ENTER: enter(t, k, e); break;
	case ENTRY_EXIT: leave_one(t, k, e); break;
	case ENTRY_UNWIND: unwind(t, k, depth_of(e), e->pc); break;
	case ENTRY_BEGIN: block(t, k, e, EVENT_BEGIN); break;
	case ENTRY_END: block(t, k, e, EVENT_END); break;
	case ENTRY_MODULE: module(t, k, e); break;
	case ENTRY_START: k->stack = e->argument; tenant_add(t, k); break;
	case ENTRY_WOKEN: case ENTRY_DEPART: awake(t, k); break;
	case ENTRY_TICK: break;
	case ENTRY_FINISH: finish(t, ring); break;
	case ENTRY_FORK: thread(t, k, e, EVENT_FORK); break;
	case ENTRY_JOIN: thread(t, k, e, EVENT_JOIN); break;
	case ENTRY_ACQUIRE: sync(t, k, e, EVENT_ACQUIRE); break;
	case ENTRY_RELEASE: sync(t, k, e, EVENT_RELEASE); break;
	case ENTRY_ACQUIRE_SHARED: sync(t, k, e, EVENT_ACQUIRE_SHARED); break;
	case ENTRY_RELEASE_SHARED: sync(t, k, e, EVENT_RELEASE_SHARED); break;
	case ENTRY_WAIT: wait(t, k, e); break;
	case ENTRY_NOTIFY: sync(t, k, e, EVENT_NOTIFY); break;
	case ENTRY_NOTIFY_ALL: sync(t, k, e, EVENT_NOTIFY_ALL); break;
	case ENTRY_ARRIVE: arrive(t, k, e); break;
	case ENTRY_SEM_WAIT: sync(t, k, e, EVENT_SEM_WAIT); break;
	case ENTRY_SEM_POST: sync(t, k, e, EVENT_SEM_POST); break;
	case ENTRY_ATOMIC_LOAD: atomic(t, k, e, EVENT_ATOMIC_LOAD); break;
	case ENTRY_ATOMIC_STORE: atomic(t, k, e, EVENT_ATOMIC_STORE); break;
	case ENTRY_ATOMIC_RMW: atomic(t, k, e, EVENT_ATOMIC_RMW); break;
	case ENTRY_ATOMIC_FENCE: fence(t, k, e); break;
	case ENTRY_ALLOC: memory(t, k, e, EVENT_ALLOC); break;
	case ENTRY_FREE: memory(t, k, e, EVENT_FREE); break;
	case ENTRY_MAKE: naming_forget_sync(&t->naming, k->process, e->address);
		naming_sync(&t->naming, k->process, e->address, e->pc); break;
	case ENTRY_BREAK: naming_forget_sync(&t->naming, k->process, e->address); break;
	case ENTRY_NAME: break;
	default: t->unknown++; break;
	}
}

struct merge_listener translate_listener(struct translate *t)
{
	return (struct merge_listener){.self = t, .begin = begin, .entry = take, .finish = finish};
}
