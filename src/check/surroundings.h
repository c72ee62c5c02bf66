/* SPDX-License-Identifier: MIT */
/*
 * The moments of a finding (finding/moment.h), from the diaries of its threads.
 *
 * Once for each path that a finding is given, and again when a section that was running is over. Every event that may
 * become a row is picked, with what it is worth and how far it is from the path; the best are kept. The variables of
 * a path have their names from the path itself, so that nothing is looked up.
 *
 * Cost: a pass over the diary of each thread of the path; nothing for an event.
 */
#ifndef FISSION_CHECK_SURROUNDINGS_H
#define FISSION_CHECK_SURROUNDINGS_H

#include <stddef.h>
#include <stdint.h>

#include "check/scene.h"

struct pick;
struct run;
struct step;

/* Scratch, kept for its memory. */
struct surroundings {
	struct run *run;
	struct step *step; /* the operations of the path */
	size_t steps, step_capacity, actors;
	struct pick *pick;
	size_t picks, pick_capacity;
	struct held_spans spans;
	struct moment *moment;
	size_t moment_capacity;
};

/* Gives finding number i of the run's what is known of its surroundings by now. */
void surroundings_look(struct surroundings *s, size_t i);

#endif
