/* SPDX-License-Identifier: MIT */
#include "chase.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/str.h"
#include "chase/execute.h"
#include "chase/hit.h"
#include "chase/judge.h"
#include "chase/milestones.h"
#include "chase/turns.h"
#include "chase/steer.h"
#include "chase/waits.h"
#include "predict/predict.h"
#include "sched/order.h"

enum {
	TRIES = 8,        /* plans of one candidate, of different instances and executions */
	ROUNDS = 3,       /* instances of one candidate in one execution: other threads in its parts */
	BARE = 16,        /* candidates without a plan that are tried all the same, of one execution */
	WIDES_MOST = 32,  /* plans of two variables */
	TURNS_THREADS = 6, TURNS_ALL = 24, /* threads that take turns, and how often all of them do */
	DULL = 3,         /* free executions in a row that bring nothing new */
	EACH_SECONDS = 5, /* an execution may take this and so many times what the first one took */
	EACH_TIMES = 20,
	STEPS_LEAST = 20000, /* likewise in steps, before it is let go: someone spins, and waits for who is held back */
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

double chase_left(const struct chase *c)
{
	double left = c->start + c->setup->seconds - now();

	return c->setup->seconds && left > 0 ? left : 0;
}

static bool is_time(const struct chase *c)
{
	return !c->setup->seconds || chase_left(c) > 0;
}

/* What an execution is started with, but for its order. */
static struct execute_setup execute_setup(const struct chase *c)
{
	double each = c->each, left = chase_left(c);

	if (c->setup->seconds && (!each || left < each))
		each = left > 0.1 ? left : 0.1;
	return (struct execute_setup){.argv = c->inputs->argv, .path = c->setup->path, .input = c->inputs->stdin_bytes,
		.more = &c->inputs->more, .policy = c->setup->policy, .preload = c->setup->preload,
		.seconds = each};
}

/* Keys: texts, since ids are an execution's own. */

static uint64_t text_key(const struct judged *j, enum table_class class, uint32_t id)
{
	struct text t = tables_name(&j->execution->tables, class, id);

	return hash_bytes(t.at ? t.at : "", t.length);
}

static uint64_t candidate_key(const struct judged *j, const struct candidate *c)
{
	uint64_t key = text_key(j, TABLE_CODE, c->instance[0].block.code);

	key = hash_pair(key, text_key(j, TABLE_SITE, c->first));
	key = hash_pair(key, text_key(j, TABLE_SITE, c->culprit));
	return hash_pair(hash_pair(key, text_key(j, TABLE_SITE, c->second)), c->pattern);
}

/* One defect: the block, and the places of its two accesses. */
static uint64_t defect_key(const struct judged *j, const struct block *b, site_id first, site_id second)
{
	return hash_pair(text_key(j, TABLE_CODE, b->code),
		hash_pair(text_key(j, TABLE_SITE, first), text_key(j, TABLE_SITE, second)));
}

static struct chase_candidate candidate_of(const struct judged *j, const struct candidate *of)
{
	return (struct chase_candidate){candidate_key(j, of),
		defect_key(j, &of->instance[0].block, of->first, of->second)};
}

bool chase_wants(const struct chase *c, struct chase_candidate of)
{
	return map_get(&c->keys, of.key) <= TRIES && !map_get(&c->done, of.defect);
}

bool chase_note_candidate(struct chase *c, struct chase_candidate of)
{
	uint32_t *key = map_put(&c->keys, of.key);

	if (*key)
		return false;
	*key = 1;
	c->candidates++;
	c->known = arena_reserve(&c->arena, c->known, &c->known_room, c->knowns, sizeof *c->known);
	c->known[c->knowns++] = of;
	return true;
}

/* Novelty. */

bool chase_note_pair(struct chase *c, uint64_t pair)
{
	uint32_t *known = map_put(&c->pairs, pair);
	bool fresh = !*known;

	*known = 1;
	return fresh;
}

/* Whether some read saw a write from a place that none at its place had seen yet. */
static bool has_new_pairs(struct chase *c, const struct judged *j)
{
	const struct whole *w = &j->whole;
	bool fresh = false;

	for (uint32_t i = 0; i < w->steps; i++) {
		const struct step *s = &w->step[i];

		for (uint32_t k = 0; step_is_access(s) && step_reads(s) && k < s->locs; k++) {
			uint32_t from = w->source[s->source + k];
			uint64_t site = from == NO_STEP ? 0 : text_key(j, TABLE_SITE, w->event[w->step[from].event].site);

			fresh |= chase_note_pair(c, hash_pair(site, text_key(j, TABLE_SITE, w->event[s->event].site)));
		}
	}
	return fresh;
}

/* Plans. */

static bool is_of_function(const struct chase *c, const struct judged *j, code_id code)
{
	struct text function = c->setup->function, have = tables_name(&j->execution->tables, TABLE_CODE, code);

	return !function.length || (function.length == have.length && memcmp(function.at, have.at, have.length) == 0);
}

static bool is_wanted(struct chase *c, const struct judged *j, const struct candidate *of)
{
	return is_of_function(c, j, of->instance[0].block.code) && chase_wants(c, candidate_of(j, of));
}

void chase_add_plan(struct chase *c, struct chase_plan p)
{
	c->plan = arena_reserve(&c->arena, c->plan, &c->plan_room, c->plans, sizeof *c->plan);
	p.inputs = c->inputs;
	c->plan[c->plans++] = p;
}

static void add_plan(struct chase *c, const struct judged *j, const struct prediction *p, struct order *o)
{
	if (o && o->steps)
		chase_add_plan(c, (struct chase_plan){o, candidate_of(j, p->candidate), p->instance != NULL, NULL});
}

/*
 * The three accesses and nothing else, for a candidate that has no plan: in another order the program may take another
 * way, on which it can be. The execution decides.
 */
static struct order *bare_order(struct chase *c, const struct judged *j, const struct candidate *of)
{
	const struct instance *i = &of->instance[0];
	const struct step *s = j->whole.step;
	struct milestone at[] = {{s[i->first].event, false, 0}, {s[i->culprit].event, false, ORDER_CULPRIT},
		{s[i->second].event, false, 0}};
	struct milestones m = {j, at, sizeof at / sizeof *at};

	return milestones_order(&c->arena, &m);
}

/* The candidates that are worth a plan. Returns whether any of them is new. */
static bool choose_candidates(struct chase *c, struct judged *j)
{
	struct candidates *all = &j->candidates;
	size_t kept = 0;
	bool fresh = false;

	for (size_t i = 0; i < all->count; i++) {
		if (!is_wanted(c, j, &all->at[i]))
			continue;
		fresh |= chase_note_candidate(c, candidate_of(j, &all->at[i]));
		all->at[kept++] = all->at[i];
	}
	all->count = kept;
	return fresh;
}

/* Two variables. A block that has something reproduced is left alone: that is one mistake, most times. */

static uint64_t block_key(const struct judged *j, const struct block *b)
{
	return hash_pair(text_key(j, TABLE_CODE, b->code), WIDES_MOST);
}

static uint64_t wide_key(const struct judged *j, const struct wide *d)
{
	uint64_t key = text_key(j, TABLE_CODE, d->block.code);
	const uint32_t part[] = {d->first, d->culprit[0], d->culprit[1], d->second};

	for (int i = 0; i < 4; i++) {
		const struct event *e = part[i] == NO_STEP ? NULL : &j->whole.event[j->whole.step[part[i]].event];

		key = hash_pair(key, e ? text_key(j, TABLE_SITE, e->site) : 0);
	}
	return key;
}

static void add_late(struct chase *c, struct chase_plan p)
{
	c->late = arena_reserve(&c->arena, c->late, &c->late_room, c->lates, sizeof *c->late);
	c->late[c->lates++] = p;
}

bool chase_is_first_plan(struct chase *c, uint64_t key)
{
	uint32_t *known = map_put(&c->planned, key);

	return !(*known)++;
}

bool chase_wants_wide(const struct chase *c, uint64_t key)
{
	return c->wides < WIDES_MOST && !map_get(&c->planned, key);
}

void chase_add_wide(struct chase *c, struct chase_plan p)
{
	*map_put(&c->planned, p.of.key) = 1;
	c->candidates++;
	c->feasible++;
	c->wides++;
	p.inputs = c->inputs;
	add_late(c, p);
}

static void add_wides(struct chase *c, const struct judged *j)
{
	for (size_t i = 0; i < j->wides.count; i++) {
		const struct wide *d = &j->wides.at[i];

		if (chase_wants_wide(c, wide_key(j, d)) && is_of_function(c, j, d->block.code))
			chase_add_wide(c, (struct chase_plan){milestones_wide(&c->arena, j, d),
				{wide_key(j, d), block_key(j, &d->block)}, true});
	}
}

/* At lock level. */
static void add_windows(struct chase *c, const struct judged *j)
{
	for (size_t i = 0; i < j->windows.count; i++) {
		const struct finding *f = &j->windows.at[i];
		uint64_t defect = defect_key(j, &f->block, f->path[0].from.site, f->path[f->links - 1].to.site);
		uint64_t key = hash_pair(defect, text_key(j, TABLE_SITE, f->path[0].to.site));
		struct order *o;

		if (f->hidden || !chase_wants_wide(c, key) || !is_of_function(c, j, f->block.code))
			continue;
		o = milestones_window(&c->arena, j, f);
		if (o && o->steps)
			chase_add_wide(c, (struct chase_plan){o, {key, defect}, true});
	}
}

/* Deadlocks that the first execution shows to be possible. */
static void add_waits(struct chase *c, const struct judged *j)
{
	struct order *order[WAITS_MOST];
	size_t count = waits_orders(j, c->setup->policy, &c->arena, order);

	for (size_t i = 0; i < count; i++) {
		uint64_t key = hash_pair(WAITS_MOST, i + 1);

		add_late(c, (struct chase_plan){.order = order[i], .of = {key, key}, .inputs = c->inputs});
	}
}

/*
 * Of the first execution: threads in the middle of each other, where they give back a lock. There may be a branch that
 * none of its plans needs, because somebody was there before: the last seat is taken.
 */
static void add_turns(struct chase *c, const struct judged *j)
{
	size_t left = TURNS_ALL;

	for (uint32_t t = 1; t <= TURNS_THREADS; t++)
		for (uint32_t u = 1; u <= TURNS_THREADS; u++) {
			struct turns turns = {.thread = t, .other = u};

			if (t == u)
				continue;
			turns_between(&turns, j, &c->arena);
			for (size_t i = 0; i < turns.count && left; i++, left--) {
				uint64_t key = hash_pair(hash_pair(t, u), i + 1);

				add_late(c, (struct chase_plan){.order = turns.order[i], .of = {key, key}, .inputs = c->inputs});
			}
		}
}

/* Whether other threads have the parts than in all instances before it. */
static bool is_other(const struct judged *j, const struct candidate *of, uint32_t n)
{
	const struct step *s = j->whole.step;
	const struct instance *at = &of->instance[n];

	for (uint32_t i = 0; i < n; i++)
		if (s[of->instance[i].first].thread == s[at->first].thread &&
			s[of->instance[i].culprit].thread == s[at->culprit].thread)
			return false;
	return true;
}

/*
 * Of each candidate the instances from the round's one on: in round 0 all of them, nearest first; then, where there are
 * others, those in which other threads have the parts. Who of two comes last often decides whether it shows.
 */
static struct candidates for_round(const struct judged *j, unsigned round, struct arena *a)
{
	struct candidates some = {.at = arena_alloc(a, (j->candidates.count + 1) * sizeof *some.at)};

	for (size_t i = 0; i < j->candidates.count; i++) {
		const struct candidate *of = &j->candidates.at[i];
		uint32_t n = 0, others = 0;

		while (n < of->instances && !(is_other(j, of, n) && others++ == round))
			n++;
		if (n == of->instances)
			continue;
		some.at[some.count] = *of;
		some.at[some.count].instances = of->instances - n;
		memmove(some.at[some.count].instance, of->instance + n, (of->instances - n) * sizeof *of->instance);
		some.count++;
	}
	return some;
}

static void make_plans(struct chase *c, struct judged *j, unsigned round)
{
	struct arena *a = &j->execution->arena;
	struct predict_setup setup = {.tier = TIERS - 1, .window = PREDICT_WINDOW, .budget = PREDICT_BUDGET,
		.jobs = (unsigned)c->setup->jobs};
	struct candidates *some = arena_alloc(a, sizeof *some);
	struct predictions plans;
	unsigned bare = 0;

	*some = for_round(j, round, a);
	plans = predict_all(&j->whole, some, &setup, a);
	for (size_t i = 0; i < plans.count; i++) {
		const struct prediction *p = &plans.at[i];

		if (p->instance) {
			c->feasible += chase_is_first_plan(c, candidate_key(j, p->candidate));
			add_plan(c, j, p, milestones_plan(&c->arena, j, p, true));
			add_plan(c, j, p, milestones_plan(&c->arena, j, p, false));
		} else if (round == 0 && bare++ < BARE) {
			add_plan(c, j, p, bare_order(c, j, p->candidate));
		}
	}
}

/* Hits. */

void chase_note_done(struct chase *c, const struct chase_hit *h)
{
	*map_put(&c->done, h->defect) = 1;
	*map_put(&c->done, h->block) = 1;
}

static struct hit_setup hit_setup(struct chase *c, const struct execute_setup *e)
{
	return (struct hit_setup){e, c->setup->policy, &c->arena};
}

/* Once more, by the order that was taken. */
static bool repeats(struct chase *c, const struct replay *r, const struct hit_setup *setup)
{
	struct execute_setup e = *setup->execute;
	struct execution *x = arena_alloc(&c->arena, sizeof *x);
	struct fault fault = {0};
	struct judged j;
	const char *why;
	bool same;

	e.order = r->order;
	if (!execute(x, &e, &fault))
		return false;
	c->executions++;
	judge(&j, x, c->setup->policy);
	same = hit_same(r, &j, &why);
	execution_free(x);
	return same;
}

static bool is_known(const struct chase *c, uint64_t id)
{
	for (size_t i = 0; i < c->hits; i++)
		if (c->hit[i].id == id)
			return true;
	return false;
}

static struct text file_of(struct chase *c, const struct replay *r)
{
	struct str s;

	str_init(&s, &c->arena);
	replay_text(r, &s);
	return (struct text){s.at, s.length};
}

/* How it was found stands in the replay for people: the plan, or the strategy and its seed. */
static void note_origin(struct replay *r, const struct order *by)
{
	r->strategy = (struct text){by->strategy, strlen(by->strategy)};
	r->seed = by->seed;
}

/* What the program is to be given, if that is not what it was given at first. */
static void tell_inputs(struct chase *c, struct str *to)
{
	if (c->inputs == &c->given)
		return;
	str_add(to, to->length ? " " : "");
	str_add(to, "It takes other inputs than were given: ");
	inputs_tell(c->inputs, to);
	str_char(to, '.');
}

static struct text with_inputs(struct chase *c, struct text then)
{
	struct str s;

	str_init(&s, &c->arena);
	str_bytes(&s, then.at, then.length);
	tell_inputs(c, &s);
	return (struct text){s.at ? s.at : "", s.length};
}

static bool take_hit(struct chase *c, struct judged *j, size_t finding, const struct order *by)
{
	const struct finding *f = &j->findings.at[finding];
	struct execute_setup e = execute_setup(c);
	struct hit_setup setup = hit_setup(c, &e);
	struct chase_hit h = {.judged = j, .id = f->id, .finding = finding, .executions = c->executions};

	hit_replay(&h.replay, j, f, &setup);
	note_origin(&h.replay, by);
	if (!repeats(c, &h.replay, &setup)) {
		c->repeats++;
		return false;
	}
	hit_compare(&h, &setup);
	h.then = with_inputs(c, h.then);
	h.inputs = c->inputs == &c->given ? NULL : c->inputs;
	h.file = file_of(c, &h.replay);
	h.defect = defect_key(j, &f->block, f->path[0].from.site, f->path[f->links - 1].to.site);
	h.block = block_key(j, &f->block);
	chase_note_done(c, &h);
	c->hit = arena_reserve(&c->arena, c->hit, &c->hit_room, c->hits, sizeof *c->hit);
	c->hit[c->hits++] = h;
	return true;
}

/* Whether the execution is to be kept. */
static bool take_hits(struct chase *c, struct judged *j, const struct order *by)
{
	bool kept = false;

	for (size_t i = 0; i < j->findings.count; i++) {
		const struct finding *f = &j->findings.at[i];

		if (judged_counts(j, f) && !is_known(c, f->id) && (!c->setup->only || c->setup->only == f->id))
			kept |= take_hit(c, j, i, by);
	}
	return kept;
}

/* Failures. */

static void add_line(struct chase *c, struct story_failure *f, struct text line)
{
	f->line = arena_grow(&c->arena, f->line, f->lines * sizeof *f->line, (f->lines + 1) * sizeof *f->line);
	f->line[f->lines++] = (struct text){arena_text(&c->arena, line.at, line.length), line.length};
}

static void add_lines(struct chase *c, struct story_failure *f, const char *text)
{
	while (text && *text) {
		size_t n = strcspn(text, "\n");

		if (n)
			add_line(c, f, (struct text){text, n});
		text += n + (text[n] == '\n');
	}
}

/* The last thing that its threads did, by place: the same crash in another order has the same id, most times. */
static uint64_t failure_key(const struct judged *j)
{
	const struct execution *x = j->execution;
	uint64_t key = hash_pair(x->outcome.ending, x->outcome.status);
	const char *text = x->collected.gate.text;

	if (text)
		return hash_pair(key, hash_bytes(text, strlen(text)));
	return j->whole.count ? hash_pair(key, text_key(j, TABLE_SITE, j->whole.event[j->whole.count - 1].site)) : key;
}

static struct text failure_id(struct chase *c, uint64_t key)
{
	struct str s;

	str_init(&s, &c->arena);
	str_printf(&s, "fsn-%08" PRIx64, key & UINT32_MAX);
	return (struct text){s.at, s.length};
}

static struct story_failure tell_failure(struct chase *c, const struct judged *j)
{
	static const char *const words[ENDINGS] = {"", "crash", "deadlock", "hang"};
	const struct execution *x = j->execution;
	const char *what = words[x->outcome.ending];
	struct story_failure f = {.id = failure_id(c, failure_key(j)), .what = {what, strlen(what)}};
	struct text end = hit_ending(&c->arena, &x->outcome);
	struct str s;

	str_init(&s, &c->arena);
	str_printf(&s, "The program was driven into it: %.*s.", (int)end.length, end.at);
	add_line(c, &f, (struct text){s.at, s.length});
	str_clear(&s);
	tell_inputs(c, &s);
	if (s.length)
		add_line(c, &f, (struct text){s.at, s.length});
	add_lines(c, &f, x->collected.gate.text);
	if (x->errors.length)
		add_lines(c, &f, arena_text(&c->arena, x->errors.at, x->errors.length < 400 ? x->errors.length : 400));
	return f;
}

/* What still made steps when its time was over did not hang: an unfair order may keep a spinning thread spinning. */
static bool is_failure(const struct execution *x)
{
	return x->outcome.ending != ENDING_EXIT && !(x->outcome.ending == ENDING_HANG && !x->collected.gate.stuck);
}

/* A split block is to blame, and that is told. */
static bool is_explained(const struct judged *j)
{
	for (size_t i = 0; i < j->findings.count; i++)
		if (judged_counts(j, &j->findings.at[i]))
			return true;
	return false;
}

static void take_failure(struct chase *c, struct judged *j, const struct order *by)
{
	uint32_t *known = map_put(&c->done, failure_key(j));
	struct execute_setup e = execute_setup(c);
	struct hit_setup setup = hit_setup(c, &e);
	struct chase_failure f = {.executions = c->executions, .key = failure_key(j)};
	struct replay r;

	if (*known)
		return;
	*known = 1;
	f.story = tell_failure(c, j);
	hit_replay(&r, j, NULL, &setup);
	note_origin(&r, by);
	r.finding = f.story.id;
	if (j->execution->outcome.ending != ENDING_HANG && !repeats(c, &r, &setup))
		add_lines(c, &f.story, "Its replay did not end the same way: something outside of the schedule decides.");
	f.file = file_of(c, &r);
	c->failure = arena_reserve(&c->arena, c->failure, &c->failure_room, c->failures, sizeof *c->failure);
	c->failure[c->failures++] = f;
}

/* The search. */

static void note(struct chase *c, const struct judged *j, const struct order *by)
{
	const struct execution *x = j->execution;

	c->last = (struct chase_last){.by = by, .diverged = x->collected.gate.diverged, .done = x->collected.gate.done,
		.outcome = x->outcome, .candidates = c->candidates, .plans = c->plans, .seconds = x->seconds,
		.fast = j->fast};
	for (size_t i = 0; i < j->findings.count; i++) {
		c->last.split += j->findings.at[i].verdict >= VERDICT_OBSERVED;
		c->last.counts += judged_counts(j, &j->findings.at[i]);
	}
}

static void add_first(struct chase *c, const struct judged *j)
{
	add_waits(c, j);
	add_turns(c, j);
}

/* Judges an execution and learns from it. Returns whether it brought anything new. */
static bool learn(struct chase *c, struct execution *x, const struct order *by)
{
	struct judged *j = arena_alloc(&c->arena, sizeof *j);
	bool fresh, kept;

	judge(j, x, c->setup->policy);
	c->events += j->whole.count;
	c->steps = x->collected.gate.steps;
	c->reached |= intern_find(&x->tables.names[TABLE_CODE], c->setup->function.at, c->setup->function.length) != 0;
	note(c, j, by);
	kept = take_hits(c, j, by);
	if (is_failure(x) && !is_explained(j))
		take_failure(c, j, by);
	fresh = choose_candidates(c, j);
	fresh |= has_new_pairs(c, j);
	for (unsigned round = 0; fresh && !c->setup->planless && round < ROUNDS; round++)
		make_plans(c, j, round);
	if (!c->setup->planless)
		add_wides(c, j);
	add_windows(c, j);
	if (c->executions == 1 && !by->steps && !by->seed && !c->setup->planless)
		add_first(c, j);
	if (!kept)
		execution_free(x);
	c->last.candidates = c->candidates - c->last.candidates;
	c->last.plans = c->plans - c->last.plans;
	if (c->setup->tell)
		c->setup->tell(c->setup->to, c);
	return fresh || kept;
}

/* The thread whose milestone the plan has waited for in vain; 0: there is none. */
static uint32_t missed_by(const struct chase *c, const struct order *o)
{
	return c->last.diverged && c->last.done < o->steps ? order_step(o, c->last.done)->thread : 0;
}

static void tell_steer(const struct chase *c, struct order *o, bool fresh)
{
	const struct steer *s = c->setup->steer;

	if (s)
		s->learn(s->self, &(struct steer_run){c->inputs, o, missed_by(c, o), fresh});
}

/* Somebody else executes it; what that has taught is in the state already. */
static bool obtain(struct chase *c, struct order *o, bool *fresh, struct fault *fault)
{
	if (!c->setup->obtain(c->setup->to, c, o, fresh, fault))
		return false;
	c->executions++;
	c->diverged += c->last.diverged;
	c->last.by = o;
	if (!c->budget)
		c->budget = STEPS_LEAST + EACH_TIMES * c->steps;
	if (c->setup->tell)
		c->setup->tell(c->setup->to, c);
	return true;
}

static bool try(struct chase *c, struct order *o, bool *fresh, struct fault *fault)
{
	struct execute_setup e = execute_setup(c);
	struct execution *x = arena_alloc(&c->arena, sizeof *x);

	o->budget = c->budget;
	if (c->setup->obtain)
		return obtain(c, o, fresh, fault);
	e.order = o;
	e.walk = c->setup->steer ? c->setup->steer->walk(c->setup->steer->self) : NULL;
	if (!execute(x, &e, fault))
		return false;
	c->executions++;
	if (!c->each)
		c->each = EACH_SECONDS + EACH_TIMES * x->seconds;
	if (!c->budget)
		c->budget = STEPS_LEAST + EACH_TIMES * x->collected.gate.steps;
	c->diverged += x->collected.gate.diverged;
	*fresh = learn(c, x, o);
	tell_steer(c, o, *fresh);
	return true;
}

static bool is_over(const struct chase *c)
{
	return !is_time(c) || (c->setup->only && c->hits);
}

static uint64_t beginning_key(uint64_t key, const struct order_step *s)
{
	return hash_pair(hash_pair(key, s->offset), (uint64_t)s->thread << 32 | (s->kind << 24 ^ s->occurrence));
}

/* Up to the step that could not be done. */
static void note_stuck(struct chase *c, const struct order *o)
{
	uint64_t key = inputs_hash(c->inputs);

	for (uint32_t i = 0; c->last.diverged && i <= c->last.done && i < o->steps; i++)
		key = beginning_key(key, order_step(o, i));
	if (c->last.diverged)
		*map_put(&c->stuck, key) = 1;
}

static bool is_stuck(const struct chase *c, const struct chase_plan *p)
{
	uint64_t key = inputs_hash(p->inputs);

	for (uint32_t i = 0; i < p->order->steps; i++) {
		key = beginning_key(key, order_step(p->order, i));
		if (map_get(&c->stuck, key))
			return true;
	}
	return false;
}

/* Whether it is put off: another plan with the same beginning has got nowhere, and so will this one, most times. */
static bool put_off(struct chase *c, struct chase_plan p)
{
	if (!is_stuck(c, &p))
		return false;
	add_late(c, p);
	return true;
}

/* False with a fault. */
static bool try_plan(struct chase *c, struct chase_plan p, struct fault *fault)
{
	uint32_t *times = map_put(&c->keys, p.of.key);
	bool fresh;

	if (!chase_wants(c, p.of))
		return true;
	*times += !*times;
	c->tried += *times == 1;
	++*times;
	c->inputs = p.inputs;
	if (!try(c, p.order, &fresh, fault))
		return false;
	note_stuck(c, p.order);
	return true;
}

static bool try_candidates(struct chase *c, struct fault *fault)
{
	while (c->next < c->plans && !is_over(c)) {
		struct chase_plan p = c->plan[c->next++];

		if (!put_off(c, p) && !try_plan(c, p, fault))
			return false;
	}
	return true;
}

/* All plans, also those that come by the way. */
static bool try_plans(struct chase *c, struct fault *fault)
{
	while (try_candidates(c, fault)) {
		if (c->next_late == c->lates || is_over(c))
			return true;
		if (!try_plan(c, c->late[c->next_late++], fault))
			return false;
	}
	return false;
}

/* Other inputs, and for each what plans it brings. */
static bool try_inputs(struct chase *c, struct fault *fault)
{
	const struct steer *s = c->setup->steer;
	struct steer_try t;
	bool fresh;

	while (s && !is_over(c) && s->next(s->self, &t)) {
		struct order *o = t.order;

		if (!o && c->setup->planless) /* whoever has no plans depends on luck */
			o = execute_freely(&c->arena, "pos", c->executions);
		c->inputs = t.inputs;
		if (!try(c, o ? o : execute_freely(&c->arena, "plan", 0), &fresh, fault) || !try_plans(c, fault))
			return false;
	}
	return true;
}

/* What would come next if nothing new were learnt. */

static struct order *budgeted(const struct chase *c, struct order *o)
{
	o->budget = c->budget;
	return o;
}

static size_t ahead_of(const struct chase *c, const struct chase_plan *plan, size_t plans, struct chase_ahead *to)
{
	for (size_t i = 0; i < plans && to->count < to->most; i++)
		if (chase_wants(c, plan[i].of))
			to->order[to->count++] = budgeted(c, plan[i].order);
	return to->count;
}

static bool is_own_seed(const struct chase *c, uint64_t seed)
{
	return shard_has_key(c->setup->shard, seed);
}

void chase_look_ahead(struct chase *c, struct chase_ahead *to)
{
	to->count = 0;
	ahead_of(c, c->plan + c->next, c->plans - c->next, to);
	ahead_of(c, c->late + c->next_late, c->lates - c->next_late, to);
	for (uint64_t seed = c->seed + 1; seed <= c->setup->seeds && to->count < to->most; seed++)
		if (is_own_seed(c, seed))
			to->order[to->count++] = budgeted(c, execute_freely(&c->arena, "pos", seed));
}

static void begin(struct chase *c, const struct chase_setup *setup)
{
	*c = (struct chase){.setup = setup, .start = now()};
	arena_init(&c->arena);
	map_init(&c->keys, &c->arena);
	map_init(&c->planned, &c->arena);
	map_init(&c->done, &c->arena);
	map_init(&c->stuck, &c->arena);
	map_init(&c->pairs, &c->arena);
	c->given = (struct inputs){.argv = setup->argv, .stdin_bytes = setup->input};
	if (setup->more)
		c->given.more = *setup->more;
	c->inputs = &c->given;
}

bool chase_once(struct chase *c, const struct chase_setup *setup, struct order *o, struct fault *fault)
{
	bool fresh;

	begin(c, setup);
	c->each = setup->each;
	c->budget = o->budget;
	return try(c, o, &fresh, fault);
}

bool chase_search(struct chase *c, const struct chase_setup *setup, struct fault *fault)
{
	unsigned dull = 0;
	bool fresh, good;

	begin(c, setup);
	good = try(c, execute_freely(&c->arena, "plan", 0), &fresh, fault) && try_plans(c, fault);
	while (good && c->seed < setup->seeds && dull < DULL && !is_over(c)) {
		if (!is_own_seed(c, ++c->seed))
			continue;
		c->inputs = &c->given;
		good = try(c, execute_freely(&c->arena, "pos", c->seed), &fresh, fault);
		dull = fresh ? 0 : dull + 1;
		good = good && try_plans(c, fault);
	}
	good = good && try_inputs(c, fault);
	c->over = !is_time(c);
	return good;
}

bool chase_try(struct chase *c, struct order *o, struct fault *fault)
{
	bool fresh;

	return try(c, o, &fresh, fault) && try_plans(c, fault);
}

void chase_free(struct chase *c)
{
	for (size_t i = 0; i < c->hits; i++)
		if (c->hit[i].judged && c->hit[i].judged->execution->events) /* one execution may have several */
			execution_free(c->hit[i].judged->execution);
	arena_free(&c->arena);
}
