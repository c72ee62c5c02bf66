/* SPDX-License-Identifier: MIT */
#include "save.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/output.h"
#include "base/str.h"

enum { PATH_MOST = 4096 };

#define ENDING ".replay"

static bool fail(struct fault *fault, const char *path, int error)
{
	fault_set(fault, STATUS_UNFIT, "%s: %s", path, strerror(error));
	return false;
}

bool save_open(const char *dir, struct fault *fault)
{
	struct stat st;

	if (mkdir(dir, 0777) == 0 || (errno == EEXIST && stat(dir, &st) == 0 && S_ISDIR(st.st_mode)))
		return true;
	return fail(fault, dir, errno == EEXIST ? ENOTDIR : errno);
}

static bool put(const char *dir, const char *name, struct text content, struct fault *fault)
{
	char path[PATH_MOST];
	struct output out;

	if (snprintf(path, sizeof path, "%s/%s", dir, name) >= PATH_MOST)
		return fail(fault, dir, ENAMETOOLONG);
	if (output_open(&out, path))
		output_write(&out, content.at, content.length);
	if (!fault_is_set(&out.fault) && output_commit(&out))
		return true;
	*fault = out.fault;
	return false;
}

bool save_replay(const char *dir, struct text id, struct text content, struct fault *fault)
{
	char name[64];

	snprintf(name, sizeof name, "%.*s" ENDING, (int)id.length, id.at);
	return put(dir, name, content, fault);
}

static int is_replay(const struct dirent *entry)
{
	size_t n = strlen(entry->d_name);

	return n > sizeof ENDING && strcmp(entry->d_name + n - (sizeof ENDING - 1), ENDING) == 0 &&
		strspn(entry->d_name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") == n;
}

static void add_test(struct str *cmake, struct str *make, const char *name)
{
	int n = (int)(strlen(name) - (sizeof ENDING - 1));

	str_printf(cmake, "add_test(NAME %.*s COMMAND fission replay --expect absent ${CMAKE_CURRENT_LIST_DIR}/%s)\n", n, name,
		name);
	str_printf(make, "\tfission replay --expect absent $(REPLAYS)%s\n", name);
}

bool save_lists(const char *dir, struct arena *a, struct fault *fault)
{
	struct str cmake, make;
	struct dirent **list;
	int n = scandir(dir, &list, is_replay, alphasort);

	if (n < 0)
		return fail(fault, dir, errno);
	str_init(&cmake, a);
	str_init(&make, a);
	str_add(&cmake, "# include(replays.cmake) in a CMakeLists.txt: a test for each violation that was found and fixed.\n");
	str_add(&make, "# include replays.mk in a Makefile: 'make check-replays' fails if a violation is there again.\n"
		"REPLAYS := $(dir $(lastword $(MAKEFILE_LIST)))\n.PHONY: check-replays\ncheck-replays:\n");
	for (int i = 0; i < n; i++) {
		add_test(&cmake, &make, list[i]->d_name);
		free(list[i]);
	}
	free(list);
	return put(dir, "replays.cmake", (struct text){cmake.at, cmake.length}, fault) &&
		put(dir, "replays.mk", (struct text){make.at, make.length}, fault);
}
