/* SPDX-License-Identifier: MIT */
/*
 * The order of the means: no cycle; the fast conditions; a little saturation; a short search, which finds a serial
 * order if there are many; as much saturation as it takes; and a long search, within what saturation has left. First
 * for the values, then with the final state.
 */
#include "nonatomic.h"

#include "base/arena.h"
#include "predict/nonatomic_fast.h"
#include "predict/nonatomic_history.h"
#include "predict/nonatomic_reach.h"
#include "predict/nonatomic_saturate.h"
#include "predict/nonatomic_search.h"

enum { SHORT = 2000, SATURATION = 16 /* its steps are that much cheaper */ };

const char *const nonatomic_kind_text[NONATOMIC_KINDS] = {
	[NONATOMIC_ATOMIC] = "atomic", [NONATOMIC_CYCLE] = "cycle", [NONATOMIC_FINAL] = "final",
	[NONATOMIC_VALUE] = "value", [NONATOMIC_UNDECIDED] = "not decided",
};

const char *const nonatomic_how_text[NONATOMIC_HOWS] = {
	[NONATOMIC_NO_CYCLE] = "no cycle", [NONATOMIC_LOCAL] = "L", [NONATOMIC_WRW] = "WRW",
	[NONATOMIC_RWW_EACH] = "RWW, each", [NONATOMIC_RWW_LATER] = "RWW, later", [NONATOMIC_RWW_FINAL] = "RWW, final",
	[NONATOMIC_SATURATION] = "saturation", [NONATOMIC_SEARCH] = "search",
	[NONATOMIC_BUDGET_OUT] = "out of budget", [NONATOMIC_TOO_LARGE] = "too large",
};

enum explained { EXPLAINED, UNEXPLAINED, OPEN };

/* One of the two questions about a history: by value, or with the final state. */
struct inquiry {
	const struct history *h;
	struct reach *r;
	bool final;
	uint64_t budget;
	enum explained end;
	enum nonatomic_how how;
	const uint32_t *op; /* that show it */
	size_t ops;
	struct search_result found; /* EXPLAINED */
};

static enum explained conclude(struct inquiry *i, enum explained end, enum nonatomic_how how)
{
	i->end = end;
	i->how = how;
	return end;
}

static const uint32_t *copy(const struct inquiry *i, const uint32_t *op, size_t n)
{
	uint32_t *to = arena_alloc(i->h->arena, (n + 1) * sizeof *to);

	for (size_t k = 0; k < n; k++)
		to[k] = op[k];
	return to;
}

static enum explained ask_search(struct inquiry *i, uint64_t budget)
{
	struct search_result s = search_serial(i->r, i->final, budget);

	if (s.end == SEARCH_OPEN)
		return conclude(i, OPEN, NONATOMIC_BUDGET_OUT);
	i->found = s;
	i->op = s.stuck;
	i->ops = s.stucks;
	return conclude(i, s.end == SEARCH_FOUND ? EXPLAINED : UNEXPLAINED, NONATOMIC_SEARCH);
}

static enum explained ask_saturation(struct inquiry *i, uint64_t budget)
{
	uint32_t op = 0;

	if (saturate(i->r, i->final, budget, &op))
		return OPEN;
	i->op = copy(i, &op, 1);
	i->ops = 1;
	return conclude(i, UNEXPLAINED, NONATOMIC_SATURATION);
}

static enum explained ask(struct inquiry *i)
{
	uint64_t few = SHORT + 4 * (uint64_t)i->h->q->blocks;
	uint64_t little = few < i->budget ? few : i->budget;
	struct fast fast;

	if (fast_finds(i->h, i->final, i->budget, &fast)) {
		i->op = copy(i, fast.op, fast.ops);
		i->ops = fast.ops;
		return conclude(i, UNEXPLAINED, fast.how);
	}
	if (!reach_fits(i->h))
		return conclude(i, OPEN, NONATOMIC_TOO_LARGE);
	if (!i->r->h && !reach_make(i->r, i->h))
		return conclude(i, UNEXPLAINED, NONATOMIC_SATURATION);
	if (ask_saturation(i, SATURATION * SHORT) != OPEN || ask_search(i, little) != OPEN ||
		ask_saturation(i, SATURATION * i->budget) != OPEN)
		return i->end;
	return ask_search(i, i->budget);
}

/* Accesses as the answer has them: indices of the question. */
static void answer_show(struct nonatomic_answer *a, const struct inquiry *i)
{
	size_t *witness = arena_alloc(i->h->arena, (i->ops + 1) * sizeof *witness);

	for (size_t k = 0; k < i->ops; k++)
		witness[k] = i->op[k];
	a->witness = witness;
	a->witnesses = i->ops;
	a->how = i->how;
}

static struct nonatomic_answer answer(const struct inquiry *value, const struct inquiry *final)
{
	struct nonatomic_answer a = {
		.kind = NONATOMIC_UNDECIDED, .how = final->how, .unexplained = value->h->unexplained};

	if (value->end == UNEXPLAINED) {
		a.kind = NONATOMIC_VALUE;
		answer_show(&a, value);
	} else if (final->end == UNEXPLAINED) {
		a.kind = NONATOMIC_FINAL;
		a.open = value->end == OPEN;
		a.serial = value->found.serial;
		answer_show(&a, final);
	} else if (final->end == EXPLAINED) {
		a.kind = NONATOMIC_CYCLE;
		a.serial = final->found.serial;
	}
	return a;
}

struct nonatomic_answer nonatomic_judge(struct arena *arena, const struct nonatomic_question *q)
{
	uint64_t budget = q->budget ? q->budget : NONATOMIC_BUDGET;
	struct history h;
	struct reach r = {0};
	struct inquiry value = {.h = &h, .r = &r, .budget = budget}, final = value;

	history_make(&h, arena, q);
	if (!h.cyclic)
		return (struct nonatomic_answer){.unexplained = h.unexplained};
	ask(&value);
	if (value.end == EXPLAINED && value.found.leaves_final) {
		final = value;
	} else if (value.end != UNEXPLAINED) {
		final.final = true;
		ask(&final);
	}
	return answer(&value, &final);
}
