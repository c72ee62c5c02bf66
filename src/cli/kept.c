/* SPDX-License-Identifier: MIT */
#include "kept.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/output.h"
#include "base/str.h"
#include "cli/manner.h"
#include "report/story.h"

enum { COLUMNS_LEAST = 40, COLUMNS_MOST = 1000 };

struct kept_options kept_options;

const struct opt kept_opts[] = {
	KEPT_FROM,
	{"show-hidden", 0, OPT_FLAG, &kept_options.show_hidden, NULL, "also what rules, ranks and suppressions hide"},
	{0},
};

void kept_read(struct story *s, struct arena *a)
{
	struct fault fault = {0};

	if (!run_dir_read(s, a, kept_options.from, &fault))
		die(fault.status, "%s", fault.text);
}

/* Whether the id begins with the word. */
static bool begins(const struct story_finding *f, const char *word)
{
	const char *id = f->id.at;

	if (strncmp(word, "fsn-", 4) != 0 && strncmp(id, "fsn-", 4) == 0)
		id += 4;
	return *word && strncmp(id, word, strlen(word)) == 0;
}

_Noreturn static void unknown(const struct story *s, const char *id, const char *from)
{
	const char **ids = arena_alloc(s->arena, (s->findings + 1) * sizeof *ids), *near;

	for (size_t i = 0; i < s->findings; i++)
		ids[i] = s->finding[i].id.at;
	near = opts_nearest(id, ids, s->findings);
	if (near)
		die(STATUS_USAGE, "no finding '%s' in %s; did you mean '%s'?", id, from, near);
	die(STATUS_USAGE, "no finding '%s' in %s; 'fission list --show-hidden' has them all", id, from);
}

const struct story_finding *kept_find(const struct story *s, const char *id)
{
	const struct story_finding *found = NULL;
	const char *from = kept_options.from ? kept_options.from : RUN_DIR;

	for (size_t i = 0; i < s->findings; i++) {
		if (!begins(&s->finding[i], id))
			continue;
		if (text_is(s->finding[i].id, id))
			return &s->finding[i];
		if (found && !text_same(found->id, s->finding[i].id))
			die(STATUS_USAGE, "'%s' begins more than one id of %s: %s, %s", id, from, found->id.at, s->finding[i].id.at);
		found = found ? found : &s->finding[i];
	}
	if (!found)
		unknown(s, id, from);
	return found;
}

void kept_check(const char *out)
{
	struct fault fault = {0};

	if (!run_dir_check(out, &fault))
		die(fault.status, "%s", fault.text);
}

void kept_check_output(const char *path)
{
	struct fault fault = {0};

	if (!output_check(path, &fault))
		die(fault.status, "%s", fault.text);
}

void kept_write(const struct story *s, const char *out)
{
	struct fault fault = {0};

	if (!run_dir_write(out, s, &fault))
		warn("the findings are not kept: %s", fault.text);
}

/* What the terminal is said to have, or has; 0: not known. */
static unsigned columns_of(int fd)
{
	const char *said = getenv("COLUMNS");
	long n = said ? strtol(said, NULL, 10) : 0;
	struct winsize size;

	if (n <= 0 && fd >= 0 && ioctl(fd, TIOCGWINSZ, &size) == 0)
		n = size.ws_col;
	if (n <= 0)
		return 0;
	return n < COLUMNS_LEAST ? COLUMNS_LEAST : n > COLUMNS_MOST ? COLUMNS_MOST : (unsigned)n;
}

struct look look_for(const char *path, bool show_hidden)
{
	int fd = output_stream(path);
	unsigned columns = columns_of(fd);

	return (struct look){
		.columns = columns ? columns : look_plain.columns, .utf8 = manner_utf8(),
		.colour = manner_colours(fd), .verbose = manner.verbose, .show_hidden = show_hidden,
	};
}
