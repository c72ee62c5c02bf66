/* SPDX-License-Identifier: MIT */
#include "latest.h"

#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/opts.h"
#include "base/str.h"
#include "report/harmless.h"
#include "report/story.h"

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

void latest_read(struct story *s, struct arena *a, const char *path)
{
	struct fault fault = {0};
	struct str file;

	str_init(&file, a);
	str_add(&file, path);
	if (is_directory(path))
		str_add(&file, "/findings.json");
	else if (strcmp(path, LATEST_RUN) == 0)
		die(STATUS_USAGE, "there is no %s here; 'fission run ./PROGRAM' makes one", path);
	if (!story_read(s, a, file.at, &fault))
		die(fault.status, "%s", fault.text);
}

static bool begins(struct text id, const char *words)
{
	size_t n = strlen(words);

	return n > 0 && n <= id.length && memcmp(id.at, words, n) == 0;
}

static bool is_meant(const struct story_finding *f, const char *words)
{
	const struct text digits = {f->id.at + 4, f->id.length - 4};

	return f->id.length > 4 && (begins(f->id, words) || begins(digits, words)) && strlen(words) >= 2 &&
		strncmp("fsn-", words, strlen(words)) != 0;
}

_Noreturn static void unknown(const struct story *s, const char *id, const char *path)
{
	const char **names = arena_alloc(s->arena, (s->findings + 1) * sizeof *names);
	const char *near;

	for (size_t i = 0; i < s->findings; i++)
		names[i] = arena_text(s->arena, s->finding[i].id.at, s->finding[i].id.length);
	near = opts_nearest(id, names, s->findings);
	if (near)
		die(STATUS_USAGE, "no finding '%.60s' in %s; did you mean '%s'?", id, path, near);
	die(STATUS_USAGE, "no finding '%.60s' in %s, which has %zu; 'fission list' shows them", id, path, s->findings);
}

/* The same finding may be in several traces: that is one id. */
const struct story_finding *latest_finding(const struct story *s, const char *id, const char *path)
{
	const struct story_finding *found = NULL;

	for (size_t i = 0; i < s->findings; i++) {
		const struct story_finding *f = &s->finding[i];

		if (!is_meant(f, id))
			continue;
		if (found && !text_same(found->id, f->id))
			die(STATUS_USAGE, "'%.60s' may be %.*s or %.*s; give more of its digits", id, (int)found->id.length,
				found->id.at, (int)f->id.length, f->id.at);
		found = found ? found : f;
	}
	if (!found)
		unknown(s, id, path);
	return found;
}
