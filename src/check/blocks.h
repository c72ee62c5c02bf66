/* SPDX-License-Identifier: MIT */
/*
 * What the files of `blocks` share: the check's state, and how it reports. blocks.c is the check itself; blocks_past.c
 * makes 1v-blocks, blocks_spans.c keeps and compares them; blocks_shapes.c is what transactions look like from outside,
 * blocks_pairs.c 2v-blocks, blocks_cycles.c cycles of three and more transactions.
 */
#ifndef FISSION_CHECK_BLOCKS_H
#define FISSION_CHECK_BLOCKS_H

#include "check/check.h"
#include "state/guards.h"
#include "state/last.h"
#include "state/period_sets.h"

struct pasts;
struct shapes;
struct spans;

/* What is on beyond 1v-blocks, and which analyses are left out: naming a step of the ladder leaves out those above. */
enum blocks_refinement {
	BLOCKS_2V = 1,
	BLOCKS_ALL = 2,
	BLOCKS_NO_ESCAPE = 4,
	BLOCKS_NO_PERIODS = 8,
};

struct blocks {
	struct run *run;
	struct arena *arena;
	unsigned on; /* enum blocks_refinement */
	struct guards guards;
	struct period_sets sets;
	struct pasts *pasts;
	struct spans *spans;
	struct shapes *shapes; /* NULL: neither pairs nor cycles are looked for */
};

/* An access with what is held at it. */
struct end {
	struct mark at; /* at.at is 0: none */
	guard_id held;
	period_id period;
};

/* The finding's word for who is blamed: the code, or the place of a block that has no name. */
static inline uint64_t blocks_blame(const struct block *b)
{
	return b->code ? (uint64_t)b->code << 1 : (uint64_t)b->site << 1 | 1;
}

/* The period of a line's events, or its thread where periods are not looked at. */
static inline period_id blocks_period(struct blocks *b, const struct event *e)
{
	return b->on & BLOCKS_NO_PERIODS ? e->thread : period_now(&b->run->periods, e->line);
}

/* A read-modify-write reads and writes. */
static inline bool blocks_reads(uint8_t kind)
{
	return event_is_read(kind) || kind == EVENT_ATOMIC_RMW;
}

/* One operation of a finding. */
struct blocks_access {
	struct mark mark;
	uint64_t x;
};

/*
 * Reports the block: at[0] and at[1] are the first link, at[2] and at[3] the second, and so on; at[0] and the last one
 * are the block's own.
 */
void blocks_report(
	struct blocks *b, struct block block, const char *kind, const struct blocks_access *at, size_t links);

#endif
