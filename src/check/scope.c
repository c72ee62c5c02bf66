/* SPDX-License-Identifier: MIT */
#include "scope.h"

#include "base/arena.h"
#include "check/check.h"
#include "event/tables.h"
#include "policy/policy.h"

enum { ASKED = 1 << 15, RECURSION_MOST = 4 };

void scope_init(struct scope *s, struct run *run, const struct policy *policy, struct scope_listener to)
{
	*s = (struct scope){.run = run, .policy = policy, .to = to, .spans = policy->blocks & POLICY_LOCKS,
		.says_little = policy_says_little(policy)};
	seg_init(&s->code, run->arena, sizeof(uint16_t));
	seg_init(&s->site, run->arena, sizeof(uint16_t));
	seg_init(&s->variable, run->arena, sizeof(uint16_t));
	seg_init(&s->line, run->arena, sizeof(struct scope_line));
	extents_init(&s->extents, run->arena);
	extents_init(&s->guarded, run->arena);
}

/* The policy's answers, each asked once. */

/* What is assumed is no block, whoever says so. */
static unsigned ask_code(struct scope *s, struct text name)
{
	unsigned says = policy_code(s->policy, name);

	if (s->declared)
		says |= policy_code(s->declared, name) & (CODE_ATOMIC | CODE_MOVER);
	return says & (CODE_ATOMIC | CODE_MOVER) ? says & ~(unsigned)CODE_BLOCK : says;
}

static inline unsigned code_says(struct scope *s, code_id code)
{
	uint16_t *known = seg_at(&s->code, code, sizeof *known);

	if (__builtin_expect(!*known, 0))
		*known = (uint16_t)(ASKED | ask_code(s, tables_name(s->run->tables, TABLE_CODE, code)));
	return *known;
}

static unsigned ask_site(struct scope *s, struct text name)
{
	unsigned says = policy_site(s->policy, name);

	return s->declared ? says | (policy_site(s->declared, name) & SITE_NO_WARN) : says;
}

static unsigned site_says(struct scope *s, site_id site)
{
	uint16_t *known = seg_at(&s->site, site, sizeof *known);

	if (!site)
		return 0;
	if (!*known)
		*known = (uint16_t)(ASKED | ask_site(s, tables_name(s->run->tables, TABLE_SITE, site)));
	return *known;
}

static unsigned variable_says(struct scope *s, uint64_t object)
{
	uint16_t *known = seg_at(&s->variable, object, sizeof *known);

	if (!*known)
		*known = (uint16_t)(ASKED | policy_variable(s->policy,
			tables_name(s->run->tables, TABLE_OBJECT, (uint32_t)object)));
	return *known;
}

/* Opening and closing. */

static inline struct activations *open_of(struct scope *s, struct scope_line *l, uint32_t line)
{
	if (__builtin_expect(!l->open, 0))
		l->open = run_open(s->run, line);
	return l->open;
}

static inline __attribute__((always_inline)) void open_block(struct scope *s, struct scope_line *l,
	const struct event *e, struct activation a)
{
	a.stack = l->stack;
	activations_push(open_of(s, l, e->line), s->run->arena, a);
	if (a.block && s->to.opened)
		s->to.opened(s->to.self, e);
	if (a.exact)
		s->to.began(s->to.self, e);
}

static inline void close_block(struct scope *s, struct activations *open, const struct event *e, struct activation *a)
{
	s->run->closing = a;
	if (a->exact)
		s->to.ended(s->to.self, e);
	if (a->block && s->to.closed)
		s->to.closed(s->to.self, e);
	activations_pop(open, a);
}

void scope_fork(struct scope *s, uint32_t line)
{
	*scope_line(s, line) = (struct scope_line){.fresh = true, .open = scope_line(s, line)->open};
}

bool scope_first(struct scope *s, uint32_t line)
{
	bool first = scope_line(s, line)->fresh;

	scope_line(s, line)->fresh = false;
	return first;
}

/* Whether the function's blocks are taken together with others: all that were chosen, not every function there is. */
static bool is_chosen(const struct scope *s, unsigned says)
{
	return says & CODE_DECLARED || !(s->policy->blocks & POLICY_FUNCTIONS);
}

static bool is_assumed(unsigned says)
{
	return says & (CODE_ATOMIC | CODE_MOVER);
}

/*
 * A function that calls itself makes as many stacks as it has ways to go: of its frames in a row only the first ones
 * and the last are kept.
 */
static inline stack_id stack_with(struct tables *t, stack_id stack, code_id code, site_id site)
{
	const struct stack_node *top = tables_node(t, stack);

	if (__builtin_expect(top->frame.code == code && top->same >= RECURSION_MOST, 0))
		stack = top->frame.parent;
	return tables_stack(t, (struct frame){stack, code, site});
}

stack_id scope_stack_with(struct scope *s, stack_id stack, code_id code, site_id site)
{
	return stack_with(s->run->tables, stack, code, site);
}

void scope_enter(struct scope *s, struct scope_line *l, const struct event *e, bool first)
{
	unsigned says = code_says(s, (code_id)e->object);
	struct activation a = {.begin = e->seq, .code = (code_id)e->object, .site = e->site, .caller = e->stack};

	a.declared = says & CODE_DECLARED;
	a.block = says & CODE_BLOCK && (!first || a.declared) && !l->assumed;
	a.exact = a.block && is_chosen(s, says);
	if (!l->assumed)
		l->step = says & CODE_ATOMIC;
	l->assumed += is_assumed(says);
	a.outer = l->stack;
	l->stack = stack_with(s->run->tables, l->stack, a.code, e->site);
	open_block(s, l, e, a);
}

void scope_exit(struct scope *s, struct scope_line *l, const struct event *e)
{
	struct activations *open = open_of(s, l, e->line);
	struct activation *a = &open->at[open->depth - 1];

	if (__builtin_expect(a->sort != ACTIVATION_FUNCTION, 0))
		a = activations_youngest(open, ACTIVATION_FUNCTION);
	l->assumed -= is_assumed(code_says(s, a->code));
	l->stack = a->outer;
	close_block(s, open, e, a);
}

static bool has_left(const struct scope *s, code_id code)
{
	return code && policy_has_left(s->policy, tables_name(s->run->tables, TABLE_CODE, code));
}

/* A block without a label goes by the function that it is in. */
void scope_begin(struct scope *s, const struct event *e)
{
	struct scope_line *l = scope_line(s, e->line);
	struct activation a = {.begin = e->seq, .code = (code_id)e->object, .site = e->site, .caller = e->stack,
		.sort = ACTIVATION_BLOCK};

	if (!a.code && l->stack)
		a.code = tables_frame(s->run->tables, l->stack).code;
	a.declared = true;
	a.block = a.exact = !l->assumed && !has_left(s, a.code);
	open_block(s, l, e, a);
}

void scope_end(struct scope *s, const struct event *e)
{
	struct activations *open = run_open(s->run, e->line);

	close_block(s, open, e, activations_youngest(open, ACTIVATION_BLOCK));
}

void scope_acquire(struct scope *s, const struct event *e)
{
	struct scope_line *l = scope_line(s, e->line);
	struct activation a = {.begin = e->seq, .site = e->site, .caller = e->stack, .lock = (sync_id)e->object,
		.sort = ACTIVATION_SPAN};

	if (l->stack)
		a.code = tables_frame(s->run->tables, l->stack).code;
	a.block = a.exact = !l->assumed;
	open_block(s, l, e, a);
}

void scope_release(struct scope *s, const struct event *e)
{
	struct activations *open = run_open(s->run, e->line);

	for (size_t i = open->depth; i-- > 0;)
		if (open->at[i].sort == ACTIVATION_SPAN && open->at[i].lock == e->object) {
			close_block(s, open, e, &open->at[i]);
			return;
		}
}

/*
 * A cut ends the blocks that the policy made, as one transaction, and starts them again behind it. Where a block of
 * the trace is open among them nothing ends: that one is literal, and the transaction goes on for its sake.
 */
static bool ends_transaction(const struct activations *open)
{
	size_t literal = 0;

	for (size_t i = 0; i < open->depth; i++)
		literal += open->at[i].exact && open->at[i].sort == ACTIVATION_BLOCK;
	return open->exact && !literal;
}

void scope_cut(struct scope *s, const struct event *e)
{
	struct activations *open = run_open(s->run, e->line);
	size_t exact = open->exact;

	if (ends_transaction(open)) {
		open->exact = 1;
		s->to.ended(s->to.self, e);
		open->exact = exact;
	}
	open->cut = e->seq;
}

void scope_resume(struct scope *s, const struct event *e)
{
	struct activations *open = run_open(s->run, e->line);
	size_t exact = open->exact;
	struct event behind = *e;

	if (!ends_transaction(open))
		return;
	behind.seq++;
	open->exact = 1;
	s->to.began(s->to.self, &behind);
	open->exact = exact;
}

void scope_close_all(struct scope *s, const struct event *e, uint32_t line)
{
	struct activations *open = run_open(s->run, line);

	while (open->depth) {
		struct activation *a = &open->at[open->depth - 1];

		if (a->sort == ACTIVATION_FUNCTION)
			scope_exit(s, scope_line(s, line), e);
		else
			close_block(s, open, e, a);
	}
}

/* What the program says about itself. */

static struct policy *declared_of(struct scope *s)
{
	if (!s->declared) {
		s->declared = arena_alloc(s->run->arena, sizeof *s->declared);
		policy_init(s->declared, s->run->arena);
	}
	return s->declared;
}

/*
 * Of a function that is open nothing may change: its exit undoes what its entry did. So it holds from the next one on.
 */
void scope_declare(struct scope *s, const struct event *e)
{
	const struct tables *t = s->run->tables;
	struct policy *p = declared_of(s);

	s->says_little = false;
	switch (e->kind) {
	case EVENT_ASSUME_ATOMIC: policy_assume_atomic(p, tables_name(t, TABLE_CODE, (code_id)e->object)); break;
	case EVENT_ASSUME_MOVER: policy_assume_mover(p, tables_name(t, TABLE_CODE, (code_id)e->object)); break;
	case EVENT_NO_WARN: policy_no_warn(p, tables_name(t, TABLE_SITE, (site_id)e->object)); break;
	default:
		if (e->flags & EVENT_ADDRESSED && e->count)
			extents_add(&s->guarded, e->object, e->count);
		break;
	}
}

static bool is_guarded(struct scope *s, const struct event *e)
{
	struct extent in;

	return s->guarded.count && e->flags & EVENT_ADDRESSED && extents_find(&s->guarded, e->object, &in);
}

/* What is watched, and what is taken for granted. */

/* What opens and closes is no operation: the step is the first that is. */
static void assume(struct scope_line *l, struct event *e)
{
	if (!l->assumed || event_info[e->kind].table == TABLE_CODE)
		return;
	e->assumed |= l->step ? ASSUMED_STEP : ASSUMED_MOVER;
	l->step = false;
}

void scope_alloc(struct scope *s, const struct event *e)
{
	if (policy_cutoff(s->policy) && e->flags & EVENT_ADDRESSED)
		extents_add(&s->extents, e->object, e->count);
}

void scope_free(struct scope *s, const struct event *e)
{
	if (policy_cutoff(s->policy) && e->flags & EVENT_ADDRESSED)
		extents_remove(&s->extents, e->object);
}

/* An element of an allocation taken as an array of what is accessed, beyond those that are watched. */
static bool is_cut_off(struct scope *s, const struct event *e)
{
	uint64_t size = e->flags & EVENT_SIZED && e->size ? e->size : 1;
	struct extent in;

	return policy_cutoff(s->policy) && e->flags & EVENT_ADDRESSED && extents_find(&s->extents, e->object, &in) &&
	       (e->object - in.start) / size >= policy_cutoff(s->policy);
}

/* Whether the access is left out: its place, its variable, or the function that makes it is not watched. */
static bool is_ignored(struct scope *s, const struct event *e, unsigned site, unsigned variable)
{
	stack_id stack = e->stack;

	if (site & (SITE_NO_WARN | SITE_UNWATCHED) || variable & VARIABLE_UNWATCHED || is_cut_off(s, e))
		return true;
	return stack && code_says(s, tables_frame(s->run->tables, stack).code) & CODE_UNWATCHED;
}

/* Only accesses can be left out: without its synchronisation the rest of the trace would be another one. */
bool scope_watches_slowly(struct scope *s, struct event *e)
{
	unsigned site = site_says(s, e->site), variable = 0;

	if (event_is_access(e->kind)) {
		if (!(e->flags & EVENT_ADDRESSED))
			variable = variable_says(s, e->object);
		if (is_ignored(s, e, site, variable))
			return false;
	}
	if (site & SITE_NO_WARN)
		e->assumed |= ASSUMED_MOVER;
	if (variable & VARIABLE_GUARDED || (event_is_access(e->kind) && is_guarded(s, e)))
		e->assumed |= ASSUMED_GUARDED;
	assume(scope_line(s, e->line), e);
	return true;
}
