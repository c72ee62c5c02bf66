/* SPDX-License-Identifier: MIT */
/*
 * The critical sections that each line is in, and questions about those that are over, answered from the diaries: which
 * data conflicts are behind a window between two sections of one thread, whether a section would have come to its
 * end elsewhere in the run, and whether a thread's stretch owes anything to others.
 *
 * A *leaf* is a lock inside whose sections nobody has taken another lock, waited for anybody or used an atomic: its
 * holder learns nothing inside and always gets out, wherever the section is put. One byte a lock, set once.
 *
 * An object number of a variable means something else once its memory was divided or given out anew. Each such change
 * has a number; a variable that changed after a stretch began is not compared.
 *
 * Cost: linear in the locks held, which are few; an answer, linear in the notes, DIARY_MOST a line at most.
 */
#ifndef FISSION_CHECK_SECTION_H
#define FISSION_CHECK_SECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/seg.h"
#include "state/diary.h"
#include "state/last.h"

struct run;

/* The sections that a line is in, the outermost first: what state/held.h has, without the sets. */
struct section_list {
	struct section {
		uint64_t lock;
		struct mark acquire;
	} *at;
	size_t count, capacity;
};

struct sections {
	struct run *run;
	struct seg open;        /* struct section_list by line */
	struct seg busy;        /* bool by lock: no leaf */
	struct seg changed;     /* uint32_t by variable: its last change */
	uint32_t changes;       /* so many so far */
	struct section_use *use; /* scratch: what a stretch did, by object */
	uint32_t round;          /* entries of `use` with another one are free */
};

/* Of one line: the notes that are not before `from` and, unless there are none, before `to`. */
struct stretch {
	uint32_t line;
	uint64_t from, to;
};

/* `first`, then `in` and later `out` of another thread, then `second`: in this order they cannot be one step. */
struct witness {
	struct note first, in, out, second;
};

void sections_init(struct sections *s, struct run *run);

/* Those of a line. The address stays good. */
static inline struct section_list *sections_of(struct sections *s, uint32_t line)
{
	return seg_at(&s->open, line, sizeof(struct section_list));
}

/* Slow path of section_enter: there are others around it, or there was never one. */
__attribute__((noinline)) void section_enter_slowly(struct sections *s, uint32_t line);

/* One side of a lock is taken, by an acquire of that mark; `l` is the line's. */
static inline void section_enter(struct sections *s, struct section_list *l, uint64_t lock, const struct mark *acquire)
{
	if (__builtin_expect(l->count || !l->capacity, 0))
		section_enter_slowly(s, mark_line(acquire));
	l->at[l->count].lock = lock;
	l->at[l->count++].acquire = *acquire;
}

/* Slow path of section_leave: it is not the last. */
__attribute__((noinline)) struct mark section_leave_slowly(struct section_list *l, uint64_t lock);

/* It is given back. Returns the acquire, none if there was none. */
static inline struct mark section_leave(struct section_list *l, uint64_t lock)
{
	if (__builtin_expect(l->count && l->at[l->count - 1].lock == lock, 1))
		return l->at[--l->count].acquire;
	return section_leave_slowly(l, lock);
}

/* The line does something inside of whatever it holds that keeps these locks from being leaves. */
void sections_busy(struct sections *s, uint32_t line);

/* Variable x is no longer what it was. */
void sections_change(struct sections *s, uint64_t x);

static inline bool section_is_leaf(struct sections *s, uint64_t lock)
{
	return !*(bool *)seg_at(&s->busy, lock, sizeof(bool));
}

/* The section of the lock that the line entered at `from`: up to where it gave the lock back, if it has. */
struct stretch section_of(struct sections *s, uint32_t line, uint64_t lock, uint64_t from);

/* The windows's three parts, and how many changes there were when the first of them began. */
struct section_window {
	struct stretch first, culprit, second;
	uint32_t changes;
};

/* Looks for conflicting data, one variable before two, and what cannot be told from a serial run last. */
bool section_witness(struct sections *s, const struct section_window *w, struct witness *found);

/*
 * Whether the section, had it started elsewhere, would have come to its end: it waits for nobody, and takes no
 * locks but leaves. `*nested` says whether it takes any.
 */
bool section_returns(struct sections *s, struct stretch section, bool *nested);

/*
 * Whether the stretch would have gone as it did without anything that other lines have done since `since`: it has read
 * nothing that was written, and followed nobody.
 */
bool section_stands_alone(struct sections *s, struct stretch stretch, uint64_t since, uint32_t changes);

#endif
