/* SPDX-License-Identifier: MIT */
#include "inputs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/str.h"
#include "event/walk.h"

static bool same(struct text a, struct text b)
{
	return a.length == b.length && (!a.length || memcmp(a.at, b.at, a.length) == 0);
}

struct text inputs_find(const struct inputs_more *m, enum inputs_kind kind, struct text name)
{
	const struct inputs_list *l = &m->of[kind];

	for (size_t i = 0; i < l->count; i++)
		if (same(l->at[i].name, name))
			return l->at[i].value;
	return (struct text){NULL, 0};
}

void inputs_set(struct inputs_more *m, enum inputs_kind kind, struct inputs_named n, struct arena *a)
{
	struct inputs_list *l = &m->of[kind];
	size_t i = 0;

	while (i < l->count && !same(l->at[i].name, n.name))
		i++;
	if (i == l->count)
		l->at = arena_grow(a, l->at, l->count * sizeof *l->at, (l->count + 1) * sizeof *l->at);
	l->count += i == l->count;
	l->at[i] = n;
}

struct inputs *inputs_copy(const struct inputs *in, struct arena *a)
{
	struct inputs *to = arena_alloc(a, sizeof *to);
	size_t n = 0;

	*to = *in;
	while (in->argv[n])
		n++;
	to->argv = arena_alloc(a, (n + 1) * sizeof *to->argv);
	memcpy(to->argv, in->argv, n * sizeof *to->argv);
	for (int k = 0; k < INPUTS_KINDS; k++) {
		struct inputs_list *l = &to->more.of[k];

		l->at = arena_alloc(a, (l->count + 1) * sizeof *l->at);
		for (size_t i = 0; i < l->count; i++)
			l->at[i] = in->more.of[k].at[i];
	}
	return to;
}

static uint64_t hash_text(uint64_t h, struct text t)
{
	return hash_pair(h, hash_bytes(t.at ? t.at : "", t.length));
}

uint64_t inputs_hash(const struct inputs *in)
{
	uint64_t h = hash_text(1, in->stdin_bytes);

	for (size_t i = 0; in->argv[i]; i++)
		h = hash_text(h, (struct text){in->argv[i], strlen(in->argv[i])});
	for (int k = 0; k < INPUTS_KINDS; k++)
		for (size_t i = 0; i < in->more.of[k].count; i++)
			h = hash_text(hash_text(h ^ (uint64_t)k, in->more.of[k].at[i].name), in->more.of[k].at[i].value);
	return h;
}

/* For people. */

static bool is_safe(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c && strchr("./,:=@%+-_", c));
}

/* A word for a shell: as it is, in quotes, or in bash's $'' if it has bytes that nobody can type. */
void inputs_word(struct str *to, struct text word)
{
	bool safe = word.length > 0, shown = true;

	for (size_t i = 0; i < word.length; i++) {
		safe &= is_safe(word.at[i]);
		shown &= word.at[i] >= ' ' && word.at[i] < 127 && word.at[i] != '\'';
	}
	if (safe) {
		str_bytes(to, word.at, word.length);
		return;
	}
	str_add(to, shown ? "'" : "$'");
	for (size_t i = 0; i < word.length; i++)
		if (shown || (word.at[i] >= ' ' && word.at[i] < 127 && word.at[i] != '\'' && word.at[i] != '\\'))
			str_char(to, word.at[i]);
		else
			str_printf(to, "\\%03o", (unsigned char)word.at[i]);
	str_char(to, '\'');
}

/* The number that little-endian bytes are, if they are one. */
static void add_value(struct str *to, struct text value)
{
	int64_t wide = 0;

	if (!value.length || value.length > sizeof wide) {
		inputs_word(to, value);
		return;
	}
	memcpy(&wide, value.at, value.length);
	if (value.length < sizeof wide) {
		unsigned shift = 64 - 8 * (unsigned)value.length;

		wide = (int64_t)((uint64_t)wide << shift) >> shift;
	}
	str_printf(to, "%lld", (long long)wide);
}

void inputs_tell(const struct inputs *in, struct str *to)
{
	const struct inputs_list *env = &in->more.of[INPUTS_ENV], *file = &in->more.of[INPUTS_FILE],
		*named = &in->more.of[INPUTS_NAMED];

	for (size_t i = 0; i < env->count; i++) {
		str_printf(to, "%.*s=", (int)env->at[i].name.length, env->at[i].name.at);
		inputs_word(to, env->at[i].value);
		str_char(to, ' ');
	}
	for (size_t i = 0; in->argv[i]; i++) {
		str_add(to, i ? " " : "");
		inputs_word(to, (struct text){in->argv[i], strlen(in->argv[i])});
	}
	if (in->stdin_bytes.length) {
		str_add(to, " <<< ");
		inputs_word(to, in->stdin_bytes);
	}
	for (size_t i = 0; i < named->count; i++) {
		str_printf(to, "; %.*s = ", (int)named->at[i].name.length, named->at[i].name.at);
		add_value(to, named->at[i].value);
	}
	for (size_t i = 0; i < file->count; i++)
		str_printf(to, "; %.*s with %zu other bytes", (int)file->at[i].name.length, file->at[i].name.at,
			file->at[i].value.length);
}

/* On the way to the program. */

static bool no_room(struct fault *fault)
{
	fault_set(fault, STATUS_UNFIT, "cannot hand inputs to the program: %s", strerror(errno));
	return false;
}

/* A file of ours with the text; its path goes to `path`. */
static bool add_file(struct inputs_way *w, struct text content, char *path, struct arena *a)
{
	int fd = memfd_create("fission-given", MFD_CLOEXEC);

	if (fd < 0)
		return false;
	w->fd = arena_grow(a, w->fd, w->fds * sizeof *w->fd, (w->fds + 1) * sizeof *w->fd);
	w->fd[w->fds++] = fd;
	sprintf(path, "/proc/%d/fd/%d", (int)getpid(), fd);
	return !content.length || pwrite(fd, content.at, content.length, 0) == (ssize_t)content.length;
}

static void add_given(struct str *to, enum walk_source source, struct text name, struct text value)
{
	struct walk_given g = {source, (uint32_t)name.length, (uint32_t)value.length};

	str_bytes(to, (const char *)&g, sizeof g);
	str_bytes(to, name.at, name.length);
	str_bytes(to, value.at, value.length);
	str_char(to, 0);
}

void inputs_variable(struct inputs_way *w, const char *name, const char *value, struct arena *a)
{
	size_t n = 0;
	struct str s;

	while (w->env && w->env[n])
		n++;
	str_init(&s, a);
	str_printf(&s, "%s=%s", name, value);
	w->env = arena_grow(a, w->env, w->env ? (n + 1) * sizeof *w->env : 0, (n + 2) * sizeof *w->env);
	w->env[n] = s.at;
	w->env[n + 1] = NULL;
}

struct text inputs_given(const struct inputs_list *named, const struct inputs_list *file, struct arena *a)
{
	struct str all;

	str_init(&all, a);
	for (size_t i = 0; i < named->count; i++)
		add_given(&all, WALK_NAMED, named->at[i].name, named->at[i].value);
	for (size_t i = 0; i < file->count; i++)
		add_given(&all, WALK_FILE, file->at[i].name, file->at[i].value);
	return (struct text){all.at, all.length};
}

static bool add_givens(struct inputs_way *w, const struct inputs_more *m, struct arena *a)
{
	const struct inputs_list *file = &m->of[INPUTS_FILE], *named = &m->of[INPUTS_NAMED];
	struct inputs_list paths = {arena_alloc(a, (file->count + 1) * sizeof *paths.at), 0};
	char path[64];

	if (!file->count && !named->count)
		return true;
	for (size_t i = 0; i < file->count; i++) {
		if (!add_file(w, file->at[i].value, path, a))
			return false;
		paths.at[paths.count++] = (struct inputs_named){file->at[i].name, {arena_text(a, path, strlen(path)), strlen(path)}};
	}
	if (!add_file(w, inputs_given(named, &paths, a), path, a))
		return false;
	inputs_variable(w, WALK_GIVEN_VARIABLE, path, a);
	return true;
}

bool inputs_ready(struct inputs_way *w, const struct inputs_more *m, struct arena *a, struct fault *fault)
{
	*w = (struct inputs_way){0};
	for (size_t i = 0; m && i < m->of[INPUTS_ENV].count; i++) {
		const struct inputs_named *n = &m->of[INPUTS_ENV].at[i];

		inputs_variable(w, arena_text(a, n->name.at, n->name.length), arena_text(a, n->value.at, n->value.length), a);
	}
	return !m || add_givens(w, m, a) || no_room(fault);
}

void inputs_done(struct inputs_way *w)
{
	while (w->fds)
		close(w->fd[--w->fds]);
}
