/* SPDX-License-Identifier: MIT */
/* Stories that no run has told: every member takes every kind of value that it may have. */
#ifndef FISSION_TESTS_RANDOM_STORY_H
#define FISSION_TESTS_RANDOM_STORY_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct story;

/* With `hostile`, texts hold any bytes but NUL; otherwise they are words. */
void random_story(struct story *s, struct arena *a, uint64_t seed, bool hostile);

#endif
