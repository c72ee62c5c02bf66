/* SPDX-License-Identifier: MIT */
/* Executions of a search as units, and what a unit says of the search. */
#ifndef FISSION_CLI_UNITS_H
#define FISSION_CLI_UNITS_H

#include "base/intern.h"
#include "scale/address.h"

struct arena;
struct chase_setup;
struct depot;
struct opt_group;
struct order;
struct str;

/*
 * What all units of a search have in common: the program, its input, its environment, the policy. The depot gets the
 * files. What is wrong ends the tool.
 */
void units_template(struct str *to, const struct chase_setup *setup, const struct depot *d,
	const struct opt_group *groups);

/* The unit of one execution, in the arena. */
struct text units_execution(struct text template, const struct order *o, struct arena *a);

/* The search that a unit, or a template, is of: all but its policy, its time and who executes. */
void units_setup(struct text unit, struct arena *a, struct chase_setup *to);

/* Sets what is chosen of the environment as it was. */
void units_environment(struct text unit, struct arena *a);

/* One name for all builds that the unit has. */
struct address units_builds(struct text unit, struct arena *a);

#endif
