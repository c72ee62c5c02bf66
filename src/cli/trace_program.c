/* SPDX-License-Identifier: MIT */
/*
 * Writes a C program that performs a trace, step by step, in the order of the trace: what Tiddle did for Java.
 * One test vector so exercises the checks, as a trace, and everything that watches a running program.
 *
 * The program needs nothing but C11 with GNU extensions, pthreads and futexes. It prints nothing and ends with
 * status 0. With TRACE_ECHO=1 in its environment it writes each step to standard error as it is performed, in the
 * form of a text trace. A read whose value the trace determines is checked; if it differs, the program says so
 * and ends with status 1.
 *
 * Order. A word counts turns; each step waits for its own number and then hands the turn on. The functions that do
 * this are not instrumented and use neither atomics nor pthreads, so the order is nobody's business but ours: two
 * accesses that race in the trace race in the program.
 *
 * Steps that block hand the turn on first. An arrival at a barrier does, unless it is the one that completes the
 * round. A wait does while it still holds its mutex: whoever is to acquire that next blocks until the wait has let
 * go of it. A thread leaves a wait by a notify of the trace where this is sure to work out (program_plan.h), and
 * otherwise by a broadcast that main makes right before the thread's next step. A semaphore starts with what the
 * trace takes from it before it is posted, so no sem_wait blocks. Every other step finds what it needs, because
 * the trace is well-formed.
 *
 * What stands for what. A thread is a thread; main is one more, which starts those that nobody forks and joins
 * those that nobody joins. A function is one function, which does in turn what each of its activations did. A named
 * variable is a global, an address a place in an array, an allocation a block of malloc (program_memory.h). A lock
 * is a mutex, recursive if the trace needs it, or a rwlock if it has a shared side. `begin` and `end` are
 * FISSION_ATOMIC_BEGIN and FISSION_ATOMIC_END, which do nothing without fission.h. #line directives give each step
 * its place in the trace.
 *
 * Where the program does more or less than the trace: a free of what was not allocated, or is used later, is
 * free(NULL); a wait that is woken too early waits again, and a wait gives back and takes again whatever is
 * more than one hold of its mutex; a write without a value writes the number of its step. Where the trace was cut,
 * threads end with their locks held and their functions left. Main returns without those that still wait or have a
 * block open: a join says that everything was left. A step that blocks for good may not even have begun by then.
 */
#include "trace_program.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/output.h"
#include "cli/program_plan.h"
#include "cli/program_prelude.h"
#include "cli/program_steps.h"
#include "cli/program_writer.h"
#include "event/trace.h"

static bool read_all(struct plan *p, struct trace *t, struct fault *fault)
{
	struct event batch[TRACE_BATCH];
	char place[4200];
	size_t n;

	while ((n = trace_next(t, batch, TRACE_BATCH)) > 0) {
		for (size_t i = 0; i < n; i++) {
			if (plan_add(p, &batch[i]))
				continue;
			trace_place(t, i, p->field, place, sizeof place);
			fault_set(fault, STATUS_TRACE, "%s: %s", place, p->why);
			return false;
		}
	}
	if (fault_is_set(&t->fault))
		*fault = t->fault;
	return !fault_is_set(&t->fault);
}

static uint32_t names_count(const struct writer *w, enum table_class class)
{
	return w->plan->tables->names[class].count;
}

static struct text name_of(const struct writer *w, enum table_class class, uint64_t id)
{
	return tables_name(w->plan->tables, class, (uint32_t)id);
}

/* Functions first, then variables: theirs are the names that reports are about. */
static void pick_names(struct writer *w)
{
	struct plan *p = w->plan;

	for (uint32_t i = 1; i <= names_count(w, TABLE_CODE); i++)
		if (plan_code(p, i)->activations)
			*writer_name(&w->codes, i) = names_pick(&w->names, "", name_of(w, TABLE_CODE, i));
	for (uint32_t i = 1; i < p->memory.store_count; i++) {
		struct store *s = memory_store(&p->memory, i);

		if (s->kind == STORE_GLOBAL)
			*writer_name(&w->globals, i) =
				names_pick(&w->names, "", name_of(w, TABLE_OBJECT, s->object));
	}
	for (uint32_t i = 0; i < p->thread_count; i++)
		*writer_name(&w->threads, p->thread[i]) =
			names_pick(&w->names, "thread_", name_of(w, TABLE_THREAD, p->thread[i]));
}

static void pick_sync_names(struct writer *w)
{
	struct plan *p = w->plan;

	for (uint32_t i = 1; i <= names_count(w, TABLE_SYNC); i++) {
		struct plan_sync *s = plan_sync(p, i);
		struct text name = name_of(w, TABLE_SYNC, i);

		if (s->lock)
			*writer_name(&w->locks, i) = names_pick(&w->names, "", name);
		if (s->condition)
			*writer_name(&w->conditions, i) = names_pick(&w->names, "", name);
		if (s->semaphore)
			*writer_name(&w->semaphores, i) = names_pick(&w->names, "", name);
	}
	for (uint32_t i = 1; i <= p->barrier_count; i++)
		*writer_name(&w->barriers, i) =
			names_pick(&w->names, "", name_of(w, TABLE_SYNC, plan_barrier(p, i)->name));
}

static void write_head(struct writer *w, const char *trace)
{
	const char *slash = strrchr(trace, '/'), *name = slash ? slash + 1 : trace;

	writer_comment(w, (struct text){name, strlen(name)});
	str_printf(&w->text, "\n/* The %" PRIu32 " steps of this trace, performed in its order. */\n\n",
		w->plan->step_count);
	str_add(&w->text, "#ifndef _GNU_SOURCE\n#define _GNU_SOURCE\n#endif\n");
	str_printf(&w->text, "#define THREADS %" PRIu32 "\n#define BLOCKS %" PRIu32 "\n", w->plan->thread_count,
		w->plan->memory.blocks);
	str_add(&w->text, program_prelude);
	str_char(&w->text, '\n');
	writer_flush(w);
}

static uint64_t initial_value(const struct cell *c)
{
	uint64_t value = 0;

	for (int i = 0; i < 8; i++)
		value |= (uint64_t)c->byte[i] << i * 8;
	return value;
}

/* Initial bytes that are not 0, as ", [17] = 5". Byte 0 stands before them, so that the list is never empty. */
static void add_bytes(struct writer *w, const struct cell *c)
{
	for (unsigned i = 0; i < 8; i++)
		if (c->byte[i] && c->offset + i > 0)
			str_printf(&w->text, ", [%" PRIu64 "] = %u", c->offset + i, c->byte[i]);
}

static struct cell *cell_of(struct memory *m, uint32_t store, uint64_t offset)
{
	return memory_cell(m, map_get(&m->cell_ids, (uint64_t)store << 32 | offset / 8));
}

static void add_bytes_of_global(struct writer *w, uint32_t store)
{
	struct memory *m = &w->plan->memory;
	struct store *s = memory_store(m, store);

	str_printf(&w->text, "[%" PRIu64 "] __attribute__((aligned(16))) = {[0] = %u", s->bytes,
		cell_of(m, store, 0)->byte[0]);
	for (uint64_t at = 0; at < s->bytes && !s->vague; at += 8)
		add_bytes(w, cell_of(m, store, at));
	str_add(&w->text, "};");
}

/* Static, so that no library's symbol is overridden, and used, so that no access is optimised away. */
static void write_global(struct writer *w, uint32_t store)
{
	struct store *s = memory_store(&w->plan->memory, store);
	const char *name = *writer_name(&w->globals, store);

	if (s->mixed) {
		str_printf(&w->text, "static USED unsigned char %s", name);
		add_bytes_of_global(w, store);
	} else {
		str_printf(&w->text, "static USED uint%" PRIu64 "_t %s = ", s->bytes * 8, name);
		writer_number(w, initial_value(cell_of(&w->plan->memory, store, 0)));
		str_char(&w->text, ';');
	}
	writer_origin(w, name, name_of(w, TABLE_OBJECT, s->object));
	writer_flush(w);
}

static void write_array(struct writer *w)
{
	struct memory *m = &w->plan->memory;

	str_printf(&w->text, "static USED unsigned char memory[%" PRIu64 "] __attribute__((aligned(%d))) = {[0] = %u",
		memory_array_bytes(m), PAGE_BYTES, cell_of(m, 0, 0)->byte[0]);
	for (uint32_t i = 1; i <= m->cell_count; i++)
		if (memory_cell(m, i)->store == 0)
			add_bytes(w, memory_cell(m, i));
	str_add(&w->text, "};\n");
	writer_flush(w);
}

static void write_memory(struct writer *w)
{
	struct memory *m = &w->plan->memory;

	if (m->array_used)
		write_array(w);
	for (uint32_t i = 1; i < m->store_count; i++)
		if (memory_store(m, i)->kind == STORE_GLOBAL)
			write_global(w, i);
}

static void declare(struct writer *w, const char *type, const char *name, const char *initial, sync_id id)
{
	str_printf(&w->text, "static %s %s%s;", type, name, initial);
	writer_origin(w, name, name_of(w, TABLE_SYNC, id));
}

static void write_lock(struct writer *w, sync_id id)
{
	struct plan_sync *m = plan_sync(w->plan, id);
	const char *name = *writer_name(&w->locks, id);

	if (m->shared)
		declare(w, "pthread_rwlock_t", name, " = PTHREAD_RWLOCK_INITIALIZER", id);
	else if (m->recursive)
		declare(w, "pthread_mutex_t", name, " = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP", id);
	else
		declare(w, "pthread_mutex_t", name, " = PTHREAD_MUTEX_INITIALIZER", id);
}

static void write_syncs(struct writer *w)
{
	for (sync_id i = 1; i <= names_count(w, TABLE_SYNC); i++) {
		struct plan_sync *s = plan_sync(w->plan, i);

		if (s->lock)
			write_lock(w, i);
		if (s->condition)
			declare(w, "pthread_cond_t", *writer_name(&w->conditions, i),
				" = PTHREAD_COND_INITIALIZER", i);
		if (s->semaphore)
			declare(w, "sem_t", *writer_name(&w->semaphores, i), "", i);
		writer_flush(w);
	}
	for (uint32_t i = 1; i <= w->plan->barrier_count; i++)
		declare(w, "pthread_barrier_t", *writer_name(&w->barriers, i), "", plan_barrier(w->plan, i)->name);
}

static void write_prototypes(struct writer *w)
{
	str_char(&w->text, '\n');
	for (code_id i = 1; i <= names_count(w, TABLE_CODE); i++) {
		const char *name = *writer_name(&w->codes, i);

		if (!name)
			continue;
		str_printf(&w->text, "ALONE static void %s(unsigned activation);", name);
		writer_origin(w, name, name_of(w, TABLE_CODE, i));
		writer_flush(w);
	}
	for (uint32_t i = 0; i < w->plan->thread_count; i++) {
		thread_id t = w->plan->thread[i];

		str_printf(&w->text, "static void *%s(void *unused);\n", *writer_name(&w->threads, t));
	}
	writer_flush(w);
}

/* The end of the line that a function or a case begins with is in the program's own file. */
static void write_activation(struct writer *w, uint32_t number)
{
	const struct step *s = plan_step(w->plan, number);

	writer_place(w, (struct text){0});
	str_printf(&w->text, "\tcase %" PRIu32 ":\n\t\t", s->number);
	steps_done(w, number);
	str_char(&w->text, '\n');
	steps_write(w, s->next, "\t\t");
	if (!s->match)
		str_add(&w->text, "\t\treturn;\n");
}

static void write_function(struct writer *w, code_id id)
{
	uint32_t first = plan_code(w->plan, id)->first;

	writer_place(w, (struct text){0});
	str_printf(&w->text, "\nALONE static void %s(unsigned activation)\n{\n\tswitch (activation) {\n",
		*writer_name(&w->codes, id));
	for (uint32_t i = first; i; i = plan_step(w->plan, i)->chain)
		write_activation(w, i);
	str_add(&w->text, "\t}\n}\n");
	writer_flush(w);
}

static void write_thread(struct writer *w, thread_id t)
{
	const char *name = *writer_name(&w->threads, t);

	writer_place(w, (struct text){0});
	str_printf(&w->text, "\nstatic void *%s(void *unused)\n{\n", name);
	steps_write(w, plan_thread(w->plan, t)->first, "\t");
	writer_place(w, (struct text){0});
	str_add(&w->text, "\treturn unused;\n}\n");
	writer_flush(w);
}

static void write_code(struct writer *w)
{
	for (code_id i = 1; i <= names_count(w, TABLE_CODE); i++)
		if (plan_code(w->plan, i)->activations)
			write_function(w, i);
	for (uint32_t i = 0; i < w->plan->thread_count; i++)
		write_thread(w, w->plan->thread[i]);
}

static void add_inits(struct writer *w)
{
	struct plan *p = w->plan;

	if (p->memory.odd)
		str_printf(&w->text, "\tmake_copies(%" PRIu32 ");\n", p->memory.odd < 8 ? 8 : p->memory.odd);
	for (sync_id i = 1; i <= names_count(w, TABLE_SYNC); i++)
		if (plan_sync(p, i)->semaphore)
			str_printf(&w->text, "\tmust(sem_init(&%s, 0, %" PRId64 "));\n",
				*writer_name(&w->semaphores, i), plan_sync(p, i)->deficit);
	for (uint32_t i = 1; i <= p->barrier_count; i++)
		str_printf(&w->text, "\tmust(pthread_barrier_init(&%s, 0, %" PRIu64 "));\n",
			*writer_name(&w->barriers, i), plan_barrier(p, i)->parties);
}

static void add_roused(struct writer *w)
{
	for (size_t i = 0; i < w->plan->roused_count; i++) {
		const struct plan_wait *wait = plan_wait(w->plan, w->plan->roused[i]);
		const struct event *e = &plan_step(w->plan, wait->step)->e;

		str_printf(&w->text, "\trouse_thread(%" PRIu32 ", %" PRIu32 ", %" PRIu32 ", &%s);\n", wait->until,
			plan_thread(w->plan, e->thread)->number, wait->step,
			*writer_name(&w->conditions, e->object));
	}
}

static void write_main(struct writer *w)
{
	struct plan *p = w->plan;

	str_add(&w->text, "\nint main(void)\n{\n");
	add_inits(w);
	for (uint32_t i = 0; i < p->thread_count; i++)
		if (!plan_thread(p, p->thread[i])->forked)
			str_printf(&w->text, "\tmust(pthread_create(&thread_ids[%" PRIu32 "], 0, %s, 0));\n", i,
				*writer_name(&w->threads, p->thread[i]));
	str_add(&w->text, "\tstep_start();\n");
	add_roused(w);
	str_printf(&w->text, "\tstep_at(%" PRIu32 ");\n", p->step_count + 1);
	for (uint32_t i = 0; i < p->thread_count; i++)
		if (plan_is_left(p, p->thread[i]))
			str_printf(&w->text, "\tmust(pthread_join(thread_started(%" PRIu32 "), 0));\n", i);
	str_add(&w->text, "\treturn 0;\n}\n");
	writer_flush(w);
}

static void write_program(struct plan *p, struct trace *t, struct output *out)
{
	struct writer w;

	writer_init(&w, p, out, program_prelude);
	pick_names(&w);
	pick_sync_names(&w);
	write_head(&w, t->input.name);
	write_memory(&w);
	write_syncs(&w);
	write_prototypes(&w);
	write_code(&w);
	write_main(&w);
}

bool trace_program_write(struct trace *t, const struct tables *tables, struct output *out, struct fault *fault)
{
	struct arena arena;
	struct plan plan;
	bool good;

	arena_init(&arena);
	plan_init(&plan, &arena, tables);
	good = read_all(&plan, t, fault);
	if (good) {
		plan_finish(&plan);
		write_program(&plan, t, out);
	}
	arena_free(&arena);
	return good;
}
