/* SPDX-License-Identifier: MIT */
/* What `run` and `record` have in common. */
#ifndef FISSION_CLI_LIVE_H
#define FISSION_CLI_LIVE_H

#include <stdbool.h>

struct arena;
struct collected;

/* A time limit: seconds, or with a unit "90s", "5m"; 0 for NULL, and for what is none. */
double live_seconds(const char *words);

/* The path of a program, as the shell would find it; the word itself if there is none. In the arena. */
const char *live_path(const char *word, struct arena *a);

/* For the option: NULL if it is a time limit. */
const char *live_time_right(const char *words);

/* Whether anything is missing between the events that were handed on. */
bool live_lacks(const struct collected *c);

/* Says on standard error what of the run is missing, if anything is. */
void live_complain(const struct collected *c);

#endif
