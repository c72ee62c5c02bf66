/* SPDX-License-Identifier: MIT */
/*
 * What `check` and `run` have in common: the options that choose checks, policy and report, and what follows from them.
 */
#ifndef FISSION_CLI_PLAN_H
#define FISSION_CLI_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/opts.h"
#include "check/run.h"
#include "cli/accept.h"
#include "cli/commands.h"
#include "policy/policy.h"
#include "report/hide.h"
#include "report/look.h"

struct check;
struct renderer;
struct story;

struct check_options {
	const char *checks, *format, *rank, *fail_on;
	unsigned long exitcode; /* with findings at or above fail_on */
	const char *atomizer, *reduction, *blocks; /* which parts of these checks; NULL: their standard */
	const char *atomic, *config, *source; /* the policy: words, and files with commas; NULL: none */
	bool lenient, once, show_hidden;
	bool bare; /* for units: without what only this machine knows, as lines of sources */
};

/* As the command line has it: the options write there. */
extern struct check_options check_options;

/* --fail-on: its values and its check, for a table of options; VERDICT[,RANK], which the option has checked. */
const char *fail_on_verdicts(size_t i, const char **about);
const char *fail_on_right(const char *value);
struct threshold parse_fail_on(const char *words);

/* What is run over each trace. */
struct plan {
	const struct check *checks[CHECKS_MOST];
	unsigned refinements[CHECKS_MOST];
	size_t count;
	struct policy policy;
	struct accepted accepted;
	struct threshold fail_on;
	unsigned rank;
	const struct renderer *renderer;
};

/* The options that both commands have. */
extern const struct opt plan_options[], plan_refinements[];

/* Reads each configuration file of a list with commas, NULL for none. A mistake ends the tool. */
void read_configs(struct policy *p, const char *list);

/*
 * Before plan_make, for a program of which only the locks are seen: what the user has not chosen is chosen for that.
 * Nothing about it can be of rank 1 or 2, which rest on accesses.
 */
void plan_for_locks(void);

/* Everything that the options say, in the arena. A mistake ends the tool, naming the command. */
void plan_make(struct plan *p, struct arena *a, const char *command);

/* Whether the story has a finding that makes the exit status 66. */
bool plan_fails(const struct plan *p, const struct story *s);

/* Writes the report to the file, "-" for standard output, or ends the tool. */
void print_report(const struct renderer *renderer, const struct story *story, struct look look, const char *path);

/* How commands that look at traces end. */
extern const struct command_status plan_statuses[];

#endif
