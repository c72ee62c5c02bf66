/* SPDX-License-Identifier: MIT */
#include "accept.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/fail.h"
#include "cli/manner.h"
#include "report/hide.h"

struct accept_options accept_chosen;

const struct opt accept_options[] = {
	{"suppressions", 0, OPT_TEXT, &accept_chosen.suppressions, "FILES",
		"files of suppressions, with commas (default: " SUPPRESSIONS_FILE ", if it exists)"},
	{"baseline", 0, OPT_TEXT, &accept_chosen.baseline, "FILE", "the findings that are known; see 'fission baseline'"},
	{"new-only", 0, OPT_FLAG, &accept_chosen.new_only, NULL, "neither show nor fail on what is in the baseline"},
	{0},
};

/* Each file of a list with commas. */
static void read_suppressions(struct accepted *h, struct arena *a, const char *list)
{
	struct fault fault = {0};

	h->has_suppressions = *list != 0;
	for (size_t n; h->has_suppressions && list; list = list[n] ? list + n + 1 : NULL) {
		n = strcspn(list, ",");
		if (!suppressions_read(&h->suppressions, arena_text(a, list, n), &fault))
			die(fault.status, "%s", fault.text);
	}
}

static void read_baseline(struct accepted *h, const char *path)
{
	struct fault fault = {0};

	if (!path)
		return;
	if (!baseline_read(&h->baseline, path, &fault))
		die(fault.status, "%s", fault.text);
	h->has_baseline = true;
}

static bool exists(const char *path)
{
	return access(path, F_OK) == 0;
}

date accept_today(void)
{
	struct fault fault = {0};
	date today = date_today(&fault);

	if (!today)
		die(fault.status, "%s", fault.text);
	return today;
}

/* What is read though nobody has asked for it is said, to those who want to know. */
static const char *by_default(const char *path)
{
	if (!exists(path))
		return NULL;
	if (manner.verbose)
		warn("%s is read", path);
	return path;
}

void accept_read(struct accepted *h, struct arena *a, struct rules *rules)
{
	const char *lists = accept_chosen.suppressions, *baseline = accept_chosen.baseline;

	*h = (struct accepted){.new_only = accept_chosen.new_only};
	suppressions_init(&h->suppressions, a, rules, accept_today());
	baseline_init(&h->baseline, a);
	if (!lists)
		lists = by_default(SUPPRESSIONS_FILE);
	if (lists)
		read_suppressions(h, a, lists);
	if (h->new_only && !baseline)
		baseline = by_default(BASELINE_FILE);
	if (h->new_only && !baseline && rules)
		die(STATUS_USAGE, "--new-only needs --baseline=FILE, for there is no " BASELINE_FILE " here; "
			"'fission baseline' makes one");
	read_baseline(h, baseline);
}

void accept_apply(struct accepted *h, struct story *s)
{
	if (h->has_suppressions)
		hide_suppressed(s, &h->suppressions);
	if (h->has_baseline)
		hide_known(s, &h->baseline);
	hide_settle(s, h->new_only);
}
