/* SPDX-License-Identifier: MIT */
/*
 * Inputs as files. Arguments and variables go into a script, standard input and replaced files into files beside it.
 * What has only a name, and which file stands for which, is read by the library in the program: see struct walk_given.
 * So the program must still be one that was built with fission-cc, but the tool is not needed.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/output.h"
#include "base/str.h"
#include "chase/inputs.h"
#include "event/walk.h"

static bool put(const char *path, struct text content, struct fault *fault)
{
	struct output out;

	if (output_open(&out, path))
		output_write(&out, content.at, content.length);
	if (!fault_is_set(&out.fault) && output_commit(&out))
		return true;
	*fault = out.fault;
	return false;
}

static const char *join(const char *dir, const char *name, struct arena *a)
{
	struct str s;

	str_init(&s, a);
	str_printf(&s, "%s/%s", dir, name);
	return s.at;
}

/* file1, file2, ... in place of the program's files. */
static bool put_files(const struct inputs *in, const char *dir, struct arena *a, struct fault *fault)
{
	const struct inputs_list *file = &in->more.of[INPUTS_FILE], *named = &in->more.of[INPUTS_NAMED];
	struct inputs_list paths = {arena_alloc(a, (file->count + 1) * sizeof *paths.at), 0};

	for (size_t i = 0; i < file->count; i++) {
		char name[32];
		const char *path;

		snprintf(name, sizeof name, "file%zu", i + 1);
		path = join(dir, name, a);
		if (!put(path, file->at[i].value, fault))
			return false;
		paths.at[paths.count++] = (struct inputs_named){file->at[i].name, {path, strlen(path)}};
	}
	return (!file->count && !named->count) || put(join(dir, "given", a), inputs_given(named, &paths, a), fault);
}

static void add_assignment(struct str *to, struct text name, struct text value)
{
	str_bytes(to, name.at, name.length);
	str_char(to, '=');
	inputs_word(to, value);
	str_char(to, ' ');
}

static void add_notes(struct str *to, const struct inputs *in)
{
	const struct inputs_list *file = &in->more.of[INPUTS_FILE];
	struct str told;

	str_init(&told, to->arena);
	inputs_tell(in, &told);
	for (char *c = told.at; *c; c++)
		*c = *c == '\n' ? ' ' : *c;
	str_printf(to, "# %s\n", told.at);
	for (size_t i = 0; i < file->count; i++) {
		str_printf(to, "# file%zu is read in place of ", i + 1);
		inputs_word(to, file->at[i].name); /* a name with a newline stays in its comment */
		str_char(to, '\n');
	}
}

static struct text script(const struct inputs *in, const char *dir, struct arena *a)
{
	const struct inputs_list *env = &in->more.of[INPUTS_ENV];
	struct str s;

	str_init(&s, a);
	str_add(&s, "#!/bin/bash\n");
	add_notes(&s, in);
	for (size_t i = 0; i < env->count; i++)
		add_assignment(&s, env->at[i].name, env->at[i].value);
	if (in->more.of[INPUTS_FILE].count || in->more.of[INPUTS_NAMED].count) {
		const char *given = join(dir, "given", a);

		add_assignment(&s, (struct text){WALK_GIVEN_VARIABLE, strlen(WALK_GIVEN_VARIABLE)},
			(struct text){given, strlen(given)});
	}
	for (size_t i = 0; in->argv[i]; i++) {
		inputs_word(&s, (struct text){in->argv[i], strlen(in->argv[i])});
		str_char(&s, ' ');
	}
	if (in->stdin_bytes.length) {
		const char *from = join(dir, "stdin", a);

		str_add(&s, "<");
		inputs_word(&s, (struct text){from, strlen(from)});
	}
	str_char(&s, '\n');
	return (struct text){s.at, s.length};
}

bool inputs_write(const struct inputs *in, const char *dir, struct arena *a, struct fault *fault)
{
	char real[PATH_MAX];
	const char *run;

	if ((mkdir(dir, 0777) != 0 && errno != EEXIST) || !realpath(dir, real)) {
		fault_set(fault, STATUS_UNFIT, "%s: %s", dir, strerror(errno));
		return false;
	}
	run = join(real, "run.sh", a);
	if ((in->stdin_bytes.length && !put(join(real, "stdin", a), in->stdin_bytes, fault)) ||
		!put_files(in, real, a, fault) || !put(run, script(in, real, a), fault))
		return false;
	if (chmod(run, 0755) == 0)
		return true;
	fault_set(fault, STATUS_UNFIT, "%s: %s", run, strerror(errno));
	return false;
}
