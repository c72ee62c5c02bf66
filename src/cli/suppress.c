/* SPDX-License-Identifier: MIT */
/*
 * fission suppress: accepts one finding, by a line in the suppression file.
 *
 * The file is replaced as a whole, by rename, while its directory is locked: two that add a line at the same time both
 * get it in, and a full disk leaves the file as it was. Before that, the line is read by the parser that every other
 * command reads it with, and must suppress the finding.
 */
#include "commands.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/input.h"
#include "base/opts.h"
#include "base/output.h"
#include "base/str.h"
#include "cli/accept.h"
#include "cli/kept.h"
#include "report/harmless.h"
#include "report/hide.h"
#include "report/story.h"

static const char head[] =
	"# Findings that somebody has looked at and accepts; see 'fission suppress --help'.\n"
	"# KIND:PATTERN reason=\"...\" owner=NAME expires=YEAR-MONTH-DAY\n"
	"\n";

static struct {
	const char *reason, *owner, *expires, *by, *file;
} options = {.by = "id", .file = SUPPRESSIONS_FILE};

static const char *kinds(size_t i, const char **about)
{
	return about ? *about = NULL : NULL, i < SUPPRESSION_KINDS ? suppression_by[i] : NULL;
}

/* ---- The line. */

/* A text of the command line that a line of a file can hold. */
static struct text line_text(const char *option, const char *words)
{
	struct text t = text_of(words ? words : "");

	for (size_t i = 0; i < t.length; i++)
		if ((unsigned char)words[i] < 32 || words[i] == 127)
			die(STATUS_USAGE, "suppress: --%s has the control character 0x%02x; write it without, on one line", option,
				(unsigned char)words[i]);
	return t;
}

static date expiry(const char *words)
{
	const char *why;
	date d, today = accept_today();

	if (!words)
		return 0;
	d = date_parse(text_of(words), &why);
	if (!d)
		die(STATUS_USAGE, "suppress: --expires: '%.60s' %s; write YEAR-MONTH-DAY, such as 2027-06-30", words, why);
	if (d < today)
		die(STATUS_USAGE, "suppress: --expires: %s is over, so that the line would suppress nothing; give a later day",
			words);
	return d;
}

static enum suppression_kind kind_named(const char *name)
{
	size_t k = 0;

	while (strcmp(suppression_by[k], name) != 0)
		k++;
	return (enum suppression_kind)k;
}

static struct suppression line_for(const struct story *s, const struct story_finding *f)
{
	struct suppression line = {.kind = kind_named(options.by), .expires = expiry(options.expires),
		.reason = line_text("reason", options.reason), .owner = line_text("owner", options.owner)};
	size_t at = 0;
	struct text name = hide_name(s, f, line.kind, &at);

	if (!name.length)
		die(STATUS_USAGE, "suppress: the finding has no %s that is known; use --by=id", options.by);
	line.pattern = suppression_pattern(s->arena, name);
	return line;
}

/* What was written must be what is read, and be about the finding. */
static void read_back(const struct story *s, const struct story_finding *f, struct text line)
{
	struct suppressions list;
	struct fault fault = {0};

	suppressions_init(&list, s->arena, NULL, accept_today());
	if (!suppressions_take(&list, line, &fault) || list.count != 1 || !hide_matches(s, f, &list.at[0]))
		die(STATUS_TOOL, "suppress: the line does not suppress the finding; use --by=id: %.*s", (int)line.length, line.at);
}

/* ---- The file. */

/* All bytes of the file, none if there is no such file. What is wrong with it was said when it was parsed. */
static void add_file(struct str *to, const char *path)
{
	struct input in;
	struct fault fault = {0};

	if (access(path, F_OK) != 0)
		return;
	if (!input_open(&in, path, &fault))
		die(STATUS_CONFIG, "%s", fault.text);
	while (input_more(&in, &fault))
		;
	if (fault_is_set(&fault))
		die(STATUS_CONFIG, "%s", fault.text);
	str_bytes(to, in.at, (size_t)(in.end - in.at));
	input_close(&in);
}

static void append(struct arena *a, const char *path, struct text line)
{
	struct output out;
	struct str text;

	str_init(&text, a);
	add_file(&text, path);
	if (!text.length)
		str_add(&text, head);
	if (text.at[text.length - 1] != '\n')
		str_char(&text, '\n');
	str_bytes(&text, line.at, line.length);
	if (output_open(&out, path))
		output_write(&out, text.at, text.length);
	if (fault_is_set(&out.fault) || !output_commit(&out))
		die(out.fault.status, "%s", out.fault.text);
}

/* The line of the file that holds the finding already, or NULL; an expired one does not. */
static const struct suppression *held_by(const struct story *s, const struct story_finding *f, const char *path)
{
	struct suppressions *list = arena_alloc(s->arena, sizeof *list);
	struct fault fault = {0};

	suppressions_init(list, s->arena, NULL, accept_today());
	if (access(path, F_OK) != 0)
		return NULL;
	if (!suppressions_read(list, path, &fault))
		die(fault.status, "%s", fault.text);
	for (size_t i = 0; i < list->count; i++)
		if (!list->at[i].expired && hide_matches(s, f, &list->at[i]))
			return &list->at[i];
	return NULL;
}

/* How many findings the line takes beside this one. */
static size_t others(const struct story *s, const struct story_finding *f, const struct suppression *line)
{
	size_t n = 0;

	for (size_t i = 0; i < s->findings; i++)
		n += &s->finding[i] != f && hide_matches(s, &s->finding[i], line);
	return n;
}

static void suppress(const struct story *s, const struct story_finding *f)
{
	struct suppression line = line_for(s, f);
	const struct suppression *held;
	struct str text;
	size_t more;

	str_init(&text, s->arena);
	suppression_write(&text, &line);
	read_back(s, f, (struct text){text.at, text.length});
	output_lock(options.file); /* until the tool ends */
	held = held_by(s, f, options.file);
	if (held) {
		printf("%.*s: already suppressed by %.*s\n", (int)f->id.length, f->id.at, (int)held->place.length, held->place.at);
		return;
	}
	append(s->arena, options.file, (struct text){text.at, text.length});
	more = others(s, f, &line);
	printf("%s: %.*s", options.file, (int)text.length, text.at);
	if (more)
		printf("fission: that line also suppresses %zu other finding%s of this run\n", more, more == 1 ? "" : "s");
}

static int suppress_main(int argc, char **argv)
{
	struct arena arena;
	struct story story;

	(void)argc;
	if (!options.reason || !*options.reason)
		die(STATUS_USAGE, "suppress: no reason given; write --reason \"...\" for whoever finds the line in a year");
	arena_init(&arena);
	kept_read(&story, &arena);
	suppress(&story, kept_find(&story, argv[1]));
	arena_free(&arena);
	return STATUS_CLEAN;
}

static const struct opt table[] = {
	{"reason", 0, OPT_TEXT, &options.reason, "TEXT", "why it is accepted; needed"},
	{"owner", 0, OPT_TEXT, &options.owner, "NAME", "who answers for it"},
	{"expires", 0, OPT_TEXT, &options.expires, "DATE",
		"the last day on which the line holds, as 2027-06-30 (default: always)"},
	{"by", 0, OPT_TEXT, &options.by, "WHAT", "what the line names (default: id)",
		.values = kinds},
	{"file", 0, OPT_TEXT, &options.file, "FILE", "the suppression file (default: " SUPPRESSIONS_FILE ")"},
	KEPT_FROM,
	{0},
};

const struct command command_suppress = {
	.name = "suppress",
	.summary = "accept a finding",
	.run = suppress_main,
	.words = "ID",
	.least = 1,
	.most = 1,
	.about = "Appends a line to the suppression file, so that the finding is no longer shown and fails no build. The "
		"first digits of the id are enough.",
	.options = (const struct opt_group[]){{"Options", table}, {0}},
	.examples = (const struct command_example[]){
		{"fission suppress fsn-7c1f --reason \"see #812\"", NULL},
		{"fission suppress fsn-7c1f --reason \"log only\" --owner=ana --expires=2027-06-30", NULL},
		{"fission suppress fsn-7c1f --reason \"counters may be off\" --by=variable --file=ci/fission.supp", NULL},
		{0},
	},
	.statuses = (const struct command_status[]){
		{"0", "the line is in the file, or was"},
		{"64", "a mistake in the command line, or no such finding"},
		{"65", "the run's findings cannot be read"},
		{"69", "the file could not be written"},
		{"78", "a mistake in the suppression file"},
		{0},
	},
	.see = (const char *const[]){"baseline", "list", "report", NULL},
};
