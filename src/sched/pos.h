/* SPDX-License-Identifier: MIT */
/* Partial order sampling, for strategies that go on freely where they have nothing to say. */
#ifndef FISSION_SCHED_POS_H
#define FISSION_SCHED_POS_H

#include <stdint.h>

struct sched;

/* Uses the words of s->memory for slots, and POS_WORDS from SCHED_THREADS on. */
enum { POS_WORDS = 3 };

uint32_t pos_pick(struct sched *s);

#endif
