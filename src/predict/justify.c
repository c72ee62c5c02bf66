/* SPDX-License-Identifier: MIT */
#include "justify.h"

#include "finding/finding.h"
#include "predict/predict.h"

static const char *const kinds[TIERS] = {"A", "B", "C"};

/* Whether values say that the read saw the writes that the trace gives it. */
static bool is_confirmed(const struct whole *w, uint32_t step)
{
	const struct step *s = &w->step[step];
	uint64_t read, written;

	for (uint32_t k = 0; k < s->locs; k++) {
		uint32_t source = w->source[s->source + k];

		if (s->kind != STEP_READ || !whole_value(w, step, s->object + k, &read))
			return false;
		if (source != NO_STEP && (!whole_value(w, source, s->object + k, &written) || read != written))
			return false;
	}
	return true;
}

/* The reads that would be wrong if their order had been made up, from the first to the last. */
static struct promise promise_of(const struct findings *f, const struct whole *w, const struct prediction *p)
{
	struct promise promise = {.from = UINT64_MAX, .to = 0};

	for (uint32_t n = 0; f->recorded && n < p->steps; n++) {
		const struct step *s = &w->step[p->step[n]];
		uint64_t seq = s->event + (uint64_t)1;

		if (!step_is_access(s) || !step_reads(s) || is_confirmed(w, p->step[n]))
			continue;
		promise.from = seq < promise.from ? seq : promise.from;
		promise.to = seq > promise.to ? seq : promise.to;
	}
	return promise;
}

void justify(struct findings *f, const struct whole *w, const struct prediction *p)
{
	struct link path[2];
	struct finding report = candidate_finding(w, p->candidate, p->instance, path);
	struct evidence evidence = {.check = "predict", .kind = kinds[p->tier], .seq = path[1].to.seq,
		.promise = promise_of(f, w, p)};

	report.verdict = p->tier == TIER_C ? VERDICT_SUSPECTED : VERDICT_PREDICTED;
	findings_add(f, &report, evidence);
}
