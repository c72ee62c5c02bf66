/* SPDX-License-Identifier: MIT */
/*
 * The collector's end of the channel (runtime/channel.h): makes it, and shows that somebody listens.
 *
 * The file has no name anywhere. Programs find it through the collector's own entry under /proc, so they carry no
 * descriptor of it, and it is gone with the last process that has it mapped.
 */
#ifndef FISSION_COLLECT_WIRE_H
#define FISSION_COLLECT_WIRE_H

#include <stddef.h>

#include "base/fail.h"
#include "runtime/channel.h"

struct wire {
	struct channel *channel;
	uint64_t bytes; /* mapped */
	int fd;
	char path[64]; /* for CHANNEL_VARIABLE */
	int order;     /* descriptor of the order's file; 0: there is none */
};

/* False with a fault if this machine does not allow it. The calling thread is the one that programs watch. */
bool wire_open(struct wire *w, unsigned mode, struct fault *fault);

/* The order that the program is to run by, handed to it as a file of the same kind; before it starts. */
bool wire_order(struct wire *w, const void *order, size_t bytes, struct fault *fault);

/* Programs record no more; those that wait go on. */
void wire_close(struct wire *w);

/* Waits until a producer rings or the time is over. `bell` is what channel->bell was before the last look. */
void wire_sleep(struct wire *w, uint32_t bell, unsigned milliseconds);

#endif
