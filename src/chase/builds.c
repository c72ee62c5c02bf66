/* SPDX-License-Identifier: MIT */
#include "builds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "chase/replay_file.h"
#include "symbols/elf_file.h"

enum { PATH_MOST = 4096 };

static bool is_program(const char *path)
{
	return access(path, X_OK) == 0;
}

/* Where execvp would find it. */
static bool find_program(const char *name, char to[PATH_MOST])
{
	const char *path = getenv("PATH");

	if (strchr(name, '/'))
		return snprintf(to, PATH_MOST, "%s", name) < PATH_MOST && is_program(to);
	for (size_t n; path; path = path[n] ? path + n + 1 : NULL) {
		n = strcspn(path, ":");
		if (snprintf(to, PATH_MOST, "%.*s/%s", (int)n, path, name) < PATH_MOST && is_program(to))
			return true;
	}
	return false;
}

static struct text build_id_of(const char *path, struct arena *a)
{
	struct elf_file f;
	struct text id = {"", 0};

	if (elf_file_open(&f, path)) {
		id = elf_file_build_id(&f, a);
		elf_file_close(&f);
	}
	return id;
}

static const struct order_module *module_named(const struct replay *r, const char *name)
{
	for (uint32_t i = 0; i < r->order->modules; i++)
		if (strcmp(order_module(r->order, i)->name, name) == 0)
			return order_module(r->order, i);
	return NULL;
}

enum build_match builds_match(const struct replay *r, const char *program, struct arena *a, struct text *id)
{
	char path[PATH_MOST];
	char *real = find_program(program, path) ? realpath(path, NULL) : NULL;
	const struct order_module *m;

	*id = (struct text){"", 0};
	if (!real)
		return BUILD_UNKNOWN;
	*id = build_id_of(real, a);
	m = module_named(r, strrchr(real, '/') + 1);
	free(real);
	if (!m)
		return BUILD_FOREIGN;
	if (!id->length || !*m->build_id)
		return BUILD_UNKNOWN;
	return strcmp(m->build_id, id->at) == 0 ? BUILD_SAME : BUILD_OTHER;
}
