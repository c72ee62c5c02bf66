/* SPDX-License-Identifier: MIT */
/*
 * Places are gone through twice: once to collect which lines of which file are wanted, once, after the files were read,
 * to give each place the number of its file. A file is read once; only what is wanted of it is kept.
 */
#include "source_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/intern.h"
#include "report/story.h"

enum { FILE_MOST = 4 << 20, LINE_MOST = 400, AROUND = 4, PATH_MOST = 4096 };

/* One file that places name. */
struct wanted {
	uint32_t *line; /* first in any order, with repetitions */
	size_t count, room;
	uint32_t source; /* its index in the story + 1; 0: none */
};

struct lines {
	struct story *s;
	struct intern files;
	struct wanted *file; /* by id - 1 */
	size_t room;
	uint32_t last_file, last_line; /* what was wanted last: most often it is wanted again */
};

typedef void visit_place(struct lines *l, struct story_place *p);

static void visit_events(struct lines *l, visit_place *visit, struct story_event *e, size_t n)
{
	for (size_t i = 0; i < n; i++)
		visit(l, &e[i].place);
}

static void visit_stacks(struct lines *l, visit_place *visit)
{
	for (size_t i = 0; i < l->s->stacks; i++)
		for (size_t k = 0; k < l->s->stack[i].count; k++)
			visit(l, &l->s->stack[i].at[k].place);
}

/* Every place of the story. */
static void visit_all(struct lines *l, visit_place *visit)
{
	struct story *s = l->s;

	for (size_t i = 0; i < s->findings; i++) {
		visit(l, &s->finding[i].place);
		visit(l, &s->finding[i].fix.from);
		visit(l, &s->finding[i].fix.to);
		visit_events(l, visit, s->finding[i].event, s->finding[i].events);
	}
	for (size_t i = 0; i < s->hazards; i++)
		visit_events(l, visit, s->hazard[i].event, s->hazard[i].events);
	visit_stacks(l, visit);
}

static bool is_source(struct text file)
{
	static const char *const endings[] = {".c", ".h", ".cc", ".cpp", ".cxx", ".c++", ".C", ".hh", ".hpp", ".hxx", ".inc",
		".inl", ".ipp", ".tcc", ".def", ".l", ".y"};

	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		size_t n = strlen(endings[i]);

		if (file.length > n && memcmp(file.at + file.length - n, endings[i], n) == 0)
			return true;
	}
	return false;
}

static struct wanted *wanted_of(struct lines *l, uint32_t id)
{
	while (l->room < id)
		l->file = arena_reserve(l->s->arena, l->file, &l->room, id - 1, sizeof *l->file);
	return &l->file[id - 1];
}

static void want(struct lines *l, struct story_place *p)
{
	uint32_t id;
	struct wanted *w;

	if (!p->line || !p->file.length || p->file.length >= PATH_MOST || !is_source(p->file))
		return;
	id = intern_add(&l->files, p->file.at, p->file.length);
	if (id == l->last_file && p->line == l->last_line)
		return;
	w = wanted_of(l, id);
	w->line = arena_reserve(l->s->arena, w->line, &w->room, w->count, sizeof *w->line);
	w->line[w->count++] = p->line;
	l->last_file = id;
	l->last_line = p->line;
}

static void link_place(struct lines *l, struct story_place *p)
{
	uint32_t id = p->file.length ? intern_find(&l->files, p->file.at, p->file.length) : 0;

	p->source = id ? l->file[id - 1].source - 1 : STORY_NONE;
}

static int by_number(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return a < b ? -1 : a > b;
}

/* The whole file, NULL if it is none that may be read. A device or a pipe is not waited for. */
static char *slurp(const char *path, struct arena *a, size_t *n)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	char *text = NULL;
	ssize_t got = 1;

	*n = 0;
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= FILE_MOST) {
		text = arena_alloc(a, (size_t)st.st_size + 1);
		while (*n < (size_t)st.st_size && (got > 0 || (got < 0 && errno == EINTR))) {
			got = read(fd, text + *n, (size_t)st.st_size - *n);
			*n += got > 0 ? (size_t)got : 0;
		}
	}
	if (fd >= 0)
		close(fd);
	return text;
}

/* Up to the NUL, if there is one; long ones are cut, and not within a character. */
static struct text line_text(struct arena *a, const char *from, size_t n)
{
	n = strnlen(from, n);
	if (n && from[n - 1] == '\r')
		n--;
	if (n > LINE_MOST)
		for (n = LINE_MOST; n > LINE_MOST - 4 && ((unsigned char)from[n] & 0xc0) == 0x80;)
			n--;
	return (struct text){arena_text(a, from, n), n};
}

/* Whether the line is within reach of one of those that are wanted, which rise; *at moves along. */
static bool is_near(const struct wanted *w, size_t *at, uint32_t number)
{
	while (*at < w->count && (uint64_t)w->line[*at] + AROUND < number)
		++*at;
	return *at < w->count && (uint64_t)number + AROUND >= w->line[*at];
}

static void take_lines(struct story *s, struct story_source *to, const struct wanted *w, struct text file)
{
	const char *p = file.at, *end = file.at + file.length;
	size_t at = 0, room = 0, text_room = 0;

	for (uint32_t number = 1; p < end && at < w->count; number++) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));

		stop = stop ? stop : end;
		if (is_near(w, &at, number)) {
			to->number = arena_reserve(s->arena, to->number, &room, to->count, sizeof *to->number);
			to->line = arena_reserve(s->arena, to->line, &text_room, to->count, sizeof *to->line);
			to->number[to->count] = number;
			to->line[to->count++] = line_text(s->arena, p, (size_t)(stop - p));
		}
		p = stop + 1;
	}
}

static void read_one(struct lines *l, struct wanted *w, struct text path)
{
	struct arena scratch;
	struct story_source *to = &l->s->source[l->s->sources];
	struct text file;

	arena_init(&scratch);
	file.at = slurp(path.at, &scratch, &file.length);
	if (file.at && w->count) {
		qsort(w->line, w->count, sizeof *w->line, by_number);
		*to = (struct story_source){.file = path};
		take_lines(l->s, to, w, file);
		if (to->count)
			w->source = (uint32_t)++l->s->sources;
	}
	arena_free(&scratch);
}

void source_lines_read(struct story *s)
{
	struct lines l = {.s = s};

	intern_init(&l.files, s->arena);
	visit_all(&l, want);
	s->source = arena_alloc(s->arena, l.files.count * sizeof *s->source);
	for (uint32_t id = 1; id <= l.files.count; id++)
		read_one(&l, &l.file[id - 1], intern_text(&l.files, id));
	visit_all(&l, link_place);
}

void source_lines_link(struct story *s)
{
	struct lines l = {.s = s};

	intern_init(&l.files, s->arena);
	for (size_t i = 0; i < s->sources; i++) {
		uint32_t id = s->source[i].file.length ? intern_add(&l.files, s->source[i].file.at, s->source[i].file.length) : 0;

		if (id)
			wanted_of(&l, id)->source = (uint32_t)i + 1;
	}
	visit_all(&l, link_place);
}
