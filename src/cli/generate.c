/* SPDX-License-Identifier: MIT */
#include "generate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/output.h"
#include "base/str.h"
#include "cli/commands.h"

static void each_of(struct str *to, const struct command *const *commands, const char *before, generate_one *make)
{
	char name[64];

	for (; commands && *commands; commands++) {
		if ((*commands)->hidden)
			continue;
		snprintf(name, sizeof name, "%s%s%s", before, *before ? " " : "", (*commands)->name);
		make(to, *commands, name);
		each_of(to, (*commands)->commands, name, make);
	}
}

void generate_each(struct str *to, generate_one *make)
{
	each_of(to, command_all.commands, "", make);
}

static void put(const struct str *text, const char *path)
{
	struct output o;

	if (output_open(&o, path))
		output_write(&o, text->at, text->length);
	if (fault_is_set(&o.fault) || !output_commit(&o))
		die(o.fault.status, "%s", o.fault.text);
}

static const char *directory;

static void put_page(struct str *to, const struct command *c, const char *name)
{
	char path[4096];

	str_clear(to);
	manual_page(to, c, name);
	snprintf(path, sizeof path, "%s/fission%s%s.1", directory, *name ? "-" : "", name);
	for (char *p = path + strlen(directory); *p; p++)
		if (*p == ' ')
			*p = '-';
	put(to, path);
}

static void pages(struct str *to)
{
	if (!directory)
		die(STATUS_USAGE, "--generate man: no directory given");
	if (mkdir(directory, 0777) != 0 && errno != EEXIST)
		die(STATUS_UNFIT, "%s: %s", directory, strerror(errno));
	put_page(to, &command_all, "");
	generate_each(to, put_page);
	str_clear(to);
}

static void put_name(struct str *to, const struct command *c, const char *name)
{
	(void)c;
	str_printf(to, "%s\n", name);
}

static void names(struct str *to)
{
	generate_each(to, put_name);
}

static const struct {
	const char *name;
	void (*make)(struct str *to);
} kinds[] = {{"man", pages}, {"bash", complete_bash}, {"zsh", complete_zsh}, {"fish", complete_fish}, {"names", names}};

int generate(int argc, char **argv)
{
	struct arena arena;
	struct str text;

	directory = argc > 1 ? argv[1] : NULL;
	for (size_t i = 0; argc > 0 && i < sizeof kinds / sizeof *kinds; i++) {
		if (strcmp(argv[0], kinds[i].name) != 0)
			continue;
		arena_init(&arena);
		str_init(&text, &arena);
		kinds[i].make(&text);
		put(&text, "-");
		arena_free(&arena);
		return STATUS_CLEAN;
	}
	die(STATUS_USAGE, "--generate: man DIR, bash, zsh, fish or names?");
}
