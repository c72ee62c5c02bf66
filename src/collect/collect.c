/* SPDX-License-Identifier: MIT */
#include "collect.h"

#include <signal.h>
#include <time.h>

#include "collect/link.h"
#include "collect/merge.h"
#include "collect/program.h"
#include "collect/translate.h"

enum {
	NAP_MS = 2,        /* between looks when nothing came */
	QUIET_MS = 20,     /* after so long without anything, who is still alive? */
	GRACE_SECONDS = 5, /* from SIGTERM to SIGKILL when the time is over */
};

struct collector {
	const struct collect_setup *setup;
	struct link link;
	struct merge merge;
	struct translate translate, full; /* the latter in MODE_BOTH */
	struct merge_listener listener[2];
	struct program program;
	struct collected *out;
	double start, quiet, killed;
};

static volatile sig_atomic_t caught;

static void catch(int signal)
{
	caught = signal;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void hand_on(void *self, struct event *e)
{
	struct collector *c = self;

	c->out->events++;
	if (!c->translate.timed)
		e->seq = c->out->events;
	c->setup->event(c->setup->to, e);
}

static void hand_on_past(void *self, struct event *e)
{
	struct collector *c = self;

	c->out->pasts++;
	c->setup->past(c->setup->to, e);
}

static void hand_on_full(void *self, struct event *e)
{
	struct collector *c = self;

	c->out->full_events++;
	c->setup->full->event(c->setup->full->to, e);
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
	translate_init(&c->translate, a, c->setup->namer, c, hand_on);
	c->translate.values = c->setup->mode & MODE_VALUES;
	c->translate.timed = c->setup->mode & MODE_TIMED;
	c->translate.past = c->setup->past ? hand_on_past : NULL;
	if (c->translate.timed)
		c->translate.stream = STREAM_FILTERED;
	c->listener[0] = translate_listener(&c->translate);
	if (!(c->setup->mode & MODE_BOTH))
		return c->listener[0];
	translate_init(&c->full, a, c->setup->full->namer, c, hand_on_full);
	c->full.timed = true;
	c->listener[1] = translate_listener(&c->full);
	return (struct merge_listener){c, begin_both, entry_both, finish_both};
}

/* A terminal sends its signals to the program as well; whoever else sent it meant the program. */
static void pass_signals(struct collector *c)
{
	int signal = caught;

	if (!signal || c->program.ended)
		return;
	caught = 0;
	kill(c->program.pid, signal);
}

static void watch_time(struct collector *c)
{
	double t = now();

	if (!c->setup->seconds || t - c->start < c->setup->seconds || c->program.ended)
		return;
	c->out->timed_out = true;
	if (!c->killed)
		kill(c->program.pid, SIGTERM);
	else if (t - c->killed > GRACE_SECONDS)
		kill(c->program.pid, SIGKILL);
	if (!c->killed)
		c->killed = t;
}

/* Rings of processes that are gone are finished. Returns whether any process is left. */
static bool look_around(struct collector *c)
{
	uint32_t from = 0;
	bool any = false;
	int pid;

	if (program_ended(&c->program))
		merge_dead(&c->merge, c->program.pid);
	while ((pid = merge_living(&c->merge, &from)) != 0) {
		if ((pid == c->program.pid && c->program.ended) || !program_lives(pid))
			merge_dead(&c->merge, pid);
		else
			any = true;
	}
	return any || !c->program.ended;
}

/* Until nobody is left who could write. */
static void pump(struct collector *c)
{
	for (bool living = true; living;) {
		uint32_t bell = __atomic_load_n(&c->link.channel->bell, __ATOMIC_ACQUIRE);

		pass_signals(c);
		watch_time(c);
		if (merge_step(&c->merge)) {
			c->quiet = now();
			continue;
		}
		if (now() - c->quiet > QUIET_MS / 1e3) {
			living = look_around(c);
			merge_unblock(&c->merge);
			c->quiet = now();
		} else if (program_ended(&c->program)) {
			living = look_around(c);
		}
		if (living)
			link_sleep(&c->link, bell, NAP_MS);
	}
	merge_end(&c->merge);
}

static void account(struct collector *c)
{
	const struct channel *channel = c->link.channel;

	c->out->status = program_status(&c->program);
	c->out->entries = c->merge.entries;
	c->out->given_up = c->merge.given_up;
	c->out->lost = channel->dropped;
	c->out->unknown = c->translate.unknown + c->merge.insane;
	c->out->threads = channel->threads;
	c->out->processes = channel->processes;
}

static void watch_signals(void (*handler)(int))
{
	struct sigaction a = {.sa_handler = handler};

	sigaction(SIGINT, &a, NULL);
	sigaction(SIGTERM, &a, NULL);
}

bool collect(const struct collect_setup *setup, struct arena *a, struct collected *out, struct fault *fault)
{
	struct collector c = {.setup = setup, .out = out};
	struct program_setup p = {.argv = setup->argv, .preload = setup->preload};

	*out = (struct collected){0};
	if (!link_open(&c.link, setup->mode, fault))
		return false;
	p.channel = c.link.path;
	merge_init(&c.merge, a, c.link.channel, listener_of(&c, a));
	if (!program_start(&c.program, &p, fault)) {
		link_close(&c.link);
		return false;
	}
	watch_signals(catch);
	c.start = c.quiet = now();
	pump(&c);
	account(&c);
	watch_signals(SIG_DFL);
	link_close(&c.link);
	return true;
}
