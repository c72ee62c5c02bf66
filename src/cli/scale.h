/* SPDX-License-Identifier: MIT */
/*
 * Work that goes to units: the options that check, predict, chase and merge have for it, and what they do by it.
 *
 * One machine is no other case: -j is the launcher `local`.
 */
#ifndef FISSION_CLI_SCALE_H
#define FISSION_CLI_SCALE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/opts.h"
#include "base/progress.h"
#include "base/shard.h"
#include "scale/depot.h"
#include "scale/launch.h"
#include "scale/results.h"

struct opt_group;
struct plan;
struct story;
struct str;

struct scale_options {
	const char *emit, *shard, *launcher, *hosts, *campaign;
	unsigned long jobs, limit; /* 0: not given */
	bool resume;
};

extern struct scale_options scale_options;
extern const struct opt scale_opts[];   /* of commands that make units */
extern const struct opt scale_engine[]; /* of those that only have them done */

/* Whether anything of it is asked for. */
bool scale_wanted(void);

/* The shard; count 0: all of it. */
struct shard scale_shard(void);

/* Units on their way. */
struct scale {
	struct arena arena;
	struct depot depot;
	bool temporary; /* the depot is ours alone */
	struct launch launch;
	bool launched;
	struct progress progress;
	size_t found;
};

/* Opens the depot that the options name, or one that is removed at the end. What is wrong ends the tool. */
void scale_open(struct scale *s);

/* Opens the launcher that the options name. */
void scale_launch(struct scale *s);

/* One look at what goes on, with the line that says how far it is. */
void scale_poll(struct scale *s);

/* Waits for everything that was submitted. */
void scale_wait(struct scale *s);

/* Says which units were lost or cut short, and of which two results differ. Returns whether any was lost. */
bool scale_complain(const struct results *r);

void scale_close(struct scale *s);

/* Adds what the options of those names say, as words that give them again; files of `config` and `source` go along. */
void scale_put_options(struct str *unit, const struct depot *d, const struct opt_group *groups,
	const char *const *names);

/* Traces by units: a command that is `check` or `predict`. Returns the exit status. */
struct scale_traces {
	const char *command;
	char **paths;
	size_t count;
	const struct opt_group *groups;
	const char *const *names; /* options that decide */
	size_t (*pieces)(const char *path); /* of a trace; NULL: one */
	const char *output, *out;
};

int scale_traces(const struct scale_traces *t);

/* Tells of results, and keeps what was found if `out` says where. */
struct scale_report {
	const char *command, *output, *out;
	struct plan *plan;
	const struct results *results;
	bool lost;
};

int scale_report(const struct scale_report *r, struct story *story);

#endif
