/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HEAVY = 1 << 20 };

_Noreturn static void wrong(const char *what, uint64_t number)
{
	fprintf(stderr, "fuzz: %s (event %llu)\n", what, (unsigned long long)number);
	abort();
}

static int new_file(char *path, size_t n)
{
	int fd = memfd_create("fuzz", 0);

	if (fd < 0)
		wrong("no file in memory", 0);
	snprintf(path, n, "/proc/self/fd/%d", fd);
	return fd;
}

const char *fuzz_file(const uint8_t *data, size_t size)
{
	static char path[32];
	static int fd = -1;

	if (fd < 0)
		fd = new_file(path, sizeof path);
	if (ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
		wrong("the file in memory cannot be written", 0);
	return path;
}

const char *fuzz_output(void)
{
	static char path[32];
	static int fd = -1;

	if (fd < 0) {
		fd = new_file(path, sizeof path);
		dup2(fd, STDOUT_FILENO);
	}
	if (ftruncate(fd, 0) != 0 || lseek(fd, 0, SEEK_SET) != 0)
		wrong("the file in memory cannot be emptied", 0);
	return path;
}

void fuzz_read(struct fuzz_trace *f, const char *path, bool lenient)
{
	struct event batch[TRACE_BATCH];
	size_t n;

	memset(f, 0, sizeof *f);
	arena_init(&f->arena);
	tables_init(&f->tables, &f->arena);
	f->opened = trace_open(&f->trace, path, &f->tables, lenient);
	while (f->opened && (n = trace_next(&f->trace, batch, TRACE_BATCH)) > 0) {
		f->events = arena_reserve(&f->arena, f->events, &f->capacity, f->count + n, sizeof *batch);
		memcpy(f->events + f->count, batch, n * sizeof *batch);
		f->count += n;
	}
}

void fuzz_free(struct fuzz_trace *f)
{
	if (f->opened)
		trace_close(&f->trace);
	arena_free(&f->arena);
}

static bool same_name(const struct tables *a, const struct tables *b, enum table_class class, uint64_t x, uint64_t y)
{
	struct text s = tables_name(a, class, (uint32_t)x), t = tables_name(b, class, (uint32_t)y);

	return !x == !y && s.length == t.length && (s.length == 0 || memcmp(s.at, t.at, s.length) == 0);
}

static bool same_stack(const struct tables *a, const struct tables *b, stack_id x, stack_id y)
{
	while (x && y) {
		struct frame f = tables_frame(a, x), g = tables_frame(b, y);

		if (!same_name(a, b, TABLE_CODE, f.code, g.code) || !same_name(a, b, TABLE_SITE, f.site, g.site))
			return false;
		x = f.parent;
		y = g.parent;
	}
	return x == y;
}

static bool same_object(const struct tables *a, const struct tables *b, const struct event *x, const struct event *y)
{
	enum table_class class = event_info[x->kind].table;

	if (class == TABLE_NONE || (x->flags & EVENT_ADDRESSED))
		return x->object == y->object;
	return same_name(a, b, class, x->object, y->object);
}

static bool same_event(const struct tables *a, const struct tables *b, const struct event *x, const struct event *y)
{
	if (x->kind != y->kind || x->order != y->order || x->flags != y->flags || x->size != y->size)
		return false;
	if (x->kind == EVENT_WAIT ? !same_name(a, b, TABLE_SYNC, x->mutex, y->mutex) : x->value != y->value)
		return false;
	return same_name(a, b, TABLE_THREAD, x->thread, y->thread) && same_object(a, b, x, y) &&
	       same_name(a, b, TABLE_SITE, x->site, y->site) && same_stack(a, b, x->stack, y->stack);
}

static bool same_module(const struct module *x, const struct module *y)
{
	return x->base == y->base && x->size == y->size && x->path.length == y->path.length &&
	       x->build_id.length == y->build_id.length && memcmp(x->path.at, y->path.at, x->path.length) == 0 &&
	       memcmp(x->build_id.at, y->build_id.at, x->build_id.length) == 0;
}

static void must_be_same(const struct fuzz_trace *a, const struct fuzz_trace *b)
{
	if (!b->opened || fault_is_set(&b->trace.fault)) {
		fprintf(stderr, "fuzz: %s\n", b->trace.fault.text);
		wrong("what was written cannot be read", b->count + 1);
	}
	for (size_t i = 0; i < a->count && i < b->count; i++)
		if (!same_event(&a->tables, &b->tables, &a->events[i], &b->events[i]))
			wrong("it is another one after writing and reading", i + 1);
	if (a->count != b->count)
		wrong("the number of events has changed", b->count);
	if (b->trace.incomplete || b->trace.skipped)
		wrong("what was written is not whole", b->count);
	if (a->tables.module_count != b->tables.module_count)
		wrong("the number of modules has changed", b->tables.module_count);
	for (size_t i = 0; i < a->tables.module_count; i++)
		if (!same_module(&a->tables.modules[i], &b->tables.modules[i]))
			wrong("a module has changed", i + 1);
}

void fuzz_round_trip(const struct fuzz_trace *f, const struct trace_format *format)
{
	const char *path = fuzz_output();
	struct trace_writer w;
	struct arena arena;
	struct fuzz_trace again;

	arena_init(&arena);
	if (!trace_create(&w, format, "-", &f->tables, &arena))
		wrong("the output cannot be opened", 0);
	for (size_t i = 0; i < f->count; i++)
		trace_put(&w, &f->events[i]);
	if (!trace_commit(&w))
		wrong("the output cannot be written", f->count);
	fuzz_read(&again, path, false);
	must_be_same(f, &again);
	fuzz_free(&again);
	arena_free(&arena);
}

bool fuzz_is_heavy(const struct fuzz_trace *f)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < f->count; i++) {
		const struct event *e = &f->events[i];

		bytes += e->flags & EVENT_SIZED ? e->size : 0;
		if (e->kind == EVENT_ALLOC)
			bytes += e->count > HEAVY ? HEAVY : e->count;
	}
	return bytes >= HEAVY;
}

#ifdef FUZZ_STANDALONE
static void run_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	static uint8_t bytes[1 << 24];
	size_t n;

	if (!file) {
		perror(path);
		exit(1);
	}
	n = fread(bytes, 1, sizeof bytes, file);
	fclose(file);
	LLVMFuzzerTestOneInput(bytes, n);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		run_file(argv[i]);
	fprintf(stderr, "%d files\n", argc - 1);
	return 0;
}
#endif
