/* SPDX-License-Identifier: MIT */
/*
 * Two sets of findings about the same run, from its full and from its filtered stream: `fission run --both`.
 *
 * The law of the filter (runtime/filter.h): each check names the same blocks as split, and there are the same races.
 * How often it has named a block, how sure it is, and what it shows of the way may differ.
 */
#ifndef FISSION_CLI_COMPARE_H
#define FISSION_CLI_COMPARE_H

#include <stddef.h>

struct findings;

/* Prints what one set has and the other has not, to standard error; returns how many lines that are. */
size_t compare_findings(const struct findings *full, const struct findings *filtered);

#endif
