/* SPDX-License-Identifier: MIT */
#include "manner.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct manner manner = {.colour = "auto"};

static const char *colours(size_t i, const char **about)
{
	static const char *const words[] = {"auto", "always", "never", NULL};

	return opts_word(words, i, about);
}

const struct opt manner_options[] = {
	{"color", 0, OPT_TEXT, &manner.colour, "WHEN",
		"when to use colour (default: auto, on a terminal unless NO_COLOR is set)",
		.values = colours},
	{"quiet", 'q', OPT_FLAG, &manner.quiet, NULL, "say nothing but findings and errors"},
	{"verbose", 'v', OPT_FLAG, &manner.verbose, NULL,
		"say more: how far it has come, and what else is known of findings"},
	{"help", 'h', OPT_FLAG, &manner.help, NULL, "this text"},
	{0},
};

bool manner_is_watched(int fd)
{
	const char *terminal = getenv("TERM");

	return isatty(fd) && (!terminal || strcmp(terminal, "dumb") != 0);
}

bool manner_colours(int fd)
{
	const char *no = getenv("NO_COLOR");

	if (strcmp(manner.colour, "auto") != 0)
		return strcmp(manner.colour, "always") == 0;
	return manner_is_watched(fd) && !(no && *no);
}

bool manner_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *locale = getenv(names[i]);

		if (locale && *locale)
			return strcasestr(locale, "UTF-8") || strcasestr(locale, "utf8");
	}
	return false;
}

enum progress_form manner_progress(bool own)
{
	if (manner.quiet)
		return PROGRESS_NONE;
	if (own && manner_is_watched(STDERR_FILENO))
		return PROGRESS_LINE;
	return manner.verbose ? PROGRESS_PLAIN : PROGRESS_NONE;
}
