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
#include "finding/finding.h"
#include "policy/policy.h"

struct check;
struct look;
struct renderer;
struct story;

struct check_options {
	const char *command; /* for messages */
	const char *checks, *format, *rank, *fail_on;
	const char *refinements[CHECKS_MOST]; /* by check, in the order of checks_all; NULL: its standard */
	const char *atomic, *config, *source; /* the policy: words, and files with commas; NULL: none */
	bool lenient, once, show_hidden, help;
};

/* What makes the exit status 66. */
struct threshold {
	enum verdict verdict; /* at least */
	unsigned rank;        /* at most */
};

/* What is run over each trace. */
struct plan {
	const struct check *checks[CHECKS_MOST];
	unsigned refinements[CHECKS_MOST];
	size_t count;
	const struct check_options *options;
	struct policy policy;
	struct threshold fail_on;
	unsigned rank;
	const struct renderer *renderer;
};

/* The defaults of all options. */
struct check_options check_options_for(const char *command, const char *checks);

enum { PLAN_OPTIONS = 16 + CHECKS_MOST };

/* Appends the options that both commands have to a table with room for PLAN_OPTIONS more. */
void plan_options(struct opt *table, struct check_options *o);

/* Prints the checks and their refinements, for --help. */
void plan_help(void);

/* The checks of a list with commas, each once, NULL at the end. Returns how many; a mistake ends the tool. */
size_t parse_checks(const struct check_options *o, const char *list, const struct check **to);

/* Reads each configuration file of a list with commas, NULL for none. A mistake ends the tool. */
void read_configs(struct policy *p, const char *list);

/* Everything that the options say, in the arena. A mistake ends the tool. */
void plan_make(struct plan *p, struct arena *a, const struct check_options *o);

/* Writes the report to the file, "-" for standard output, or ends the tool. */
void print_report(const struct renderer *renderer, const struct story *story, const struct look *look, const char *path);

#endif
