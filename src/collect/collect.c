/* SPDX-License-Identifier: MIT */
#include "collect.h"

#include <signal.h>
#include <string.h>
#include <time.h>

#include "collect/gated.h"
#include "collect/wire.h"
#include "collect/merge.h"
#include "collect/program.h"
#include "collect/translate.h"
#include "sched/order.h"

/* A time has room for so many tickets, as the checks count it: there are two positions to a time. */
#define TICKET_LAST (((uint64_t)1 << (TIME_BITS - TICK_BITS - 1)) - 2)

enum {
	NAP_MS = 2,        /* between looks when nothing came */
	QUIET_MS = 20,     /* after so long without anything, who is still alive? */
	STILL_MS = 100,    /* after so long, nothing will come by itself */
	GRACE_SECONDS = 5, /* from SIGTERM to SIGKILL when the time is over */
	PATIENCE_SECONDS = 10, /* without a step of a controlled run */
	BIRTH_SECONDS = 2, /* for a process to be forked; longer, and it was killed before it could say its name */
};

struct collector {
	const struct collect_setup *setup;
	struct wire wire;
	struct merge merge;
	struct translate translate, full; /* the latter in MODE_BOTH */
	struct merge_listener listener[2];
	struct gated_run gated; /* with an order */
	uint64_t steps;         /* of the controlled run, at the last look */
	double stepped;         /* when that was another one */
	struct program program;
	struct collected *out;
	double start, quiet, still, killed; /* quiet: when the last look around was; still: when the last entry came */
	double expecting; /* since when a process is about to be forked, or 0 */
};

/* What would end the tool before its report; a program may take them for something else. */
static const int passed[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

enum { PASSED = sizeof passed / sizeof *passed };

static volatile sig_atomic_t caught[PASSED];
static volatile sig_atomic_t interrupted; /* by any that ends a program, whoever sent it */
static struct sigaction before[PASSED];

/* The terminal sends to all of its foreground group: the program has that one already. */
static void catch(int signal, siginfo_t *info, void *context)
{
	(void)context;
	for (size_t i = 0; i < PASSED; i++)
		if (passed[i] == signal && info->si_code != SI_KERNEL)
			caught[i] = 1;
	if (signal != SIGUSR1 && signal != SIGUSR2)
		interrupted = 1;
}

/* From before the program's start until they are watched: none may end the tool alone in between. */
static void hold_signals(sigset_t *mask)
{
	sigset_t held;

	sigemptyset(&held);
	for (size_t i = 0; i < PASSED; i++)
		sigaddset(&held, passed[i]);
	sigprocmask(SIG_BLOCK, &held, mask);
}

static void watch_signals(void)
{
	struct sigaction a = {.sa_sigaction = catch, .sa_flags = SA_SIGINFO | SA_RESTART};

	interrupted = 0;
	for (size_t i = 0; i < PASSED; i++) {
		caught[i] = 0;
		sigaction(passed[i], NULL, &before[i]);
		if (before[i].sa_handler != SIG_IGN)
			sigaction(passed[i], &a, NULL);
	}
}

static void unwatch_signals(void)
{
	for (size_t i = 0; i < PASSED; i++)
		sigaction(passed[i], &before[i], NULL);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Events without times are numbered. */
static void hand_on(void *self, struct event *e)
{
	struct collector *c = self;

	e->seq = c->translate.events;
	c->setup->event(c->setup->to, e);
}

static void hand_on_full(void *self, struct event *e)
{
	struct collector *c = self;

	c->out->full_events++;
	c->setup->full->event(c->setup->full->to, e);
}

static void hand_on_briefs(void *self, const struct briefs *b)
{
	struct collector *c = self;

	c->setup->briefs(c->setup->to, b);
}

static bool open_columns(void *self, thread_id thread, struct bin_columns *columns)
{
	struct collector *c = self;

	return c->setup->columns(c->setup->to, thread, columns);
}

static void close_columns(void *self, const struct bin_columns *columns)
{
	struct collector *c = self;

	c->setup->columns_end(c->setup->to, columns);
}

static void hand_on_loop(void *self, const struct brief_loop *l)
{
	struct collector *c = self;

	c->setup->loop(c->setup->to, l);
}

static void hand_on_trail(void *self, thread_id thread, const unsigned char *bytes, size_t n)
{
	struct collector *c = self;

	c->setup->trail(c->setup->to, thread, bytes, n);
}

/* Both streams. */

static void begin_both(void *self, uint32_t ring, const struct self *thread)
{
	struct collector *c = self;

	for (size_t i = 0; i < 2; i++)
		c->listener[i].begin(c->listener[i].self, ring, thread);
}

static void entry_both(void *self, uint32_t ring, const struct entry *e)
{
	struct collector *c = self;

	for (size_t i = 0; i < 2; i++)
		c->listener[i].entry(c->listener[i].self, ring, e);
}

static void finish_both(void *self, uint32_t ring)
{
	struct collector *c = self;

	for (size_t i = 0; i < 2; i++)
		c->listener[i].finish(c->listener[i].self, ring);
}

/* Who takes what the rings give. */
static struct merge_listener listener_of(struct collector *c, struct arena *a)
{
	translate_init(&c->translate, a, c->setup->namer, c->setup->policy, c, hand_on);
	if (c->setup->mode & MODE_TIMED) {
		c->translate.to = c->setup->to;
		c->translate.event = c->setup->event;
		c->translate.late = c->setup->late;
		if (c->setup->room)
			c->translate.room = c->setup->room;
	}
	c->translate.values = c->setup->mode & MODE_VALUES || c->setup->order;
	c->translate.timed = c->setup->mode & MODE_TIMED;
	c->translate.lazy = c->setup->lazy && c->setup->mode == MODE_LOCKS;
	c->translate.stock = c->setup->mode & MODE_STOCK;
	if (c->translate.timed)
		c->translate.stream = STREAM_FILTERED;
	if (c->setup->briefs)
		c->translate.briefs = hand_on_briefs;
	if (c->setup->columns) {
		c->translate.columns = open_columns;
		c->translate.columns_end = close_columns;
	}
	if (c->setup->loop && !c->setup->mode && !c->setup->order)
		c->translate.loop = hand_on_loop;
	if (c->setup->trail && !c->setup->mode && !c->setup->order) {
		c->translate.trail = hand_on_trail;
		c->translate.channel = c->wire.channel;
		c->wire.channel->trails = !c->translate.roles.locks;
	}
	c->listener[0] = translate_listener(&c->translate);
	gated_init(&c->gated, a, &c->translate.naming, c->listener[0]);
	if (c->setup->order)
		return gated_listener(&c->gated);
	if (!(c->setup->mode & MODE_BOTH))
		return c->listener[0];
	translate_init(&c->full, a, c->setup->full->namer, c->setup->policy, c, hand_on_full);
	c->full.timed = true;
	c->listener[1] = translate_listener(&c->full);
	return (struct merge_listener){c, begin_both, entry_both, finish_both};
}

static void pass_signals(struct collector *c)
{
	for (size_t i = 0; i < PASSED; i++)
		if (caught[i] && !c->program.ended) {
			caught[i] = 0;
			kill(c->program.pid, passed[i]);
		}
}

static void watch_time(struct collector *c)
{
	double t = now();

	bool late = c->setup->seconds && t - c->start >= c->setup->seconds;

	c->out->halted = c->setup->halt && *c->setup->halt;
	if (!late && !c->out->halted)
		return;
	c->out->timed_out |= late && !c->out->halted;
	if (program_ended(&c->program))
		return;
	if (!c->killed)
		kill(c->program.pid, SIGTERM);
	else if (t - c->killed > GRACE_SECONDS)
		kill(c->program.pid, SIGKILL);
	if (!c->killed)
		c->killed = t;
}

/*
 * A controlled run that makes no step: somebody who holds the turn is blocked where the gate does not know it, or
 * computes for very long. What each thread is at is asked before the program is ended, as it would be gone then.
 */
static void watch_steps(struct collector *c)
{
	const struct gate_report *r = &c->wire.channel->gate;
	double t = now(), patience = c->setup->patience > 0 ? c->setup->patience : PATIENCE_SECONDS;
	uint64_t steps = __atomic_load_n(&r->steps, __ATOMIC_RELAXED);

	if (!c->setup->order || !r->started || c->out->gate.stuck || program_ended(&c->program))
		return;
	if (steps != c->steps || !__atomic_load_n(&r->holder, __ATOMIC_RELAXED)) {
		c->steps = steps;
		c->stepped = t;
	}
	if (t - c->stepped < patience || r->end)
		return;
	c->out->gate.stuck = true;
	c->out->gate.text = gated_stands(&c->gated, c->wire.channel);
	kill(c->program.pid, SIGKILL);
}

/* A deadlock: asked for while the rings still have their threads. */
static void watch_deadlock(struct collector *c)
{
	if (c->setup->order && !c->out->gate.text &&
		__atomic_load_n(&c->wire.channel->gate.end, __ATOMIC_ACQUIRE) == GATE_DEADLOCK)
		c->out->gate.text = gated_stands(&c->gated, c->wire.channel);
}

/* A parent may end before its child has shown itself. */
static bool expects(struct collector *c)
{
	if (!merge_expects(&c->merge))
		c->expecting = 0;
	else if (!c->expecting)
		c->expecting = now();
	return c->expecting && now() - c->expecting < BIRTH_SECONDS;
}

/*
 * Of two rings of one thread the older one is that of the program that it was before an exec. Only a process's first
 * thread survives that.
 */
static bool was_replaced(struct collector *c, const struct merge_owner *o)
{
	struct merge_owner other;
	uint32_t from = 0;

	if (o->tid != o->pid)
		return false;
	while (merge_owners(&c->merge, &from, &other))
		if (other.tid == o->tid && other.process > o->process)
			return true;
	return false;
}

/* Rings of threads that are gone are finished. Returns whether any thread is left. */
static bool look_around(struct collector *c, bool still)
{
	struct merge_owner o;
	uint32_t from = 0;
	bool any = false, ended = program_ended(&c->program);

	while (merge_owners(&c->merge, &from, &o)) {
		char state = o.pid == c->program.pid && ended ? 0 : program_thread(o.pid, o.tid);

		if (!state || was_replaced(c, &o)) {
			merge_dead(&c->merge, o.ring);
			continue;
		}
		any = true;
		if (still && o.stuck && state == 'S')
			merge_skip(&c->merge, o.ring);
	}
	return any || expects(c) || !ended;
}

/* Nothing came this time. Returns whether anything may still come. */
static bool idle(struct collector *c)
{
	double t = now();
	bool living = true;

	watch_deadlock(c);
	if (t - c->quiet > QUIET_MS / 1e3) {
		living = look_around(c, t - c->still > STILL_MS / 1e3);
		merge_unblock(&c->merge);
		c->quiet = t;
	} else if (program_ended(&c->program)) {
		living = look_around(c, false);
	}
	return living;
}

/*
 * Whoever asked for an end does not wait for processes that the program has left behind, and that may write for ever.
 */
static bool is_enough(struct collector *c)
{
	return (interrupted || c->out->timed_out) && program_ended(&c->program);
}

/* Until nobody is left who could write. */
static void pump(struct collector *c)
{
	for (bool living = true; living && !is_enough(c) && !merge_is_over(&c->merge);) {
		uint32_t bell = __atomic_load_n(&c->wire.channel->bell, __ATOMIC_ACQUIRE);

		pass_signals(c);
		watch_time(c);
		watch_steps(c);
		if (merge_step(&c->merge) || merge_relieve(&c->merge)) {
			c->quiet = c->still = now();
			continue;
		}
		living = idle(c);
		if (living)
			wire_sleep(&c->wire, bell, NAP_MS);
	}
	__atomic_store_n(&c->wire.channel->closed, 1, __ATOMIC_RELEASE);
	merge_end(&c->merge);
}

/* The program ends when it likes, heard or not. */
static void outlive(struct collector *c)
{
	while (!program_ended(&c->program)) {
		pass_signals(c);
		watch_time(c);
		watch_steps(c);
		wire_sleep(&c->wire, __atomic_load_n(&c->wire.channel->bell, __ATOMIC_ACQUIRE), QUIET_MS);
	}
}

static void account(struct collector *c)
{
	const struct channel *channel = c->wire.channel;

	c->out->status = program_status(&c->program);
	c->out->events = c->translate.events;
	c->out->pasts = c->translate.pasts;
	c->out->entries = c->merge.entries;
	c->out->given_up = c->merge.given_up > c->merge.cut_off ? c->merge.given_up - c->merge.cut_off : 0;
	c->out->late = c->merge.late;
	c->out->cut = merge_is_over(&c->merge);
	c->out->skipped = c->merge.skipped;
	c->out->lost = channel->dropped;
	c->out->unringed = channel->unringed;
	c->out->quiet = channel->quiet;
	c->out->unknown = c->translate.unknown + c->merge.insane;
	c->out->lockless = c->translate.lockless;
	c->out->unheard = c->translate.unheard;
	c->out->threads = channel->threads;
	c->out->processes = channel->processes;
	if (c->setup->order)
		gated_tell(&c->gated, channel, c->setup->order, &c->out->gate);
}

bool collect(const struct collect_setup *setup, struct arena *a, struct collected *out, struct fault *fault)
{
	static struct collector c; /* too large for the stack that some have */
	sigset_t mask;
	struct program_setup p = {.argv = setup->argv, .path = setup->path, .preload = setup->preload, .mask = &mask,
		.env = setup->env, .streams = setup->streams, .steady = setup->order};

	memset(&c, 0, sizeof c);
	c.setup = setup;
	c.out = out;
	*out = (struct collected){0};
	if (!wire_open(&c.wire, setup->order ? MODE_GATE | (setup->mode & MODE_STOCK ? setup->mode : MODE_VALUES) :
			setup->mode, fault))
		return false;
	if (setup->order && !wire_order(&c.wire, setup->order, order_bytes(setup->order), fault)) {
		wire_close(&c.wire);
		return false;
	}
	p.channel = c.wire.path;
	merge_init(&c.merge, a, c.wire.channel, listener_of(&c, a));
	if (c.translate.timed)
		c.merge.last = TICKET_LAST;
	hold_signals(&mask);
	if (!program_start(&c.program, &p, fault)) {
		sigprocmask(SIG_SETMASK, &mask, NULL);
		wire_close(&c.wire);
		return false;
	}
	watch_signals();
	sigprocmask(SIG_SETMASK, &mask, NULL);
	c.start = c.quiet = c.still = c.stepped = now();
	pump(&c);
	outlive(&c);
	account(&c);
	unwatch_signals();
	wire_close(&c.wire);
	return true;
}
