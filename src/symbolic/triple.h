/* SPDX-License-Identifier: MIT */
/*
 * Candidates from code that did not run: triples s1, s2, s3 of accesses to one variable, of which s1 and s3 are one
 * thread's and s2 another's, that no serial order explains, and of which one or two would happen only if one branch
 * went the other way. Never two branches.
 *
 *   before   s1 was seen before the branch, s3 is in the region
 *   after    s1 is in the region, s3 was seen after the join; never on the side that was taken
 *   inside   both are in the region, on one way
 *   remote   s2 is in the region
 *   window   both were seen, and one acquisition of a lock spans them; but the region gives that lock back in between
 *
 * A candidate climbs the rungs one after the other; the rungs are what keeps them few. HAVE calls for them; which ones
 * pay, on C, was measured (docs/speculate.md).
 *
 * A pair is one step, and no candidate, if one acquisition of a lock spans it and s2 holds that lock. Only fork and
 * join order s2 for good.
 */
#ifndef FISSION_SYMBOLIC_TRIPLE_H
#define FISSION_SYMBOLIC_TRIPLE_H

#include "symbolic/flow.h"
#include "symbolic/follow.h"
#include "symbolic/region.h"

enum triple_kind { TRIPLE_BEFORE, TRIPLE_AFTER, TRIPLE_INSIDE, TRIPLE_REMOTE, TRIPLE_WINDOW, TRIPLE_KINDS };

extern const char *const triple_kind_text[TRIPLE_KINDS];

/* What it has passed; the last one is what is told. */
enum rung {
	RUNG_KNOWN,     /* no region that ends in an abort; the address is known */
	RUNG_WHOLE,     /* one end can follow the other, and nothing between cuts: no wait, fork, join, input or output */
	RUNG_GUARDED,   /* most accesses hold one lock, and so do s2 and one of the ends */
	RUNG_MEANT,     /* not both ends add a constant */
	RUNG_STALE,     /* s1 reads a value that outlives its section, or is written first */
	RUNGS
};

extern const char *const rung_text[RUNGS];

/* Best first. */
enum triple_class { CLASS_NONE, CLASS_DECIDES, CLASS_OUTLIVES, CLASS_WINDOW, CLASS_WRITTEN, CLASSES };

extern const char *const triple_class_text[CLASSES];

struct touch {
	struct place place;
	uint64_t key;
	uint32_t activation, hold, cut, clock;
	uint32_t node;  /* in the region; 0: it was seen */
	uint16_t thread;
	bool write;
};

struct triple {
	struct region *region;
	enum triple_kind kind;
	enum rung rung;         /* the last one that it has passed */
	enum triple_class class;
	struct held_lock guard; /* of the variable; address 0: it has none */
	struct touch first, culprit, second;
	size_t more;            /* others of its group */
	uint32_t defect;        /* the same for all of one function and one member of a structure */
	bool told;              /* it stands for its group */
};

struct triples {
	struct follow *follow;
	struct flows flows;
	struct triple *at;
	size_t count, room;
	struct map known;  /* the branch and the three places: index + 1 */
	struct map groups; /* (edge, member): index + 1 of the best */
	struct map defects; /* (function, member): its number */
	uint32_t defect_count;
	uint64_t rungs[RUNGS]; /* how many have passed each */
};

void triples_init(struct triples *ts, struct follow *f);

/* All candidates of one region, after the whole walk was followed. */
void triples_of(struct triples *ts, struct region *r);

/* After the last region: groups, counts, and the best first. */
void triples_finish(struct triples *ts);

/* The pointer that an access goes through. */
LLVMValueRef triple_pointer(const struct follow *f, struct place p);

#endif
