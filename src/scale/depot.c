/* SPDX-License-Identifier: MIT */
#include "depot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "report/story.h"
#include "scale/pack.h"
#include "scale/unit.h"

static const char *const parts[] = {"", "units", "store", "results", "sides", "lost"};

void depot_path(const struct depot *d, const char *what, const char *name, char to[DEPOT_PATH])
{
	snprintf(to, DEPOT_PATH, "%s%s%s%s%.300s", d->path, *what ? "/" : "", what, *name ? "/" : "", name);
}

static bool make(const char *path, struct fault *fault)
{
	if (mkdir(path, 0777) == 0 || errno == EEXIST)
		return true;
	fault_set(fault, STATUS_UNFIT, "%s: %s", path, strerror(errno));
	return false;
}

bool depot_make(struct depot *d, const char *path, struct fault *fault)
{
	char part[DEPOT_PATH];

	if (strlen(path) >= sizeof d->path) {
		fault_set(fault, STATUS_USAGE, "%s: too long for a directory's name", path);
		return false;
	}
	memcpy(d->path, path, strlen(path) + 1);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		depot_path(d, parts[i], "", part);
		if (!make(part, fault))
			return false;
	}
	return true;
}

bool depot_put_unit(const struct depot *d, struct text record, struct address *id, struct fault *fault)
{
	char path[DEPOT_PATH];
	struct stat s;

	*id = address_of(record);
	depot_path(d, "units", id->hex, path);
	if (stat(path, &s) == 0 && (size_t)s.st_size == record.length)
		return true;
	return pack_leave(path, record, fault);
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool store_path(const struct depot *d, const char *address, const char *name, char to[DEPOT_PATH])
{
	depot_path(d, "store", address, to);
	if (mkdir(to, 0777) != 0 && errno != EEXIST)
		return false;
	strncat(to, "/", DEPOT_PATH - strlen(to) - 1);
	strncat(to, name, DEPOT_PATH - strlen(to) - 1);
	return true;
}

/* A program stays one that can be started. */
static void keep_mode(const char *from, const char *to)
{
	struct stat s;

	if (stat(from, &s) == 0)
		chmod(to, s.st_mode & 0777);
}

bool depot_put_file(const struct depot *d, const char *path, struct address *to, struct fault *fault)
{
	char target[DEPOT_PATH];
	struct arena a;
	struct text bytes;
	bool good;

	if (!address_of_file(path, to, fault))
		return false;
	if (!store_path(d, to->hex, base_of(path), target)) {
		fault_set(fault, STATUS_UNFIT, "%s: %s", target, strerror(errno));
		return false;
	}
	if (access(target, F_OK) == 0 || linkat(AT_FDCWD, path, AT_FDCWD, target, AT_SYMLINK_FOLLOW) == 0)
		return true;
	arena_init(&a);
	good = pack_slurp(&bytes, &a, path, fault) && pack_publish(target, bytes, fault);
	keep_mode(path, target);
	arena_free(&a);
	return good;
}

bool depot_put_bytes(const struct depot *d, const char *name, struct text bytes, struct fault *fault)
{
	struct address address = address_of(bytes);
	char target[DEPOT_PATH];

	if (!store_path(d, address.hex, name, target)) {
		fault_set(fault, STATUS_UNFIT, "%s: %s", target, strerror(errno));
		return false;
	}
	if (access(target, F_OK) != 0 && !pack_publish(target, bytes, fault))
		return false;
	chmod(target, 0700);
	return true;
}

void depot_file(const struct depot *d, const struct unit_file *f, char to[DEPOT_PATH])
{
	char tail[ADDRESS + 300];

	snprintf(tail, sizeof tail, "%.*s/%.*s", (int)f->address.length, f->address.at,
		f->name.length < 255 ? (int)f->name.length : 255, f->name.at);
	depot_path(d, "store", tail, to);
}

bool depot_result(const struct depot *d, struct arena *a, const char *id, struct text *to)
{
	struct fault fault = {0};
	char path[DEPOT_PATH];
	struct pack_entry e;

	depot_path(d, "results", id, path);
	if (access(path, R_OK) != 0 || !pack_slurp(to, a, path, &fault) || !pack_open(to) || !pack_next(to, &e))
		return false;
	*to = e.bytes;
	return text_is(e.kind, "result") && text_is(e.name, id);
}

bool depot_publish(const struct depot *d, const char *id, struct text result, struct fault *fault)
{
	char path[DEPOT_PATH];
	struct arena a;
	struct str pack;
	bool good;

	depot_path(d, "results", id, path);
	arena_init(&a);
	str_init(&pack, &a);
	pack_begin(&pack);
	pack_add(&pack, "result", (struct text){id, strlen(id)}, result);
	good = pack_publish(path, (struct text){pack.at, pack.length}, fault);
	arena_free(&a);
	return good;
}
