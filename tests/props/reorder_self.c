/* SPDX-License-Identifier: MIT */
/*
 * The judge of predictions before its own judges: small traces whose answers can be seen by looking at them or stand in
 * a paper, and naive.c on random ones. short_trace.h says how the traces are written.
 */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/opts.h"
#include "check/oracle.h"
#include "event/event.h"
#include "event/tables.h"
#include "legal.h"
#include "naive.h"
#include "random_locks.h"
#include "random_trace.h"
#include "reorder.h"
#include "serial.h"
#include "short_trace.h"

enum question {
	WINDOW,	     /* reorder_confirms(a, x, b) */
	BETWEEN,     /* reorder_confirms_data(a, x, b) */
	DEADLOCK,    /* reorder_deadlocks() */
	COUNT_READS, /* how many maximal reorderings reorder_each() visits */
	COUNT_SYNC,
	SERIAL_VIEW,
	SERIAL_CONFLICT, /* by data */
	SERIAL_LOCKS,	 /* in the full order */
	ATOMIC_VIEW,
	ATOMIC_CONFLICT,
	ATOMIC_LOCKS,
	QUESTIONS
};

static const char *const question_text[QUESTIONS] = {"window", "between", "deadlock", "reorderings with reads",
	"reorderings", "serial by view", "serial by data", "serial by data and locks", "atomic by view",
	"atomic by data", "atomic by data and locks"};

/* SideTrack's figures and 004's, with the rest of the rules around them. */
static const struct example {
	const char *name, *trace;
	enum question question;
	int expected;
	uint64_t a, x, b;
} examples[] = {
	{"SideTrack, Figure 1: the culprit came after",
		"1 begin; 1 acq m; 1 rel m; 1 acq m; 1 rel m; 1 end; 2 acq m; 2 rel m", WINDOW, REORDER_YES, 2, 7, 4},
	{"SideTrack, Figure 2: it was within", "1 begin; 1 acq m; 1 rel m; 2 acq m; 2 rel m; 1 acq m; 1 rel m; 1 end",
		WINDOW, REORDER_YES, 2, 4, 6},
	{"SideTrack, Figure 4: the second section forks it",
		"1 begin; 1 acq m; 1 rel m; 1 acq m; 1 fork 2; 1 rel m; 1 end; 2 acq m; 2 rel m", WINDOW, REORDER_NO, 2,
		8, 4},
	{"the first section forks it", "1 begin; 1 acq m; 1 fork 2; 1 rel m; 1 acq m; 1 rel m; 1 end; 2 acq m; 2 rel m",
		WINDOW, REORDER_YES, 2, 8, 5},
	{"SideTrack, Figure 5: b is read under n first",
		"1 begin; 1 acq m; 1 rel m; 1 acq m; 1 rel m; 1 end; 1 acq n; 1 w b; 1 rel n;"
		"2 acq n; 2 r b; 2 rel n; 2 acq m; 2 rel m",
		WINDOW, REORDER_NO, 2, 13, 4},
	{"Figure 5 with another variable",
		"1 begin; 1 acq m; 1 rel m; 1 acq m; 1 rel m; 1 end; 1 acq n; 1 w b; 1 rel n;"
		"2 acq n; 2 r a; 2 rel n; 2 acq m; 2 rel m",
		WINDOW, REORDER_YES, 2, 13, 4},
	{"BEFORE is false: the window needs the culprit's flag",
		"2 acq m; 2 w f; 2 rel m; 1 begin; 1 acq m; 1 r f; 1 rel m; 1 acq m; 1 rel m; 1 end", WINDOW,
		REORDER_NO, 5, 1, 8},
	{"BEFORE is true: it does not",
		"2 acq m; 2 w f; 2 rel m; 1 begin; 1 acq m; 1 r g; 1 rel m; 1 acq m; 1 rel m; 1 end", WINDOW,
		REORDER_YES, 5, 1, 8},
	{"the flag follows the culprit, and is read between the sections",
		"2 acq m; 2 rel m; 2 w f; 1 begin; 1 acq m; 1 rel m; 1 r f; 1 acq m; 1 rel m; 1 end", WINDOW,
		REORDER_YES, 5, 1, 8},
	{"the flag follows the culprit, and is read in the first section",
		"2 acq m; 2 rel m; 2 w f; 1 begin; 1 acq m; 1 r f; 1 rel m; 1 acq m; 1 rel m; 1 end", WINDOW,
		REORDER_NO, 5, 1, 8},
	{"what the culprit reads is free", "1 acq m; 1 rel m; 1 acq m; 1 w x; 1 rel m; 2 acq m; 2 r x; 2 rel m", WINDOW,
		REORDER_YES, 1, 6, 3},
	{"what it has read before is not", "1 acq m; 1 rel m; 1 acq m; 1 w x; 1 rel m; 2 r x; 2 acq m; 2 rel m", WINDOW,
		REORDER_NO, 1, 7, 3},
	{"the culprit lets go never", "1 acq m; 1 rel m; 1 acq m; 1 rel m; 2 acq m", WINDOW, REORDER_NO, 1, 5, 3},
	{"the culprit lets go after what cannot come before",
		"1 acq m; 1 rel m; 1 acq m; 1 rel m; 1 fork 3; 3 r x; 2 acq m; 2 join 3; 2 rel m", WINDOW, REORDER_NO,
		1, 7, 3},
	{"the window holds what the culprit wants next",
		"1 acq n; 1 acq m; 1 rel m; 1 acq m; 1 rel m; 1 rel n; 2 acq m; 2 acq n; 2 rel n; 2 rel m", WINDOW,
		REORDER_NO, 2, 7, 4},
	{"a re-entrant pair is no window", "1 acq m; 1 acq m; 1 rel m; 1 rel m; 2 acq m; 2 rel m", WINDOW, REORDER_NO,
		1, 5, 2},
	{"readers around a writer", "1 acq_shared m; 1 rel m; 1 acq_shared m; 1 rel m; 2 acq m; 2 rel m", WINDOW,
		REORDER_YES, 1, 5, 3},
	{"a reader that stays keeps the writer out",
		"3 acq_shared m; 3 w z; 1 r z; 1 acq_shared m; 1 rel m; 1 acq_shared m; 1 w y; 1 rel m; 3 r y; 3 rel m;"
		"2 acq m; 2 rel m",
		WINDOW, REORDER_NO, 4, 11, 6},
	{"a wait is a window", "1 acq m; 1 wait c m; 1 rel m; 2 acq m; 2 rel m", WINDOW, REORDER_YES, 1, 4, 3},
	{"the culprit comes back from a wait", "2 acq m; 2 wait c m; 2 rel m; 1 acq m; 1 rel m; 1 acq m; 1 rel m",
		WINDOW, REORDER_YES, 4, 3, 6},
	{"the culprit lets go by waiting",
		"2 acq m; 2 wait c m; 1 acq m; 1 rel m; 1 acq m; 1 w x; 1 rel m; 2 r x; 2 rel m", WINDOW, REORDER_YES,
		3, 1, 5},
	{"the culprit is behind a barrier",
		"1 acq m; 1 rel m; 1 acq m; 1 rel m; 1 barrier b 2; 2 barrier b 2; 2 acq m; 2 rel m", WINDOW,
		REORDER_NO, 1, 7, 3},
	{"the culprit is before the barrier",
		"1 acq m; 1 rel m; 1 acq m; 1 rel m; 2 acq m; 2 rel m; 2 barrier b 2; 1 barrier b 2", WINDOW,
		REORDER_YES, 1, 5, 3},
	{"the culprit waits for a post",
		"1 acq m; 1 rel m; 1 acq m; 1 rel m; 1 sem_post s; 2 sem_wait s; 2 acq m; 2 rel m", WINDOW, REORDER_NO,
		1, 7, 3},
	{"the culprit takes what the semaphore had at first",
		"3 sem_wait s; 1 acq m; 1 rel m; 1 acq m; 1 rel m; 1 sem_post s; 2 sem_wait s; 2 acq m; 2 rel m",
		WINDOW, REORDER_YES, 2, 8, 4},
	{"004 (3): between, but for a deadlock",
		"1 acq l; 1 acq k; 1 rel k; 1 r x; 1 rel l; 2 acq k; 2 acq l; 2 rel l; 2 w x; 2 w x; 2 rel k", BETWEEN,
		REORDER_NO, 9, 4, 10},
	{"004 (3): the deadlock",
		"1 acq l; 1 acq k; 1 rel k; 1 r x; 1 rel l; 2 acq k; 2 acq l; 2 rel l; 2 w x; 2 w x; 2 rel k", DEADLOCK,
		REORDER_YES, 0, 0, 0},
	{"004 (3) without the inner locks", "1 acq l; 1 r x; 1 rel l; 2 acq k; 2 w x; 2 w x; 2 rel k", BETWEEN,
		REORDER_YES, 5, 2, 6},
	{"one lock around both", "1 acq l; 1 r x; 1 rel l; 2 acq l; 2 w x; 2 w x; 2 rel l", BETWEEN, REORDER_NO, 5, 2,
		6},
	{"the last read may see something else", "1 r x; 1 r x; 2 w x", BETWEEN, REORDER_YES, 1, 3, 2},
	{"a read of the other thread before may not", "1 r x; 1 w x; 2 r x; 2 w x", BETWEEN, REORDER_NO, 1, 4, 2},
	{"a third thread's read orders them", "1 w x; 1 w y; 3 r y; 3 w z; 2 r z; 2 w x", BETWEEN, REORDER_NO, 1, 6, 2},
	{"bytes", "1 r 0x1000 4; 1 w 0x1000 4; 2 w 0x1002", BETWEEN, REORDER_YES, 1, 3, 2},
	{"two locks in two orders", "1 acq m; 1 acq n; 1 rel n; 1 rel m; 2 acq n; 2 acq m; 2 rel m; 2 rel n", DEADLOCK,
		REORDER_YES, 0, 0, 0},
	{"two orders under a third lock",
		"1 acq g; 1 acq m; 1 acq n; 1 rel n; 1 rel m; 1 rel g; 2 acq g; 2 acq n; 2 acq m; 2 rel m; 2 rel n; 2 "
		"rel g",
		DEADLOCK, REORDER_NO, 0, 0, 0},
	{"two orders, one after the other's join",
		"1 fork 2; 2 acq m; 2 acq n; 2 rel n; 2 rel m; 1 join 2; 1 acq n; 1 acq m", DEADLOCK, REORDER_NO, 0, 0,
		0},
	{"two shared sides in two orders",
		"1 acq_shared m; 1 acq_shared n; 1 rel n; 1 rel m; 2 acq_shared n; 2 acq_shared m; 2 rel m; 2 rel n",
		DEADLOCK, REORDER_NO, 0, 0, 0},
	{"a wait takes its mutex and then wants another lock",
		"1 acq m; 1 wait c m; 1 acq n; 1 rel n; 1 rel m; 2 acq n; 2 acq m; 2 rel m; 2 rel n", DEADLOCK,
		REORDER_YES, 0, 0, 0},
	{"a lock that is never released", "1 acq m; 1 rel m; 2 acq m", DEADLOCK, REORDER_YES, 0, 0, 0},
	{"a unit that is taken away", "1 sem_post s; 1 sem_wait s; 1 sem_post s; 2 sem_wait s", DEADLOCK, REORDER_YES,
		0, 0, 0},
	{"a read sees its write", "1 w x; 2 r x", COUNT_READS, 1, 0, 0, 0},
	{"a read sees any write", "1 w x; 2 r x", COUNT_SYNC, 2, 0, 0, 0},
	{"the initial value is lost", "1 r x; 2 w x; 3 r x", COUNT_READS, 2, 0, 0, 0},
	{"a write that nobody reads", "1 w x; 2 w x", COUNT_READS, 2, 0, 0, 0},
	{"read-modify-writes keep their order", "1 atomic_rmw x; 2 atomic_rmw x", COUNT_READS, 1, 0, 0, 0},
	{"bytes of two writes", "1 w 0x1000 4; 2 w 0x1002; 3 r 0x1000 4", COUNT_READS, 2, 0, 0, 0},
	{"a new life", "1 w 0x1000; 2 alloc 0x1000 8; 2 r 0x1000", COUNT_READS, 3, 0, 0, 0},
	{"sections", "1 acq m; 1 rel m; 2 acq m; 2 rel m", COUNT_SYNC, 2, 0, 0, 0},
	{"shared sections", "1 acq_shared m; 1 rel m; 2 acq_shared m; 2 rel m", COUNT_SYNC, 6, 0, 0, 0},
	{"re-entrant sections", "1 acq m; 1 acq m; 1 rel m; 1 rel m; 2 acq m; 2 rel m", COUNT_SYNC, 2, 0, 0, 0},
	{"fork and join", "1 fork 2; 2 r x; 1 join 2", COUNT_SYNC, 1, 0, 0, 0},
	{"the join of a thread that did nothing", "1 fork 2; 3 join 2", COUNT_SYNC, 1, 0, 0, 0},
	{"a barrier", "1 barrier b 2; 2 barrier b 2; 1 r x; 2 r x", COUNT_SYNC, 4, 0, 0, 0},
	{"a wait and its event are one", "1 acq m; 1 wait c m; 1 rel m; 2 acq m; 2 rel m", COUNT_SYNC, 3, 0, 0, 0},
	{"004 (6)", "1 begin; 1 w x; 2 begin; 2 r x; 2 w z; 2 end; 3 begin; 3 r z; 3 r y; 3 end; 1 w y; 1 end",
		SERIAL_VIEW, REORDER_NO, 0, 0, 0},
	{"004 (6), by conflicts",
		"1 begin; 1 w x; 2 begin; 2 r x; 2 w z; 2 end; 3 begin; 3 r z; 3 r y; 3 end; 1 w y; 1 end",
		SERIAL_CONFLICT, REORDER_NO, 0, 0, 0},
	{"004 (6), predicted",
		"1 begin; 1 w x; 1 w y; 1 end; 2 begin; 2 r x; 2 w z; 2 end; 3 begin; 3 r z; 3 r y; 3 end", ATOMIC_VIEW,
		REORDER_NO, 0, 0, 0},
	{"004 (6), the first two", "1 begin; 1 w x; 1 w y; 1 end; 2 begin; 2 r x; 2 w z; 2 end", ATOMIC_VIEW,
		REORDER_YES, 0, 0, 0},
	{"004 (6), the last two", "2 begin; 2 r x; 2 w z; 2 end; 3 begin; 3 r z; 3 r y; 3 end", ATOMIC_VIEW,
		REORDER_YES, 0, 0, 0},
	{"004 (6), the first and the last", "1 begin; 1 w x; 1 w y; 1 end; 3 begin; 3 r z; 3 r y; 3 end", ATOMIC_VIEW,
		REORDER_YES, 0, 0, 0},
	{"004, Figure 4: t3, t2, t1",
		"3 begin; 3 acq o; 3 r x; 3 rel o; 3 end; 2 begin; 2 acq p; 2 r x; 2 rel p; 2 end;"
		"1 begin; 1 acq o; 1 acq p; 1 w x; 1 w x; 1 rel p; 1 rel o; 1 end",
		ATOMIC_VIEW, REORDER_YES, 0, 0, 0},
	{"004, Figure 4: t3, t2, t4",
		"3 begin; 3 acq o; 3 r x; 3 rel o; 3 end; 2 begin; 2 acq p; 2 r x; 2 rel p; 2 end;"
		"4 begin; 4 r x; 4 acq o; 4 acq p; 4 w x; 4 rel p; 4 rel o; 4 end",
		ATOMIC_VIEW, REORDER_YES, 0, 0, 0},
	{"004, Figure 4: t1 and t4",
		"1 begin; 1 acq o; 1 acq p; 1 w x; 1 w x; 1 rel p; 1 rel o; 1 end;"
		"4 begin; 4 r x; 4 acq o; 4 acq p; 4 w x; 4 rel p; 4 rel o; 4 end",
		ATOMIC_VIEW, REORDER_NO, 0, 0, 0},
	{"004 (1) and a write", "1 begin; 1 acq l; 1 r v; 1 acq k; 1 w v; 1 r v; 1 rel k; 1 rel l; 1 end; 2 w v",
		ATOMIC_VIEW, REORDER_NO, 0, 0, 0},
	{"004 (1) and a read", "1 begin; 1 acq l; 1 r v; 1 acq k; 1 w v; 1 r v; 1 rel k; 1 rel l; 1 end; 2 r v",
		ATOMIC_VIEW, REORDER_YES, 0, 0, 0},
	{"a read between two writes", "1 begin; 1 w x; 2 r x; 1 w x; 1 end", SERIAL_VIEW, REORDER_NO, 0, 0, 0},
	{"a write between two reads", "1 begin; 1 r x; 2 w x; 1 r x; 1 end", SERIAL_VIEW, REORDER_NO, 0, 0, 0},
	{"a write between write and read", "1 begin; 1 w x; 2 w x; 1 r x; 1 end", SERIAL_VIEW, REORDER_NO, 0, 0, 0},
	{"a final write between read and write", "1 begin; 1 r x; 2 w x; 1 w x; 1 end", SERIAL_VIEW, REORDER_NO, 0, 0,
		0},
	{"not the final one", "1 begin; 1 r x; 2 begin; 2 w x; 1 w x; 1 end; 2 w x; 2 end", SERIAL_VIEW, REORDER_YES, 0,
		0, 0},
	{"not the final one, by conflicts", "1 begin; 1 r x; 2 begin; 2 w x; 1 w x; 1 end; 2 w x; 2 end",
		SERIAL_CONFLICT, REORDER_NO, 0, 0, 0},
	{"two writes nobody reads, then a third", "1 begin; 1 w x; 2 w x; 1 w x; 1 end", SERIAL_VIEW, REORDER_YES, 0, 0,
		0},
	{"a lock held across transactions orders them",
		"1 acq m; 1 begin; 1 w x; 1 end; 1 rel m; 2 acq m; 2 begin; 2 r x; 2 end; 2 rel m", SERIAL_VIEW,
		REORDER_YES, 0, 0, 0},
	{"fork and join in one block", "1 begin; 1 fork 2; 2 r x; 1 join 2; 1 end", SERIAL_VIEW, REORDER_NO, 0, 0, 0},
	{"locks only, by data", "1 begin; 1 acq m; 1 rel m; 2 acq m; 2 rel m; 1 acq m; 1 rel m; 1 end", SERIAL_CONFLICT,
		REORDER_YES, 0, 0, 0},
	{"locks only", "1 begin; 1 acq m; 1 rel m; 2 acq m; 2 rel m; 1 acq m; 1 rel m; 1 end", SERIAL_LOCKS, REORDER_NO,
		0, 0, 0},
	{"locks only, predicted", "1 begin; 1 acq m; 1 rel m; 1 acq m; 1 rel m; 1 end; 2 acq m; 2 rel m", ATOMIC_LOCKS,
		REORDER_NO, 0, 0, 0},
	{"locks only, one section", "1 begin; 1 acq m; 1 rel m; 1 end; 2 acq m; 2 rel m; 2 acq m; 2 rel m",
		ATOMIC_LOCKS, REORDER_YES, 0, 0, 0},
	{"the account, one section", "1 begin; 1 acq m; 1 r x; 1 w x; 1 rel m; 1 end; 2 acq m; 2 w x; 2 rel m",
		ATOMIC_CONFLICT, REORDER_YES, 0, 0, 0},
	{"the account, two sections",
		"1 begin; 1 acq m; 1 r x; 1 rel m; 1 acq m; 1 w x; 1 rel m; 1 end; 2 acq m; 2 w x; 2 rel m",
		ATOMIC_CONFLICT, REORDER_NO, 0, 0, 0},
	{"stuck within a block",
		"1 begin; 1 acq m; 1 acq n; 1 rel n; 1 rel m; 1 end; 2 acq n; 2 acq m; 2 rel m; 2 rel n", ATOMIC_VIEW,
		REORDER_NO, 0, 0, 0},
	{"stuck outside", "1 acq m; 1 acq n; 1 rel n; 1 rel m; 2 acq n; 2 acq m; 2 rel m; 2 rel n", ATOMIC_VIEW,
		REORDER_YES, 0, 0, 0},
};

static bool count_one(void *self, const struct event *sequence, size_t n, bool stuck)
{
	(void)sequence;
	(void)n;
	(void)stuck;
	++*(int *)self;
	return true;
}

static int count_all(const struct event *events, size_t n, enum reorder_mode mode)
{
	int count = 0;
	struct reorder_tour tour = {.mode = mode, .budget = 1000, .visit = count_one, .self = &count};

	return reorder_each(events, n, &tour) == REORDER_YES ? count : -1;
}

static int ask(const struct example *x, const struct event *events, size_t n)
{
	switch (x->question) {
	case WINDOW: return (int)reorder_confirms(events, n, x->a, x->x, x->b);
	case BETWEEN: return (int)reorder_confirms_data(events, n, x->a, x->x, x->b);
	case DEADLOCK: return (int)reorder_deadlocks(events, n);
	case COUNT_READS: return count_all(events, n, REORDER_READS);
	case COUNT_SYNC: return count_all(events, n, REORDER_SYNC);
	case SERIAL_VIEW: return (int)serial_by_view(events, n);
	case SERIAL_CONFLICT: return (int)serial_by_conflicts(events, n, SERIAL_DATA);
	case SERIAL_LOCKS: return (int)serial_by_conflicts(events, n, SERIAL_FULL);
	case ATOMIC_VIEW: return (int)atomic_by_view(events, n);
	case ATOMIC_CONFLICT: return (int)atomic_by_conflicts(events, n, SERIAL_DATA);
	case ATOMIC_LOCKS: return (int)atomic_by_conflicts(events, n, SERIAL_FULL);
	default: return -1;
	}
}

/* The same of naive.c; -1 where it has no answer of its own. */
static int ask_naive(const struct example *x, const struct event *events, size_t n)
{
	switch (x->question) {
	case WINDOW: return (int)naive_confirms(events, n, x->a, x->x, x->b);
	case BETWEEN: return (int)naive_confirms_data(events, n, x->a, x->x, x->b);
	case DEADLOCK: return (int)naive_deadlocks(events, n);
	case SERIAL_VIEW: return (int)naive_serial_by_view(events, n);
	case ATOMIC_VIEW: return (int)naive_atomic_by_view(events, n);
	case ATOMIC_CONFLICT: return (int)naive_atomic_by_conflicts(events, n, SERIAL_DATA);
	case ATOMIC_LOCKS: return (int)naive_atomic_by_conflicts(events, n, SERIAL_FULL);
	default: return -1;
	}
}

/* legal.h wants small ids: locks and the like are numbered as they come up. */
static bool is_legal(const struct event *events, size_t n)
{
	struct event small[64];
	char names[16] = "";

	for (size_t i = 0; i < n; i++) {
		uint64_t *ids[] = {&small[i].object, &small[i].mutex};

		small[i] = events[i];
		for (size_t k = 0; k < 2; k++) {
			if (event_info[events[i].kind].table != TABLE_SYNC || (k && events[i].kind != EVENT_WAIT))
				continue;
			if (!strchr(names, (int)*ids[k]))
				names[strlen(names)] = (char)*ids[k];
			*ids[k] = (uint64_t)(strchr(names, (int)*ids[k]) - names) + 1;
		}
	}
	return legal_trace(small, n);
}

static bool example_holds(const struct example *x)
{
	struct event events[64];
	size_t n = short_trace(x->trace, events);
	int got = ask(x, events, n), naive = ask_naive(x, events, n);

	if (!is_legal(events, n))
		printf("reorder_self: %s: the trace is not well-formed\n", x->name);
	else if (got != x->expected)
		printf("reorder_self: %s: %s: got %d, expected %d\n", x->name, question_text[x->question], got,
			x->expected);
	else if (naive >= 0 && naive != REORDER_UNDECIDED && naive != x->expected)
		printf("reorder_self: %s: naive: got %d, expected %d\n", x->name, naive, x->expected);
	else
		return true;
	return false;
}

/* ---- Random traces. ---- */

struct tally {
	unsigned long asked, yes, undecided, wrong;
};

struct trial {
	struct event events[RANDOM_LOCKS_MOST];
	size_t n;
	uint64_t seed;
	struct tally *tally; /* by question */
};

static void print_trial(const struct trial *t)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct event *e = &t->events[i];

		printf("  %u %s %llx,%llu size %u\n", e->thread, event_info[e->kind].text,
			(unsigned long long)e->object, (unsigned long long)e->count, e->size);
	}
}

static void compare(struct trial *t, const struct example *x, int expected)
{
	struct tally *sum = &t->tally[x->question];
	int got = ask(x, t->events, t->n);

	sum->asked++;
	sum->yes += got == REORDER_YES;
	if (got == REORDER_UNDECIDED || expected == REORDER_UNDECIDED) {
		sum->undecided++;
	} else if (got != expected && sum->wrong++ == 0) {
		printf("reorder_self: seed %llu: %s %llu %llu %llu: got %d, expected %d\n", (unsigned long long)t->seed,
			question_text[x->question], (unsigned long long)x->a, (unsigned long long)x->x,
			(unsigned long long)x->b, got, expected);
		print_trial(t);
	}
}

static bool is_back(const struct trial *t, size_t i)
{
	for (size_t j = i; j-- > 0;)
		if (t->events[j].thread == t->events[i].thread)
			return t->events[j].kind == EVENT_WAIT;
	return false;
}

static bool is_acquire(const struct trial *t, size_t i)
{
	return t->events[i].kind == EVENT_ACQUIRE || t->events[i].kind == EVENT_ACQUIRE_SHARED || is_back(t, i);
}

/* Asks about three events if two are of one thread, in this order, and the other is not. */
static void compare_three(struct trial *t, size_t i, size_t j, size_t k)
{
	const struct event *a = &t->events[i], *x = &t->events[j], *b = &t->events[k];
	struct example window = {.question = WINDOW, .a = a->seq, .x = x->seq, .b = b->seq}, data = window;

	if (a->thread != b->thread || a->thread == x->thread)
		return;
	data.question = BETWEEN;
	if (is_acquire(t, i) && is_acquire(t, j) && is_acquire(t, k))
		compare(t, &window, ask_naive(&window, t->events, t->n));
	if (event_is_access(a->kind) && event_is_access(x->kind) && event_is_access(b->kind))
		compare(t, &data, ask_naive(&data, t->events, t->n));
}

static void compare_threes(struct trial *t)
{
	for (size_t i = 0; i < t->n; i++)
		for (size_t k = i + 1; k < t->n; k++)
			for (size_t j = 0; j < t->n; j++)
				compare_three(t, i, j, k);
}

static void compare_serial(struct trial *t)
{
	struct example data = {.question = SERIAL_CONFLICT}, full = {.question = SERIAL_LOCKS};
	struct oracle_verdict v;
	struct arena a;

	arena_init(&a);
	oracle_judge(t->events, t->n, &a, &v);
	compare(t, &data, v.first_bad[ORACLE_DATA] ? REORDER_NO : REORDER_YES);
	compare(t, &full, v.first_bad[ORACLE_FULL] ? REORDER_NO : REORDER_YES);
	arena_free(&a);
}

static void compare_small(struct trial *t)
{
	static const enum question questions[] = {DEADLOCK, SERIAL_VIEW, ATOMIC_VIEW, ATOMIC_CONFLICT, ATOMIC_LOCKS};

	compare_threes(t);
	for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
		struct example x = {.question = questions[i]};

		compare(t, &x, ask_naive(&x, t->events, t->n));
	}
}

/* Two threads with few locks and little else: windows. */
static struct random_locks narrow(uint64_t seed)
{
	struct random_locks p = random_locks_draw(seed, 16);

	p.threads = 2;
	p.transactions = 1;
	p.accesses = 4;
	p.locks = 1 + p.locks % 2;
	p.flags &= ~(unsigned)(RANDOM_LOCKS_FUNCTIONS | RANDOM_LOCKS_FORKS);
	return p;
}

static size_t draw(uint64_t seed, struct event *events)
{
	struct random_locks p = seed % 3 == 1 ? narrow(seed) : random_locks_draw(seed, 10 + seed % 20);
	struct tables tables;
	struct arena a;
	size_t n;

	arena_init(&a);
	tables_init(&tables, &a);
	n = seed % 3 == 0 ? random_trace(seed, &tables, events) : random_locks(&p, seed, &tables, events);
	arena_free(&a);
	return n;
}

/* The naive answers need a short trace; every beginning of a trace is one. */
static void try_seed(uint64_t seed, struct tally *tally)
{
	struct trial t = {.seed = seed, .tally = tally};
	size_t most = seed % 3 == 1 ? 16 : 9 + seed / 3 % 2;

	t.n = draw(seed, t.events);
	if (!legal_trace(t.events, t.n)) {
		printf("reorder_self: seed %llu: not well-formed\n", (unsigned long long)seed);
		tally[SERIAL_LOCKS].wrong++;
	}
	compare_serial(&t);
	t.n = t.n < most ? t.n : most;
	compare_small(&t);
}

/* A budget and a visitor that has enough both end a tour. */
static bool stop_at_once(void *self, const struct event *sequence, size_t n, bool stuck)
{
	count_one(self, sequence, n, stuck);
	return false;
}

static bool tours_end(void)
{
	struct event events[64];
	size_t n = short_trace("1 r x; 2 r x", events);
	int count = 0;
	struct reorder_tour poor = {.mode = REORDER_SYNC, .budget = 1, .visit = count_one, .self = &count};
	struct reorder_tour bored = {.mode = REORDER_SYNC, .budget = 9, .visit = stop_at_once, .self = &count};

	return reorder_each(events, n, &poor) == REORDER_UNDECIDED && count == 1 &&
	       reorder_each(events, n, &bored) == REORDER_NO && count == 2;
}

/* A question that never has a yes, or hardly an answer, has not been tested. */
static bool tally_holds(const struct tally *sum, enum question q)
{
	if (!sum->asked)
		return true;
	printf("%s: %lu asked, %lu yes, %lu undecided, %lu wrong\n", question_text[q], sum->asked, sum->yes,
		sum->undecided, sum->wrong);
	return !sum->wrong && sum->yes && sum->yes < sum->asked && sum->undecided < sum->asked / 2;
}

int main(int argc, char **argv)
{
	unsigned long count = 2000, seed = 1, passed = 0, failed = 0;
	const struct opt table[] = {
		{"count", 'n', OPT_COUNT, &count, "N", "how many random traces"},
		{"seed", 's', OPT_COUNT, &seed, "S", "of the first one"},
		{0},
	};
	struct tally tally[QUESTIONS] = {{0, 0, 0, 0}};

	if (opts_parse(table, "reorder_self", argc, argv) > 0)
		die(STATUS_USAGE, "reorder_self: no operands");
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
		*(example_holds(&examples[i]) ? &passed : &failed) += 1;
	*(tours_end() ? &passed : &failed) += 1;
	for (unsigned long i = 0; i < count; i++)
		try_seed(seed + i, tally);
	for (int q = 0; q < QUESTIONS; q++)
		*(tally_holds(&tally[q], (enum question)q) ? &passed : &failed) += 1;
	printf("%lu passed, %lu failed\n", passed, failed);
	return failed > 0;
}
