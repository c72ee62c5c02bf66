/* SPDX-License-Identifier: MIT */
#include "translate.h"

#include <string.h>

#include "base/arena.h"
#include "collect/rounds.h"
#include "event/trace_bin_columns.h"
#include "event/trail.h"

#define RANGE_MOST ((uint64_t)1 << 36) /* nobody clears more at once */

/* The event stands in the room. */
static inline void made(struct translate *t)
{
	if (++t->room->next == t->room->end)
		t->room->full(t->room->to);
}

static inline void hand_on_made(struct translate *t)
{
	t->events++;
	made(t);
}

static void hand_on(struct translate *t, const struct event *e)
{
	*t->room->next = *e;
	hand_on_made(t);
}

static void own_full(void *self)
{
	struct translate *t = self;

	t->own.next = &t->scratch;
	t->event(t->to, &t->scratch);
}

static void hand_on_atomic(void *self, const struct spin_operation *o)
{
	hand_on(self, &o->event);
}

/* A function's entry is before all that has its time: a block that begins with the function, and silent accesses. */
static uint64_t position(uint64_t time)
{
	return time * 2;
}

static struct track *track_at(struct translate *t, uint32_t ring)
{
	return seg_at(&t->tracks, ring, sizeof(struct track));
}

/* How far the thread has got. Nearly always it is the one that speaks; another's lock ends once, when it is refuted. */
static uint64_t time_of(struct translate *t, thread_id thread, uint64_t otherwise)
{
	if (t->speaks && t->speaks->thread == thread)
		return position(t->speaks->time);
	for (uint32_t i = 0; i < t->rings; i++)
		if (track_at(t, i)->thread == thread)
			return position(track_at(t, i)->time);
	return otherwise;
}

/*
 * A lock is told of later than its operation, and counts from then on: a thread's times must not go back. With the time
 * of its acquire, a release would put what the thread did under the lock behind it.
 */
static void hand_on_lock(void *self, const struct spin_operation *o, thread_id thread, uint8_t kind)
{
	struct translate *t = self;
	struct event e = {
		.kind = kind, .thread = thread, .object = naming_sync(&t->naming, o->process, o->address, o->pc),
		.site = naming_site(&t->naming, o->process, o->pc), .seq = time_of(t, thread, o->event.seq),
		.pc = naming_address(o->process, o->pc),
	};

	hand_on(t, &e);
}

void translate_init(struct translate *t, struct arena *a, struct namer *namer, const struct policy *policy, void *to,
	void (*event)(void *to, struct event *e))
{
	*t = (struct translate){.arena = a, .to = to, .event = event, .stream = STREAM_FULL,
		.locks = {t, hand_on_atomic, hand_on_lock}};
	t->own = (struct event_room){&t->scratch, &t->scratch + 1, t, own_full};
	t->room = &t->own;
	naming_init(&t->naming, a, namer);
	seg_init(&t->tracks, a, sizeof(struct track));
	inlined_init(&t->inlined, a);
	roles_init(&t->roles, a, policy);
	map_init(&t->declared, a);
	spinlocks_init(&t->spinlocks, a, t->locks);
	map_init(&t->once, a);
}

/* An access waits for its value until the thread's next entry, which may be it. */
static void flush(struct translate *t, struct track *k)
{
	if (!k->pending)
		return;
	k->pending = false;
	hand_on(t, &k->access);
}

/* Where an event stands among the thread's own. A function is entered before what has its time, and in what was begun. */
static inline uint64_t place_in_time(const struct track *k, uint8_t kind, uint64_t time)
{
	uint64_t at = position(time) - (kind == EVENT_ENTER);

	return kind == EVENT_ENTER && at < k->begun ? k->begun : at;
}

/*
 * The next event of the thread, all of it that is not 0 but for its kind and what that is about; to be handed on.
 * Field by field: what is cleared in large pieces and then written in small ones has to wait when it is read.
 */
static inline __attribute__((always_inline)) struct event *make_event(const struct translate *t, const struct track *k,
	uint8_t kind)
{
	struct event *e = t->room->next;

	e->kind = kind;
	e->order = e->flags = e->assumed = 0;
	e->thread = k->thread;
	e->object = e->value = 0;
	e->size = e->site = e->stack = e->line = 0;
	e->seq = place_in_time(k, kind, k->time);
	e->was = 0;
	e->pc = t->pc;
	return e;
}

static void put(struct translate *t, struct track *k, struct event e)
{
	e.thread = k->thread;
	e.seq = place_in_time(k, e.kind, k->time);
	k->begun = e.kind == EVENT_BEGIN ? e.seq : k->begun;
	e.pc = t->pc;
	hand_on(t, &e);
}

/* Time. */

static const uint64_t TIME_MOST = ((uint64_t)1 << TIME_BITS) - 2;

/* It never goes back, whatever the entry says. */
static inline void advance(struct track *k, uint64_t time)
{
	if (time > k->time && time <= TIME_MOST)
		k->time = time;
}

static inline void stamp(struct track *k, const struct entry *e)
{
	k->stamped = e->second >= k->time && e->second <= TIME_MOST;
	advance(k, e->second);
}

/* Of what has a ticket; of what has none. */
static inline void tell_major(struct track *k, uint64_t ticket)
{
	k->ticket = ticket > k->ticket ? ticket : k->ticket;
	advance(k, ticket << TICK_BITS);
}

static inline void tell_minor(struct track *k, uint64_t ticks)
{
	advance(k, k->ticket << TICK_BITS | (ticks & ((1 << TICK_BITS) - 1)));
}

static void tell_time(struct track *k, const struct entry *e)
{
	if (entry_is_sync(e->kind)) {
		tell_major(k, e->ticket);
	} else if (e->kind <= ENTRY_WRITE_RANGE || e->kind == ENTRY_UNLOCK) {
		tell_minor(k, e->extra);
	} else if (e->kind == ENTRY_TIME) {
		stamp(k, e);
	}
}

/* What opens has a time of its own; but for a function that does not synchronise, which is not told apart by it. */
static void need_time(const struct translate *t, struct track *k)
{
	if (t->timed && !k->stamped)
		k->time++;
	k->stamped = false;
}

static void function_find(struct translate *t, const struct track *k, uint64_t pc, struct code_memo *m)
{
	code_id code = naming_code(&t->naming, k->process, pc);

	*m = (struct code_memo){pc, k->process, code,
		roles_of(&t->roles, k->process, pc, tables_name(t->naming.tables, TABLE_CODE, code))};
}

static inline const struct code_memo *function_of(struct translate *t, const struct track *k, uint64_t pc)
{
	struct code_memo *m = &t->function[pc % PLACES];

	if (__builtin_expect(m->pc != pc || m->process != k->process, 0))
		function_find(t, k, pc, m);
	return m;
}

static __attribute__((noinline)) void place_find(struct translate *t, const struct track *k, uint64_t pc,
	struct place_memo *p)
{
	*p = (struct place_memo){pc, k->process, naming_site(&t->naming, k->process, pc), NOT_ASKED};
}

static inline struct place_memo *place_at(struct translate *t, const struct track *k, uint64_t pc)
{
	struct place_memo *p = &t->place[pc % PLACES];

	if (__builtin_expect(p->pc != pc || p->process != k->process, 0))
		place_find(t, k, pc, p);
	return p;
}

static inline site_id place_of(struct translate *t, const struct track *k, uint64_t pc)
{
	return place_at(t, k, pc)->site;
}

/* Memory. */

static inline uint64_t place_in(const struct track *k, uint64_t address)
{
	return address | k->above;
}

/* Whether the program does not want it to be seen, or it is inside of a lock. */
static bool is_ignored(const struct track *k, unsigned what)
{
	for (unsigned i = 0; i < sizeof k->ignored / sizeof *k->ignored; i++)
		if (what >> i & 1 && k->ignored[i])
			return true;
	return false;
}

static bool is_unseen(const struct track *k, uint8_t kind)
{
	return k->calls.inside || is_ignored(k, kind == EVENT_READ ? IGNORE_READS : IGNORE_WRITES);
}

static void ignore(struct track *k, const struct entry *e)
{
	for (unsigned i = 0; i < sizeof k->ignored / sizeof *k->ignored; i++)
		if (e->small >> i & 1) {
			if (e->small & IGNORE_BEGIN)
				k->ignored[i]++;
			else if (k->ignored[i])
				k->ignored[i]--;
		}
}

/* The function that it is in, if that is not the innermost that was told: 0 otherwise. See runtime/frames.h. */
static inline uint64_t calm_function(struct translate *t, const struct track *k, struct place_memo *at)
{
	if (__builtin_expect(at->code == NOT_ASKED, 0))
		at->code = t->timed ? function_of(t, k, at->pc)->code : 0;
	return k->count && k->open[k->count - 1].code == at->code ? 0 : at->code;
}

/* Of an access: its bytes, 0 if that makes no sense; how it is told. Only the filter knows what is known. */

static inline uint8_t access_size(const struct translate *t, const struct entry *e)
{
	return t->timed ? e->small & (uint8_t)~(ACCESS_KNOWN | ACCESS_BROUGHT) : e->small;
}

static inline uint8_t access_flags(const struct translate *t, const struct entry *e)
{
	return EVENT_SIZED | EVENT_ADDRESSED | (t->timed && e->small & ACCESS_KNOWN ? EVENT_KNOWN : 0);
}

static inline __attribute__((always_inline)) void plain_access(struct translate *t, const struct track *k,
	const struct entry *e, uint8_t kind)
{
	struct place_memo *at = place_at(t, k, e->pc);
	struct event *to = make_event(t, k, kind);

	to->flags = access_flags(t, e);
	to->size = access_size(t, e);
	to->object = place_in(k, e->address);
	to->site = at->site;
	to->value = calm_function(t, k, at);
	hand_on_made(t);
}

static void access(struct translate *t, struct track *k, const struct entry *e, uint8_t kind)
{
	if (!access_size(t, e)) {
		t->unknown++;
		return;
	}
	if (is_unseen(k, kind))
		return;
	if (!t->values) {
		plain_access(t, k, e, kind);
		return;
	}
	k->access = (struct event){
		.kind = kind, .flags = EVENT_SIZED | EVENT_ADDRESSED, .thread = k->thread, .size = e->small,
		.object = place_in(k, e->address), .site = place_of(t, k, e->pc), .seq = position(k->time), .pc = t->pc,
		.value = calm_function(t, k, place_at(t, k, e->pc)),
	};
	k->pending = true;
}

static void range(struct translate *t, struct track *k, const struct entry *e, uint8_t kind)
{
	if (is_unseen(k, kind))
		return;
	if (e->argument > RANGE_MOST) {
		t->unknown++;
		return;
	}
	for (uint64_t done = 0; done < e->argument;) {
		uint64_t left = e->argument - done, n = left < EVENT_SIZE_MOST ? left : EVENT_SIZE_MOST;

		put(t, k, (struct event){
			.kind = kind, .flags = access_flags(t, e), .size = (uint32_t)n,
			.object = place_in(k, e->address + done), .site = place_of(t, k, e->pc),
			.value = calm_function(t, k, place_at(t, k, e->pc)),
		});
		done += n;
	}
}

static uint64_t bytes_of(uint64_t value, unsigned size)
{
	return size == 8 ? value : value & (((uint64_t)1 << size * 8) - 1);
}

static void set_value(struct event *e, uint64_t value, unsigned size)
{
	if (size == 0 || size > 8)
		return;
	e->value = bytes_of(value, size);
	e->flags |= EVENT_VALUED | (e->value > INT64_MAX ? EVENT_UNSIGNED : 0);
}

/* A signal handler's entries may stand between an access and its value: then that has none. */
static void value(struct track *k, const struct entry *e)
{
	if (k->pending && k->access.object == place_in(k, e->address))
		set_value(&k->access, e->second, e->small);
}

static void was(struct track *k, const struct entry *e)
{
	if (!k->pending || k->access.object != place_in(k, e->address) || e->small == 0 || e->small > 8)
		return;
	k->access.was = bytes_of(e->second, e->small);
	k->access.flags |= EVENT_WAS;
}

static uint8_t order_of(const struct entry *e)
{
	return e->small > ORDER_NONE && e->small < ORDERS ? e->small : (uint8_t)ORDER_SEQ_CST;
}

static void atomic(struct translate *t, struct track *k, const struct entry *e, uint8_t kind)
{
	struct spin_operation o = {
		.event = {
			.kind = kind, .flags = EVENT_SIZED | EVENT_ADDRESSED, .thread = k->thread, .size = e->extra & ATOMIC_SIZE,
			.order = order_of(e), .object = place_in(k, e->address),
			.site = place_of(t, k, e->pc), .seq = position(k->time), .pc = t->pc,
		},
		.flags = e->extra, .process = k->process, .address = e->address, .pc = e->pc,
	};

	if (!o.event.size) {
		t->unknown++;
		return;
	}
	if (t->values)
		set_value(&o.event, e->argument, o.event.size);
	if (k->calls.inside)
		lock_calls_atomic(&k->calls, &o, &t->locks);
	else
		spinlocks_take(&t->spinlocks, &k->attempt, &o);
}

static void guarded(struct translate *t, struct track *k, const struct entry *e)
{
	if (e->small == ASSUME_GUARDED)
		put(t, k, (struct event){
			.kind = EVENT_ASSUME_GUARDED, .flags = EVENT_ADDRESSED, .object = place_in(k, e->address),
			.count = e->second,
		});
	else
		t->unknown++;
}

static void fence(struct translate *t, struct track *k, const struct entry *e)
{
	put(t, k, (struct event){
		.kind = EVENT_ATOMIC_FENCE, .order = order_of(e),
		.site = place_of(t, k, e->pc),
	});
}

static void memory(struct translate *t, struct track *k, const struct entry *e, uint8_t kind)
{
	struct event event = {
		.kind = kind, .flags = EVENT_ADDRESSED, .object = place_in(k, e->address),
		.count = kind == EVENT_ALLOC ? e->argument : 0, .site = place_of(t, k, e->pc),
	};

	if (kind == EVENT_ALLOC)
		naming_memory(&t->naming, &event, function_of(t, k, e->pc)->code);
	put(t, k, event);
}

/* The past. */

/* Who had the ring at that time; 0 if nobody did. */
static thread_id tenant_at(const struct track *k, uint64_t time)
{
	size_t low = 0, high = k->tenants;

	if (__builtin_expect(high && k->tenant[high - 1].since <= time, 1))
		return k->tenant[high - 1].thread;
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

/*
 * The address in the process's code with that lower half; 0 if there is none or more than one. A module that was
 * loaded twice to the same place is there twice.
 */
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
		if (found && found != at)
			return 0;
		found = at;
	}
	return found;
}

/* What is at the place with that lower half. */
static struct half_memo half_of(struct translate *t, const struct track *k, uint32_t half)
{
	struct half_memo *m = &t->half[half % HALVES];
	uint64_t pc;

	if (__builtin_expect(m->half == half && m->process == k->process, 1))
		return *m;
	pc = code_at(t, k->process, half);
	*m = (struct half_memo){half, k->process, pc ? place_of(t, k, pc) : 0, pc ? function_of(t, k, pc)->code : 0};
	return *m;
}

/* Who it was by, when and where. */
struct past_access {
	thread_id who;
	uint64_t time;
	struct half_memo place;
};

/* As make_event, of another thread; to be handed on as an access of the past. */
static inline struct event *make_past(const struct translate *t, const struct past_access *p, uint8_t kind)
{
	struct event *e = t->room->next;

	e->kind = kind;
	e->order = e->assumed = 0;
	e->flags = EVENT_SIZED | EVENT_ADDRESSED | EVENT_PAST;
	e->thread = p->who;
	e->value = p->place.code;
	e->site = p->place.site;
	e->stack = e->line = 0;
	e->seq = position(p->time);
	e->was = e->pc = 0;
	return e;
}

/* Bytes of granules, from the first of each run of them. */
static inline void past_run(struct translate *t, const struct track *k, const struct past_access *p,
	const struct entry *of)
{
	unsigned bytes = of->second >> 4 & 15, first, n = 0;
	uint32_t granules = (uint32_t)(of->argument >> 32);
	struct event *to;

	for (first = 0; bytes >> first; first += n + 1) {
		n = (unsigned)__builtin_ctz(~(bytes >> first));
		if (!n)
			continue;
		to = make_past(t, p, of->small & 1 ? EVENT_WRITE : EVENT_READ);
		to->object = place_in(k, of->address + first);
		to->size = granules > 1 ? granules * 4 : n;
		t->pasts++;
		made(t);
	}
}

static void past(struct translate *t, const struct track *k, const struct entry *e)
{
	uint32_t ring = (uint32_t)(e->second >> (8 + TIME_BITS));
	struct past_access p = {.time = e->second >> 8 & (((uint64_t)1 << TIME_BITS) - 1)};

	p.who = ring < RINGS_MOST ? tenant_at(track_at(t, ring), p.time) : 0;
	if (!p.who)
		return; /* a thread whose start is still to come: they race, and which was first nobody knows */
	if (!t->late || p.time > TIME_MOST || e->argument >> 32 > EVENT_SIZE_MOST / 4) {
		t->unknown++;
		return;
	}
	p.place = half_of(t, k, (uint32_t)e->argument);
	past_run(t, k, &p, e);
}

/* Trails. */

/* Whether functions may be declared to be something. */
static bool has_roles(const struct translate *t)
{
	return t->roles.count || t->roles.locks;
}

static inline bool has_trail(const struct translate *t, struct track *k)
{
	if (__builtin_expect(k->calls_by == BY_NOBODY_YET, 0))
		k->calls_by = t->trail && !has_roles(t) ? BY_TRAIL : BY_TRANSLATION;
	return k->calls_by == BY_TRAIL;
}

static void hand_on_note(struct translate *t, const struct track *k, const struct trail_note *n)
{
	unsigned char bytes[TRAIL_NOTE];

	trail_note_put(bytes, n);
	t->trail(t->to, k->thread, bytes, sizeof bytes);
}

static void define(struct translate *t, struct track *k, const struct entry *e)
{
	struct trail_note n = {.sort = TRAIL_DEFINE, .kind = e->small & 7, .place = e->extra, .pc = place_in(k, e->address)};
	bool access = n.kind == TRAIL_READ || n.kind == TRAIL_WRITE;

	if (!has_trail(t, k) || !n.kind || n.kind >= TRAIL_KINDS || !n.place || n.place >= TRAIL_PLACES || e->small >> 3 > 4) {
		t->unknown++;
		return;
	}
	n.size = access ? (uint8_t)(1 << (e->small >> 3)) : 0;
	n.leave = place_of(t, k, e->address);
	n.site = n.kind == TRAIL_ENTRY ? place_of(t, k, e->pc) : n.leave;
	n.code = n.kind == TRAIL_ENTRY ? function_of(t, k, e->address)->code : 0;
	n.key = n.kind == TRAIL_LEAVE ? e->pc : 0;
	hand_on_note(t, k, &n);
}

static void take_trail(void *self, uint32_t ring, const unsigned char *bytes, size_t n)
{
	struct translate *t = self;
	struct track *k = track_at(t, ring);

	if (!has_trail(t, k)) {
		t->unknown++;
		return;
	}
	t->speaks = k;
	spinlocks_go_on(&t->spinlocks, &k->attempt);
	t->trail(t->to, k->thread, bytes, n);
}

static void take_trail_count(void *self, uint32_t ring, uint32_t n)
{
	struct translate *t = self;
	struct track *k = track_at(t, ring);

	if (has_trail(t, k) && n <= TRAIL_COUNT_MOST)
		hand_on_note(t, k, &(struct trail_note){.sort = TRAIL_COUNT, .depth = n});
	else
		t->unknown++;
}

/* Calls. */

/* A block of a function's own ends with it, and so do those that it has left open. */
static void end_blocks(struct translate *t, struct track *k, uint32_t down_to, uint64_t pc)
{
	for (; k->blocks > down_to; k->blocks--)
		put(t, k, (struct event){.kind = EVENT_END, .site = naming_site(&t->naming, k->process, pc)});
}

static void leave_role(struct translate *t, struct track *k, const struct open_function *f, uint64_t pc)
{
	if (f->role == ROLE_ATOMIC)
		end_blocks(t, k, f->blocks, pc);
	else if (f->role >= ROLE_LOCK && lock_calls_leave(&k->calls, t->arena, &t->locks))
		t->lockless++;
}

static inline void leave(struct translate *t, struct track *k, uint64_t pc)
{
	struct event *e;

	if (__builtin_expect(k->open[k->count - 1].role, 0))
		leave_role(t, k, &k->open[k->count - 1], pc);
	e = make_event(t, k, EVENT_EXIT);
	e->object = k->open[--k->count].code;
	e->site = place_of(t, k, pc);
	hand_on_made(t);
}

static uint32_t depth_of(const struct entry *e)
{
	return (uint32_t)e->extra << 8 | e->small;
}

/* Whether the innermost function is as deep as this or deeper. */
static inline bool is_as_deep(const struct track *k, uint32_t depth)
{
	return depth != DEPTH_UNKNOWN && k->count && k->open[k->count - 1].depth != DEPTH_UNKNOWN &&
	       k->open[k->count - 1].depth >= depth;
}

/* Functions whose frames are as deep as this or deeper were left. */
static __attribute__((noinline)) void unwind(struct translate *t, struct track *k, uint32_t depth, uint64_t pc)
{
	while (is_as_deep(k, depth))
		leave(t, k, pc);
}

/* Inlined functions. */

/* The innermost function that has a frame, by its number from 1; 0: there is none. */
static size_t framed(const struct track *k)
{
	size_t i = k->count;

	while (i && k->open[i - 1].inlined)
		i--;
	return i;
}

static void enter_inlined(struct translate *t, struct track *k, const struct inlined_call *call, size_t in)
{
	const struct open_function of = k->open[in - 1];

	need_time(t, k);
	k->open = arena_reserve(t->arena, k->open, &k->capacity, k->count, sizeof *k->open);
	k->open[k->count++] = (struct open_function){.code = call->code, .depth = of.depth, .blocks = k->blocks,
		.from = of.from, .inlined = call->instance};
	put(t, k, (struct event){.kind = EVENT_ENTER, .object = call->code, .site = call->from});
}

/* The thread's innermost function with a frame is at pc: what is inlined there is open, and nothing else in it. */
static void refine(struct translate *t, struct track *k, uint64_t pc)
{
	size_t in = framed(k), same = 0;
	struct inlined_chain chain;

	if (!in || function_of(t, k, pc)->code != k->open[in - 1].code)
		return;
	chain = inlined_at(&t->inlined, &t->naming, k->process, pc);
	if (pc >= k->open[in - 1].last)
		while (same < chain.count && in + same < k->count && k->open[in + same].inlined == chain.at[same].instance)
			same++;
	while (k->count > in + same)
		leave(t, k, pc);
	k->open[in - 1].last = pc;
	for (size_t i = same; i < chain.count; i++)
		enter_inlined(t, k, &chain.at[i], in);
}

/* What is assumed about a function is said before it is entered for the first time. */
static void declare(struct translate *t, struct track *k, code_id code, uint8_t role)
{
	uint32_t *said = map_put(&t->declared, code);

	if (*said || (role != ROLE_ASSUME_ATOMIC && role != ROLE_ASSUME_MOVER))
		return;
	*said = 1;
	put(t, k, (struct event){
		.kind = role == ROLE_ASSUME_ATOMIC ? EVENT_ASSUME_ATOMIC : EVENT_ASSUME_MOVER, .object = code,
	});
}

/* A block without a label goes by its function. */
static void enter_role(struct translate *t, struct track *k, struct role_of of, const struct entry *e)
{
	if (of.role == ROLE_ATOMIC) {
		k->blocks++;
		put(t, k, (struct event){.kind = EVENT_BEGIN, .site = naming_site(&t->naming, k->process, e->pc)});
	} else if (of.role >= ROLE_LOCK) {
		lock_calls_enter(&k->calls, of, &t->locks);
	}
}

/* The same by a note. */
static void enter_by_note(struct translate *t, const struct track *k, const struct entry *e, code_id code)
{
	hand_on_note(t, k, &(struct trail_note){.sort = TRAIL_ENTER, .depth = depth_of(e), .pc = t->pc, .code = code,
		.site = place_of(t, k, e->address), .leave = place_of(t, k, e->pc)});
}

static void enter(struct translate *t, struct track *k, const struct entry *e)
{
	const struct code_memo *m = function_of(t, k, e->pc);
	struct role_of of = m->of;
	code_id code = m->code;
	struct event *event;

	if (has_trail(t, k)) {
		if (of.role)
			declare(t, k, code, of.role);
		enter_by_note(t, k, e, code);
		return;
	}
	if (__builtin_expect(is_as_deep(k, depth_of(e)), 0))
		unwind(t, k, depth_of(e), e->pc);
	if (t->stock && e->address)
		refine(t, k, e->address);
	need_time(t, k);
	if (of.role)
		declare(t, k, code, of.role);
	k->open = arena_reserve(t->arena, k->open, &k->capacity, k->count, sizeof *k->open);
	k->open[k->count++] = (struct open_function){.code = code, .depth = depth_of(e), .blocks = k->blocks,
		.role = of.role, .from = e->address};
	event = make_event(t, k, EVENT_ENTER);
	event->object = code;
	event->site = place_of(t, k, e->address);
	hand_on_made(t);
	if (of.role)
		enter_role(t, k, of, e);
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

/*
 * Whether an exit leaves the innermost function and no other, told as deep as `depth`, or as `gone` if the frame is. What is
 * below has a frame less deep.
 */
static inline bool leaves_innermost(const struct track *k, uint32_t depth, uint32_t gone)
{
	const struct open_function *f = k->count ? &k->open[k->count - 1] : NULL;

	return f && !f->inlined && f->depth != DEPTH_UNKNOWN &&
	       (f->depth == gone || (f->depth < gone && f->depth == depth));
}

/* The exit of a function that was entered before the thread was known has nothing to leave. */
static void leave_one(struct translate *t, struct track *k, const struct entry *e)
{
	uint32_t depth = depth_of(e), gone = depth_in(k, e->address);

	if (has_trail(t, k)) {
		hand_on_note(t, k, &(struct trail_note){.sort = TRAIL_EXIT, .depth = depth, .gone = gone, .pc = t->pc,
			.site = place_of(t, k, e->pc)});
		return;
	}
	if (__builtin_expect(leaves_innermost(k, depth, gone), 1)) {
		leave(t, k, e->pc);
		return;
	}
	if (is_open_at(k, gone)) {
		unwind(t, k, gone, e->pc);
		return;
	}
	if (depth != DEPTH_UNKNOWN)
		unwind(t, k, depth + 1, e->pc);
	while (k->count && k->open[k->count - 1].inlined)
		leave(t, k, e->pc);
	if (k->count && (depth == DEPTH_UNKNOWN || k->open[k->count - 1].depth >= depth))
		leave(t, k, e->pc);
}

/* Functions that are brought along. */

#define BROUGHT_TICKS ((((uint64_t)1 << TICK_BITS) - 1) << ADDRESS_BITS) /* of the argument */

/* Who takes the full stream is told of all functions apart. */
static bool brings(const struct translate *t, const struct track *k, const struct entry *e)
{
	return e->kind == ENTRY_ACQUIRE && e->argument && !k->waiting && !k->brought && t->stream == STREAM_FILTERED;
}

/* Where its own entry would have been told. */
static inline uint64_t pc_brought(const struct entry *e)
{
	uint64_t behind = e->argument >> (ADDRESS_BITS + TICK_BITS) << 8 | e->behind;

	return e->pc > behind ? e->pc - behind : e->pc;
}

/* It is entered as any other. If something is declared about it, there is more to that. */
static __attribute__((noinline)) void enter_declared(struct translate *t, struct track *k, const struct entry *e)
{
	struct entry of = {.kind = ENTRY_ENTER, .small = e->small, .extra = e->extra, .pc = pc_brought(e),
		.address = k->brought_by.from};

	k->stamped = true;
	t->pc = place_in(k, of.pc);
	enter(t, k, &of);
	t->pc = place_in(k, e->pc);
}

static inline void enter_brought(struct translate *t, struct track *k, const struct entry *e, const struct brought_memo *m)
{
	struct event *event;

	k->inner = 0;
	if (__builtin_expect(m->role, 0)) {
		enter_declared(t, k, e);
		return;
	}
	if (__builtin_expect(k->count == k->capacity, 0))
		k->open = arena_reserve(t->arena, k->open, &k->capacity, k->count, sizeof *k->open);
	k->open[k->count] = k->brought_by;
	k->open[k->count++].blocks = k->blocks;
	t->pc = place_in(k, pc_brought(e));
	event = make_event(t, k, EVENT_ENTER);
	event->object = m->code;
	event->site = (site_id)(m->inner >> 32);
	hand_on_made(t);
	t->pc = place_in(k, e->pc);
}

/* Which function it is, and where it was called. */
static __attribute__((noinline)) void brought_find(struct translate *t, const struct track *k, const struct entry *e,
	struct brought_memo *m)
{
	const struct code_memo *of = function_of(t, k, pc_brought(e));
	site_id site = place_of(t, k, e->argument & (((uint64_t)1 << ADDRESS_BITS) - 1));

	*m = (struct brought_memo){e->pc, e->argument & ~BROUGHT_TICKS, k->process, e->behind, of->of.role, of->code,
		(uint64_t)site << 32 | of->code};
}

static inline const struct brought_memo *brought_of(struct translate *t, const struct track *k, const struct entry *e)
{
	uint64_t said = e->argument & ~BROUGHT_TICKS;
	struct brought_memo *m = &t->brought[(e->pc ^ said >> 2 ^ said >> 12) % BROUGHT];

	if (__builtin_expect(m->pc != e->pc || m->said != said || m->process != k->process || m->behind != e->behind, 0))
		brought_find(t, k, e, m);
	return m;
}

/* Nobody needs to hear of it by itself, unless something is declared about it. */
static inline __attribute__((always_inline)) void bring(struct translate *t, struct track *k, const struct entry *e)
{
	const struct brought_memo *m = brought_of(t, k, e);

	if (__builtin_expect(is_as_deep(k, depth_of(e)), 0))
		unwind(t, k, depth_of(e), e->pc);
	tell_minor(k, e->argument >> ADDRESS_BITS);
	k->brought = true;
	k->entered = !t->lazy || m->role;
	k->brought_by.code = m->code;
	k->brought_by.depth = depth_of(e);
	k->brought_by.from = e->argument & (((uint64_t)1 << ADDRESS_BITS) - 1);
	k->brought_at = k->time;
	k->brought_late = 0;
	k->inner = m->inner;
	if (k->entered)
		enter_brought(t, k, e, m);
}

/* Whether the entry is that function's own, told after all. */
static bool is_brought(struct translate *t, const struct track *k, const struct entry *e)
{
	return e->kind == ENTRY_ENTER && k->brought_late == k->brought_at && k->brought_by.depth == depth_of(e) &&
	       k->brought_by.code == function_of(t, k, e->pc)->code;
}

/* It is entered where it was, before its first acquire. */
static void enter_late(struct translate *t, struct track *k, const struct entry *e)
{
	struct event *event;

	t->pc = place_in(k, e->pc);
	k->open = arena_reserve(t->arena, k->open, &k->capacity, k->count, sizeof *k->open);
	k->open[k->count] = k->brought_by;
	k->open[k->count++].blocks = k->blocks;
	event = make_event(t, k, EVENT_ENTER);
	event->object = k->brought_by.code;
	event->site = place_of(t, k, k->brought_by.from);
	event->seq = place_in_time(k, EVENT_ENTER, k->brought_at);
	hand_on_made(t);
}

/* Whether it says nothing of whether the function has been left: it is inside, or is told without a look at functions. */
static bool leaves_open(const struct track *k, const struct entry *e)
{
	switch (e->kind) {
	case ENTRY_UNLOCK: case ENTRY_RELEASE: case ENTRY_NOTIFY: case ENTRY_NOTIFY_ALL:
	case ENTRY_ALLOC: case ENTRY_FREE: case ENTRY_TICK:
		return e->small;
	case ENTRY_UNWIND:
		return depth_of(e) > k->brought_by.depth;
	case ENTRY_NOTHING: case ENTRY_IGNORE: case ENTRY_ASSUME: case ENTRY_SIZE: case ENTRY_PAST:
		return true;
	default:
		return e->kind <= ENTRY_WRITE_RANGE && e->small & ACCESS_BROUGHT;
	}
}

/* It has been left. */
static inline void leave_brought(struct translate *t, struct track *k)
{
	k->brought = false;
	k->inner = 0;
	if (k->entered)
		leave(t, k, 0);
}

/* The thread's next entry behind one that has brought a function along. Returns whether it is done with that. */
static __attribute__((noinline)) bool after_brought(struct translate *t, struct track *k, const struct entry *e)
{
	if (leaves_open(k, e))
		return false;
	if (e->kind == ENTRY_TIME && !k->brought_late) {
		k->brought_late = e->second;
		return true;
	}
	if (is_brought(t, k, e)) {
		k->brought = false;
		k->inner = 0;
		if (!k->entered)
			enter_late(t, k, e);
		return true;
	}
	leave_brought(t, k);
	if (k->brought_late)
		stamp(k, &(struct entry){.kind = ENTRY_TIME, .second = k->brought_late});
	return false;
}

/* The same for what nearly always comes: something in it, or the acquire of the next. */
static inline bool is_done_with_brought(struct translate *t, struct track *k, const struct entry *e)
{
	if ((e->kind == ENTRY_UNLOCK && e->small) || e->kind == ENTRY_PAST)
		return false;
	if (e->kind != ENTRY_ACQUIRE || k->brought_late)
		return after_brought(t, k, e);
	leave_brought(t, k);
	return false;
}

/* Blocks and names. */

static void block(struct translate *t, struct track *k, const struct entry *e, uint8_t kind)
{
	if (kind == EVENT_BEGIN)
		k->blocks++;
	else if (k->blocks)
		k->blocks--;
	need_time(t, k);
	put(t, k, (struct event){
		.kind = kind, .site = place_of(t, k, e->pc),
		.object = e->extra ? intern_add(&t->naming.tables->names[TABLE_CODE], e->text, e->extra) : 0,
	});
}

/* Memory that is no lock goes by its address in a trace, which has no place for other names. */
static void name(struct translate *t, struct track *k, const struct entry *e)
{
	if (e->extra)
		naming_call_sync(&t->naming, k->process, e->address, (struct text){e->text, e->extra});
}

struct speaker {
	struct translate *translate;
	struct track *track;
};

static void silent(void *self, struct text place)
{
	struct speaker *s = self;
	struct tables *tables = s->translate->naming.tables;

	put(s->translate, s->track, (struct event){
		.kind = EVENT_NO_WARN, .object = intern_add(&tables->names[TABLE_SITE], place.at, place.length),
	});
}

/* Threads may define places in it, unless something speaks against trails. */
static void module_known(struct translate *t)
{
	if (!t->trail)
		return;
	if (has_roles(t))
		__atomic_store_n(&t->channel->trails, 0, __ATOMIC_RELEASE);
	else
		__atomic_add_fetch(&t->channel->modules_plain, 1, __ATOMIC_RELEASE);
}

static void module(struct translate *t, struct track *k, const struct entry *e)
{
	struct speaker s = {t, k};

	if (strchr(e->text, '/'))
		roles_module(&t->roles, k->process, e->text, e->address, &s, silent);
	naming_module(&t->naming, k->process, (struct module){
		.path = {e->text, e->extra}, .base = e->address, .size = k->range,
	});
	t->code = arena_reserve(t->arena, t->code, &t->code_capacity, t->code_count, sizeof *t->code);
	t->code[t->code_count++] = (struct code_range){k->process, e->address, k->range};
	memset(t->place, 0, sizeof t->place); /* what was asked for before it was known may have a name now */
	memset(t->function, 0, sizeof t->function);
	memset(t->half, 0, sizeof t->half);
	memset(t->brought, 0, sizeof t->brought);
	memset(t->row_place, 0, sizeof t->row_place);
	module_known(t);
}

/* Synchronisation. */

static void sync(struct translate *t, struct track *k, const struct entry *e, uint8_t kind)
{
	put(t, k, (struct event){
		.kind = kind, .object = naming_sync(&t->naming, k->process, e->address, e->pc),
		.site = place_of(t, k, e->pc), .value = k->inner,
	});
}

/* Whether the thread did not know yet that the routine has run; it does from now on. */
static bool learns(struct translate *t, const struct track *k, sync_id once)
{
	uint32_t *known = map_put(&t->once, (uint64_t)k->thread << 32 | once);

	return !(*known)++;
}

/* Each run of a routine is an object of its own. A thread that has heard of it synchronises with nothing any more. */
static void once(struct translate *t, struct track *k, const struct entry *e, uint8_t kind)
{
	if (kind == EVENT_SEM_POST)
		naming_forget_sync(&t->naming, k->process, e->address);
	if (learns(t, k, naming_sync(&t->naming, k->process, e->address, e->pc)))
		sync(t, k, e, kind);
}

static void semaphore(struct translate *t, struct track *k, const struct entry *e, uint8_t kind)
{
	if (e->small == OBJECT_ONCE)
		once(t, k, e, kind);
	else
		sync(t, k, e, kind);
}

/*
 * A forked child holds what its parent held, and its first word of such a lock is a release: pthread_atfork handlers
 * do that. The lock is another one than the parent's, and nobody else ever saw it held.
 */
static bool is_inherited(struct translate *t, const struct track *k, const struct entry *e)
{
	return k->process > 1 && !naming_has_sync(&t->naming, k->process, e->address);
}

static void make(struct translate *t, struct track *k, const struct entry *e)
{
	naming_forget_sync(&t->naming, k->process, e->address);
	if (t->stock && k->count)
		t->naming.caller = naming_site(&t->naming, k->process, k->open[k->count - 1].from);
	naming_sync(&t->naming, k->process, e->address, e->pc);
	t->naming.caller = 0;
}

static void wait(struct translate *t, struct track *k, const struct entry *e)
{
	k->waiting = true;
	put(t, k, (struct event){
		.kind = EVENT_WAIT, .object = naming_sync(&t->naming, k->process, e->address, e->pc),
		.mutex = naming_sync(&t->naming, k->process, e->argument & (((uint64_t)1 << ADDRESS_BITS) - 1), e->pc),
		.site = place_of(t, k, e->pc),
	});
}

static void arrive(struct translate *t, struct track *k, const struct entry *e)
{
	if (!e->argument) {
		t->unknown++;
		return;
	}
	k->waiting = true;
	put(t, k, (struct event){
		.kind = EVENT_BARRIER, .object = naming_sync(&t->naming, k->process, e->address, e->pc),
		.count = e->argument, .site = place_of(t, k, e->pc),
	});
}

static void thread(struct translate *t, struct track *k, const struct entry *e, uint8_t kind)
{
	uint32_t process = kind == EVENT_FORK && e->argument ? (uint32_t)e->argument : k->process;

	put(t, k, (struct event){
		.kind = kind, .object = naming_thread(&t->naming, process, (uint32_t)e->address),
		.site = place_of(t, k, e->pc),
	});
}

static void begin(void *self, uint32_t ring, const struct self *s)
{
	struct translate *t = self;
	struct track *k = track_at(t, ring);

	t->rings = ring < t->rings ? t->rings : ring + 1;
	k->process = s->process;
	k->above = naming_address(s->process, 0);
	k->thread = naming_thread(&t->naming, s->process, s->thread);
	k->count = 0;
	k->pending = false;
	k->stamped = false;
	k->brought = false;
	k->inner = 0;
	k->blocks = 0;
	memset(k->ignored, 0, sizeof k->ignored);
	k->calls.inside = 0;
	k->calls.count = 0;
	k->waiting = false;
	k->plain = false;
	k->calls_by = BY_NOBODY_YET;
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

	t->speaks = k;
	k->brought = false;
	k->inner = 0;
	flush(t, k);
	spinlocks_go_on(&t->spinlocks, &k->attempt);
	if (k->calls_by == BY_TRAIL && !k->waiting)
		hand_on_note(t, k, &(struct trail_note){.sort = TRAIL_FINISH, .site = place_of(t, k, 0)});
	k->calls_by = BY_TRANSLATION;
	/* Who is killed inside a wait never left it: an event behind the wait would say that it has the mutex again. */
	while (k->count && !k->waiting)
		leave(t, k, 0);
}

static bool is_call(uint8_t kind)
{
	return kind == ENTRY_ENTER || kind == ENTRY_EXIT || kind == ENTRY_UNWIND;
}

enum { STACK_MOST = 1 << 23 }; /* what is further from its end is taken for no part of a stack */

/*
 * What may come between two tries of a lock: calls, further tries, and what a compare-and-exchange is told to expect,
 * which is on the stack and is set anew each time.
 */
static bool is_of_attempt(const struct track *k, const struct entry *e)
{
	if (is_call(e->kind) || (e->kind >= ENTRY_ATOMIC_LOAD && e->kind <= ENTRY_ATOMIC_RMW))
		return true;
	return (e->kind == ENTRY_READ || e->kind == ENTRY_WRITE) && k->attempt.operation.flags & ATOMIC_COMPARES &&
	       k->stack - e->address <= STACK_MOST;
}

/* Of synchronisation only what threads and memory are made of cannot be left out. */
static bool is_unwanted(const struct track *k, uint8_t kind)
{
	return k->ignored[2] && ((kind >= ENTRY_ACQUIRE && kind <= ENTRY_ATOMIC_FENCE) || kind == ENTRY_UNLOCK);
}

/*
 * Of a thread that waits: whether the entry comes from inside the wait. A signal handler has the mutex of the wait no
 * more than its thread has. A trace cannot say so, since a thread that goes on is out of its wait; better no event than
 * one that takes a mutex that someone else holds. Counted are the functions. What has none is to be expected: when a
 * waiting thread is cancelled, libc and libgcc prepare the unwinder, with a pthread_once and memory of their own.
 */
static bool is_inside_wait(struct translate *t, struct track *k, const struct entry *e)
{
	switch ((enum entry_kind)e->kind) {
	case ENTRY_WOKEN: case ENTRY_DEPART: case ENTRY_FINISH: case ENTRY_UNWIND:
		k->waiting = false;
		return false;
	case ENTRY_SIZE: case ENTRY_MODULE: case ENTRY_NOTHING: case ENTRY_TICK: case ENTRY_SWITCH: case ENTRY_DEFINE:
		return false;
	default:
		t->unheard += e->kind == ENTRY_ENTER || (e->kind == ENTRY_ACQUIRE && e->argument);
		return true;
	}
}

static void jump(struct translate *t, struct track *k, const struct entry *e)
{
	if (has_trail(t, k))
		hand_on_note(t, k, &(struct trail_note){.sort = TRAIL_UNWIND, .depth = depth_of(e), .pc = t->pc,
			.site = place_of(t, k, e->pc)});
	else
		unwind(t, k, depth_of(e), e->pc);
}

/* What each kind of entry says. */
static void say(struct translate *t, struct track *k, uint32_t ring, const struct entry *e)
{
	switch ((enum entry_kind)e->kind) {
	case ENTRY_READ: case ENTRY_READ_VOLATILE: access(t, k, e, EVENT_READ); break;
	case ENTRY_WRITE: case ENTRY_WRITE_VOLATILE: access(t, k, e, EVENT_WRITE); break;
	case ENTRY_READ_RANGE: range(t, k, e, EVENT_READ); break;
	case ENTRY_WRITE_RANGE: range(t, k, e, EVENT_WRITE); break;
	case ENTRY_SIZE: k->range = e->second; break;
	case ENTRY_VALUE: value(k, e); break;
	case ENTRY_WAS: was(k, e); break;
	case ENTRY_PAST: past(t, k, e); break;
	case ENTRY_TIME: break;
	case ENTRY_IGNORE: ignore(k, e); break;
	case ENTRY_ASSUME: guarded(t, k, e); break;
	case ENTRY_ENTER: enter(t, k, e); break;
	case ENTRY_EXIT: leave_one(t, k, e); break;
	case ENTRY_UNWIND: jump(t, k, e); break;
	case ENTRY_DEFINE: define(t, k, e); break;
	case ENTRY_BEGIN: block(t, k, e, EVENT_BEGIN); break;
	case ENTRY_END: block(t, k, e, EVENT_END); break;
	case ENTRY_MODULE: module(t, k, e); break;
	case ENTRY_START: k->stack = e->argument; tenant_add(t, k); break;
	case ENTRY_WOKEN: case ENTRY_DEPART: awake(t, k); break;
	case ENTRY_NOTHING: case ENTRY_TICK: case ENTRY_SWITCH: break;
	case ENTRY_FINISH: finish(t, ring); break;
	case ENTRY_FORK: thread(t, k, e, EVENT_FORK); break;
	case ENTRY_JOIN: thread(t, k, e, EVENT_JOIN); break;
	case ENTRY_ACQUIRE: sync(t, k, e, EVENT_ACQUIRE); break;
	case ENTRY_UNLOCK: sync(t, k, e, EVENT_RELEASE); break;
	case ENTRY_RELEASE: if (!is_inherited(t, k, e)) sync(t, k, e, EVENT_RELEASE); break;
	case ENTRY_ACQUIRE_SHARED: sync(t, k, e, EVENT_ACQUIRE_SHARED); break;
	case ENTRY_RELEASE_SHARED: if (!is_inherited(t, k, e)) sync(t, k, e, EVENT_RELEASE_SHARED); break;
	case ENTRY_WAIT: wait(t, k, e); break;
	case ENTRY_NOTIFY: sync(t, k, e, EVENT_NOTIFY); break;
	case ENTRY_NOTIFY_ALL: sync(t, k, e, EVENT_NOTIFY_ALL); break;
	case ENTRY_ARRIVE: arrive(t, k, e); break;
	case ENTRY_SEM_WAIT: semaphore(t, k, e, EVENT_SEM_WAIT); break;
	case ENTRY_SEM_POST: semaphore(t, k, e, EVENT_SEM_POST); break;
	case ENTRY_ATOMIC_LOAD: atomic(t, k, e, EVENT_ATOMIC_LOAD); break;
	case ENTRY_ATOMIC_STORE: atomic(t, k, e, EVENT_ATOMIC_STORE); break;
	case ENTRY_ATOMIC_RMW: atomic(t, k, e, EVENT_ATOMIC_RMW); break;
	case ENTRY_ATOMIC_FENCE: fence(t, k, e); break;
	case ENTRY_ALLOC: memory(t, k, e, EVENT_ALLOC); break;
	case ENTRY_FREE: memory(t, k, e, EVENT_FREE); break;
	case ENTRY_MAKE: make(t, k, e); break;
	case ENTRY_BREAK: naming_forget_sync(&t->naming, k->process, e->address); break;
	case ENTRY_NAME: name(t, k, e); break;
	default: t->unknown++; break;
	}
}

/* Whatever it is, whatever the thread is at. */
static __attribute__((noinline)) void take_slowly(struct translate *t, struct track *k, uint32_t ring,
	const struct entry *e)
{
	if (brings(t, k, e))
		bring(t, k, e);
	if (t->stock && entry_is_sync(e->kind) && e->pc && !k->waiting)
		refine(t, k, e->pc); /* before it, and so at an earlier time */
	if (t->timed)
		tell_time(k, e);
	if (__builtin_expect(k->waiting, 0) && is_inside_wait(t, k, e))
		return;
	if (e->kind != ENTRY_VALUE && e->kind != ENTRY_WAS)
		flush(t, k);
	if (is_unwanted(k, e->kind))
		return;
	t->pc = e->pc ? place_in(k, e->pc) : 0;
	if (k->attempt.object && !is_of_attempt(k, e))
		spinlocks_go_on(&t->spinlocks, &k->attempt);
	say(t, k, ring, e);
}

/* A lock that is taken or given back, or a notification, of a thread that is plain. */
static inline __attribute__((always_inline)) void plain_sync(struct translate *t, struct track *k,
	const struct entry *e, uint8_t kind)
{
	struct event *to = make_event(t, k, kind);

	to->object = naming_sync(&t->naming, k->process, e->address, e->pc);
	to->site = place_of(t, k, e->pc);
	to->value = k->inner;
	hand_on_made(t);
}

/* False: there is more to it. */
static inline bool take_lock(struct translate *t, struct track *k, const struct entry *e)
{
	if (t->stock)
		return false;
	if (brings(t, k, e)) {
		bring(t, k, e);
		if (k->calls.inside)
			return false;
	}
	tell_major(k, e->ticket);
	plain_sync(t, k, e, EVENT_ACQUIRE);
	return true;
}

static inline struct entry unlock_of(const struct entry *e)
{
	return (struct entry){
		.kind = ENTRY_UNLOCK, .small = e->unlock_small, .extra = (uint16_t)(e->unlock >> ADDRESS_BITS),
		.address = e->address, .pc = e->unlock & (((uint64_t)1 << ADDRESS_BITS) - 1), .second = e->unlock,
	};
}

/* Likewise, what has a ticket and changes nothing of how its thread is. */
static bool take_ticket(struct translate *t, struct track *k, const struct entry *e)
{
	if (t->stock || (e->kind == ENTRY_RELEASE && is_inherited(t, k, e)))
		return false;
	tell_major(k, e->ticket);
	switch (e->kind) {
	case ENTRY_RELEASE: plain_sync(t, k, e, EVENT_RELEASE); break;
	case ENTRY_NOTIFY: plain_sync(t, k, e, EVENT_NOTIFY); break;
	case ENTRY_NOTIFY_ALL: plain_sync(t, k, e, EVENT_NOTIFY_ALL); break;
	case ENTRY_ALLOC: memory(t, k, e, EVENT_ALLOC); break;
	default: memory(t, k, e, EVENT_FREE); break;
	}
	return true;
}

static bool is_plain(const struct translate *t, const struct track *k)
{
	return !t->values && !k->waiting && !k->attempt.object && !k->calls.inside && !is_ignored(k, ~0u);
}

static inline __attribute__((always_inline)) void take_access(struct translate *t, struct track *k,
	const struct entry *e)
{
	tell_minor(k, e->extra);
	plain_access(t, k, e, e->kind == ENTRY_READ ? EVENT_READ : EVENT_WRITE);
}

/* What nearly all entries are, of a thread that does nothing else. False: it is none of that. */
static inline __attribute__((always_inline)) bool take_plainly(struct translate *t, struct track *k,
	const struct entry *e)
{
	t->pc = e->pc ? place_in(k, e->pc) : 0;
	switch ((enum entry_kind)e->kind) {
	case ENTRY_READ: case ENTRY_WRITE:
		if (!access_size(t, e))
			return false;
		take_access(t, k, e);
		return true;
	case ENTRY_READ_RANGE: case ENTRY_WRITE_RANGE:
		tell_minor(k, e->extra);
		range(t, k, e, e->kind == ENTRY_READ_RANGE ? EVENT_READ : EVENT_WRITE);
		return true;
	case ENTRY_TIME: stamp(k, e); return true;
	case ENTRY_ENTER: enter(t, k, e); break;
	case ENTRY_EXIT: leave_one(t, k, e); break;
	case ENTRY_PAST: past(t, k, e); return true;
	case ENTRY_ACQUIRE: return take_lock(t, k, e);
	case ENTRY_UNLOCK:
		if (t->stock)
			return false;
		tell_minor(k, e->extra);
		plain_sync(t, k, e, EVENT_RELEASE);
		return true;
	case ENTRY_RELEASE: case ENTRY_NOTIFY: case ENTRY_NOTIFY_ALL: case ENTRY_ALLOC: case ENTRY_FREE:
		return take_ticket(t, k, e);
	default: return false;
	}
	k->plain = !k->calls.inside; /* of functions that lock */
	return true;
}

static inline __attribute__((always_inline)) void take_one(struct translate *t, struct track *k, uint32_t ring,
	const struct entry *e)
{
	if (k->brought && is_done_with_brought(t, k, e))
		return;
	if (__builtin_expect(k->plain, 1) && take_plainly(t, k, e))
		return;
	take_slowly(t, k, ring, e);
	k->plain = is_plain(t, k);
}

/* Both events, of a thread that is plain and in the function that the entry has brought along, if it has. */
static inline __attribute__((always_inline)) void plain_pair(struct translate *t, struct track *k,
	const struct entry *e)
{
	sync_id lock = naming_sync(&t->naming, k->process, e->address, e->pc);
	uint64_t pc = e->unlock & (((uint64_t)1 << ADDRESS_BITS) - 1);
	struct event *to;

	tell_major(k, e->ticket);
	to = make_event(t, k, EVENT_ACQUIRE);
	to->object = lock;
	to->site = place_of(t, k, e->pc);
	to->value = k->inner;
	hand_on_made(t);
	tell_minor(k, e->unlock >> ADDRESS_BITS);
	t->pc = pc ? place_in(k, pc) : 0;
	to = make_event(t, k, EVENT_RELEASE);
	to->object = lock;
	to->site = place_of(t, k, pc);
	to->value = k->inner;
	hand_on_made(t);
}

/* Whether the thread is plain, and the release is in the function that the acquire brings along, if it brings one. */
static inline bool is_plain_pair(const struct translate *t, const struct track *k, const struct entry *e)
{
	return k->plain && !t->stock && !(k->brought && k->brought_late) && t->stream == STREAM_FILTERED &&
	       (!e->argument || e->unlock_small);
}

/* An acquire and its release. */
static void take_pair(struct translate *t, struct track *k, uint32_t ring, const struct entry *e)
{
	struct entry unlock;

	if (__builtin_expect(is_plain_pair(t, k, e), 1)) {
		if (k->brought)
			leave_brought(t, k);
		t->pc = e->pc ? place_in(k, e->pc) : 0;
		if (e->argument)
			bring(t, k, e);
		if (__builtin_expect(!k->calls.inside, 1)) {
			plain_pair(t, k, e);
			return;
		}
		take_slowly(t, k, ring, e);
		k->plain = is_plain(t, k);
	} else {
		take_one(t, k, ring, e);
	}
	unlock = unlock_of(e);
	take_one(t, k, ring, &unlock);
}

static void take_loop(struct translate *t, struct track *k, uint32_t ring, const struct entry *e);

static void take(void *self, uint32_t ring, const struct entry *e)
{
	struct translate *t = self;
	struct track *k = track_at(t, ring);

	if (e->stream && e->stream != t->stream)
		return;
	t->speaks = k;
	if (e->unlocked)
		take_pair(t, k, ring, e);
	else if (__builtin_expect(e->kind == ENTRY_LOOP, 0))
		take_loop(t, k, ring, e);
	else
		take_one(t, k, ring, e);
}

/* Rows. */

/* A slot, as it is in the ring; and how far the row has come. */
struct row_slot {
	uint64_t first, second;
	uint64_t pc; /* with the process above */
	size_t before;
};

_Static_assert(ENTRY_READ == (int)EVENT_READ && ENTRY_WRITE == (int)EVENT_WRITE &&
	ENTRY_READ_VOLATILE == ENTRY_READ + 2 && ENTRY_WRITE_VOLATILE == ENTRY_WRITE + 2,
	"a row makes kinds of events by one instruction");

/* As depth_of. */
static inline uint32_t row_depth(struct row_slot s)
{
	return (uint32_t)(s.second >> ADDRESS_BITS) << 8 | (uint8_t)(s.first >> 8);
}

/*
 * The place comes where another was. What stands in the row already may be about that one: then the row ends before it.
 * False: that is so, or it cannot stand in a row at all, since there is more to say of the function.
 */
static __attribute__((noinline)) bool row_learn(struct translate *t, const struct track *k, struct row_slot s,
	struct brief_place *p)
{
	uint64_t pc = s.second & (((uint64_t)1 << ADDRESS_BITS) - 1), from = s.first >> 16;
	bool enters = (uint8_t)s.first == ENTRY_ENTER;
	const struct code_memo *m = enters ? function_of(t, k, pc) : NULL;

	if (!pc || (p->pc && s.before) || (m && m->of.role))
		return false;
	p->pc = s.pc;
	p->note = 0;
	p->site = place_of(t, k, enters ? from : pc);
	p->code = m ? m->code : 0;
	return true;
}

/* Where a place stands, unless another was there first. */
static inline uint32_t row_number(uint64_t pc, uint64_t key)
{
	uint64_t x = pc ^ key >> 16 ^ (key & 255) << 6;

	return (uint32_t)((x ^ x >> 13) % ROW_PLACES);
}

/* The number of the place that the slot is about. UINT32_MAX: see row_learn. */
static inline uint32_t row_place(struct translate *t, const struct track *k, struct row_slot s, uint64_t key)
{
	uint32_t number = row_number(s.pc, key);
	struct brief_place *p = &t->row_place[number];

	if (__builtin_expect(p->pc == s.pc && p->key == key, 1))
		return number;
	if (p->pc) {
		p = &t->row_place[number ^= 1]; /* two hot ones would take turns otherwise */
		if (p->pc == s.pc && p->key == key)
			return number;
	}
	if (!row_learn(t, k, s, p))
		return UINT32_MAX;
	p->key = key;
	return number;
}

static inline bool row_access(struct translate *t, const struct track *k, struct row_slot s, struct brief *b)
{
	uint32_t kind = 2 - (uint32_t)(s.first & 1);

	if (!(s.first & 0xff00))
		return false;
	b->object = s.first >> 16 | s.pc >> ADDRESS_BITS << ADDRESS_BITS;
	b->place = row_place(t, k, s, (s.first & 0xff00) | kind);
	return b->place != UINT32_MAX;
}

/* As enter(), where nothing is left by it. */
static inline bool row_enter(struct translate *t, struct track *k, struct row_slot s, struct brief *b)
{
	uint32_t depth = row_depth(s);

	if (k->calls_by == BY_TRAIL || k->count == k->capacity || depth == DEPTH_UNKNOWN || (k->count && k->open[k->count - 1].depth >= depth))
		return false;
	b->place = row_place(t, k, s, s.first >> 16 << 16 | EVENT_ENTER);
	if (b->place == UINT32_MAX)
		return false;
	t->row_call[t->row_calls++] = b;
	b->object = t->row_place[b->place].code;
	k->open[k->count++] = (struct open_function){.code = (code_id)b->object, .depth = depth, .blocks = k->blocks,
		.from = s.first >> 16};
	return true;
}

/* As leave_one(), where that leaves the innermost function and no other. */
static inline bool row_exit(struct translate *t, struct track *k, struct row_slot s, struct brief *b)
{
	const struct open_function *f;

	if (k->calls_by == BY_TRAIL || !leaves_innermost(k, row_depth(s), depth_in(k, s.first >> 16)))
		return false;
	f = &k->open[k->count - 1];
	if (f->role)
		return false;
	b->object = f->code;
	b->place = row_place(t, k, s, EVENT_EXIT);
	if (b->place == UINT32_MAX)
		return false;
	t->row_call[t->row_calls++] = b;
	k->count--;
	return true;
}

/* False: it is nothing for this row; nothing has changed then. The kind is with the bits of the stream, which are 0. */
static inline bool row_take(struct translate *t, struct track *k, struct row_slot s, struct brief *b)
{
	uint8_t kind = (uint8_t)s.first;

	if (__builtin_expect(kind >= ENTRY_READ && kind <= ENTRY_WRITE_VOLATILE, 1))
		return row_access(t, k, s, b);
	if (kind == ENTRY_ENTER)
		return row_enter(t, k, s, b);
	return kind == ENTRY_EXIT && row_exit(t, k, s, b);
}

/*
 * How many can stand in one row, with what they say. Nearly all are accesses of a place that is known: what that says is
 * what the slot says, but for the address. No call's key has a size, so that nothing else is taken for one.
 */
static size_t row_fill(struct translate *t, struct track *k, const struct slot *slots, size_t most)
{
	const uint64_t above = place_in(k, 0);
	const struct brief_place *place = t->row_place;
	struct brief *b = t->brief;
	size_t n = 0;

	t->row_calls = 0;
	for (; n < most; n++, b++) {
		struct row_slot s = {.first = __atomic_load_n(&slots[n].word[0], __ATOMIC_ACQUIRE), .before = n};
		uint32_t number;

		s.second = __atomic_load_n(&slots[n].word[1], __ATOMIC_RELAXED);
		number = row_number(s.second | above, (uint16_t)s.first);
		b->object = s.first >> 16 | above;
		b->place = number;
		if (__builtin_expect(place[number].pc == (s.second | above) && place[number].key == (uint16_t)s.first &&
				s.first & 0xff00, 1))
			continue;
		s.pc = (s.second & (((uint64_t)1 << ADDRESS_BITS) - 1)) | above;
		if (!row_take(t, k, s, b))
			break;
	}
	return n;
}

/*
 * Straight into columns. Nothing is learned here: where a place is not known to whoever has the columns, or anything is
 * other than nearly always, the row ends, and what comes next goes the way of rows in brief.
 */

/* Whose row it is, and what columns have beside themselves. */
struct columns_row {
	const struct translate *t;
	struct track *k;
	struct wf_calls *calls;
	uint32_t chunk;
};

/* An event, as columns take it. */
struct row_event {
	uint64_t note, object;
};

static inline const struct brief_place *known_place(const struct columns_row *r, uint64_t pc, uint64_t key)
{
	uint32_t number = row_number(pc, key);
	const struct brief_place *p = &r->t->row_place[number];

	if (p->pc != pc || p->key != key)
		p = &r->t->row_place[number ^ 1];
	return p->pc == pc && p->key == key && p->note >> 32 == r->chunk ? p : NULL;
}

/* As row_enter and row_exit, where the place is known, and the call is one that a trace may have. */
static inline bool columns_enter(const struct columns_row *r, struct row_slot s, struct row_event *e)
{
	struct track *k = r->k;
	uint32_t depth = row_depth(s);
	const struct brief_place *p = known_place(r, s.pc, s.first >> 16 << 16 | EVENT_ENTER);

	if (k->calls_by == BY_TRAIL || !p || k->count == k->capacity || depth == DEPTH_UNKNOWN || (k->count && k->open[k->count - 1].depth >= depth) ||
		!wf_calls_enter(r->calls, p->code))
		return false;
	k->open[k->count++] = (struct open_function){.code = p->code, .depth = depth, .blocks = k->blocks,
		.from = s.first >> 16};
	*e = (struct row_event){p->note, p->code};
	return true;
}

static inline bool columns_exit(const struct columns_row *r, struct row_slot s, struct row_event *e)
{
	struct track *k = r->k;
	const struct brief_place *p = known_place(r, s.pc, EVENT_EXIT);
	const struct open_function *f;

	if (k->calls_by == BY_TRAIL || !p || !leaves_innermost(k, row_depth(s), depth_in(k, s.first >> 16)))
		return false;
	f = &k->open[k->count - 1];
	if (f->role || !wf_calls_exit(r->calls, f->code))
		return false;
	k->count--;
	*e = (struct row_event){p->note, f->code};
	return true;
}

/* What is no access of a place that stands where it is looked for first. */
static inline bool columns_take(const struct columns_row *r, struct row_slot s, struct row_event *e)
{
	uint8_t kind = (uint8_t)s.first;
	const struct brief_place *p;

	if (kind == ENTRY_ENTER)
		return columns_enter(r, s, e);
	if (kind == ENTRY_EXIT)
		return columns_exit(r, s, e);
	if (kind < ENTRY_READ || kind > ENTRY_WRITE_VOLATILE || !(s.first & 0xff00))
		return false;
	p = known_place(r, s.pc, (s.first & 0xff00) | (2 - (s.first & 1)));
	if (!p)
		return false;
	*e = (struct row_event){p->note, s.first >> 16 | place_in(r->k, 0)};
	return true;
}

/* How many slots go that way. This is the inner loop of every recording. */
static size_t columns_fill(struct translate *t, struct track *k, const struct slot *slots, struct bin_columns *open)
{
	const uint64_t above = place_in(k, 0);
	const struct brief_place *place = t->row_place;
	struct bin_columns c = *open; /* nobody else's: what is stored cannot lie on top of it */
	const struct columns_row r = {t, k, c.calls, c.chunk};
	uint64_t latest = 0;
	size_t n = 0;

	for (; n < c.room; n++) {
		uint64_t first = __atomic_load_n(&slots[n].word[0], __ATOMIC_ACQUIRE);
		uint64_t second = __atomic_load_n(&slots[n].word[1], __ATOMIC_RELAXED), pc = second | above;
		const struct brief_place *p = &place[row_number(pc, (uint16_t)first)];
		struct row_event e = {p->note, first >> 16 | above};

		if (__builtin_expect(p->pc != pc || p->key != (uint16_t)first || !(first & 0xff00) ||
				!bin_columns_know(&c, e.note), 0)) {
			struct row_slot s = {first, second, (second & (((uint64_t)1 << ADDRESS_BITS) - 1)) | above, n};

			if (!columns_take(&r, s, &e))
				break;
		}
		bin_columns_put(&c, e.note, e.object);
		latest = second;
	}
	if (n)
		t->pc = (latest & (((uint64_t)1 << ADDRESS_BITS) - 1)) | above;
	*open = c;
	return n;
}

/* No more than `most` slots; 0: none can go that way. */
static size_t row_columns(struct translate *t, struct track *k, const struct slot *slots, size_t most)
{
	struct bin_columns c;
	size_t n;

	if (!t->columns || !t->columns(t->to, k->thread, &c))
		return 0;
	c.room = most < c.room ? most : c.room;
	n = columns_fill(t, k, slots, &c);
	t->columns_end(t->to, &c);
	return n;
}

/* The items of rounds as accesses in brief. False: they have no places beside each other. */
static bool rounds_in_brief(struct translate *t, const struct track *k, const struct rounds *r)
{
	for (uint32_t i = 0; i < r->items; i++) {
		struct row_slot s = {.first = r->address[i] << 16 | r->what[i], .second = r->pc[i],
			.pc = place_in(k, r->pc[i]), .before = i};

		if (!row_access(t, k, s, &t->brief[i]))
			return false;
	}
	return true;
}

/* A row that is nothing but rounds: handed on as a loop without strides. 0: it is something else. */
static size_t row_rounds(struct translate *t, const struct track *k, const struct slot *slots, size_t most)
{
	const uint64_t above = place_in(k, 0);
	struct rounds r = {.address = t->row_address};
	size_t n = rounds_find(&r, slots, most);

	if (!n || !rounds_in_brief(t, k, &r))
		return 0;
	for (size_t i = 0; i < n && above; i++)
		t->row_address[i] |= above;
	t->pc = t->row_place[t->brief[(n - 1) % r.items].place].pc;
	t->events += n;
	t->loop(t->to, &(struct brief_loop){k->thread, t->row_place, t->brief, NULL, r.items, n, t->row_address});
	return n;
}

/*
 * Rounds, if it is time to look for them and there are any. Where there were some, there will soon be more; where there
 * were none, it is longer until the next look each time.
 */
static size_t look_for_rounds(struct translate *t, struct track *k, const struct slot *slots, size_t most)
{
	size_t n = row_rounds(t, k, slots, most);

	k->asked = n || !k->asked ? ROW_LEAST : k->asked < BRIEFS ? 2 * k->asked : k->asked;
	k->unasked = n ? 0 : k->asked;
	return n;
}

/* Events in brief, no more than `most` slots. */
static size_t row_briefs(struct translate *t, struct track *k, const struct slot *slots, size_t most)
{
	size_t n = row_fill(t, k, slots, most);

	if (!n)
		return 0;
	t->pc = t->row_place[t->brief[n - 1].place].pc;
	t->briefs(t->to, &(struct briefs){k->thread, t->row_place, t->brief, n, t->row_call, t->row_calls});
	return n;
}

static size_t take_row(void *self, struct merge_row *row)
{
	struct translate *t = self;
	struct track *k = track_at(t, row->ring);
	size_t most = row->most < BRIEFS ? row->most : BRIEFS, n;

	if (!k->plain || k->brought)
		return 0;
	t->speaks = k;
	has_trail(t, k);
	n = t->loop && !k->unasked ? look_for_rounds(t, k, row->slots, most) : 0;
	if (n)
		return n;
	most = t->loop && most > k->unasked ? k->unasked : most;
	n = row_columns(t, k, row->slots, most);
	n = n ? n : row_briefs(t, k, row->slots, most);
	k->unasked -= t->loop ? n : 0;
	t->events += n;
	return n;
}

/* Loops. */

/* An access of the loop as an entry of its own. */
static struct entry loop_entry(const struct entry *e, uint64_t i)
{
	const struct slot *item = &e->round[i % e->small];
	uint64_t pc = item->word[1] & (((uint64_t)1 << ADDRESS_BITS) - 1);
	uint64_t stride = (uint64_t)(int64_t)(int16_t)(item->word[1] >> ADDRESS_BITS);
	uint64_t address = (item->word[0] >> 16) + stride * (i / e->small);

	return (struct entry){
		.kind = (uint8_t)item->word[0] >> KIND_BITS, .small = (uint8_t)(item->word[0] >> 8), .pc = pc, .second = pc,
		.address = address & (((uint64_t)1 << ADDRESS_BITS) - 1),
	};
}

/* Its items as accesses in brief, from their first ones. False: they have no places beside each other. */
static bool loop_in_brief(struct translate *t, const struct track *k, const struct entry *e, uint64_t stride[])
{
	for (unsigned i = 0; i < e->small; i++) {
		const struct entry first = loop_entry(e, i);
		struct row_slot s = {.first = first.address << 16 | (uint64_t)first.small << 8 | first.kind,
			.second = first.pc, .pc = place_in(k, first.pc), .before = i};

		if (!row_access(t, k, s, &t->brief[i]))
			return false;
		stride[i] = (uint64_t)(int64_t)(int16_t)(e->round[i].word[1] >> ADDRESS_BITS);
	}
	return true;
}

static void take_loop(struct translate *t, struct track *k, uint32_t ring, const struct entry *e)
{
	uint64_t stride[LOOP_ITEMS];

	if (!e->argument)
		return;
	if (!t->loop || !k->plain || k->brought || !loop_in_brief(t, k, e, stride)) {
		for (uint64_t i = 0; i < e->argument; i++) {
			struct entry one = loop_entry(e, i);

			take_one(t, k, ring, &one);
		}
		return;
	}
	t->pc = t->row_place[t->brief[(e->argument - 1) % e->small].place].pc;
	t->events += e->argument;
	t->loop(t->to, &(struct brief_loop){k->thread, t->row_place, t->brief, stride, e->small, e->argument, NULL});
}

/* Rows with times: no events in brief, but none of them is looked at one by one by the merge. */

static const uint64_t ACCESSES_AND_CALLS = (uint64_t)1 << ENTRY_READ | (uint64_t)1 << ENTRY_WRITE |
	(uint64_t)1 << ENTRY_READ_VOLATILE | (uint64_t)1 << ENTRY_WRITE_VOLATILE | (uint64_t)1 << ENTRY_ENTER |
	(uint64_t)1 << ENTRY_EXIT;

/* What may stand in one: by itself, and with the slots behind it. */
static const uint64_t TIMED_SHORT = (uint64_t)1 << ENTRY_READ | (uint64_t)1 << ENTRY_WRITE | (uint64_t)1 << ENTRY_ENTER |
	(uint64_t)1 << ENTRY_EXIT | (uint64_t)1 << ENTRY_TIME | (uint64_t)1 << ENTRY_UNLOCK;
static const uint64_t TIMED_SYNC = (uint64_t)1 << ENTRY_ACQUIRE | (uint64_t)1 << ENTRY_RELEASE |
	(uint64_t)1 << ENTRY_NOTIFY | (uint64_t)1 << ENTRY_NOTIFY_ALL | (uint64_t)1 << ENTRY_ALLOC | (uint64_t)1 << ENTRY_FREE;

/* Field by field, as in the merge; the others are 0 in all of a row, or of those that have them. */
static inline void row_entry(struct entry *e, uint64_t first, uint64_t second)
{
	e->kind = (uint8_t)first;
	e->small = (uint8_t)(first >> 8);
	e->extra = (uint16_t)(second >> ADDRESS_BITS);
	e->address = first >> 16;
	e->pc = second & (((uint64_t)1 << ADDRESS_BITS) - 1);
	e->second = second;
}

/*
 * The entry at number n; the kind is with the bits of the stream, which are 0. Returns how many slots it has, 0: it is
 * none for the row.
 */
static inline __attribute__((always_inline)) size_t row_next(struct merge_row *row, size_t n, uint64_t first,
	struct entry *e)
{
	uint8_t kind = (uint8_t)first;

	if (kind >= ENTRY_KINDS)
		return 0;
	if (TIMED_SHORT >> kind & 1) {
		row_entry(e, first, __atomic_load_n(&row->slots[n].word[1], __ATOMIC_RELAXED));
		return 1;
	}
	if (TIMED_SYNC >> kind & 1)
		return merge_row_sync(row, n, first, e);
	return kind == ENTRY_PAST ? merge_row_past(row, n, first, e) : 0;
}

/* Half of all entries are accesses and times: of them none needs to be made. */
static inline bool is_slot(const struct track *k, uint64_t first)
{
	uint8_t kind = (uint8_t)first, small = (uint8_t)(first >> 8);

	if (kind == ENTRY_TIME)
		return !k->brought;
	return (kind == ENTRY_READ || kind == ENTRY_WRITE) && small & (uint8_t)~(ACCESS_KNOWN | ACCESS_BROUGHT) &&
	       (!k->brought || small & ACCESS_BROUGHT);
}

static inline __attribute__((always_inline)) void take_slot(struct translate *t, struct track *k, uint64_t first,
	uint64_t second)
{
	struct entry e;

	row_entry(&e, first, second);
	t->pc = e.pc ? place_in(k, e.pc) : 0;
	if (e.kind == ENTRY_TIME)
		stamp(k, &e);
	else
		take_access(t, k, &e);
}

/* As take(): of a thread that is plain, until it is not. */
static size_t take_timed_row(void *self, struct merge_row *row)
{
	struct translate *t = self;
	struct track *k = track_at(t, row->ring);
	struct entry e = {.kind = ENTRY_NONE};
	size_t n = 0, slots;

	for (t->speaks = k; n < row->most && k->plain; n += slots) {
		uint64_t first = __atomic_load_n(&row->slots[n].word[0], __ATOMIC_ACQUIRE);

		if (is_slot(k, first)) {
			take_slot(t, k, first, __atomic_load_n(&row->slots[n].word[1], __ATOMIC_RELAXED));
			slots = 1;
			continue;
		}
		slots = row_next(row, n, first, &e);
		if (!slots)
			break;
		t->speaks = k; /* others may have spoken before it */
		if (e.kind == ENTRY_UNLOCK)
			merge_row_unlock(row);
		if (slots == 3)
			take_pair(t, k, row->ring, &e);
		else
			take_one(t, k, row->ring, &e);
	}
	return n;
}

struct merge_listener translate_listener(struct translate *t)
{
	struct merge_listener l = {.self = t, .begin = begin, .entry = take, .finish = finish};

	l.pairs = t->timed && !t->stock;
	l.trail = t->trail ? take_trail : NULL;
	l.trail_count = take_trail_count;
	if (t->values || t->stock || (!t->briefs && !t->timed))
		return l;
	l.row = t->timed ? take_timed_row : take_row;
	l.row_kinds = t->timed ? TIMED_SHORT | TIMED_SYNC | (uint64_t)1 << ENTRY_PAST : ACCESSES_AND_CALLS;
	return l;
}
