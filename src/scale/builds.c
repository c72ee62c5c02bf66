/* SPDX-License-Identifier: MIT */
#include "builds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "report/story.h"
#include "scale/address.h"
#include "scale/record.h"
#include "scale/supervise.h"
#include "symbols/elf_file.h"

enum { PATH_MOST = 4096, LOADER_SECONDS = 60 };

static bool found(const char *path, char to[PATH_MOST])
{
	char *real = access(path, X_OK) == 0 ? realpath(path, NULL) : NULL;

	if (real)
		snprintf(to, PATH_MOST, "%s", real);
	free(real);
	return real;
}

const char *scale_program(struct arena *a, const char *name)
{
	const char *path = getenv("PATH");
	char file[PATH_MOST], to[PATH_MOST];
	bool good = strchr(name, '/') && found(name, to);

	for (size_t n; !strchr(name, '/') && !good && path; path = path[n] ? path + n + 1 : NULL) {
		n = strcspn(path, ":");
		snprintf(file, sizeof file, "%.*s/%s", (int)n, path, name);
		good = found(file, to);
	}
	return good ? arena_text(a, to, strlen(to)) : NULL;
}

/* The build id; of a file that has none, the address of its bytes. */
static bool put_build(struct str *to, const char *path, struct fault *fault)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	struct text id = {"", 0};
	struct address address;
	struct elf_file f;
	struct str value;

	if (elf_file_open(&f, path)) {
		id = elf_file_build_id(&f, to->arena);
		elf_file_close(&f);
	}
	if (!id.length) {
		if (!address_of_file(path, &address, fault))
			return false;
		id = (struct text){address.hex, ADDRESS};
	}
	str_init(&value, to->arena);
	str_printf(&value, "%s %.*s", name, (int)id.length, id.at);
	record_put(to, "build", (struct text){value.at, value.length});
	return true;
}

static int ask_loader(void *program)
{
	setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
	execl(program, program, (char *)NULL);
	_exit(STATUS_UNFIT); /* not exit(): what the tool removes at its end, it still needs */
}

/* A line of the loader: "\tlibc.so.6 => /lib/libc.so.6 (0x...)". The path, empty if it names none. */
static struct text library_of(const char *line, size_t n)
{
	const char *arrow = memmem(line, n, " => ", 4), *end;

	if (!arrow)
		return (struct text){"", 0};
	arrow += 4;
	end = memmem(arrow, (size_t)(line + n - arrow), " (", 2);
	return (struct text){arrow, end ? (size_t)(end - arrow) : 0};
}

bool scale_put_builds(struct str *unit, const char *program, struct fault *fault)
{
	struct supervised loader = {.run = ask_loader, .self = (void *)program, .limit = LOADER_SECONDS};
	const char *p, *end;

	if (!put_build(unit, program, fault) || !supervise(&loader, unit->arena, fault))
		return false;
	p = loader.output.at;
	for (end = p + loader.output.length; p < end;) {
		const char *line = memchr(p, '\n', (size_t)(end - p));
		size_t n = line ? (size_t)(line - p) : (size_t)(end - p);
		struct text library = library_of(p, n);

		if (library.length && !put_build(unit, record_word(unit->arena, library), fault))
			return false;
		p += n + 1;
	}
	return true;
}

/* The first field `build` of one that the other has not. */
static bool lacks(struct text one, struct text other, struct text *which)
{
	struct record_field f, g;

	while (record_next(&one, &f)) {
		struct text rest = other;
		bool has = !text_is(f.name, "build");

		while (!has && record_next(&rest, &g))
			has = text_is(g.name, "build") && text_same(f.value, g.value);
		if (!has) {
			*which = f.value;
			return true;
		}
	}
	return false;
}

bool scale_check_builds(struct text unit, const char *program, struct arena *a, struct fault *fault)
{
	struct text which;
	struct str here;

	str_init(&here, a);
	if (!scale_put_builds(&here, program, fault))
		return false;
	if (!lacks(unit, (struct text){here.at, here.length}, &which))
		return true;
	fault_set(fault, STATUS_UNFIT, "%s: another build than the unit is of, which has %.*s; put the same program and "
		"libraries on every machine", program, (int)which.length, which.at);
	return false;
}
