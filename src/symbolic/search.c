/* SPDX-License-Identifier: MIT */
#include "search.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/str.h"
#include "chase/inputs.h"
#include "sched/order.h"
#include "symbolic/ask.h"
#include "symbolic/slice.h"
#include "symbolic/supposed.h"
#include "symbolic/walk_read.h"

enum {
	ASKS = 16,          /* questions of one walk */
	AGAINS = 32,        /* known answers that are put together with the inputs of one */
	LOOKS = 200,        /* decisions of one walk that are looked at for them, of each class */
	EACH = 2000,        /* milliseconds for a question */
	DULL_MOST = 60,
	SPECULATIONS = 4,   /* walks that are looked at for what was not done in them */
	SPECULATION = 30000, /* milliseconds for that */
	AGAIN_MOST = 4,     /* times that an execution is repeated for what its walk has left */
};

static const uint64_t MEMORY_MOST = (uint64_t)512 << 20; /* for inputs that wait */
static const uint64_t WALK_BYTES = (uint64_t)128 << 20;

void search_init(struct search *s, const struct search_setup *setup)
{
	*s = (struct search){.setup = *setup, .walk = -1, .off = access(setup->solver, X_OK) != 0};
	arena_init(&s->arena);
	map_init(&s->asked, &s->arena);
	map_init(&s->gone, &s->arena);
	map_init(&s->tried, &s->arena);
	map_init(&s->wanted, &s->arena);
}

static void close_walk(struct search *s)
{
	if (s->walk >= 0)
		close(s->walk);
	s->walk = -1;
}

void search_free(struct search *s)
{
	close_walk(s);
	arena_free(&s->arena);
}

/* A file of its full length, of which nobody can take anything away: whoever reads it is not to fall over the end. */
static const char *next_walk(void *self)
{
	struct search *s = self;

	close_walk(s);
	if (s->off)
		return NULL;
	s->walk = memfd_create("fission-walk", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (s->walk < 0 || ftruncate(s->walk, (off_t)WALK_BYTES) != 0 ||
		fcntl(s->walk, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
		close_walk(s);
		return NULL;
	}
	snprintf(s->path, sizeof s->path, "/proc/%d/fd/%d", (int)getpid(), s->walk);
	return s->path;
}

/* Ways. */

static uint64_t way_key(uint64_t unit, uint32_t ordinal, uint64_t value)
{
	return hash_pair(hash_pair(unit, ordinal), value);
}

void search_want(struct search *s, uint64_t unit, uint32_t ordinal, uint64_t value)
{
	uint32_t *known = map_put(&s->wanted, way_key(unit, ordinal, value));

	s->wants += !*known;
	*known = 1;
}

/* Returns whether the walk has gone a way that none before it has. */
static bool note_ways(struct search *s, const struct walk *w)
{
	bool fresh = false;

	for (size_t i = 0; i < w->records; i++) {
		const struct walk_record r = w->record[i];
		uint32_t unit = map_get(&w->units, r.module), *known;

		if (r.kind != WALK_BRANCH && r.kind != WALK_SELECT && r.kind != WALK_SWITCH)
			continue;
		known = map_put(&s->gone, way_key(unit ? w->unit[unit - 1] : 0, r.ordinal, r.a));
		fresh |= !*known;
		*known = 1;
	}
	return fresh;
}

/* Questions. */

struct asking {
	struct search *search;
	const struct walk *walk;
	const struct steer_run *run;
	struct slices slices;
	struct arena *arena;
	struct ask ask[ASKS + 1];
	uint8_t class[ASKS + 1];
	uint32_t number[ASKS + 1]; /* of the place for its answer */
	unsigned again;            /* answers of others that were put together with these inputs */
	size_t count;
	bool more; /* than are asked now */
};

/* What a decision is to be instead: of a branch the other way, of a switch a case or, behind them, none of them. */
static uint64_t other_of(const struct walk *w, const struct walk_condition *c, uint32_t i)
{
	if (c->kind != WALK_SWITCH)
		return !c->value;
	return i < c->cases ? walk_bits(w->record[c->record + 1 + i].a, w->node[c->expr].width) : ~(uint64_t)0;
}

static enum search_class class_of(const struct asking *q, const struct walk_condition *c, uint64_t other)
{
	const struct search *s = q->search;
	uint64_t way = way_key(c->module, c->ordinal, other);

	if (map_get(&s->wanted, way) && !map_get(&s->gone, way))
		return SEARCH_AIMED;
	if (q->run->missed && c->thread == q->run->missed)
		return SEARCH_AIMED;
	return map_get(&s->gone, way) ? SEARCH_OTHER : SEARCH_NEW_WAY;
}

static void add(struct search *s, struct search_queue *q, struct steer_try t)
{
	q->at = arena_reserve(&s->arena, q->at, &q->room, q->count, sizeof *q->at);
	q->at[q->count++] = t;
}

static uint64_t order_key(const struct order *o)
{
	return o && o->steps ? hash_bytes(order_step(o, 0), o->steps * sizeof(struct order_step)) : 0;
}

/* What is answered waits for its turn, unless it was tried. */
static void queue_up(struct asking *q, enum search_class class, const struct changes *c)
{
	struct search *s = q->search;
	struct steer_try t = {.order = class == SEARCH_AIMED && q->run->missed ? q->run->by : NULL};
	uint32_t *known;

	t.inputs = change_inputs(q->run->inputs, q->walk, c, q->arena);
	s->unwritable += !t.inputs;
	if (!t.inputs || s->arena.bytes > MEMORY_MOST)
		return;
	known = map_put(&s->tried, hash_pair(inputs_hash(t.inputs), order_key(t.order)));
	if ((*known)++)
		return;
	t.inputs = change_inputs(q->run->inputs, q->walk, c, &s->arena); /* to stay */
	if (t.inputs)
		add(s, &s->queue[class], t);
}

/* An answer that is known already, in a run that has other inputs besides. */
static void apply_again(struct asking *q, enum search_class class, const struct search_answer *known)
{
	struct changes c = {.at = arena_alloc(q->arena, (known->count + 1) * sizeof *c.at)};

	for (size_t i = 0; i < known->count; i++) {
		uint32_t input = map_get(&q->walk->place, known->at[i].input);

		if (!input)
			return;
		c.at[c.count++] = (struct change){input - 1, known->at[i].value};
	}
	if (c.count && q->again++ < AGAINS)
		queue_up(q, class, &c);
}

static void keep_answer(struct search *s, const struct walk *w, uint32_t number, const struct changes *c)
{
	struct search_answer *to = &s->answer[number];

	to->at = arena_alloc(&s->arena, (c->count + 1) * sizeof *to->at);
	for (; to->count < c->count; to->count++)
		to->at[to->count] = (struct search_value){w->input[c->at[to->count].input].hash, c->at[to->count].value};
}

/* Returns whether the decision is of that class. */
static bool choose_one(struct asking *q, enum search_class class, size_t condition, uint64_t other)
{
	const struct walk_condition *c = &q->walk->condition[condition];
	struct search *s = q->search;
	uint32_t *known;
	uint64_t key;

	if (c->value == other || class_of(q, c, other) != class)
		return false;
	key = slice_key(&q->slices, condition);
	if (!key)
		return false;
	known = map_put(&s->asked, hash_pair(key, other));
	if (*known) {
		apply_again(q, class, &s->answer[*known - 1]);
		return true;
	}
	q->more = q->count == ASKS;
	if (q->more)
		return true;
	s->answer = arena_reserve(&s->arena, s->answer, &s->answer_room, s->answers, sizeof *s->answer);
	*known = (uint32_t)s->answers + 1;
	q->number[q->count] = (uint32_t)s->answers++;
	q->class[q->count] = (uint8_t)class;
	q->ask[q->count++] = (struct ask){.condition = condition, .value = other,
		.valued = c->kind == WALK_SWITCH && other != ~(uint64_t)0};
	return true;
}

/* The last decisions of the class first. */
static void choose(struct asking *q, enum search_class class)
{
	const struct walk *w = q->walk;
	size_t looks = 0;

	for (size_t i = w->conditions; i-- > 0 && looks < LOOKS && !q->more;) {
		const struct walk_condition *c = &w->condition[i];

		if (!walk_decides(c) || !q->slices.inputs[i].count)
			continue;
		for (uint32_t k = 0; k <= c->cases && !q->more; k++)
			looks += choose_one(q, class, i, other_of(w, c, k));
	}
}

static void take_answer(struct asking *q, size_t i)
{
	struct search *s = q->search;
	const struct ask *ask = &q->ask[i];

	s->impossible += ask->answer == ASK_UNSAT;
	s->given_up += ask->answer == ASK_UNKNOWN;
	if (ask->answer != ASK_SAT)
		return;
	s->answered++;
	keep_answer(s, q->walk, q->number[i], &ask->changes);
	queue_up(q, (enum search_class)q->class[i], &ask->changes);
}

static void ask_walk(struct search *s, const struct walk *w, const struct steer_run *run, struct arena *a)
{
	struct asking *q = arena_alloc(a, sizeof *q);
	struct ask_setup setup = {s->setup.solver, s->walk, EACH};

	*q = (struct asking){.search = s, .walk = w, .run = run, .arena = a};
	slices_init(&q->slices, w, a);
	for (int class = 0; class < SEARCH_CLASSES; class++)
		choose(q, (enum search_class)class);
	if (q->more)
		add(s, &s->unfinished, (struct steer_try){run->inputs, run->by});
	if (!q->count)
		return;
	q->ask[q->count].condition = SIZE_MAX;
	s->questions += q->count;
	s->off |= !ask_all(&setup, w, q->ask, a);
	for (size_t i = 0; i < q->count; i++)
		take_answer(q, i);
}

/* Ways that are worth going, for what lies behind them. */
static void speculate_on(struct search *s, struct arena *a)
{
	struct supposed_setup setup = {.helper = s->setup.speculator, .program = s->setup.program, .walk = s->path,
		.milliseconds = SPECULATION};
	struct supposed found;
	struct fault fault = {0};

	if (s->speculations == SPECULATIONS || access(setup.helper, X_OK) != 0)
		return;
	s->speculations++;
	if (!supposed_ask(&found, &setup, a, &fault))
		return;
	for (size_t i = 0; i < found.count; i++) {
		const struct supposed_branch *b = &found.at[i].needs;

		if (b->valued)
			search_want(s, b->unit, b->ordinal, b->value);
	}
}

/* What could not be followed. */
static void note_losses(struct search *s, const struct walk *w)
{
	for (int i = 0; i < WALK_LOST_REASONS; i++)
		if (w->lost[i] > s->lost[i])
			s->lost[i] = w->lost[i];
	s->full |= w->full;
}

static void learn(void *self, const struct steer_run *run)
{
	struct search *s = self;
	struct fault fault = {0};
	struct arena a;
	struct walk w;
	bool fresh = run->fresh;

	if (s->off || s->walk < 0)
		return;
	arena_init(&a);
	if (walk_read(&w, &a, s->walk, &fault)) {
		s->walks += w.unit_count > 0;
		s->off = !s->walks;
		if (note_ways(s, &w)) {
			fresh = true;
			speculate_on(s, &a);
		}
		note_losses(s, &w);
		ask_walk(s, &w, run, &a);
		walk_close(&w);
	}
	arena_free(&a);
	if (s->trying)
		s->dull = fresh ? 0 : s->dull + 1;
	s->trying = false;
}

static bool take(struct search_queue *q, struct steer_try *to)
{
	if (q->next == q->count)
		return false;
	*to = q->at[q->next++];
	return true;
}

static bool next(void *self, struct steer_try *to)
{
	struct search *s = self;
	bool any = false;

	if (s->off || s->dull >= DULL_MOST)
		return false;
	for (int class = 0; class < SEARCH_CLASSES && !any; class++)
		any = take(&s->queue[class], to);
	while (!any && take(&s->unfinished, to)) {
		uint32_t *times = map_put(&s->tried, hash_pair(inputs_hash(to->inputs), order_key(to->order) + 1));

		any = (*times)++ < AGAIN_MOST;
	}
	s->executions += any;
	s->trying = any;
	return any;
}

struct steer search_steer(struct search *s)
{
	return (struct steer){s, next_walk, learn, next};
}

void search_tell(const struct search *s, struct str *to)
{
	static const char *const words[WALK_LOST_REASONS] = {"floating point", "vectors", "inline assembly",
		"functions without a model", "values of more than 64 bits", "pointers", "no room"};
	const char *between = "; not followed: ";

	if (!s->walks)
		return;
	str_printf(to, "inputs: %" PRIu64 " questions, %" PRIu64 " answered, %" PRIu64 " impossible", s->questions,
		s->answered, s->impossible);
	if (s->given_up)
		str_printf(to, ", %" PRIu64 " given up", s->given_up);
	str_printf(to, "; %" PRIu64 " executions with other inputs", s->executions);
	if (s->wants)
		str_printf(to, "; %" PRIu64 " branches that were not taken have a candidate behind them", s->wants);
	if (s->unwritable)
		str_printf(to, "; %" PRIu64 " answers could not be written: files of more than 4 MiB, or gone", s->unwritable);
	for (int i = 0; i < WALK_LOST_REASONS; i++)
		if (s->lost[i]) {
			str_printf(to, "%s%s %" PRIu64, between, words[i], s->lost[i]);
			between = ", ";
		}
	if (s->full)
		str_add(to, "; a walk was too long to be kept whole");
}
