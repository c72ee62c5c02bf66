/* SPDX-License-Identifier: MIT */
/*
 * Is a run with values atomic? Papers 002 (section III) and 004 (section 2).
 *
 * A run is cut into blocks; what is in no block is a block of its own. A *serial order* runs one block after the other,
 * those of a thread in their order, and keeps what fork and join order. It *explains* the run if every read returns
 * what the last write before it wrote. Three answers, each weaker than the one before:
 *
 *   value  no serial order explains what the reads returned;
 *   final  some do, but none of them leaves memory as the run has left it: lost updates often are of this kind;
 *   cycle  there is a cycle of conflicts between blocks, but a serial order explains the values and what was left.
 *
 * A run without such a cycle is *atomic*; the first two are never said of it. "Not decided" is an answer of its own.
 *
 * What 002 proposes as fast conditions (Figure 5) is right for two of four patterns only; nonatomic_fast.h has what
 * replaces them. What they do not decide goes to a search for a serial order and to what must come before what.
 *
 * What is not known stays open: an access without a value explains and is explained by anything, and so does memory
 * whose first value is not known, as long as it is one value. If a run's own order does not explain what was read from
 * a variable, somebody wrote to it whom nobody saw: then nothing is taken from that variable's values.
 */
#ifndef FISSION_PREDICT_NONATOMIC_H
#define FISSION_PREDICT_NONATOMIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* One access. An access that reads and writes is two, in one block. */
struct nonatomic_op {
	uint32_t block, variable; /* each from 0 */
	bool writes;
	bool known;  /* `value` is what it read or wrote */
	bool in_run; /* not known, but a read of what was there in the run: where the order of the run is sure */
	uint64_t value;
};

/* A block that comes before another in every serial order: by fork and join. */
struct nonatomic_order {
	uint32_t before, after;
};

struct nonatomic_value {
	bool known;
	uint64_t value;
};

struct nonatomic_question {
	const struct nonatomic_op *op; /* in the order of the run; a thread's block has no other of its blocks inside */
	size_t ops;
	uint32_t threads, blocks, variables;   /* how many there are */
	const uint32_t *thread_of; /* by block; blocks are numbered as they begin, and may be without accesses */
	const struct nonatomic_order *order;
	size_t orders;
	const struct nonatomic_value *initial; /* by variable; NULL: what the run itself tells */
	uint64_t budget; /* steps of the search, each about a block; 0: NONATOMIC_BUDGET */
};

enum { NONATOMIC_BUDGET = 1000000 };

enum nonatomic_kind {
	NONATOMIC_ATOMIC,
	NONATOMIC_CYCLE,
	NONATOMIC_FINAL,
	NONATOMIC_VALUE,
	NONATOMIC_UNDECIDED,
	NONATOMIC_KINDS
};

/* "atomic", "cycle", "final", "value", "not decided" */
extern const char *const nonatomic_kind_text[NONATOMIC_KINDS];

/* By what it was decided. Those up to NONATOMIC_RWW_FINAL are the fast conditions. */
enum nonatomic_how {
	NONATOMIC_NO_CYCLE,
	NONATOMIC_LOCAL,      /* L: a read, right after an access of its own block to another value */
	NONATOMIC_WRW,        /* a read of what no block leaves behind */
	NONATOMIC_RWW_EACH,   /* two blocks, each of which would have to come before the other */
	NONATOMIC_RWW_LATER,  /* a later block of the culprit's thread, too, reads what cannot be there */
	NONATOMIC_RWW_FINAL,  /* the culprit's value would be the one that is left */
	NONATOMIC_SATURATION, /* what must come before what, and that contradicts itself */
	NONATOMIC_SEARCH,     /* all serial orders, or one that explains the run */
	NONATOMIC_BUDGET_OUT,
	NONATOMIC_TOO_LARGE,
	NONATOMIC_HOWS
};

extern const char *const nonatomic_how_text[NONATOMIC_HOWS];

struct nonatomic_answer {
	enum nonatomic_kind kind;
	enum nonatomic_how how;
	bool open; /* of `final`: whether it is `value` was not decided */
	/*
	 * Accesses that show it, by their index: what no serial order explains, with what the condition rests on before
	 * it. After a search, the reads at which the longest serial order has got stuck.
	 */
	const size_t *witness;
	size_t witnesses;
	/* Of `cycle`: blocks in a serial order that explains the run; of `final`: its values only. NULL: none is known. */
	const uint32_t *serial;
	uint32_t unexplained; /* variables that were written to by nobody in the run: see above */
};

/* The answer lives in the arena. */
struct nonatomic_answer nonatomic_judge(struct arena *a, const struct nonatomic_question *q);

#endif
