/* SPDX-License-Identifier: MIT */
#include "hit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "chase/chase.h"
#include "chase/execute.h"
#include "chase/judge.h"
#include "chase/milestones.h"
#include "event/event.h"
#include "report/report.h"
#include "sched/order.h"

static struct text keep(struct arena *a, struct text t)
{
	return (struct text){arena_text(a, t.at ? t.at : "", t.length), t.length};
}

static struct text text_of(const struct str *s)
{
	return (struct text){s->at ? s->at : "", s->length};
}

/* The replay. */

static const struct access *access_of(const struct finding *f, int mark)
{
	if (mark == MARK_FIRST)
		return &f->path[0].from;
	return mark == MARK_SECOND ? &f->path[f->links - 1].to : &f->path[0].to;
}

static void set_mark(struct replay_mark *m, const struct judged *j, const struct finding *f, int mark)
{
	size_t at = judged_event(j, f, mark);
	const struct event *e = at != SIZE_MAX ? &j->whole.event[at] : NULL;
	struct arena *a = &j->execution->arena;
	struct str name;

	if (!e || !milestones_step(j, &(struct milestone){(uint32_t)at, false, 0}, &m->step))
		return;
	str_init(&name, a);
	report_object(&name, &j->execution->tables, access_of(f, mark));
	m->variable = text_of(&name);
	m->place = tables_name(&j->execution->tables, TABLE_SITE, e->site);
	m->valued = e->flags & EVENT_VALUED;
	m->value = m->valued ? e->value : 0;
}

/* The order that was taken, with nothing in it that belongs to the execution. */
static struct order *copy_order(struct arena *a, const struct order *o)
{
	struct order *copy = arena_alloc(a, order_bytes(o));

	memcpy(copy, o, order_bytes(o));
	return copy;
}

static struct text id_of(struct arena *a, uint64_t id)
{
	struct str s;

	str_init(&s, a);
	str_printf(&s, "fsn-%08" PRIx64, id);
	return text_of(&s);
}

static void keep_marks(struct replay *r, struct arena *a)
{
	for (int i = 0; i < MARKS; i++) {
		r->mark[i].variable = keep(a, r->mark[i].variable);
		r->mark[i].place = keep(a, r->mark[i].place);
		if (hit_is_address(r->mark[i].value))
			r->mark[i].value = r->mark[i].valued = 0;
	}
}

/* What a step read is not held against it if it was an address: which memory a thread is given is up to chance. */
static void drop_addresses(struct order *o)
{
	for (uint32_t i = 0; i < o->steps; i++) {
		struct order_step *s = replay_step(o, i);

		if (s->flags & ORDER_SAW && hit_is_address(s->saw)) {
			s->flags &= ~(uint32_t)ORDER_SAW;
			s->saw = 0;
		}
	}
}

void hit_replay(struct replay *r, const struct judged *j, const struct finding *f, const struct hit_setup *setup)
{
	const struct execution *x = j->execution;
	struct arena *a = setup->arena;
	struct text *places = arena_alloc(a, (x->taken->steps + 1) * sizeof *places);

	*r = (struct replay){.argv = (char **)setup->execute->argv, .input = setup->execute->input,
		.outcome = x->outcome, .order = copy_order(a, x->taken), .places = places};
	if (setup->execute->more)
		r->more = *setup->execute->more;
	drop_addresses(r->order);
	while (r->argv[r->argc])
		r->argc++;
	for (uint32_t i = 0; i < x->taken->steps; i++)
		places[i] = keep(a, x->places[i]);
	if (!f)
		return;
	r->finding = id_of(a, f->id);
	r->block = keep(a, tables_name(&x->tables, TABLE_CODE, f->block.code));
	for (int i = 0; i < MARKS; i++)
		set_mark(&r->mark[i], j, f, i);
	keep_marks(r, a);
}

/* Addresses may be others, and a replay does not keep them. */
static bool same_value(const struct replay_mark *now, const struct replay_mark *kept)
{
	bool addresses = kept->valued ? now->value >> 32 && kept->value >> 32 : hit_is_address(now->value);

	return addresses || (now->valued == kept->valued && (!now->valued || now->value == kept->value));
}

static bool same_values(const struct replay *r, const struct judged *j, const struct finding *f)
{
	for (int i = 0; i < MARKS; i++) {
		struct replay_mark m = {0};

		set_mark(&m, j, f, i);
		if (!same_value(&m, &r->mark[i]))
			return false;
	}
	return true;
}

bool hit_same(const struct replay *r, const struct judged *j, const char **why)
{
	uint64_t id = r->finding.length > 4 ? strtoull(r->finding.at + 4, NULL, 16) : 0;
	const struct finding *f = id ? judged_find(j, id) : NULL;

	*why = j->execution->collected.gate.diverged ? "the program took another way" :
		!outcome_same(&r->outcome, &j->execution->outcome) ? "the program ended in another way" :
		r->mark[MARK_FIRST].step.thread && !f ? "the block was not split" :
		f && !same_values(r, j, f) ? "other values were read or written" : NULL;
	return !*why;
}

/* The serial orders. */

/* Where the culprit's block ends: the last access of its activation, of the block's function if it is in one. */
static size_t last_of_culprit(const struct judged *j, const struct finding *f)
{
	size_t culprit = judged_event(j, f, MARK_CULPRIT), last = culprit;
	const struct event *e = &j->whole.event[culprit];
	int depth = 0, leave = 1, up = 0;

	for (stack_id s = e->stack; s; s = tables_frame(&j->execution->tables, s).parent)
		if (++up && tables_frame(&j->execution->tables, s).code == f->block.code)
			leave = up;
	for (size_t i = culprit + 1; i < j->whole.count; i++) {
		const struct event *n = &j->whole.event[i];

		if (n->thread != e->thread)
			continue;
		depth += n->kind == EVENT_ENTER ? 1 : n->kind == EVENT_EXIT ? -1 : 0;
		if (depth <= -leave)
			break;
		if (event_is_access(n->kind))
			last = i;
	}
	return last;
}

/* Of both blocks, the one that is to come first ends before the other one begins. */
static struct order *serial_order(const struct judged *j, const struct finding *f, bool culprit_first,
	struct arena *a)
{
	uint32_t first = (uint32_t)judged_event(j, f, MARK_FIRST), second = (uint32_t)judged_event(j, f, MARK_SECOND);
	uint32_t last = (uint32_t)last_of_culprit(j, f);
	struct milestone ours[] = {{second, false, 0}, {last, false, 0}}, theirs[] = {{last, false, 0}, {first, false, 0}};
	struct milestones m = {j, culprit_first ? theirs : ours, 2};

	return milestones_order(a, &m);
}

/* The event of a trace that is the replay's operation; NULL: there is none. */
static const struct event *event_of(const struct judged *j, const struct order_step *s)
{
	for (size_t i = 0; i < j->whole.count; i++) {
		const struct event *e = &j->whole.event[i];
		struct order_step have;

		if (e->kind == s->kind && j->occurrence[i] == s->occurrence && judged_thread(j, e->thread) == s->thread &&
			milestones_step(j, &(struct milestone){(uint32_t)i, false, 0}, &have) && have.offset == s->offset)
			return e;
	}
	return NULL;
}

/* What an execution has left in the variable of the mark. */
static bool value_left(const struct judged *j, const struct order_step *mark, int64_t *value)
{
	const struct event *of = event_of(j, mark);

	for (size_t i = j->whole.count; of && i-- > 0;) {
		const struct event *e = &j->whole.event[i];

		if (!event_is_access(e->kind) || event_is_read(e->kind) || e->object != of->object || e->size != of->size)
			continue;
		*value = e->size == 4 ? (int32_t)(uint32_t)e->value : (int64_t)e->value;
		return e->flags & EVENT_VALUED;
	}
	return false;
}

static struct text names_of(const struct replay *r, const int *marks, size_t n, struct arena *a)
{
	struct str s;

	str_init(&s, a);
	for (size_t i = 0; i < n; i++)
		str_printf(&s, "%sT%" PRIu32, i ? ", " : "", r->mark[marks[i]].step.thread);
	return text_of(&s);
}

struct text hit_ending(struct arena *a, const struct outcome *o)
{
	struct str s;

	str_init(&s, a);
	if (o->ending == ENDING_SIGNAL)
		str_printf(&s, "it was ended by signal %" PRIu32 " (%s)", o->status, strsignal((int)o->status));
	else if (o->ending == ENDING_EXIT)
		str_printf(&s, "it ended with exit status %" PRIu32, o->status);
	else
		str_add(&s, o->ending == ENDING_DEADLOCK ? "none of its threads could go on: a deadlock" : "it hung");
	return text_of(&s);
}

/* What a serial order has shown. */
struct serial {
	bool known;
	struct outcome outcome;
	struct text output; /* its beginning */
	int64_t value;
	bool valued;
};

/* One line of what the program wrote that is not among those of the other. */
static struct text other_line(struct text of, struct text among)
{
	for (size_t n; of.length; of = (struct text){of.at + n, of.length - n}) {
		const char *end = memchr(of.at, '\n', of.length);
		size_t length = end ? (size_t)(end - of.at) : of.length;

		if (length && !memmem(among.at, among.length, of.at, length))
			return (struct text){of.at, length};
		n = end ? length + 1 : length;
	}
	return (struct text){"", 0};
}

static void add_line(struct str *to, const char *before, struct text line)
{
	enum { MOST = 120 };

	if (!line.length)
		return;
	str_add(to, before);
	str_bytes(to, line.at, line.length < MOST ? line.length : MOST);
}

static bool same_output(const struct outcome *a, const struct outcome *b)
{
	return a->bytes == b->bytes && a->hash == b->hash;
}

/* Nothing, unless it did something that it does in no serial order. */
static struct text tell_then(const struct execution *x, const struct serial *s, struct arena *a)
{
	bool other = s[0].known && s[1].known && !same_output(&x->outcome, &s[0].outcome) &&
		!same_output(&x->outcome, &s[1].outcome);
	bool bad = x->outcome.ending != ENDING_EXIT;
	struct str to;

	for (int i = 0; i < 2; i++)
		bad |= s[i].known && !outcome_same(&x->outcome, &s[i].outcome);
	str_init(&to, a);
	if (bad) {
		struct text end = hit_ending(a, &x->outcome);

		str_bytes(&to, end.at, end.length);
		add_line(&to, ": ", other_line(x->errors, (struct text){"", 0}));
		if (s[0].known && outcome_same(&s[0].outcome, &s[1].outcome) && !outcome_same(&x->outcome, &s[0].outcome)) {
			end = hit_ending(a, &s[0].outcome);
			str_add(&to, "; with the blocks one after the other ");
			str_bytes(&to, end.at, end.length);
		}
	} else if (other) {
		str_add(&to, "it wrote what it writes in neither serial order");
		add_line(&to, ": ", other_line(x->output, s[0].output));
	}
	if (to.length)
		str_char(&to, '.');
	return text_of(&to);
}

/* Where only one serial order is known, a failure must at least be none of that one. */
static bool did_harm(const struct execution *x, const struct serial *s)
{
	bool both = s[0].known && s[1].known, status = s[0].known || s[1].known, output = both;

	for (int i = 0; i < 2; i++) {
		status &= !s[i].known || !outcome_same(&x->outcome, &s[i].outcome);
		output &= !same_output(&x->outcome, &s[i].outcome);
	}
	return x->outcome.ending != ENDING_EXIT || status || output;
}

static void run_serial(struct serial *s, const struct chase_hit *h, const struct hit_setup *setup, bool culprit_first)
{
	const struct finding *f = &h->judged->findings.at[h->finding];
	struct execute_setup e = *setup->execute;
	struct execution *x = arena_alloc(setup->arena, sizeof *x);
	struct judged j;
	struct fault fault = {0};

	*s = (struct serial){0};
	e.order = serial_order(h->judged, f, culprit_first, setup->arena);
	if (e.order->steps != 2 || !execute(x, &e, &fault))
		return;
	judge(&j, x, setup->policy);
	s->known = !x->collected.gate.diverged && !judged_find(&j, f->id);
	s->outcome = x->outcome;
	s->output = keep(setup->arena, x->output);
	s->valued = s->known && value_left(&j, &h->replay.mark[MARK_FIRST].step, &s->value);
	execution_free(x);
}

void hit_compare(struct chase_hit *h, const struct hit_setup *setup)
{
	static const int order[] = {MARK_FIRST, MARK_CULPRIT, MARK_FIRST};
	struct serial s[2];
	int64_t value = 0;
	bool seen = value_left(h->judged, &h->replay.mark[MARK_FIRST].step, &value);
	struct text x = h->replay.mark[MARK_FIRST].variable;

	for (int i = 0; i < 2; i++)
		run_serial(&s[i], h, setup, i);
	h->then = tell_then(h->judged->execution, s, setup->arena);
	h->harm = did_harm(h->judged->execution, s);
	if (!seen || (!s[0].valued && !s[1].valued))
		return;
	h->outcomes = 3;
	h->outcome = arena_alloc(setup->arena, 3 * sizeof *h->outcome);
	for (int i = 0; i < 2; i++)
		h->outcome[i] = (struct story_outcome){names_of(&h->replay, order + i, 2, setup->arena), x,
			s[i].valued ? s[i].value : 0, s[i].valued, true};
	h->outcome[2] = (struct story_outcome){names_of(&h->replay, order, 3, setup->arena), x, value, true, false};
}
