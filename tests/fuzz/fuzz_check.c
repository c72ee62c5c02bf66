/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a text trace through everything that `fission check` does with it, strictly and leniently: every
 * check but the oracle, which takes exponential time, and every form of report.
 */
#include "fuzz.h"

#include <string.h>

#include "base/str.h"
#include "check/check.h"
#include "check/run.h"
#include "finding/finding.h"
#include "report/look.h"
#include "report/report.h"
#include "report/story.h"

static size_t all_but_oracle(const struct check **to)
{
	size_t n = 0;

	for (size_t i = 0; checks_all[i] && n < CHECKS_MOST; i++)
		if (strcmp(checks_all[i]->name, "oracle") != 0)
			to[n++] = checks_all[i];
	return n;
}

static void render(struct arena *a, const struct report_trace *trace)
{
	static const char *const forms[] = {"text", "json", "sarif", "html", "gcc"};
	struct story story;
	struct str text;

	story_tell(&story, a, &(struct report){trace, 1});

	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		str_init(&text, a);
		renderer_named(forms[i])->render(&story, &look_plain, &text);
	}
}

/* In batches of another size than the readers', so that a check cannot rely on theirs. */
static void check(struct fuzz_trace *f, bool lenient)
{
	const struct check *checks[CHECKS_MOST];
	size_t count = all_but_oracle(checks), at = 0;
	struct report_trace report = {.path = "fuzz", .tables = &f->tables, .events = f->count};
	struct findings findings;
	struct run *run;

	findings_init(&findings, &f->arena, &f->tables);
	run = run_new(&f->arena, &f->tables, &findings,
		&(struct run_setup){.checks = checks, .count = count, .lenient = lenient});
	while (at < f->count) {
		size_t n = f->count - at < 7 ? f->count - at : 7, taken = run_events(run, f->events + at, n);

		at += taken;
		if (taken < n)
			break;
	}
	run_finish(run);
	findings_finish(&findings);
	report.findings = &findings;
	render(&f->arena, &report);
}

static void read_and_check(const char *path, bool lenient)
{
	struct fuzz_trace f;

	fuzz_read(&f, path, lenient);
	if (!fuzz_is_heavy(&f))
		check(&f, lenient);
	fuzz_free(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = fuzz_file(data, size);

	read_and_check(path, false);
	read_and_check(path, true);
	return 0;
}
