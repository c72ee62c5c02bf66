/* SPDX-License-Identifier: MIT */
/*
 * A lesson (chase/lesson.h) as fields of a result. Numbers that come in thousands are written as they lie in memory: a
 * result goes to machines that run the same build of the same program.
 */
#ifndef FISSION_SCALE_LESSON_FILE_H
#define FISSION_SCALE_LESSON_FILE_H

#include <stdbool.h>

#include "base/intern.h"

struct arena;
struct lesson;
struct str;

void lesson_write(struct str *to, const struct lesson *l);

/* Shares the result's bytes where it can; the rest is in the arena. False if it is none: nothing in it is trusted. */
bool lesson_read(struct lesson *l, struct text result, struct arena *a);

#endif
