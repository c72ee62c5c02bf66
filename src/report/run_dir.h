/* SPDX-License-Identifier: MIT */
/*
 * fission.out: a run's directory, which holds all that list, show, report and the others need to know of the run.
 *
 *   version        "fission.out 1": what makes the directory ours
 *   findings.json  the story, as json.c writes it
 *   report.txt     the report in words, to be read without Fission
 *   replays/       a replay file for each finding that was reproduced, fsn-7c1f0a2b.replay; see chase/replay_file.h
 *
 * It is made under another name beside its place and then put there in one step, so there is never half of one. The
 * former one becomes fission.out.old. A directory that is not ours is left alone.
 */
#ifndef FISSION_REPORT_RUN_DIR_H
#define FISSION_REPORT_RUN_DIR_H

#include <stdbool.h>

struct arena;
struct fault;
struct story;

#define RUN_DIR "fission.out"

/* Whether the directory may be written: there is none of that name, or an empty one, or it is ours. */
bool run_dir_check(const char *path, struct fault *fault);

bool run_dir_write(const char *path, const struct story *s, struct fault *fault);

/* Reads a story from a directory, or from a JSON report; NULL is RUN_DIR. */
bool run_dir_read(struct story *s, struct arena *a, const char *path, struct fault *fault);

#endif
