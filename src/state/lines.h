/* SPDX-License-Identifier: MIT */
/*
 * Dense numbers for threads, so that what is kept per thread follows how many are alive and not how many there
 * ever were.
 *
 * A thread gets a line with its fork or first event. When t has joined u, u's line (and the lines that u had taken
 * back itself) become t's to give to the next thread that t forks: everything of u comes before that join and the
 * join before that fork, so the new thread follows the old one in every equivalent run, and whoever takes both for
 * one thread adds no order that is not there.
 *
 * Who must tell the threads of a line apart, to show a path, asks for the birth: the fork of the line's thread at
 * some event. Births are kept for as long as the run; they follow the number of threads.
 */
#ifndef FISSION_STATE_LINES_H
#define FISSION_STATE_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "base/seg.h"
#include "event/event.h"
#include "state/last.h"

/* Marks in the order of the trace. */
struct marks {
	struct mark *at;
	size_t count, capacity;
};

/* The fork of a thread, and the joins that freed its line for it: that of the line's last thread first. */
struct birth {
	struct mark fork;
	thread_id thread;
	struct marks joins; /* the value of each is the thread that was joined */
};

/* What has happened to one line. */
struct line_past {
	struct birth *birth; /* of its threads, oldest first */
	size_t count, capacity;
	struct marks joins; /* since its last thread ended */
};

struct lines {
	struct arena *arena;
	struct seg of_thread; /* uint32_t by thread_id: its line, 0 for none yet */
	struct seg spare;     /* uint32_t by line: the next in the list that the line's thread may give away */
	struct seg past;      /* struct line_past by line */
	uint32_t count;       /* lines made so far; they are 1 to count */
};

void lines_init(struct lines *l, struct arena *a);

/* Slow path of lines_of: a new line. */
uint32_t lines_new(struct lines *l, thread_id t);

/* The line of a thread, made if it has none. */
static inline uint32_t lines_of(struct lines *l, thread_id t)
{
	uint32_t line = *(uint32_t *)seg_at(&l->of_thread, t, sizeof line);

	return line ? line : lines_new(l, t);
}

/* The line for the new thread of this fork. */
uint32_t lines_fork(struct lines *l, const struct event *fork);

/* The birth of the thread that had the line at event `seq`; NULL if it was not forked. */
const struct birth *lines_birth(struct lines *l, uint32_t line, uint64_t seq);

/* A thread was joined: its lines are now the joining thread's to give away. */
void lines_join(struct lines *l, const struct event *join);

#endif
