/* SPDX-License-Identifier: MIT */
#include "justify.h"

#include "finding/finding.h"
#include "finding/moment.h"
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

/* ---- The rows of the picture. ---- */

struct scene {
	const struct whole *w;
	const struct instance *of;
	const struct link *path;
	struct moment row[MOMENTS_MOST];
	size_t count;
	bool full; /* there are more than fit, or something that has more than one row */
};

static bool is_mark(const struct scene *k, uint32_t step)
{
	return step == k->of->first || step == k->of->culprit || step == k->of->second;
}

static struct moment row_of(const struct scene *k, uint32_t step)
{
	const struct step *s = &k->w->step[step];
	struct moment m = {.access = step_access(k->w, step)};

	if (step == k->of->first)
		m = (struct moment){.access = k->path[0].from, .role = ROLE_FIRST};
	else if (step == k->of->culprit)
		m = (struct moment){.access = k->path[0].to, .role = ROLE_CULPRIT};
	else if (step == k->of->second)
		m = (struct moment){.access = k->path[1].to, .role = ROLE_SECOND};
	else if (step_is_access(s))
		m.access.object = k->path[0].from.object;
	if (s->kind == STEP_ACQUIRE && s->mate != NO_STEP)
		m.until = k->w->event[k->w->step[s->mate].event].seq;
	return m;
}

/* Whether the step is to be seen: what the path has, its location, and locks. */
static bool is_shown(const struct scene *k, uint32_t step)
{
	const struct step *s = &k->w->step[step];

	return is_mark(k, step) || step_touches(s, k->of->loc) || s->kind == STEP_ACQUIRE || s->kind == STEP_RELEASE;
}

/* Where the outermost section around a step begins (`ends`: which of them ends last, where). */
static uint32_t bounds(const struct whole *w, uint32_t step, bool ends)
{
	uint32_t at = w->step[step].at;

	for (uint32_t h = w->step[step].held; h; h = w->holding[h].next) {
		const struct step *acquire = &w->step[w->holding[h].acquire];

		if (!ends && acquire->at < at)
			at = acquire->at;
		if (ends && acquire->mate != NO_STEP && w->step[acquire->mate].at > at)
			at = w->step[acquire->mate].at;
	}
	return at;
}

/* One thread, from the sections around its first step to those around its last. */
static void add_thread(struct scene *k, uint32_t first, uint32_t last)
{
	struct slice all = whole_thread_steps(k->w, k->w->step[first].thread);
	uint32_t skipped = 0, end = bounds(k->w, last, true);

	for (uint32_t i = bounds(k->w, first, false); i <= end && !k->full; i++) {
		const struct step *s = &k->w->step[all.at[i]];

		k->full = s->waits || k->count == MOMENTS_MOST;
		if (k->full || !is_shown(k, all.at[i])) {
			skipped++;
			continue;
		}
		k->row[k->count] = row_of(k, all.at[i]);
		k->row[k->count++].skipped = skipped;
		skipped = 0;
	}
}

static void surround(struct findings *f, size_t number, const struct whole *w, const struct instance *i)
{
	const struct finding *of = &f->at[number];
	struct scene k = {.w = w, .of = i, .path = of->path};

	add_thread(&k, i->first, i->second);
	add_thread(&k, i->culprit, i->culprit);
	if (k.full)
		return;
	moments_order(k.row, k.count, of);
	findings_surround(f, number, k.row, k.count);
}

/* The lock that the block gives back between its two accesses, and that e2 holds; 0 if there is none. */
static sync_id lock_of(const struct whole *w, const struct instance *i)
{
	for (uint32_t h = w->step[i->first].held; h; h = w->holding[h].next) {
		const struct step *acquire = &w->step[w->holding[h].acquire];

		if (acquire->mate == NO_STEP || w->step[acquire->mate].at > w->step[i->second].at)
			continue;
		for (uint32_t k = w->step[i->culprit].held; k; k = w->holding[k].next)
			if (w->step[w->holding[k].acquire].object == acquire->object)
				return acquire->object;
	}
	return 0;
}

void justify(struct findings *f, const struct whole *w, const struct prediction *p)
{
	struct link path[2];
	struct finding report = candidate_finding(w, p->candidate, p->instance, path);
	struct evidence evidence = {.check = "predict", .kind = kinds[p->tier], .seq = path[1].to.seq,
		.promise = promise_of(f, w, p)};
	size_t fresh = f->fresh_count;

	report.lock = lock_of(w, p->instance);
	report.verdict = p->tier == TIER_C ? VERDICT_SUSPECTED : VERDICT_PREDICTED;
	findings_add(f, &report, evidence);
	if (f->fresh_count > fresh)
		surround(f, f->fresh[fresh], w, p->instance);
}
