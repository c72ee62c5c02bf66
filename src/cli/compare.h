/* SPDX-License-Identifier: MIT */
/*
 * What two runs of the checks say of one run of a program, by its full and by its filtered stream: `fission run --both`.
 *
 * The law of the filter (runtime/filter.h): each check names the same activations, activation by activation, and there
 * are as many races. How sure a check is, and what it shows of the way, may differ.
 */
#ifndef FISSION_CLI_COMPARE_H
#define FISSION_CLI_COMPARE_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

struct findings;

/* That a check has named an activation; a race. */
struct claim {
	const char *check;
	uint64_t begin; /* of the activation: a time, the same in both streams; or what stands for its name */
	uint32_t code;
	int verdict;    /* the best */
	uint32_t thread;
	uint64_t split; /* when it was, the last time */
};

struct claims {
	const struct findings *of;
	struct claim *at;
	size_t count, capacity;
	struct map known; /* (check, begin) to index + 1 */
};

/* Gathers what will be reported to the findings. */
void claims_listen(struct claims *c, struct findings *f);

/* Prints what one side has and the other has not, to standard error; returns how much that is. */
size_t claims_compare(const struct claims *full, const struct claims *filtered);

#endif
