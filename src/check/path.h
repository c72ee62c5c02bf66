/* SPDX-License-Identifier: MIT */
/*
 * How one operation came to be known to another: hops, and their way into a finding.
 *
 * A check that learns "u has seen something of v" keeps the hop by which u learned it. Going back from hop to hop
 * gives the path that a finding shows. Hops hold marks and variable numbers; the finding gets names and addresses.
 */
#ifndef FISSION_CHECK_PATH_H
#define FISSION_CHECK_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "finding/finding.h"
#include "state/last.h"

struct arena;
struct run;

/* `from` is before `to` because of `object`: a variable, or the id of a lock, semaphore or barrier. */
struct hop {
	struct mark from, to;
	uint64_t object;
	bool data;
};

/* The hop of an edge. The start and end of a thread have kind EVENT_NONE. */
static inline struct hop hop_to(const struct mark *from, const struct event *e, bool data)
{
	return (struct hop){*from, mark_of(e), e->object, data};
}

/* A hop that several places remember; it goes when the last of them forgets it. */
struct kept_hop {
	struct hop hop;
	uint32_t users;
};

/* A hop that may turn out to teach nobody anything: kept only when somebody learns from it. */
struct lesson {
	const struct hop *hop;
	struct kept_hop *kept;
};

/* The lesson's hop, with one user more. */
struct kept_hop *lesson_keep(struct lesson *l, struct arena *a);

/* One user more, one less. */
struct kept_hop *hop_keep(struct kept_hop *h);
void hop_drop(struct kept_hop *h, struct arena *a);

/* The operation as a finding or hazard has it; `object` is its variable, or the id of its lock or thread. */
struct access path_access(struct run *run, const struct mark *m, uint64_t object);

/* A path under construction, last hop first. */
struct path {
	struct arena *arena;
	struct hop *hop;
	size_t count, capacity;
};

/* Whom path_back() asks, and where the path is to start: in an event of line t that is not before `begin`. */
struct path_guide {
	/* The hop by which the line of a mark, at that mark, had come to be after t; NULL if it had not. */
	const struct hop *(*learned)(void *self, const struct mark *at, uint32_t t);
	void *self;
	uint32_t t;
	uint64_t begin;
};

/* Makes the path that ends with `last`. */
void path_back(struct path *p, struct run *run, const struct hop *last, const struct path_guide *guide);

/* Where the path starts. */
static inline const struct mark *path_start(const struct path *p)
{
	return &p->hop[p->count - 1].from;
}

/*
 * Reports that the path splits the block or closes a cycle through it. `evidence` is the check's word; the verdict
 * is VERDICT_OBSERVED where all hops are data, otherwise VERDICT_SUSPECTED.
 */
void path_report(struct path *p, struct run *run, struct block block, struct evidence evidence);

#endif
