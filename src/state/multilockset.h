/* SPDX-License-Identifier: MIT */
/*
 * Which variables can be in a data race, by the locks that are held and by the thread periods: the multilockset
 * algorithm (Wang and Stoller, IEEE TSE 2006, section 5.4 and Figure 3), and the simpler ones that the paper compares
 * it to (its Table 2). The answer is about the whole run, and is asked for at its end.
 *
 *   nothing                 von Praun and Gross: a variable belongs to the first thread that touches it, then to the
 *                           second; from the third on (which may be the first again) the locks that are held at each
 *                           access are intersected, and no lock left over is a race, if it is written
 *   MULTILOCKSET_ESCAPE     accesses to what has not escaped do not count. What has escaped belongs to the thread
 *                           that had it, or touches it first; the locks are intersected from the second on (Eraser)
 *   MULTILOCKSET_PERIODS    and only if some write is in a period that can run at the same time as another access's
 *   MULTILOCKSET_SETS       Figure 3: ReadSets, the smallest sets held at reads; WriteSet, the locks held at all writes
 * Each needs those above it. A read is protected by what is held on either side of a lock, a write by exclusive sides.
 *
 * Of ReadThreadSet and WriteThreadSet only those periods are kept that are before no other in the set: a period that
 * comes later in the trace is before none of them, so if it can run at the same time as one that was dropped, it can
 * with the one that took its place. And nothing is kept for a question that is answered for good: that two writes
 * (CONCURRENT_WRITES), or a write and a read (CONCURRENT_READ), can happen at the same time.
 *
 * A variable has lives: its memory may be given out anew, or be divided into parts. A life's answer holds for all
 * accesses while it was the variable's; a life that was divided is what any of its parts turns out to be.
 *
 * ReadSets has at most READ_SETS_MOST sets. One more counts as what it and the last one have in common: that is held at
 * both reads, so a race is never missed for it, but one may be seen where writes hold many locks, one for each reader.
 *
 * Representation: a cache line a variable, a word or two a life; the read sets that a life with more than READ_SETS_FEW
 * has met. Cost: constant where thread, period and locks are those of the variable's last access; otherwise linear in
 * its periods, of which there is at most one a thread, and in its read sets when a set is met for the first time.
 */
#ifndef FISSION_STATE_MULTILOCKSET_H
#define FISSION_STATE_MULTILOCKSET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/seg.h"
#include "state/lockset.h"
#include "state/periods.h"

struct held;

enum { READ_SETS_MOST = 256, READ_SETS_FEW = 8 };

enum { MULTILOCKSET_ESCAPE = 1, MULTILOCKSET_PERIODS = 2, MULTILOCKSET_SETS = 4 };

/* What a life turned out to be. */
enum {
	LIFE_RACY = 1,   /* it can be in a race */
	LIFE_SHARED = 2, /* written, and touched by several threads, in periods that can run at the same time */
};

typedef uint32_t life_id; /* 0 for none */

struct multilockset {
	struct arena *arena;
	struct locksets *locksets;
	struct periods *periods;
	unsigned with;       /* MULTILOCKSET_* */
	struct seg variable; /* struct variable by variable */
	struct seg life;     /* struct life by id */
	life_id lives;
	struct map met;      /* (life, read set) that need not be compared any more */
	uint64_t merged;     /* how many lives can be in a race, perhaps only because they have too many read sets */
	uint64_t variables; /* all that were touched are below this */
};

void multilockset_init(struct multilockset *m, struct arena *a, struct locksets *locksets, struct periods *periods);

/* The life of the variable that an access belongs to, made if need be. */
life_id multilockset_life(struct multilockset *m, uint64_t x);

/*
 * An access to a variable by a thread that holds these locks. Returns its life; 0 for what has not escaped, by
 * EVENT_PRIVATE, where that counts.
 */
life_id multilockset_access(struct multilockset *m, const struct event *e, const struct held *held);

/* Variable y is a part of x, with its past; x begins a new life. */
void multilockset_split(struct multilockset *m, uint64_t x, uint64_t y);
void multilockset_forget(struct multilockset *m, uint64_t x);

/* After the last access. From here on the two below may be asked. */
void multilockset_finish(struct multilockset *m);

unsigned multilockset_class(struct multilockset *m, life_id life); /* LIFE_* */
uint64_t multilockset_variable(struct multilockset *m, life_id life);

#endif
