/* SPDX-License-Identifier: MIT */
#include "execute.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "chase/inputs.h"
#include "event/walk.h"
#include "runtime/channel.h"
#include "sched/order.h"

enum { STREAMS = 3, SIGNAL_STATUS = 128, PATIENCE = 10 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct order *execute_freely(struct arena *a, const char *strategy, uint64_t seed)
{
	struct order *o = arena_alloc(a, sizeof *o);

	*o = (struct order){.magic = ORDER_MAGIC, .version = ORDER_VERSION, .seed = seed};
	strncpy(o->strategy, strategy, sizeof o->strategy - 1);
	return o;
}

bool execute_input(struct text *to, struct arena *a, struct fault *fault)
{
	char *text;
	ssize_t n;
	size_t length = 0;

	*to = (struct text){"", 0};
	if (isatty(0) || fcntl(0, F_GETFD) < 0)
		return true;
	text = arena_alloc(a, REPLAY_INPUT_MOST + 1);
	while (length <= REPLAY_INPUT_MOST && (n = read(0, text + length, REPLAY_INPUT_MOST + 1 - length)) > 0)
		length += (size_t)n;
	if (length > REPLAY_INPUT_MOST)
		fault_set(fault, STATUS_USAGE, "standard input: more than 4 MiB cannot be given to every execution; have the "
			"program read a file");
	*to = (struct text){text, length};
	return !fault_is_set(fault);
}

int execute_input_file(struct text input)
{
	int fd = memfd_create("fission-input", MFD_CLOEXEC);

	if (fd >= 0 && input.length && pwrite(fd, input.at, input.length, 0) != (ssize_t)input.length) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* The program's standard streams: files without names. */
static bool open_streams(int streams[STREAMS], struct text input, struct fault *fault)
{
	streams[0] = execute_input_file(input);
	for (int i = 1; i < STREAMS; i++)
		streams[i] = memfd_create("fission-output", MFD_CLOEXEC);
	if (streams[0] >= 0 && streams[1] >= 0 && streams[2] >= 0)
		return true;
	fault_set(fault, STATUS_UNFIT, "cannot keep the program's input and output: %s", strerror(errno));
	return false;
}

static void close_streams(const int streams[STREAMS])
{
	for (int i = 0; i < STREAMS; i++)
		if (streams[i] >= 0)
			close(streams[i]);
}

/* What was written: its beginning; of all of it the length and a hash. */
static struct text take_stream(struct execution *x, int fd, struct outcome *to)
{
	off_t length = lseek(fd, 0, SEEK_END);
	size_t keep = length < EXECUTE_KEEPS ? (size_t)length : (size_t)EXECUTE_KEEPS;
	char *at = length > 0 ? mmap(NULL, (size_t)length, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
	struct text kept = {"", 0};

	if (at == MAP_FAILED)
		return kept;
	kept = (struct text){arena_text(&x->arena, at, keep), keep};
	if (to) {
		to->bytes = (uint64_t)length;
		to->hash = hash_bytes(at, (size_t)length);
	}
	munmap(at, (size_t)length);
	return kept;
}

static void take(void *self, struct event *e)
{
	struct execution *x = self;

	x->event = arena_reserve(&x->arena, x->event, &x->capacity, x->events, sizeof *x->event);
	x->event[x->events++] = *e;
	x->event[x->events - 1].seq = x->events;
}

static void judge_ending(struct execution *x)
{
	const struct collected *c = &x->collected;
	struct outcome *o = &x->outcome;

	if (c->gate.deadlock)
		o->ending = ENDING_DEADLOCK;
	else if (c->gate.stuck || c->timed_out)
		o->ending = ENDING_HANG;
	else
		o->ending = c->status > SIGNAL_STATUS ? ENDING_SIGNAL : ENDING_EXIT;
	o->status = o->ending == ENDING_EXIT ? (uint32_t)c->status :
		o->ending == ENDING_SIGNAL ? (uint32_t)c->status - SIGNAL_STATUS : 0;
}

/* The place of each step of the order that was taken, for people who read it. */
static void name_steps(struct execution *x)
{
	struct order *o = x->taken;

	x->places = arena_alloc(&x->arena, (o->steps + 1) * sizeof *x->places);
	for (uint32_t i = 0; i < o->steps; i++) {
		const struct order_step *s = order_step(o, i);

		x->places[i] = (struct text){"", 0};
		if (s->module < x->tables.module_count)
			x->places[i] = tables_name(&x->tables, TABLE_SITE,
				namer_site(&x->namer, x->tables.modules[s->module].base + s->offset));
	}
}

static bool run(struct execution *x, const struct execute_setup *setup, const int *streams, struct fault *fault)
{
	struct collect_setup c = {.argv = setup->argv, .path = setup->path, .env = x->way.env, .streams = streams,
		.mode = MODE_VALUES, .namer = &x->namer,
		.policy = setup->policy, .seconds = setup->seconds, .to = x, .event = take, .order = setup->order,
		.patience = setup->seconds && setup->seconds / 2 < PATIENCE ? setup->seconds / 2 : PATIENCE};
	double start = now();

	if (!collect(&c, &x->arena, &x->collected, fault))
		return false;
	x->seconds = now() - start;
	x->output = take_stream(x, streams[1], &x->outcome);
	x->errors = take_stream(x, streams[2], NULL);
	judge_ending(x);
	x->taken = x->collected.gate.executed;
	if (x->taken)
		name_steps(x);
	return true;
}

bool execute(struct execution *x, const struct execute_setup *setup, struct fault *fault)
{
	int streams[STREAMS] = {-1, -1, -1};
	bool done;

	*x = (struct execution){.outcome.ending = ENDING_EXIT};
	arena_init(&x->arena);
	tables_init(&x->tables, &x->arena);
	namer_init(&x->namer, &x->arena, &x->tables);
	done = inputs_ready(&x->way, setup->more, &x->arena, fault);
	if (setup->walk)
		inputs_variable(&x->way, WALK_VARIABLE, setup->walk, &x->arena);
	done = done && open_streams(streams, setup->input, fault) && run(x, setup, streams, fault);
	close_streams(streams);
	inputs_done(&x->way);
	if (done && !x->taken) {
		fault_set(fault, STATUS_UNFIT, "%s: cannot be controlled, since it was not built with fission-cc; "
			"'fission cc --help' shows how", setup->argv[0]);
		done = false;
	}
	if (!done)
		execution_free(x);
	return done;
}

void execution_free(struct execution *x)
{
	namer_close(&x->namer);
	arena_free(&x->arena);
	*x = (struct execution){0};
}
