/* SPDX-License-Identifier: MIT */
/* The steps of a plan as C statements. */
#ifndef FISSION_CLI_PROGRAM_STEPS_H
#define FISSION_CLI_PROGRAM_STEPS_H

#include <stdint.h>

struct writer;

/*
 * Writes what a thread does from the step on, one line a step, behind `indent`: up to the exit of the function
 * that it is in, or to the thread's end. A function that is entered on the way is called, and what it does is not
 * written here. Step 0 is nothing.
 */
void steps_write(struct writer *w, uint32_t first, const char *indent);

/* Writes that the step has been performed. */
void steps_done(struct writer *w, uint32_t number);

#endif
