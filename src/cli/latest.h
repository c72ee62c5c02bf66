/* SPDX-License-Identifier: MIT */
/* The findings of a run that is over, and one of them by its id. */
#ifndef FISSION_CLI_LATEST_H
#define FISSION_CLI_LATEST_H

struct arena;
struct story;
struct story_finding;

/* Where the latest run is. */
#define LATEST_RUN "fission.out"

/* Reads a run: its directory, or its findings as JSON. What cannot be read ends the tool. */
void latest_read(struct story *s, struct arena *a, const char *path);

/* The one finding whose id begins so, with or without "fsn-". None, or several, ends the tool with a hint. */
const struct story_finding *latest_finding(const struct story *s, const char *id, const char *path);

#endif
