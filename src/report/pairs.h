/* SPDX-License-Identifier: MIT */
/*
 * Which operations of a library are atomic with each other: a matrix, as a value, and the forms in which it is shown.
 *
 * A row is an operation that was split, a column the one that came between. So the pair of two operations has two
 * cells, one on each side of the diagonal. A deadlock, a crash or a hang is nobody's fault alone, and in both.
 *
 * Everything is text, and lives in the arena of whoever made it. Names are what the program gave: each form makes them
 * harmless in its own way.
 */
#ifndef FISSION_REPORT_PAIRS_H
#define FISSION_REPORT_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"

struct look;
struct str;

struct pairs_operation {
	struct text name;
	bool other; /* it takes a second object */
};

/* What is known of a cell. */
enum {
	PAIRS_TRIED = 1,
	PAIRS_SPLIT = 2,    /* it happened, and happens again: no serial order of the two explains what was read */
	PAIRS_ACCEPTED = 4, /* all that it was split by is suppressed, or in the baseline */
	PAIRS_DEADLOCK = 8,
	PAIRS_FAILED = 16,  /* a crash or a hang */
};

struct pairs_finding {
	struct text id, variable; /* "fsn-7c1f0a2b"; the variable may be empty */
	unsigned state; /* PAIRS_SPLIT, PAIRS_DEADLOCK or PAIRS_FAILED */
	bool crossed;  /* each operation had an object of its own, and the other's as the second one */
	bool accepted;
};

struct pairs_cell {
	unsigned state;
	struct pairs_finding *finding; /* each id once for the same objects, and once for crossed ones */
	size_t findings;
};

struct pairs {
	struct text program, object;
	struct pairs_operation *operation;
	size_t count;
	struct pairs_cell *cell; /* count * count, by row */
	uint64_t tried;          /* pairs, of count * (count + 1) / 2 */
	uint64_t executions;
};

static inline struct pairs_cell *pairs_at(const struct pairs *p, size_t split, size_t by)
{
	return &p->cell[split * p->count + by];
}

/* How many pairs have a cell with one of the bits; of cells that are not accepted. */
uint64_t pairs_with(const struct pairs *p, unsigned state);

/*
 * Whether a cell is worth a word; the sign of a state: '#' split, 'o' accepted, 'D', '!', '.' nothing, ' ' not tried.
 */
bool pairs_tells(const struct pairs_cell *c);
char pairs_sign(unsigned state);

/* The same in words: "split", "accepted", "deadlock", "crash or hang", "nothing was found", "not tried". */
const char *pairs_word(unsigned state);

/* The sign and the words of a finding are those of a cell that has no other. */
unsigned pairs_state(const struct pairs_finding *f);

/* The forms. Each appends the whole of it. */
void pairs_text(const struct pairs *p, const struct look *look, struct str *to);
void pairs_html(const struct pairs *p, const struct look *look, struct str *to);
void pairs_json(const struct pairs *p, const struct look *look, struct str *to);

#endif
