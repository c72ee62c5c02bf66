/* SPDX-License-Identifier: MIT */
#include "look.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { COLUMNS_LEAST = 40, COLUMNS_MOST = 1000, COLUMNS_PLAIN = 100 };

/* What the environment says, unless that is nothing. */
static const char *environment(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/* The variables that the C library asks for the kind of its characters, in its order. */
static bool locale_is_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
	const char *locale = NULL;

	for (size_t i = 0; i < 3 && !locale; i++)
		locale = environment(names[i]);
	return locale && (strcasestr(locale, "utf-8") || strcasestr(locale, "utf8"));
}

static unsigned sensible(unsigned long columns)
{
	return columns >= COLUMNS_LEAST && columns <= COLUMNS_MOST ? (unsigned)columns : 0;
}

static unsigned columns_of(int fd)
{
	const char *said = environment("COLUMNS");
	unsigned columns = said ? sensible(strtoul(said, NULL, 10)) : 0;
	struct winsize size;

	if (!columns && ioctl(fd, TIOCGWINSZ, &size) == 0)
		columns = sensible(size.ws_col);
	return columns ? columns : COLUMNS_PLAIN;
}

static bool is_coloured(int fd, const char *colour)
{
	const char *terminal = getenv("TERM");

	if (strcmp(colour, "auto") != 0)
		return strcmp(colour, "always") == 0;
	return isatty(fd) && !environment("NO_COLOR") && !(terminal && strcmp(terminal, "dumb") == 0);
}

struct look look_of(int fd, const char *colour)
{
	return (struct look){.columns = columns_of(fd), .utf8 = locale_is_utf8(), .colour = is_coloured(fd, colour)};
}
