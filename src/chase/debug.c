/* SPDX-License-Identifier: MIT */
#include "debug.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/fail.h"
#include "chase/replay_file.h"
#include "collect/collect.h"
#include "event/tables.h"
#include "runtime/channel.h"
#include "symbols/namer.h"

enum { OWN_WORDS = 8 };

static const double PATIENT = 1e9; /* seconds: who debugs takes his time */

static void nothing(void *to, struct event *e)
{
	(void)to, (void)e;
}

/* The three operations one after the other. */
static const struct order *order_of(const struct replay *r, struct arena *a)
{
	struct order *o;
	uint32_t n = 0;

	if (!r->mark[MARK_FIRST].step.thread)
		return r->order;
	o = replay_order(a, r->order->modules, MARKS);
	strcpy(o->strategy, "plan");
	memcpy(replay_module(o, 0), order_module(r->order, 0), o->modules * sizeof(struct order_module));
	for (int i = 0; i < MARKS; i++)
		if (r->mark[i].step.thread) {
			*replay_step(o, n) = r->mark[i].step;
			replay_step(o, n++)->flags = i == MARK_CULPRIT ? ORDER_CULPRIT : 0;
		}
	o->steps = n;
	o->stop = 1;
	return o;
}

/* A file for the program's standard input, removed when gdb has ended. */
static bool put_input(const struct replay *r, char *path, struct fault *fault)
{
	int fd = mkstemp(path);
	bool good = fd >= 0 && write(fd, r->input.at ? r->input.at : "", r->input.length) == (ssize_t)r->input.length;

	if (fd >= 0)
		close(fd);
	if (!good)
		fault_set(fault, STATUS_UNFIT, "%s: cannot keep the program's input there", path);
	return good;
}

static char **words_of(const struct replay *r, const char *run, struct arena *a)
{
	static const char *const own[] = {"gdb", "-q", "-ex", NULL, "--args"};
	char **argv = arena_alloc(a, (OWN_WORDS + r->argc + 1) * sizeof *argv);
	size_t n = 0;

	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		argv[n++] = arena_text(a, own[i] ? own[i] : run, strlen(own[i] ? own[i] : run));
	memcpy(argv + n, r->argv, r->argc * sizeof *argv);
	return argv;
}

bool debug_replay(const struct replay *r, struct arena *a, int *status, struct fault *fault)
{
	char input[] = "/tmp/fission-input.XXXXXX", run[64] = "run";
	struct tables tables;
	struct namer namer;
	struct inputs_way way;
	struct collect_setup setup = {.namer = &namer, .event = nothing, .order = order_of(r, a), .patience = PATIENT};
	struct collected c = {0};
	bool good = inputs_ready(&way, &r->more, a, fault);

	if (good && r->input.length && !put_input(r, input, fault))
		return false;
	if (r->input.length)
		snprintf(run, sizeof run, "run < %s", input);
	tables_init(&tables, a);
	namer_init(&namer, a, &tables);
	setup.argv = words_of(r, run, a);
	setup.env = way.env;
	good = good && collect(&setup, a, &c, fault);
	if (!good && fault->status == STATUS_USAGE) {
		*fault = (struct fault){0};
		fault_set(fault, STATUS_UNFIT, "gdb cannot be started; on Debian: apt install gdb");
	}
	namer_close(&namer);
	inputs_done(&way);
	if (r->input.length)
		unlink(input);
	*status = c.status;
	return good;
}
