/* SPDX-License-Identifier: MIT */
/* What sidetrack says before it is merged into findings: for the tests that hold it to the paper and to brute force. */
#ifndef FISSION_CHECK_SIDETRACK_H
#define FISSION_CHECK_SIDETRACK_H

#include "finding/finding.h"

struct sidetrack_report {
	struct block block;
	sync_id lock;
	uint64_t first, culprit, second; /* seqs of the three acquires */
	enum verdict verdict;            /* before anybody has looked for hazards */
	struct evidence evidence;
	const struct link *path;
};

typedef void sidetrack_listener(void *self, const struct sidetrack_report *r);

/* `check` is what run_check_state() gives for "sidetrack". */
void sidetrack_listen(void *check, sidetrack_listener *told, void *self);

#endif
