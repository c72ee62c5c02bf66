/* SPDX-License-Identifier: MIT */
#include "program_steps.h"

#include <inttypes.h>

#include "cli/program_plan.h"
#include "cli/program_writer.h"

static const char *const order_name[ORDERS] = {
	[ORDER_NONE] = "__ATOMIC_SEQ_CST",
	[ORDER_RELAXED] = "__ATOMIC_RELAXED",
	[ORDER_CONSUME] = "__ATOMIC_CONSUME",
	[ORDER_ACQUIRE] = "__ATOMIC_ACQUIRE",
	[ORDER_RELEASE] = "__ATOMIC_RELEASE",
	[ORDER_ACQ_REL] = "__ATOMIC_ACQ_REL",
	[ORDER_SEQ_CST] = "__ATOMIC_SEQ_CST",
};

static bool is_odd(uint32_t size)
{
	return size != 1 && size != 2 && size != 4 && size != 8;
}

/* As many bytes of the value as the access has. */
static uint64_t cut_value(uint64_t value, uint32_t size)
{
	return size < 8 ? value & ((UINT64_C(1) << size * 8) - 1) : value;
}

static void add_address(struct writer *w, const struct spot *spot)
{
	struct store *s = memory_store(&w->plan->memory, spot->store);

	switch (s->kind) {
	case STORE_ARRAY: str_add(&w->text, "memory"); break;
	case STORE_GLOBAL: str_add(&w->text, *writer_name(&w->globals, spot->store)); break;
	case STORE_BLOCK: str_printf(&w->text, "kept_block(%" PRIu32 ")", s->number); break;
	}
	if (spot->offset)
		str_printf(&w->text, " + %" PRIu64, spot->offset);
}

/* What is accessed, as C can read and assign it. A block has the alignment of its address in the trace. */
static void add_place(struct writer *w, const struct spot *spot)
{
	struct store *s = memory_store(&w->plan->memory, spot->store);
	uint64_t address = spot->offset + (s->kind == STORE_BLOCK ? s->object : 0);

	if (s->kind == STORE_GLOBAL && !s->mixed) {
		str_add(&w->text, *writer_name(&w->globals, spot->store));
		return;
	}
	str_printf(&w->text, "*(%s_%" PRIu32 " *)(", address % spot->size ? "loose" : "word", spot->size);
	add_address(w, spot);
	str_char(&w->text, ')');
}

static void read_odd(struct writer *w, const struct step *s, uint32_t thread)
{
	str_printf(&w->text, "memcpy(thread_copy(%" PRIu32 "), ", thread);
	add_address(w, &s->spot);
	str_printf(&w->text, ", %" PRIu32 "); ", s->spot.size);
	if (!s->spot.checked)
		return;
	str_printf(&w->text, "same_value(copied(%" PRIu32 ", %" PRIu32 "), ", thread, s->spot.size);
	writer_number(w, cut_value(s->e.value, s->spot.size));
	str_add(&w->text, "); ");
}

static void write_odd(struct writer *w, const struct step *s, uint32_t thread, uint64_t value)
{
	str_add(&w->text, "memcpy(");
	add_address(w, &s->spot);
	str_printf(&w->text, ", copy_of(%" PRIu32 ", ", thread);
	writer_number(w, value);
	str_printf(&w->text, "), %" PRIu32 "); ", s->spot.size);
}

static void read_typed(struct writer *w, const struct step *s)
{
	bool atomic = s->e.kind == EVENT_ATOMIC_LOAD;

	str_add(&w->text, s->spot.checked ? "same_value(" : "use_value(");
	str_add(&w->text, atomic ? "__atomic_load_n(&" : "");
	add_place(w, &s->spot);
	if (atomic)
		str_printf(&w->text, ", %s)", order_name[s->e.order]);
	if (s->spot.checked) {
		str_add(&w->text, ", ");
		writer_number(w, cut_value(s->e.value, s->spot.size));
	}
	str_add(&w->text, "); ");
}

static void write_typed(struct writer *w, const struct step *s, uint64_t value)
{
	bool plain = s->e.kind == EVENT_WRITE;

	if (s->e.kind == EVENT_ATOMIC_STORE)
		str_add(&w->text, "__atomic_store_n(&");
	if (s->e.kind == EVENT_ATOMIC_RMW)
		str_add(&w->text, "use_value(__atomic_exchange_n(&");
	add_place(w, &s->spot);
	str_add(&w->text, plain ? " = " : ", ");
	writer_number(w, value);
	if (!plain)
		str_printf(&w->text, ", %s)", order_name[s->e.order]);
	str_add(&w->text, s->e.kind == EVENT_ATOMIC_RMW ? "); " : plain ? "; KEEP(); " : "; ");
}

static void access(struct writer *w, const struct step *s)
{
	bool reads = s->e.kind == EVENT_READ || s->e.kind == EVENT_ATOMIC_LOAD;
	uint32_t thread = plan_thread(w->plan, s->e.thread)->number;
	uint64_t value = cut_value(s->e.flags & EVENT_VALUED ? s->e.value : s->e.seq, s->spot.size);

	if (is_odd(s->spot.size) && reads)
		read_odd(w, s, thread);
	else if (is_odd(s->spot.size))
		write_odd(w, s, thread, value);
	else if (reads)
		read_typed(w, s);
	else
		write_typed(w, s, value);
}

static void add_alloc(struct writer *w, const struct step *s)
{
	struct store *block = memory_store(&w->plan->memory, s->spot.store);
	unsigned shift = block->object % 16;

	str_printf(&w->text, "keep_block(%" PRIu32 ", malloc(%" PRIu64 "), %u); ", block->number, block->bytes + shift,
		shift);
}

static void add_free(struct writer *w, const struct step *s)
{
	struct store *block = memory_store(&w->plan->memory, s->spot.store);

	if (!memory_is_freed(block, (uint32_t)s->e.seq))
		str_add(&w->text, "free(0); ");
	else if (block->object % 16)
		str_printf(&w->text, "free(kept_block(%" PRIu32 ") - %u); ", block->number, (unsigned)(block->object % 16));
	else
		str_printf(&w->text, "free(kept_block(%" PRIu32 ")); ", block->number);
}

static void add_lock(struct writer *w, uint64_t id, const char *mutex, const char *rwlock)
{
	const char *name = *writer_name(&w->locks, id);

	if (plan_sync(w->plan, id)->shared)
		str_printf(&w->text, "must(pthread_rwlock_%s(&%s)); ", rwlock, name);
	else
		str_printf(&w->text, "must(pthread_mutex_%s(&%s)); ", mutex, name);
}

static void add_block(struct writer *w, const struct step *s)
{
	struct text label = tables_name(w->plan->tables, TABLE_CODE, (uint32_t)s->e.object);

	str_printf(&w->text, "FISSION_ATOMIC_%s(", s->e.kind == EVENT_BEGIN ? "BEGIN" : "END");
	writer_string(w, label.at, label.length);
	str_add(&w->text, "); ");
}

static void add_start(struct writer *w, const struct step *s)
{
	str_printf(&w->text, "must(pthread_create(&thread_ids[%" PRIu32 "], 0, %s, 0)); ",
		plan_thread(w->plan, s->e.object)->number, *writer_name(&w->threads, s->e.object));
}

static void add_join(struct writer *w, const struct step *s)
{
	str_printf(&w->text, "must(pthread_join(thread_started(%" PRIu32 "), 0)); ",
		plan_thread(w->plan, s->e.object)->number);
}

/* What a step does between its turn's beginning and its end. */
static void action(struct writer *w, const struct step *s)
{
	uint64_t x = s->e.object;

	switch (s->e.kind) {
	case EVENT_ACQUIRE: add_lock(w, x, "lock", "wrlock"); break;
	case EVENT_ACQUIRE_SHARED: add_lock(w, x, "lock", "rdlock"); break;
	case EVENT_RELEASE:
	case EVENT_RELEASE_SHARED: add_lock(w, x, "unlock", "unlock"); break;
	case EVENT_FORK: add_start(w, s); break;
	case EVENT_JOIN: add_join(w, s); break;
	case EVENT_NOTIFY:
		str_printf(&w->text, "must(pthread_cond_signal(&%s)); ", *writer_name(&w->conditions, x));
		break;
	case EVENT_NOTIFY_ALL:
		str_printf(&w->text, "must(pthread_cond_broadcast(&%s)); ", *writer_name(&w->conditions, x));
		break;
	case EVENT_BARRIER:
		str_printf(&w->text, "pthread_barrier_wait(&%s); ", *writer_name(&w->barriers, s->number));
		break;
	case EVENT_SEM_WAIT: str_printf(&w->text, "must(sem_wait(&%s)); ", *writer_name(&w->semaphores, x)); break;
	case EVENT_SEM_POST: str_printf(&w->text, "must(sem_post(&%s)); ", *writer_name(&w->semaphores, x)); break;
	case EVENT_ATOMIC_FENCE:
		str_printf(&w->text, "__atomic_thread_fence(%s); ", order_name[s->e.order]);
		break;
	case EVENT_ALLOC: add_alloc(w, s); break;
	case EVENT_FREE: add_free(w, s); break;
	case EVENT_BEGIN:
	case EVENT_END: add_block(w, s); break;
	case EVENT_ASSUME_ATOMIC:
	case EVENT_ASSUME_MOVER:
	case EVENT_ASSUME_GUARDED:
	case EVENT_NO_WARN: break;
	default: access(w, s);
	}
}

void steps_done(struct writer *w, uint32_t number)
{
	str_printf(&w->text, "step_done(%" PRIu32 ", ", number);
	writer_echo(w, &plan_step(w->plan, number)->e);
	str_add(&w->text, ");");
}

/* Lets go of all but one hold of the mutex, or takes them again. */
static void add_holds(struct writer *w, const struct plan_wait *wait, uint64_t mutex, const char *what)
{
	for (uint32_t i = 1; i < wait->depth; i++)
		add_lock(w, mutex, what, what);
}

/* The turn goes on while the mutex is still held. A wait that never ends needs nobody to end it. */
static void add_wait(struct writer *w, const struct step *s)
{
	struct plan_wait *wait = plan_wait(w->plan, s->number);
	uint32_t thread = plan_thread(w->plan, s->e.thread)->number;
	bool roused = wait->until && !wait->woken;

	add_holds(w, wait, s->e.mutex, "unlock");
	if (roused)
		str_printf(&w->text, "thread_dozes(%" PRIu32 ", %" PRIu32 "); ", thread, wait->step);
	steps_done(w, wait->step);
	str_printf(&w->text, " do must(pthread_cond_wait(&%s, &%s)); while (",
		*writer_name(&w->conditions, s->e.object), *writer_name(&w->locks, s->e.mutex));
	str_printf(&w->text, wait->until ? "turn_before(%" PRIu32 ")); " : "%" PRIu32 "); ",
		wait->until ? wait->from : 1);
	if (roused)
		str_printf(&w->text, "thread_dozes(%" PRIu32 ", 0); ", thread);
	add_holds(w, wait, s->e.mutex, "lock");
}

/* The callee says that it has been entered, the caller that it has been left. */
static void add_call(struct writer *w, const struct step *s)
{
	str_printf(&w->text, "%s(%" PRIu32 ");", *writer_name(&w->codes, s->e.object), s->number);
	if (s->match) {
		str_char(&w->text, ' ');
		steps_done(w, s->match);
	}
}

static void statement(struct writer *w, const struct step *s)
{
	str_printf(&w->text, "step_at(%" PRIu64 "); ", s->e.seq);
	if (s->e.kind == EVENT_ENTER) {
		add_call(w, s);
	} else if (s->e.kind == EVENT_EXIT) {
		str_add(&w->text, "return;");
	} else if (s->e.kind == EVENT_WAIT) {
		add_wait(w, s);
	} else if (s->e.kind == EVENT_BARRIER && !s->completes) {
		steps_done(w, (uint32_t)s->e.seq);
		str_char(&w->text, ' ');
		action(w, s);
	} else {
		action(w, s);
		steps_done(w, (uint32_t)s->e.seq);
	}
}

/* The thread's step behind this one that its function does itself, or 0. */
static uint32_t next_of(struct plan *p, const struct step *s)
{
	if (s->e.kind == EVENT_EXIT)
		return 0;
	if (s->e.kind == EVENT_ENTER)
		return s->match ? plan_step(p, s->match)->next : 0;
	return s->next;
}

void steps_write(struct writer *w, uint32_t first, const char *indent)
{
	for (uint32_t i = first; i; i = next_of(w->plan, plan_step(w->plan, i))) {
		const struct step *s = plan_step(w->plan, i);

		writer_place(w, tables_name(w->plan->tables, TABLE_SITE, s->e.site));
		str_add(&w->text, indent);
		statement(w, s);
		str_char(&w->text, '\n');
		writer_flush(w);
	}
}
