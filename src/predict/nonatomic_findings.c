/* SPDX-License-Identifier: MIT */
#include "nonatomic_findings.h"

#include "base/arena.h"
#include "finding/finding.h"
#include "predict/nonatomic.h"
#include "predict/nonatomic_run.h"
#include "predict/whole.h"

const char nonatomic_name[] = "nonatomic";

enum { PARTNERS_MOST = 8, NONE = UINT32_MAX };

/* An activation of a function, or a declared block. */
struct activity {
	struct nonatomic_span span;
	code_id code;
	bool declared;
	uint32_t around; /* the one that was open in the thread when it began, of its own sort; NONE */
};

struct judging {
	struct findings *f;
	const struct whole *w;
	struct arena *arena; /* for one finding */
	struct nonatomic_run run;
	struct activity *activity; /* as they begin */
	size_t activities, capacity;
	uint64_t budget;
	struct nonatomic_told told;
};

/* Activities. */

/* What is open in a thread. */
struct open {
	uint32_t function, block; /* the youngest; NONE */
};

static void activity_begin(struct judging *j, struct arena *a, const struct event *e, uint32_t *youngest)
{
	j->activity = arena_reserve(a, j->activity, &j->capacity, j->activities, sizeof *j->activity);
	j->activity[j->activities] = (struct activity){
		.span = {e->thread, e->seq, j->w->count},
		.code = (code_id)e->object,
		.declared = e->kind == EVENT_BEGIN,
		.around = *youngest,
	};
	*youngest = (uint32_t)j->activities++;
}

static void activity_end(struct judging *j, const struct event *e, uint32_t *youngest)
{
	if (*youngest == NONE)
		return;
	j->activity[*youngest].span.to = e->seq;
	*youngest = j->activity[*youngest].around;
}

static void activities_find(struct judging *j, struct arena *a)
{
	struct open *open = arena_alloc(a, ((size_t)j->w->threads + 1) * sizeof *open);

	for (uint32_t t = 0; t < j->w->threads; t++)
		open[t] = (struct open){NONE, NONE};
	for (size_t i = 0; i < j->w->count; i++) {
		const struct event *e = &j->w->event[i];
		struct open *o = &open[j->w->thread_of[e->thread]];

		switch (e->kind) {
		case EVENT_ENTER: activity_begin(j, a, e, &o->function); break;
		case EVENT_BEGIN: activity_begin(j, a, e, &o->block); break;
		case EVENT_EXIT: activity_end(j, e, &o->function); break;
		case EVENT_END: activity_end(j, e, &o->block); break;
		default: break;
		}
	}
}

/* The one that begins with the event, or NULL. */
static const struct activity *activity_at(const struct judging *j, uint64_t seq)
{
	size_t low = 0, high = j->activities;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (j->activity[middle].span.from < seq)
			low = middle + 1;
		else
			high = middle;
	}
	return low < j->activities && j->activity[low].span.from == seq ? &j->activity[low] : NULL;
}

/* Blocks. */

static bool cuts(const struct event *e)
{
	return e->kind == EVENT_FORK || e->kind == EVENT_JOIN || e->kind == EVENT_BARRIER || e->kind == EVENT_WAIT;
}

/* A block that nobody has declared holds nothing across a cut: the part of it that holds the event `seq`. */
static struct nonatomic_span part_with(const struct judging *j, struct nonatomic_span s, uint64_t seq)
{
	for (uint64_t i = s.from; i <= s.to && i <= j->w->count; i++) {
		const struct event *e = &j->w->event[i - 1];

		if (e->thread != s.thread || !cuts(e))
			continue;
		if (i < seq)
			s.from = i + 1;
		else
			s.to = i - 1;
	}
	return s;
}

/* The block of a finding: an activity, or the span of a lock. False if the trace does not have it. */
static bool block_of(const struct judging *j, const struct finding *f, struct nonatomic_span *to)
{
	const struct activity *a = activity_at(j, f->block.seq);
	const struct step *s, *release;

	if (a) {
		*to = a->declared ? a->span : part_with(j, a->span, f->path[0].from.seq);
		return true;
	}
	if (!f->block.seq || f->block.seq > j->w->count || j->w->step_of[f->block.seq - 1] == NO_STEP)
		return false;
	s = &j->w->step[j->w->step_of[f->block.seq - 1]];
	release = s->kind == STEP_ACQUIRE && s->mate != NO_STEP ? &j->w->step[s->mate] : NULL;
	*to = (struct nonatomic_span){f->block.thread, f->block.seq, release ? release->event + 1 : j->w->count};
	*to = part_with(j, *to, f->path[0].from.seq);
	return s->kind == STEP_ACQUIRE;
}

/* How well an activity would do as a partner; 0 is not at all. */
static unsigned suits(const struct activity *a, const struct finding *f, const struct nonatomic_span *window)
{
	if (f->block.code && a->code == f->block.code)
		return 3;
	if (a->declared)
		return 2;
	return a->span.from > window->from && a->span.to < window->to;
}

/* The block of another thread that an operation of the path is in; of equally good ones the outermost. */
static const struct activity *partner_of(const struct judging *j, const struct finding *f, const struct access *at,
	const struct nonatomic_span *window)
{
	const struct activity *best = NULL;

	for (const struct activity *a = j->activity; a < j->activity + j->activities && a->span.from <= at->seq; a++) {
		if (a->span.thread != at->thread || a->span.to < at->seq || at->thread == f->block.thread)
			continue;
		if (suits(a, f, window) > (best ? suits(best, f, window) : 0))
			best = a;
	}
	return best;
}

/* The partners of the finding's block, behind it in `span`. Returns how many spans there are. */
static size_t partners_add(const struct judging *j, const struct finding *f, struct nonatomic_span *span)
{
	size_t count = 1;

	for (size_t i = 0; i < f->links && count < PARTNERS_MOST; i++) {
		const struct activity *a = partner_of(j, f, &f->path[i].to, &span[0]);

		if (a)
			span[count++] = a->declared ? a->span : part_with(j, a->span, f->path[i].to.seq);
	}
	return count;
}

/* Judging. */

static struct nonatomic_answer judge(const struct judging *j, const struct nonatomic_span *span, size_t count)
{
	return nonatomic_run_judge(&j->run, j->arena, &(struct nonatomic_blocks){span, count, j->budget});
}

/* How strong an answer is; "not decided" claims nothing. */
static int strength(const struct nonatomic_answer *a)
{
	return a->kind == NONATOMIC_UNDECIDED ? -1 : (int)a->kind;
}

static struct nonatomic_answer judge_with_partners(const struct judging *j, const struct finding *f,
	struct nonatomic_span *span)
{
	struct nonatomic_answer alone = judge(j, span, 1), together, others;
	size_t count = alone.kind == NONATOMIC_VALUE ? 1 : partners_add(j, f, span);

	if (count == 1)
		return alone;
	together = judge(j, span, count);
	if (strength(&together) <= strength(&alone))
		return alone;
	others = judge(j, span + 1, count - 1);
	return others.kind < together.kind ? together : alone;
}

/* The event that shows it best: the last of the witness, or where the window closes. */
static uint64_t shown_at(const struct judging *j, const struct finding *f, const struct nonatomic_answer *a)
{
	uint64_t last = 0;

	for (size_t i = 0; i < a->witnesses; i++)
		if (nonatomic_run_event(&j->run, a->witness[i]) > last)
			last = nonatomic_run_event(&j->run, a->witness[i]);
	return last ? last : f->path[f->links - 1].to.seq;
}

static void judge_finding(struct judging *j, size_t i)
{
	const struct finding *f = &j->f->at[i];
	struct nonatomic_span span[PARTNERS_MOST + 1];
	struct nonatomic_answer a;

	if (!finding_happened(f) || !block_of(j, f, &span[0]))
		return;
	a = judge_with_partners(j, f, span);
	j->told.judged++;
	j->told.undecided += a.kind == NONATOMIC_UNDECIDED;
	j->told.fast += a.kind >= NONATOMIC_FINAL && a.kind <= NONATOMIC_VALUE && a.how <= NONATOMIC_RWW_FINAL;
	j->told.unexplained = a.unexplained;
	if (a.kind != NONATOMIC_ATOMIC && a.kind != NONATOMIC_UNDECIDED)
		findings_testify(j->f, i, (struct evidence){
			.check = nonatomic_name, .kind = nonatomic_kind_text[a.kind], .seq = shown_at(j, f, &a)});
}

struct nonatomic_told nonatomic_findings(struct findings *f, const struct whole *w, uint64_t budget)
{
	struct judging j = {.f = f, .w = w, .budget = budget};
	struct arena arena, one;

	arena_init(&arena);
	nonatomic_run_make(&j.run, &arena, w);
	j.told.valued = j.run.valued;
	activities_find(&j, &arena);
	for (size_t i = 0; i < f->count && j.run.valued; i++) {
		arena_init(&one);
		j.arena = &one;
		judge_finding(&j, i);
		arena_free(&one);
	}
	arena_free(&arena);
	return j.told;
}
