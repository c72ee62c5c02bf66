/* SPDX-License-Identifier: MIT */
/*
 * A report's findings as a story: every id becomes a text, or the number of something that is shared.
 *
 * What is not certain is not told. A fix is offered where both accesses, or the calls that lead to them, stand in one
 * function of one file, the first before the second. An outcome is known if an access of the run itself left that
 * value.
 */
#include "report.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"
#include "event/place.h"
#include "policy/rank.h"
#include "report/source_lines.h"
#include "symbols/inlines.h"
#include "symbols/namer.h"

/* What has a number already, of one trace. */
struct numbers {
	struct map threads; /* thread to index + 1 */
	struct map stacks;  /* (stack, site) to index + 1 */
};

/* One trace being told. */
struct teller {
	struct story *s;
	const struct report_trace *trace;
	const struct tables *tables;
	uint32_t number; /* of the trace */
	struct numbers *numbers; /* by trace */
	struct intern stacks;    /* what stacks hold: the id is the index + 1 */
	struct map hazards;      /* the address of a hazard to index + 1 */
	size_t thread_room, stack_room;
};

static void *allot(const struct teller *t, size_t count, size_t element)
{
	return arena_alloc(t->s->arena, count * element);
}

static struct text text_of(const char *word)
{
	return (struct text){word, word ? strlen(word) : 0};
}

static struct text keep(const struct teller *t, const struct str *s)
{
	return (struct text){arena_text(t->s->arena, s->at ? s->at : "", s->length), s->length};
}

static struct text code_text(const struct teller *t, code_id code)
{
	return tables_name(t->tables, TABLE_CODE, code);
}

static struct story_place place_of(const struct teller *t, site_id site)
{
	struct place_parts p = place_parse(tables_name(t->tables, TABLE_SITE, site));

	return (struct story_place){p.file, (uint32_t)p.line, (uint32_t)p.column, STORY_NONE};
}

/* The shared library, or the system's headers. */
static bool is_foreign(struct text file)
{
	return memmem(file.at, file.length, ".so", 3) || (file.length > 5 && memcmp(file.at, "/usr/", 5) == 0);
}

static size_t depth_of(const struct tables *tables, stack_id stack)
{
	size_t n = 0;

	for (; stack; stack = tables_frame(tables, stack).parent)
		n++;
	return n;
}

/* A stack that is being put together. */
struct frames {
	struct story_stack to;
	size_t room;
};

static void add_frame(const struct teller *t, struct frames *f, struct story_frame frame)
{
	frame.foreign = frame.place.file.length && is_foreign(frame.place.file);
	f->to.at = arena_reserve(t->s->arena, f->to.at, &f->room, f->to.count, sizeof *f->to.at);
	f->to.at[f->to.count++] = frame;
}

/* A function, and before it those that were inlined there. */
static void add_function(const struct teller *t, struct frames *f, code_id code, site_id site)
{
	struct inlined in[INLINED_MOST];
	size_t n = t->tables->namer ? namer_inlined(t->tables->namer, code, site, in) : 0;
	struct story_place place = place_of(t, site);

	for (size_t i = 0; i < n; i++) {
		struct place_parts call = in[i].place.length ? place_parse(in[i].place) : (struct place_parts){0};

		add_frame(t, f, (struct story_frame){.function = in[i].function, .place = place, .inlined = true});
		place = (struct story_place){call.file, (uint32_t)call.line, (uint32_t)call.column, STORY_NONE};
	}
	add_frame(t, f, (struct story_frame){.function = code_text(t, code), .place = place});
}

/* Where there is a place and no stack, it is one frame of a function that is not known. */
static struct story_stack frames_of(const struct teller *t, stack_id stack, site_id site)
{
	struct frames f = {0};

	if (!stack)
		add_frame(t, &f, (struct story_frame){.function = code_text(t, 0), .place = place_of(t, site)});
	while (stack) {
		struct frame frame = tables_frame(t->tables, stack);

		add_function(t, &f, frame.code, site);
		site = frame.site;
		stack = frame.parent;
	}
	return f.to;
}

/* What the stack says, as bytes: equal ones, also of two traces, get one number. */
static void add_key(struct str *to, const struct story_stack *stack)
{
	for (size_t i = 0; i < stack->count; i++) {
		str_bytes(to, stack->at[i].function.at, stack->at[i].function.length);
		str_char(to, 0);
		story_add_place(to, &stack->at[i].place);
		str_char(to, 0);
	}
}

static uint32_t stack_number(struct teller *t, stack_id stack, site_id site)
{
	struct story_stack frames = frames_of(t, stack, site);
	struct story *s = t->s;
	struct str key;
	uint32_t id;

	str_init(&key, s->arena);
	add_key(&key, &frames);
	id = intern_add(&t->stacks, key.at, key.length);
	if (id > s->stacks) {
		s->stack = arena_reserve(s->arena, s->stack, &t->stack_room, s->stacks, sizeof *s->stack);
		s->stack[s->stacks++] = frames;
	}
	return id;
}

/* The stack of an operation at the site. */
static uint32_t stack_of(struct teller *t, stack_id stack, site_id site)
{
	uint32_t *number;

	if (!stack && !site)
		return STORY_NONE;
	number = map_put(&t->numbers[t->number].stacks, (uint64_t)stack << 32 | site);
	if (*number == 0)
		*number = stack_number(t, stack, site);
	return *number - 1;
}

static uint32_t thread_of(struct teller *t, thread_id id);

/* Whoever has made the thread, and where. */
static void tell_creation(struct teller *t, uint32_t thread, thread_id id)
{
	const struct access *fork = findings_creation(t->trace->findings, id);
	uint32_t creator = fork ? thread_of(t, fork->thread) : STORY_NONE;

	t->s->thread[thread].creator = creator;
	t->s->thread[thread].creation = fork ? stack_of(t, fork->stack, fork->site) : STORY_NONE;
}

/* It has its number before its creator gets one: a bad trace may have them in a circle. */
static uint32_t thread_of(struct teller *t, thread_id id)
{
	uint32_t *number = id ? map_put(&t->numbers[t->number].threads, id) : NULL;
	struct story *s = t->s;
	uint32_t thread;

	if (!number)
		return STORY_NONE;
	if (*number)
		return *number - 1;
	s->thread = arena_reserve(s->arena, s->thread, &t->thread_room, s->threads, sizeof *s->thread);
	thread = (uint32_t)s->threads++;
	*number = thread + 1;
	s->thread[thread] = (struct story_thread){tables_name(t->tables, TABLE_THREAD, id), STORY_NONE, STORY_NONE};
	tell_creation(t, thread, id);
	return thread;
}

static struct text object_of(const struct teller *t, const struct access *a)
{
	struct str name;

	str_init(&name, t->s->arena);
	report_object(&name, t->tables, a);
	return keep(t, &name);
}

/*
 * A recording has bytes and no types. Four of them are mostly an int, so a large value is rather a small negative one;
 * of other sizes the bytes are taken as they are.
 */
static uint64_t value_of(const struct access *a)
{
	if (!(a->flags & EVENT_VALUED))
		return 0;
	if (a->flags & EVENT_SIZED && a->size == 4 && a->value > INT32_MAX && a->value <= UINT32_MAX)
		return (uint64_t)(int64_t)(int32_t)(uint32_t)a->value;
	return a->value;
}

static struct story_event event_of(struct teller *t, const struct report_step *step)
{
	const struct access *a = step->access;

	return (struct story_event){
		.thread = thread_of(t, a->thread), .word = report_word(a, step->source), .object = object_of(t, a),
		.data = event_is_access(a->kind),
		.locks = a->kind == EVENT_ACQUIRE || a->kind == EVENT_ACQUIRE_SHARED,
		.unlocks = a->kind == EVENT_RELEASE || a->kind == EVENT_RELEASE_SHARED,
		.valued = a->flags & EVENT_VALUED, .is_unsigned = a->flags & EVENT_VALUED && a->flags & EVENT_UNSIGNED,
		.value = value_of(a), .size = a->flags & EVENT_SIZED ? a->size : 0,
		.place = place_of(t, a->site), .stack = a->stack ? stack_of(t, a->stack, a->site) : STORY_NONE,
		.role = step->role, .seq = a->seq,
	};
}

/* Findings. */

static bool is_among(const struct text *list, size_t n, struct text name)
{
	for (size_t i = 0; i < n; i++)
		if (text_same(list[i], name))
			return true;
	return false;
}

/* The names of what the path is about, each once: data, or else locks. */
static void tell_variables(const struct teller *t, struct story_finding *to)
{
	to->variable = allot(t, to->events + 1, sizeof *to->variable);
	for (int pass = 0; pass < 2 && !to->variables; pass++)
		for (size_t i = 0; i < to->events; i++) {
			const struct story_event *e = &to->event[i];
			bool wanted = e->role && e->object.length && (pass ? e->locks || e->unlocks : e->data);

			if (wanted && !is_among(to->variable, to->variables, e->object))
				to->variable[to->variables++] = e->object;
		}
}

static void tell_path(struct teller *t, struct story_finding *to, const struct finding *f)
{
	struct report_step *steps = allot(t, 2 * f->links, sizeof *steps);

	to->events = report_steps(f, steps);
	to->event = allot(t, to->events, sizeof *to->event);
	for (size_t i = 0; i < to->events; i++)
		to->event[i] = event_of(t, &steps[i]);
}

/* The path in its surroundings, where these are known. */
static void tell_events(struct teller *t, struct story_finding *to, const struct finding *f)
{
	static const enum story_role roles[] = {[ROLE_NONE] = STORY_OTHER, [ROLE_FIRST] = STORY_FIRST,
		[ROLE_CULPRIT] = STORY_CULPRIT, [ROLE_SECOND] = STORY_SECOND};

	if (!f->moments_count) {
		tell_path(t, to, f);
		return;
	}
	to->events = f->moments_count;
	to->event = allot(t, to->events, sizeof *to->event);
	for (size_t i = 0; i < to->events; i++) {
		const struct moment *m = &f->moments[i];

		to->event[i] = event_of(t, &(struct report_step){&m->access, roles[m->role], m->ends});
		to->event[i].skipped = m->skipped;
	}
}

/* Whether the block's own thread takes, or gives back, the lock that is free in the window. */
static bool is_own(const struct story_finding *f, const struct story_event *e, bool unlocks)
{
	return e->thread == f->thread && (unlocks ? e->unlocks : e->locks) && f->lock.length && text_same(e->object, f->lock);
}

/*
 * From the first event behind FIRST to the last one before SECOND; but where the block gives its lock back behind FIRST
 * before anybody comes in, and takes it again behind all of them, the window is what lies between.
 */
static void tell_window(struct story_finding *to)
{
	const struct story_event *first = story_event(to, STORY_FIRST), *second = story_event(to, STORY_SECOND);
	const struct story_event *from = first ? first + 1 : NULL, *until = second ? second - 1 : NULL, *e;

	to->window_from = to->window_to = STORY_NONE;
	if (!from || !until || from > until)
		return;
	for (e = from; e <= until && e->thread == to->thread; e++)
		if (is_own(to, e, true))
			from = e + 1;
	for (e = until; e >= from && e->thread == to->thread; e--)
		if (is_own(to, e, false))
			until = e - 1;
	if (from > until)
		return;
	to->window_from = (uint32_t)(from - to->event);
	to->window_to = (uint32_t)(until - to->event);
}

static void tell_enclosing(const struct teller *t, struct story_finding *to, const struct finding *f)
{
	stack_id stack = f->block.entered ? f->block.caller : 0;
	code_id code;

	to->enclosing = allot(t, depth_of(t->tables, stack) + 1, sizeof *to->enclosing);
	while ((code = report_enclosing(t->tables, &stack)))
		to->enclosing[to->enclosings++] = code_text(t, code);
}

static void tell_evidence(const struct teller *t, struct story_finding *to, const struct finding *f)
{
	to->evidences = f->evidence_count;
	to->evidence = allot(t, to->evidences, sizeof *to->evidence);
	for (size_t i = 0; i < f->evidence_count; i++)
		to->evidence[i] = (struct story_evidence){
			text_of(f->evidence[i].check), text_of(f->evidence[i].kind), f->evidence[i].seq};
}

static void tell_reasons(const struct teller *t, struct story_finding *to, const struct finding *f)
{
	const struct rank_rule *r;
	size_t at = 0;

	to->reason = allot(t, rank_rule_count, sizeof *to->reason);
	while ((r = rank_next_reason(f->facts, &at)))
		to->reason[to->reasons++] = (struct story_reason){text_of(r->name), text_of(r->why)};
}

/* Where the block's own function was when the access was made: at the access, or at the call that led to it. */
static struct story_place own_place(const struct story *s, const struct story_finding *f, const struct story_event *e)
{
	const struct story_stack *stack = e && e->stack != STORY_NONE ? &s->stack[e->stack] : NULL;
	size_t own = f->block_stack != STORY_NONE ? s->stack[f->block_stack].count : 0;

	if (stack && own && own <= stack->count && text_same(stack->at[stack->count - own].function, f->function))
		return stack->at[stack->count - own].place;
	for (size_t i = 0; stack && i < stack->count; i++)
		if (f->function.length && text_same(stack->at[i].function, f->function))
			return stack->at[i].place;
	return (struct story_place){.source = STORY_NONE};
}

/* Where the section of the access begins, or ends: at its lock's acquire before it, or release behind it. */
static const struct story_event *section_end(const struct story_finding *f, const struct story_event *of, int step)
{
	for (const struct story_event *e = of; e && e >= f->event && e < f->event + f->events; e += step)
		if (is_own(f, e, step > 0))
			return e;
	return of;
}

/* The place of the section's end, if it is of any use: it may be in another function than the block's. */
static struct story_place end_place(const struct story *s, const struct story_finding *f, enum story_role role)
{
	const struct story_event *of = story_event(f, role);
	int step = role == STORY_FIRST ? -1 : 1;
	struct story_place access = own_place(s, f, of), end = own_place(s, f, section_end(f, of, step));
	bool better = end.line && text_same(end.file, access.file) &&
		(step < 0 ? end.line < access.line : end.line > access.line);

	return better ? end : access;
}

static void tell_fix(const struct story *s, struct story_finding *to)
{
	struct story_place from = end_place(s, to, STORY_FIRST), until = end_place(s, to, STORY_SECOND);

	to->fix = (struct story_fix){.from.source = STORY_NONE, .to.source = STORY_NONE};
	if (!from.file.length || !from.line || !text_same(from.file, until.file) || until.line < from.line)
		return;
	to->fix = (struct story_fix){to->lock, from, until};
}

static bool writes(const struct story_event *e)
{
	return e->data && strcmp(e->word, "read") != 0 && strcmp(e->word, "atomic load") != 0;
}

static bool same_variable(const struct story_event *a, const struct story_event *b)
{
	return a->data && b->data && text_same(a->object, b->object);
}

static struct text order_text(const struct teller *t, const uint32_t *thread, size_t n)
{
	struct str order;

	str_init(&order, t->s->arena);
	for (size_t i = 0; i < n; i++) {
		struct text name = t->s->thread[thread[i]].name;

		str_add(&order, i ? ", " : "");
		str_bytes(&order, name.at, name.length);
	}
	return keep(t, &order);
}

/* An update of one variable that another thread has written to, or may write to, in between: nothing else is told. */
static bool is_lost_update(const struct story_event *first, const struct story_event *culprit,
	const struct story_event *second)
{
	return same_variable(first, culprit) && same_variable(first, second) && !writes(first) && writes(culprit) &&
		writes(second) && culprit->thread != first->thread && second->thread == first->thread && second->valued &&
		culprit->valued && !second->is_unsigned && !culprit->is_unsigned;
}

static size_t culprits(const struct story_finding *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->events; i++)
		n += f->event[i].role == STORY_CULPRIT;
	return n;
}

/*
 * The run itself went one of the three orders, and the last write of that order left its value. What the others would
 * leave depends on what the program makes of other values, and is not known.
 */
static void tell_outcomes(const struct teller *t, struct story_finding *to)
{
	const struct story_event *first = story_event(to, STORY_FIRST), *second = story_event(to, STORY_SECOND);
	const struct story_event *culprit = story_event(to, STORY_CULPRIT);
	uint32_t order[] = {0, 0, 0, 0};

	if (!first || !second || !culprit || culprits(to) != 1 || !is_lost_update(first, culprit, second))
		return;
	order[0] = order[2] = first->thread;
	order[1] = order[3] = culprit->thread;
	to->outcome = allot(t, 3, sizeof *to->outcome);
	to->outcome[to->outcomes++] = (struct story_outcome){order_text(t, order, 2), first->object,
		(int64_t)culprit->value, !to->happened && culprit->seq > second->seq, true};
	to->outcome[to->outcomes++] = (struct story_outcome){order_text(t, order + 1, 2), first->object,
		(int64_t)second->value, !to->happened && culprit->seq < first->seq, true};
	to->outcome[to->outcomes++] = (struct story_outcome){order_text(t, order, 3), first->object,
		(int64_t)second->value, to->happened, false};
	for (size_t i = 0; i < to->outcomes; i++)
		if (!to->outcome[i].known)
			to->outcome[i].value = 0;
}

/* What a search has found out about it; NULL: nobody has searched. */
static const struct report_chased *chased_of(const struct teller *t, const struct finding *f)
{
	for (size_t i = 0; i < t->trace->chases; i++)
		if (t->trace->chased[i].id == f->id)
			return &t->trace->chased[i];
	return NULL;
}

static void tell_chased(const struct teller *t, struct story_finding *to, const struct finding *f)
{
	const struct report_chased *c = chased_of(t, f);

	if (!c)
		return;
	to->replay = c->replay.length > 0;
	to->then = c->then;
	if (c->outcomes) {
		to->outcome = c->outcome;
		to->outcomes = c->outcomes;
	}
}

static struct text hindrance_of(const struct finding *f)
{
	return text_of(f->hindrance ? story_hazard_text[f->hindrance->kind] : f->incomplete ? "incomplete" :
		f->unchecked ? "unchecked" : NULL);
}

static void tell_block(struct teller *t, struct story_finding *to, const struct block *b)
{
	to->function = code_text(t, b->code);
	to->place = place_of(t, b->site);
	to->thread = thread_of(t, b->thread);
	to->seq = b->seq;
	to->declared = b->declared;
	to->entered = b->entered;
	to->block_stack = b->stack ? stack_of(t, b->stack, b->site) : STORY_NONE;
	to->caller_stack = b->caller ? stack_of(t, b->caller, b->site) : STORY_NONE;
}

static struct text id_of(const struct teller *t, const struct finding *f)
{
	struct str id;

	str_init(&id, t->s->arena);
	str_printf(&id, "fsn-%08" PRIx64, f->id);
	return keep(t, &id);
}

static void tell_finding(struct teller *t, struct story_finding *to, const struct finding *f)
{
	*to = (struct story_finding){
		.id = id_of(t, f), .trace = t->number, .verdict = f->verdict, .rank = f->rank, .hidden = f->hidden,
		.again = f->again, .happened = report_happened(f), .count = f->count, .data = finding_has_data(f),
		.lock = tables_name(t->tables, TABLE_SYNC, finding_lock(f)), .hindrance = hindrance_of(f),
		.guessed = f->guessed, .hazard = STORY_NONE,
	};
	tell_block(t, to, &f->block);
	tell_events(t, to, f);
	tell_window(to);
	tell_variables(t, to);
	tell_enclosing(t, to, f);
	tell_evidence(t, to, f);
	tell_reasons(t, to, f);
	tell_fix(t->s, to);
	tell_outcomes(t, to);
	tell_chased(t, to, f);
}

/* Hazards, traces and the whole. */

static void tell_hazard(struct teller *t, struct story_hazard *to, const struct hazard *h)
{
	*to = (struct story_hazard){.kind = h->kind, .trace = t->number, .times = h->times, .events = h->count};
	to->event = allot(t, h->count, sizeof *to->event);
	for (size_t i = 0; i < h->count; i++)
		to->event[i] = event_of(t, &(struct report_step){&h->at[i], STORY_OTHER, false});
	if (h->kind == HAZARD_RACE)
		to->object = object_of(t, h->at);
}

static void tell_hazards(struct teller *t, enum hazard_kind kind)
{
	const struct findings *f = t->trace->findings;

	for (size_t i = 0; i < f->hazards; i++)
		if (f->hazard[i]->kind == kind) {
			tell_hazard(t, &t->s->hazard[t->s->hazards++], f->hazard[i]);
			*map_put(&t->hazards, (uintptr_t)f->hazard[i]) = (uint32_t)t->s->hazards;
		}
}

/* What stands in the way of a finding is among the hazards. */
static void tell_hindrances(const struct teller *t, const struct report *r)
{
	struct story_finding *to = t->s->finding;

	for (size_t i = 0; i < r->count; i++)
		for (size_t k = 0; k < r->trace[i].findings->count; k++, to++) {
			const struct hazard *h = r->trace[i].findings->at[k].hindrance;
			uint32_t number = h ? map_get(&t->hazards, (uintptr_t)h) : 0;

			to->hazard = number ? number - 1 : STORY_NONE;
		}
}

static void tell_limits(const struct teller *t, struct story_trace *to)
{
	const struct report_trace *of = t->trace;

	to->repair = allot(t, WF_RULES, sizeof *to->repair);
	for (int i = 0; i < WF_RULES; i++) {
		to->repaired += of->repaired[i];
		if (of->repaired[i])
			to->repair[to->repairs++] = (struct story_limit){text_of(wf_rule_text[i]), of->repaired[i]};
	}
	to->limits = of->findings->limits;
	to->limit = allot(t, to->limits, sizeof *to->limit);
	for (size_t i = 0; i < to->limits; i++)
		to->limit[i] = (struct story_limit){text_of(of->findings->limit[i].text), of->findings->limit[i].times};
}

static void tell_trace(struct teller *t)
{
	const struct report_trace *of = t->trace;
	struct story_trace *to = &t->s->trace[t->s->traces++];

	*to = (struct story_trace){
		.path = text_of(of->path), .events = of->events, .variables = of->variables, .skipped = of->skipped,
		.threads = of->tables->names[TABLE_THREAD].count, .cut = text_of(of->cut), .fault = text_of(of->fault),
		.timed = of->timed,
	};
	tell_limits(t, to);
	for (size_t i = 0; i < of->findings->count; i++)
		tell_finding(t, &t->s->finding[t->s->findings++], &of->findings->at[i]);
}

/* A shell takes these as they are. */
static bool is_plain(const char *word)
{
	return *word && word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%")] == '\0';
}

static void add_word(struct str *to, const char *word)
{
	if (is_plain(word)) {
		str_add(to, word);
		return;
	}
	str_char(to, '\'');
	for (; *word; word++)
		if (*word == '\'')
			str_add(to, "'\\''");
		else
			str_char(to, *word);
	str_char(to, '\'');
}

struct text story_program(struct arena *a, char **argv)
{
	struct str words;

	str_init(&words, a);
	for (char **word = argv; word && *word; word++) {
		str_add(&words, word == argv ? "" : " ");
		add_word(&words, *word);
	}
	return (struct text){words.at, words.length};
}

static void teller_init(struct teller *t, struct story *s, const struct report *r)
{
	size_t findings = 0, hazards = 0;

	*t = (struct teller){.s = s, .numbers = arena_alloc(s->arena, r->count * sizeof *t->numbers)};
	intern_init(&t->stacks, s->arena);
	map_init(&t->hazards, s->arena);
	for (size_t i = 0; i < r->count; i++) {
		map_init(&t->numbers[i].threads, s->arena);
		map_init(&t->numbers[i].stacks, s->arena);
		findings += r->trace[i].findings->count;
		hazards += r->trace[i].findings->hazards;
	}
	s->trace = allot(t, r->count, sizeof *s->trace);
	s->finding = allot(t, findings, sizeof *s->finding);
	s->hazard = allot(t, hazards, sizeof *s->hazard);
}

static void tell_file(struct story *s, struct text id, struct text content)
{
	struct str name;

	str_init(&name, s->arena);
	str_bytes(&name, id.at, id.length);
	str_add(&name, ".replay");
	s->file[s->files++] = (struct story_file){{name.at, name.length}, content};
}

/* The replay files of findings and failures. */
static void tell_files(const struct teller *t, const struct report *r)
{
	struct story *s = t->s;
	const struct story_finding *f = s->finding;

	s->failure = r->failure;
	s->failures = r->failures;
	s->file = allot(t, s->findings + s->failures, sizeof *s->file);
	for (size_t i = 0; i < s->failures; i++)
		tell_file(s, s->failure[i].id, r->failure_replay[i]);
	for (size_t i = 0; i < r->count; i++)
		for (size_t k = 0; k < r->trace[i].findings->count; k++, f++) {
			struct teller of = {.trace = &r->trace[i]};

			if (f->replay)
				tell_file(s, f->id, chased_of(&of, &r->trace[i].findings->at[k])->replay);
		}
}

static void turn_to(struct teller *t, const struct report *r, size_t number)
{
	t->number = (uint32_t)number;
	t->trace = &r->trace[number];
	t->tables = t->trace->tables;
}

void story_tell(struct story *s, struct arena *a, const struct report *r)
{
	struct teller t;

	*s = (struct story){.arena = a, .program = story_program(a, r->program), .command = text_of(r->command),
		.status = r->status, .fail_on = text_of(r->fail_on), .rank = r->rank};
	teller_init(&t, s, r);
	for (size_t i = 0; i < r->count; i++) {
		turn_to(&t, r, i);
		tell_trace(&t);
	}
	for (int kind = 0; kind < 2; kind++)
		for (size_t i = 0; i < r->count; i++) {
			turn_to(&t, r, i);
			tell_hazards(&t, (enum hazard_kind)kind);
		}
	tell_hindrances(&t, r);
	tell_files(&t, r);
	if (!r->bare)
		source_lines_read(s);
}
