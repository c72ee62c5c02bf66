/* SPDX-License-Identifier: MIT */
/*
 * What is known about the windows of findings: the facts from which their rank comes (policy/rank.h).
 *
 * Once for each path that a finding is given, the diaries of the block's thread and of the culprits' are looked at:
 * what the two sections and the culprits' have read and written, which locks were held, where they stand. A section
 * may still be running when the finding is made; then the finding waits until it is over, or the block is, or the trace.
 * What a diary has forgotten gives no fact.
 *
 * State: the findings that wait, by line. Cost: nothing for an event that neither makes a finding nor ends something
 * that one waits for; for a finding, some passes over diaries, a few microseconds.
 */
#ifndef FISSION_CHECK_FACTS_H
#define FISSION_CHECK_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/seg.h"
#include "event/event.h"

struct policy;
struct run;

/* A lock being held, as a diary tells it: from note to note. */
struct held_span {
	sync_id lock;
	uint64_t from, to; /* numbers of the acquire's and the release's notes */
	bool begun;        /* the acquire is remembered; otherwise it is before everything that is */
	bool open;         /* it is not over: `to` is the last note */
	bool shared, waited;
};

struct held_spans {
	struct held_span *at;
	size_t count, capacity;
};

/* What a section does to a variable: numbers of its first notes, or UINT64_MAX. */
struct use {
	uint64_t x, read, write;
};

struct uses {
	struct use *at;
	size_t count, capacity;
};

/* A value that the first section has loaded; it is good until note `again`, where the second loads it anew. */
struct load {
	uint64_t value, again;
	bool changed; /* the culprit has written the variable */
};

struct loads {
	struct load *at;
	size_t count, capacity;
};

struct facts {
	struct run *run;
	const struct policy *policy;
	struct seg line; /* struct waiting by line */
	size_t waiting;  /* findings that wait, on all lines */
	/* Scratch, kept for its memory. */
	struct held_spans spans[3]; /* the block's, the first and the last culprit's */
	struct uses first, second, theirs;
	struct loads loads;
};

void facts_init(struct facts *f, struct run *run, const struct policy *policy);

/* After each event that has made a finding, or after any while findings wait. */
void facts_step(struct facts *f, const struct event *e);

/* After the last event: what is not over will not be. */
void facts_finish(struct facts *f);

#endif
