/* SPDX-License-Identifier: MIT */
/*
 * A story from its JSON in one of the forms, as this terminal would show it: render --from=FILE --format=FORM
 * [--color=WHEN] [--verbose] [--show-hidden] [--new-only]. For tests/report/golden.py.
 */
#include <stdio.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/opts.h"
#include "base/str.h"
#include "report/look.h"
#include "report/report.h"

static const char *from, *format, *colour = "auto";
static struct look look;

static const struct opt options[] = {
	{"from", 0, OPT_TEXT, &from, "FILE", "the story"},
	{"format", 0, OPT_TEXT, &format, "FORM", "its form"},
	{"color", 0, OPT_TEXT, &colour, "WHEN", "auto, always or never"},
	{"verbose", 0, OPT_FLAG, &look.verbose, NULL, "all forms of it"},
	{"show-hidden", 0, OPT_FLAG, &look.show_hidden, NULL, "also what is hidden"},
	{"new-only", 0, OPT_FLAG, &look.new_only, NULL, "not what is known"},
	{0},
};

int main(int argc, char **argv)
{
	const struct opt_group groups[] = {{"Options", options}, {0}};
	struct look terminal;
	struct fault fault = {0};
	struct arena arena;
	struct story story;
	struct str text;

	(void)argc;
	opts_parse_groups(groups, "render", false, argv);
	arena_init(&arena);
	str_init(&text, &arena);
	if (!from || !format || !renderer_named(format))
		die(STATUS_USAGE, "render needs --from and a known --format");
	if (!story_read(&story, &arena, from, &fault))
		die(fault.status, "%s", fault.text);
	terminal = look_of(STDOUT_FILENO, colour);
	look.columns = terminal.columns;
	look.utf8 = terminal.utf8;
	look.colour = terminal.colour;
	renderer_named(format)->render(&story, &look, &text);
	fwrite(text.at, 1, text.length, stdout);
	return 0;
}
