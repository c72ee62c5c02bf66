/* SPDX-License-Identifier: MIT */
/*
 * What is known about the windows of findings: the facts from which their rank comes (policy/rank.h).
 *
 * Once for each path that a finding is given, the diaries of the block's thread and of the culprits' are looked at:
 * what the two sections and the culprits' have read and written, which locks were held, where they stand. A section
 * may still be running when the finding is made; then the finding waits until it is over, or the block or the trace
 * is. What a diary has forgotten gives no fact. The same looks give it its moments (check/surroundings.h).
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
#include "check/scene.h"
#include "check/surroundings.h"
#include "check/uses.h"
#include "event/event.h"

struct policy;
struct run;

struct facts {
	struct run *run;
	const struct policy *policy;
	struct seg line; /* struct waiting by line */
	size_t waiting;  /* findings that wait, on all lines */
	struct held_spans spans[SCENE_SPANS]; /* scratch, kept for its memory */
	struct uses_scratch uses;             /* likewise */
	struct surroundings surroundings;     /* likewise */
};

void facts_init(struct facts *f, struct run *run, const struct policy *policy);

/* After each event that has made a finding, or after any while findings wait. */
void facts_step(struct facts *f, const struct event *e);

/* After the last event: what is not over will not be. */
void facts_finish(struct facts *f);

#endif
