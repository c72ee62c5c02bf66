/* SPDX-License-Identifier: MIT */
#include "takes.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *name;
	enum takes takes;
} names[] = {
	{"FILE", TAKES_FILES},
	{"FILES", TAKES_FILES},
	{"TRACE", TAKES_FILES},
	{"BEFORE", TAKES_FILES},
	{"DIR", TAKES_DIRECTORIES},
	{"PROGRAM", TAKES_PROGRAM},
	{"COMPILER_ARGUMENTS", TAKES_FILES},
	{"ID", TAKES_IDS},
	{"COMMAND", TAKES_COMMAND},
};

enum takes takes_of(const char *words)
{
	size_t n;

	if (!words)
		return TAKES_ANYTHING;
	words += strcspn(words, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
	n = strspn(words, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strlen(names[i].name) == n && memcmp(names[i].name, words, n) == 0)
			return names[i].takes;
	return TAKES_ANYTHING;
}
