/* SPDX-License-Identifier: MIT */
#include "gate.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>

#include "event/event.h"
#include "runtime/os.h"
#include "runtime/places.h"
#include "runtime/self.h"
#include "runtime/sharing.h"
#include "runtime/walk.h"
#include "runtime/wrap_signal.h"
#include "sched/strategy.h"

enum {
	NAP_MS = 2,        /* while nobody has the turn */
	SLEEP_MS = 100,    /* while somebody has */
	RECENT = 8,        /* steps that a waiting loop may have */
	ASK_SYSTEM = 64,   /* decisions after which descriptors are asked again, though nobody here has touched any */
	SIGNAL_MS = 1000,  /* a program that handles signals may be helped by one: so long it is waited for */
	LIMIT_GRAIN_NS = 10000000, /* time limits that differ by less are the same */
};

/* A thread under control. Its slot is the same as in `views`. */
struct gate_thread {
	_Alignas(64) uint32_t go; /* futex: it has been picked */
	uint32_t back;   /* NEED_BACK: it is */
	uint32_t asleep; /* it waits for `go` */
	bool expired;    /* it was picked because its time is over */
	bool cancelled;  /* pthread_cancel was called */
	bool notified;   /* NEED_NOTIFIED */
	bool departs;    /* NEED_DEPARTURE */
	bool ready;      /* NEED_DESCRIPTOR */
	bool progress;   /* something has changed since the last question */
	bool waits;      /* in wait_for_turn(): a jump out of a handler would leave it there */
	uint16_t who;    /* for sharing.h */
	uintptr_t stack; /* where it ends: what the thread has in its frames lies below */
	uint32_t held;   /* gate_hold() */
	uint32_t fruitless;
	uint32_t recent_at;
	uint64_t recent[RECENT];
	int tid;
	struct self *ring;
	struct gate_op op;
	const volatile void *condition; /* it waits at */
	uint64_t entered;               /* since, as a count of all waits */
	uint64_t limit;                 /* the clock's time limit, in nanoseconds of CLOCK_MONOTONIC */
	uint64_t ran;                   /* steps since it has got the turn */
	uint32_t last_kind;
	bool last_expired;
	void *last_pc;
};

bool gate_on;
__thread struct gate_thread *gate_mine __attribute__((tls_model("initial-exec")));
/* The same, whether it is inside or not. */
static __thread struct gate_thread *mine __attribute__((tls_model("initial-exec")));

static struct sched sched;
static const struct strategy *strategy;
static struct sched_thread views[SCHED_THREADS];
static struct gate_thread threads[SCHED_THREADS];
static uint32_t turn;      /* slot + 1 of who has it; 0: nobody */
static uint64_t quiet;     /* steps that need no asking */
static uint32_t unasked;   /* accesses since the last question */
static uint64_t waits;     /* ever, at conditions */
static uint64_t virtual;   /* time that limits have let pass, in nanoseconds */
static uint64_t decisions, system_calls, system_asked;
static uint32_t foreign;   /* threads without control that may do something for others */
static bool system_due;    /* descriptors are worth asking about */
static bool stale;         /* what others need may be met now, or not any more */
static bool names_places;  /* the strategy looks at places */

static struct gate_report *report(void)
{
	return &channel->gate;
}

static uint32_t slot_of(const struct gate_thread *t)
{
	return (uint32_t)(t - threads);
}

static uint64_t nanoseconds(clockid_t clock)
{
	struct timespec now;

	os_clock(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Steps. */

static inline void count(struct gate_thread *t, uint32_t kind, void *pc)
{
	t->ran++;
	t->last_kind = kind;
	t->last_pc = pc;
	t->last_expired = false;
	__atomic_store_n(&report()->steps, sched.step++, __ATOMIC_RELAXED);
}

static void publish(void)
{
	struct gate_report *r = report();

	__atomic_store_n(&r->steps, sched.step - 1, __ATOMIC_RELAXED);
	r->next = sched.next;
	r->done = sched.done;
	r->diverged_at = sched.diverged ? sched.diverged_at : 0;
}

/* Needs. */

static uint32_t number_of(int tid)
{
	for (uint32_t i = 0; tid && i < sched.threads; i++)
		if (views[i].number && threads[i].tid == tid)
			return views[i].number;
	return 0;
}

static bool is_locked_by_dead(const struct gate_op *op, int owner)
{
	return op->need == NEED_MUTEX && owner && !number_of(owner) && !foreign && need_is_robust(op->object);
}

static bool object_met(struct gate_thread *t, enum need need, const volatile void *object)
{
	int owner = 0;

	if (need_met(need, object, t->tid, &owner))
		return true;
	views[slot_of(t)].blocker = number_of(owner);
	/* The system takes it from a thread that has ended, in a moment. */
	return is_locked_by_dead(&(struct gate_op){.need = need, .object = object}, owner);
}

static bool descriptor_met(struct gate_thread *t)
{
	if (!t->ready && system_due)
		t->ready = os_poll(t->op.fd, t->op.events) != 0;
	return t->ready;
}

static bool is_met(struct gate_thread *t)
{
	const struct gate_op *op = &t->op;

	views[slot_of(t)].blocker = 0;
	if (t->cancelled && op->cancels && op->need != NEED_NOTIFIED && op->need != NEED_BACK)
		return true;
	switch (op->need) {
	case NEED_NOTHING:
		return true;
	case NEED_ENDED:
		views[slot_of(t)].blocker = (uint32_t)(uintptr_t)op->object;
		return gate_has_ended((uint32_t)(uintptr_t)op->object);
	case NEED_NOTIFIED:
		return (t->notified || t->cancelled) && object_met(t, NEED_MUTEX, op->mutex);
	case NEED_DEPARTURE:
		return t->departs;
	case NEED_DESCRIPTOR:
		return descriptor_met(t);
	case NEED_BACK:
		return __atomic_load_n(&t->back, __ATOMIC_ACQUIRE);
	default:
		return object_met(t, op->need, op->object);
	}
}

/* Somebody whom we do not schedule can make it so. */
static bool is_from_outside(const struct gate_thread *t)
{
	return t->op.need == NEED_BACK || t->op.need == NEED_DESCRIPTOR || need_is_shared(t->op.need, t->op.object);
}

/* Time limits: see gate.h. */
static bool is_expiring(struct gate_thread *t, bool clock_counts)
{
	if (!t->limit)
		return false;
	if (t->op.need == NEED_NOTIFIED && !object_met(t, NEED_MUTEX, t->op.mutex))
		return false;
	return !clock_counts || nanoseconds(CLOCK_MONOTONIC) >= t->limit;
}


/* What each thread could do now. */
static void refresh(void)
{
	bool clock_counts = foreign > 0;

	if (!stale)
		return;
	stale = false;
	system_due = system_calls != system_asked || decisions % ASK_SYSTEM == 0;
	system_asked = system_calls;
	for (uint32_t i = 0; i < sched.threads; i++) {
		if (!views[i].number)
			continue;
		views[i].runnable = is_met(&threads[i]);
		views[i].away = !views[i].runnable && is_from_outside(&threads[i]);
		clock_counts |= views[i].away;
		stale |= is_from_outside(&threads[i]);
	}
	for (uint32_t i = 0; i < sched.threads; i++)
		if (views[i].number && threads[i].limit)
			views[i].expiring = !views[i].runnable && is_expiring(&threads[i], clock_counts);
}

/* What everybody waits for, for the collector. */

static void show(struct gate_thread *t, bool waiting)
{
	const struct sched_thread *v = &views[slot_of(t)];

	if (!t->ring)
		return;
	t->ring->stand = (struct gate_stand){
		.waits = waiting, .kind = v->kind, .object = (uintptr_t)t->op.object, .pc = (uintptr_t)t->op.pc,
		.blocker = v->blocker, .can = v->runnable,
	};
}

static void tell_switch(struct gate_thread *t, uint32_t to);

_Noreturn static void deadlock(struct gate_thread *t)
{
	tell_switch(t, SLOT_NONE);
	for (uint32_t i = 0; i < sched.threads; i++)
		if (views[i].number)
			show(&threads[i], true);
	publish();
	__atomic_store_n(&report()->end, GATE_DEADLOCK, __ATOMIC_RELEASE);
	os_exit(GATE_STATUS);
}

/* The turn. */

/* Nobody can go on; but a handler of a signal might let somebody. */
static bool may_be_signalled(void)
{
	static uint64_t since, at; /* when that was first so, and at which step */
	uint64_t now = nanoseconds(CLOCK_MONOTONIC);

	if (!signal_is_handled())
		return false;
	if (!since || at != sched.step) {
		since = now;
		at = sched.step;
	}
	return now - since < (uint64_t)SIGNAL_MS * 1000000;
}

/* Who goes on, or SCHED_LATER. By `t`, which has the turn. */
static uint32_t decide(struct gate_thread *t)
{
	uint32_t slot;

	decisions++;
	unasked = 0;
	refresh();
	slot = sched_pick(&sched, strategy);
	quiet = sched.quiet;
	publish();
	if (slot == SCHED_NOBODY && (foreign || may_be_signalled()))
		slot = SCHED_LATER;
	if (slot == SCHED_NOBODY)
		deadlock(t);
	if (slot < SCHED_THREADS && !views[slot].runnable && !views[slot].expiring)
		slot = SCHED_LATER; /* it is away */
	return slot;
}

/* Nobody has it. One of those who sleep is to look now and then whether somebody can go on. */
static void free_turn(void)
{
	__atomic_store_n(&turn, 0, __ATOMIC_SEQ_CST);
	for (uint32_t i = 0; i < SCHED_THREADS; i++)
		if (__atomic_load_n(&threads[i].asleep, __ATOMIC_SEQ_CST)) {
			os_futex_wake(&threads[i].go);
			return;
		}
}

void gate_let(uint32_t slot)
{
	struct gate_thread *t = slot < SCHED_THREADS ? &threads[slot] : NULL;

	__atomic_store_n(&report()->holder, t ? views[slot].number : 0, __ATOMIC_RELAXED);
	if (!t) {
		free_turn();
		return;
	}
	t->expired = !views[slot].runnable;
	if (t->expired && views[slot].until > virtual)
		virtual = views[slot].until;
	report()->switches++;
	__atomic_store_n(&turn, slot + 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&t->go, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&t->asleep, __ATOMIC_SEQ_CST))
		os_futex_wake(&t->go);
}

/* The end of what the thread did in its turn: everything that it has written is in memory and in its ring. */
static void tell_switch(struct gate_thread *t, uint32_t to)
{
	uint32_t next = to < SCHED_THREADS ? views[to].number : 0;

	if (t->ring && t->ran)
		self_sync(t->ring, (struct sync){
			.kind = ENTRY_SWITCH, .small = t->last_kind, .object = (void *)(uintptr_t)next,
			.pc = t->last_pc, .argument = (uint32_t)t->ran | (uint64_t)t->last_expired << 32,
		});
	t->ran = 0;
}

/* Nobody has the turn: takes it, and lets somebody go on. Returns whether that is the caller. */
static bool take_free_turn(struct gate_thread *t)
{
	uint32_t nobody = 0, slot;

	if (!__atomic_compare_exchange_n(&turn, &nobody, slot_of(t) + 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return false;
	stale = true;
	system_calls++;
	sched.current = slot_of(t);
	slot = decide(t);
	gate_let(slot);
	return slot == slot_of(t);
}

/*
 * Sleeps until the thread is picked. While nobody has the turn everyone looks now and then whether that is still so:
 * what they wait for comes from outside.
 */
static void wait_for_turn(struct gate_thread *t)
{
	t->waits = true;
	__atomic_store_n(&t->asleep, 1, __ATOMIC_SEQ_CST);
	while (!__atomic_load_n(&t->go, __ATOMIC_SEQ_CST)) {
		bool is_free = !__atomic_load_n(&turn, __ATOMIC_SEQ_CST);

		if (is_free && take_free_turn(t))
			break;
		os_futex_wait(&t->go, 0, is_free ? NAP_MS : SLEEP_MS);
	}
	__atomic_store_n(&t->asleep, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&t->go, 0, __ATOMIC_SEQ_CST);
	t->waits = false;
	sched.current = slot_of(t);
	stale = true;
	show(t, false);
	if (t->ring)
		self_sync(t->ring, (struct sync){.kind = ENTRY_TICK});
}

static void hand_over(struct gate_thread *t, uint32_t slot)
{
	tell_switch(t, slot);
	show(t, true);
	gate_let(slot);
	wait_for_turn(t);
}

/* Waiting loops. */

static bool is_recent(struct gate_thread *t, const struct gate_op *op)
{
	uint64_t key = ((uintptr_t)op->pc * 0x9e3779b97f4a7c15u) ^ (uintptr_t)op->object;

	for (unsigned i = 0; i < RECENT; i++)
		if (t->recent[i] == key)
			return true;
	t->recent[t->recent_at++ % RECENT] = key;
	return false;
}

/* Asked at each question, of the step that is about to be made. */
static bool is_in_vain(struct gate_thread *t, const struct gate_op *op)
{
	bool known = is_recent(t, op);

	if (t->progress || !known)
		t->fruitless = 0;
	else
		t->fruitless++;
	t->progress = false;
	if (t->fruitless >= GATE_FRUITLESS) {
		t->fruitless = 0;
		return true;
	}
	return t->ran >= GATE_TURN && t->ran % GATE_TURN < GATE_UNASKED;
}

/* Questions. */

static void set_limit(struct gate_thread *t, struct sched_thread *v, const struct gate_op *op)
{
	uint64_t now, at;

	t->limit = 0;
	v->until = 0;
	if (!op->limit)
		return;
	now = nanoseconds(op->clock);
	at = op->limit->tv_sec < 0 ? 0 : (uint64_t)op->limit->tv_sec * 1000000000u + (uint64_t)op->limit->tv_nsec;
	at = at > now && op->limit->tv_nsec >= 0 && op->limit->tv_nsec < 1000000000 ? at - now : 0;
	/* The real function will say at once what is the matter; it may not wait for a condition. */
	if (!at && op->need != NEED_NOTIFIED)
		t->op.need = NEED_NOTHING;
	t->limit = nanoseconds(CLOCK_MONOTONIC) + at + 1;
	v->until = virtual + (at / LIMIT_GRAIN_NS + 1) * LIMIT_GRAIN_NS;
}

static void find_place(struct sched_thread *v, const struct gate_op *op)
{
	struct place p;

	if (!names_places)
		return;
	p = places_of((uintptr_t)op->pc);
	v->module = p.module;
	v->offset = p.offset;
	v->occurrence = places_may((uintptr_t)op->pc) ? places_count(v->number, op->kind, p) : 0;
}

static void announce(struct gate_thread *t, const struct gate_op *op)
{
	struct sched_thread *v = &views[slot_of(t)];

	t->op = *op;
	t->expired = t->ready = false;
	v->kind = op->kind;
	v->object = (uintptr_t)op->object;
	v->since = sched.step;
	v->yields = op->kind == ORDER_YIELD || is_in_vain(t, op);
	v->expiring = v->away = false;
	set_limit(t, v, op);
	find_place(v, op);
	system_due = true;
	v->runnable = is_met(t);
	stale |= !v->runnable;
}

static void stop_for_debugger(void)
{
	if (sched.culprit && sched.order->stop)
		os_raise(SIGTRAP);
}

/* Asks who goes on, and returns when it is the caller. */
static void ask(struct gate_thread *t, const struct gate_op *op)
{
	uint32_t slot, me = slot_of(t);

	announce(t, op);
	slot = decide(t);
	if (slot != me)
		hand_over(t, slot);
	else
		t->expired = !views[me].runnable;
	stop_for_debugger();
	t->limit = 0;
}

/* Whether the step can be made without a question. */
static bool needs_no_asking(struct gate_thread *t, const struct gate_op *op)
{
	int owner;

	if (!t->held && !quiet)
		return false;
	if (op->need >= NEED_NOTIFIED || op->need == NEED_ENDED || op->kind == ORDER_YIELD)
		return false;
	if (op->need && !need_met(op->need, op->object, t->tid, &owner))
		return false;
	if (quiet)
		quiet--;
	return true;
}

/* Whether the thread was cancelled, and does not want to be. */
static bool test_cancel(struct gate_thread *t, const struct gate_op *op)
{
	if (!t->cancelled || !op->cancels)
		return false;
	t->cancelled = false;
	pthread_testcancel();
	return true;
}

void gate_test_cancel(void)
{
	if (gate_mine)
		test_cancel(gate_mine, &(struct gate_op){.cancels = true});
}

static bool step(struct gate_thread *t, const struct gate_op *op)
{
	gate_mine = NULL;
	t->expired = false;
	if (!needs_no_asking(t, op))
		ask(t, op);
	count(t, op->kind, op->pc);
	t->last_expired = t->expired;
	stale = true;
	gate_mine = t;
	return !t->expired;
}

bool gate_step(const struct gate_op *op)
{
	struct gate_thread *t = gate_mine;
	bool in_time;

	if (!t)
		return true;
	/* Who is not to be cancelled now must go on waiting. */
	do
		in_time = step(t, op);
	while (test_cancel(t, op) && in_time && op->need && !is_met(t));
	return in_time;
}

/* Accesses. */

static struct toucher toucher(const struct gate_thread *t, uintptr_t address)
{
	return (struct toucher){t->who, address > (uintptr_t)__builtin_frame_address(0) && address < t->stack};
}

static bool is_asked_about(struct gate_thread *t, const volatile void *address, size_t size, void *pc)
{
	if (++unasked >= GATE_UNASKED)
		return true;
	switch ((enum sched_asks)sched.asks) {
	case SCHED_ASKS_SHARED: return sharing_touch((uintptr_t)address, size, toucher(t, (uintptr_t)address));
	case SCHED_ASKS_PLACES: return places_may((uintptr_t)pc);
	case SCHED_ASKS_ALL: return true;
	case SCHED_ASKS_NONE: break;
	}
	return false;
}

void gate_access(uint32_t kind, const volatile void *address, size_t size, void *pc)
{
	struct gate_thread *t = gate_mine;

	if (!t)
		return;
	if (kind == EVENT_WRITE)
		t->progress = true;
	if (quiet) {
		quiet--;
	} else if (is_asked_about(t, address, size, pc) && !t->held) {
		gate_mine = NULL;
		ask(t, &(struct gate_op){.kind = kind, .object = address, .pc = pc});
		gate_mine = t;
	}
	count(t, kind, pc);
}

void gate_progressed(void)
{
	if (gate_mine)
		gate_mine->progress = true;
}

void gate_forget(const void *at, size_t bytes)
{
	if (gate_mine && sched.asks == SCHED_ASKS_SHARED)
		sharing_forget((uintptr_t)at, bytes);
}

/* Threads. */

static uint32_t free_slot(void)
{
	for (uint32_t i = 0; i < SCHED_THREADS; i++)
		if (!views[i].number)
			return i;
	return SLOT_NONE;
}

uint32_t gate_born(uint32_t number, void *pc)
{
	uint32_t slot = gate_mine ? free_slot() : (uint32_t)SLOT_NONE;

	if (slot == SLOT_NONE) {
		if (gate_on) {
			__atomic_add_fetch(&foreign, 1, __ATOMIC_RELAXED);
			__atomic_add_fetch(&report()->outside, 1, __ATOMIC_RELAXED);
		}
		return SLOT_NONE;
	}
	threads[slot] = (struct gate_thread){.who = (uint16_t)(slot + 1)};
	threads[slot].op = (struct gate_op){.kind = ORDER_START, .pc = pc};
	views[slot] = (struct sched_thread){.number = number, .runnable = true, .kind = ORDER_START, .since = sched.step,
		.module = ORDER_NO_MODULE};
	if (slot >= sched.threads)
		sched.threads = slot + 1;
	sched.born = number;
	return slot;
}

void gate_unborn(uint32_t slot)
{
	if (slot < SCHED_THREADS)
		views[slot] = (struct sched_thread){0};
}

void gate_arrive(uint32_t slot, size_t stack)
{
	struct gate_thread *t = slot < SCHED_THREADS ? &threads[slot] : NULL;
	uintptr_t top = (uintptr_t)pthread_self() + 4096, here = (uintptr_t)__builtin_frame_address(0);

	if (!t || !gate_on)
		return;
	t->tid = (int)os_tid();
	mine = t;
	wait_for_turn(t);
	t->stack = top;
	if (top > here && stack && sched.asks == SCHED_ASKS_SHARED)
		sharing_forget(here - stack, top - (here - stack));
	count(t, ORDER_START, NULL);
	gate_mine = t;
}

void gate_known(void)
{
	if (mine)
		mine->ring = self_ring;
}

void gate_ending(void)
{
	struct gate_op op = {.kind = ORDER_FINISH};

	if (gate_mine)
		step(gate_mine, &op);
	else if (!mine && gate_on && foreign)
		__atomic_sub_fetch(&foreign, 1, __ATOMIC_RELAXED);
}

static bool is_anyone_left(void)
{
	for (uint32_t i = 0; i < sched.threads; i++)
		if (views[i].number)
			return true;
	return false;
}

uint32_t gate_leave(void)
{
	struct gate_thread *t = gate_mine;
	uint32_t slot = SLOT_NONE;

	gate_mine = mine = NULL;
	if (!t)
		return SLOT_NONE;
	views[slot_of(t)] = (struct sched_thread){0};
	stale = true;
	sched.current = slot_of(t);
	if (is_anyone_left())
		slot = decide(t);
	tell_switch(t, slot);
	t->ring = NULL;
	return slot < SCHED_THREADS ? slot : (uint32_t)SCHED_LATER;
}

bool gate_has_ended(uint32_t number)
{
	for (uint32_t i = 0; i < sched.threads; i++)
		if (views[i].number == number)
			return false;
	return true;
}

void gate_cancel(uint32_t number)
{
	if (!gate_mine)
		return;
	for (uint32_t i = 0; number && i < sched.threads; i++)
		if (views[i].number == number)
			threads[i].cancelled = true;
	stale = true;
}

void gate_adopted(void)
{
	if (!gate_on || mine)
		return;
	__atomic_add_fetch(&foreign, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&report()->outside, 1, __ATOMIC_RELAXED);
}

void gate_forked(void)
{
	gate_on = false;
	gate_mine = mine = NULL;
	walk_forked();
}

void gate_jumped(void)
{
	if (!gate_on || !mine || gate_mine || !mine->waits)
		return;
	wait_for_turn(mine);
	gate_mine = mine;
}

void gate_hold(void)
{
	if (gate_mine)
		gate_mine->held++;
}

void gate_release(void)
{
	if (gate_mine && gate_mine->held)
		gate_mine->held--;
}

/* Conditions and barriers. */

void gate_enter_condition(const volatile void *condition)
{
	gate_mine->condition = condition;
	gate_mine->notified = false;
	gate_mine->entered = ++waits;
}

void gate_leave_condition(void)
{
	gate_mine->condition = NULL;
}

bool gate_wait_condition(const struct gate_op *op)
{
	struct gate_thread *t = gate_mine;
	bool in_time = step(t, op);

	t->condition = NULL;
	return in_time || t->notified;
}

static struct gate_thread *first_at(const volatile void *condition)
{
	struct gate_thread *first = NULL;

	for (uint32_t i = 0; i < sched.threads; i++) {
		struct gate_thread *t = &threads[i];

		if (views[i].number && t->condition == condition && !t->notified && (!first || t->entered < first->entered))
			first = t;
	}
	return first;
}

void gate_notify(const volatile void *condition, bool all)
{
	struct gate_thread *t;

	if (!gate_mine)
		return;
	while ((t = first_at(condition))) {
		t->notified = true;
		if (!all)
			break;
	}
	stale = true;
}

bool gate_arrive_barrier(const volatile void *barrier, uint32_t parties)
{
	uint32_t there = 1;

	for (uint32_t i = 0; i < sched.threads; i++)
		there += views[i].number && threads[i].condition == barrier && !threads[i].departs;
	gate_mine->departs = there >= parties;
	gate_mine->condition = gate_mine->departs ? NULL : barrier;
	if (!gate_mine->departs)
		return false;
	for (uint32_t i = 0; i < sched.threads; i++)
		if (views[i].number && threads[i].condition == barrier) {
			threads[i].departs = true;
			threads[i].condition = NULL;
		}
	stale = true;
	return true;
}

/* The outside. */

bool gate_away(void *pc)
{
	struct gate_thread *t = gate_mine;
	uint32_t slot;

	if (!t)
		return false;
	step(t, &(struct gate_op){.kind = ORDER_INPUT, .pc = pc});
	gate_mine = NULL;
	__atomic_store_n(&t->back, 0, __ATOMIC_RELAXED);
	announce(t, &(struct gate_op){.kind = ORDER_INPUT, .need = NEED_BACK, .pc = pc});
	stale = true;
	slot = decide(t);
	tell_switch(t, slot);
	show(t, true);
	gate_let(slot < SCHED_THREADS ? slot : (uint32_t)SCHED_LATER);
	return true;
}

void gate_back(void)
{
	struct gate_thread *t = mine;
	void *pc = t->op.pc;

	__atomic_store_n(&t->back, 1, __ATOMIC_SEQ_CST);
	wait_for_turn(t);
	system_calls++;
	count(t, ORDER_INPUT, pc);
	gate_mine = t;
}

void gate_real(void)
{
	if (gate_on)
		__atomic_add_fetch(&report()->real, 1, __ATOMIC_RELAXED);
}

void gate_system(void)
{
	system_calls++;
}

/* The beginning. */

static const struct order *open_order(const char *path)
{
	int fd = (int)os_open(path, O_RDONLY | O_CLOEXEC);
	const struct order *o = NULL;
	long bytes;

	if (fd < 0)
		return NULL;
	bytes = os_size(fd);
	if (bytes > 0)
		o = os_map_read((size_t)bytes, fd);
	os_close(fd);
	return o && !order_check(o, (size_t)bytes) ? o : NULL;
}

/* The first process alone: who else finds the channel is a child or another program. */
void gate_start(void)
{
	const struct order *o;

	if (!self_ring || self_ring->process != 1 || !(channel->mode & MODE_GATE))
		return;
	o = open_order(channel->order);
	if (!o)
		return;
	sched_start(&sched, o);
	strategy = strategy_named(o->strategy);
	sched.thread = views;
	sched.step = 1;
	sharing_start();
	places_start(o);
	names_places = o->steps > 0;
	views[0] = (struct sched_thread){.number = self_ring->thread, .runnable = true, .since = 1, .module = ORDER_NO_MODULE};
	threads[0] = (struct gate_thread){.who = 1, .tid = (int)os_tid(), .ring = self_ring, .stack = self_ring->stack};
	sched.threads = 1;
	sched.born = self_ring->thread;
	turn = 1;
	mine = gate_mine = &threads[0];
	report()->holder = self_ring->thread;
	report()->started = 1;
	gate_on = true;
	walk_start();
}

void gate_modules(void)
{
	if (gate_on)
		places_modules();
}
