/* SPDX-License-Identifier: MIT */
/*
 * The rings of all threads as one stream, in an order that the program could have run in.
 *
 * Within a ring, slots are in order. Across rings, synchronisation entries come by their tickets 1, 2, 3, ...; what
 * stands between two of them in a ring comes anywhere between those two. So of two conflicting accesses of a
 * race-free program the first comes first; accesses that race come in any order.
 *
 * A ticket may be missing for ever: its owner was killed before it wrote the entry. Then no ring of a living process
 * has a slot that is reserved and still empty, and the ticket is given up.
 *
 * Nothing in the channel is trusted: kinds, lengths and numbers are checked here, and a ring that makes no sense is
 * abandoned and counted.
 */
#ifndef FISSION_COLLECT_MERGE_H
#define FISSION_COLLECT_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/seg.h"
#include "runtime/channel.h"

/* One entry, taken out of its slots. */
struct entry {
	uint8_t kind;  /* enum entry_kind */
	uint8_t stream; /* enum entry_stream, 0 for both */
	uint8_t small;
	uint16_t extra;
	uint64_t address, pc;
	uint64_t second;   /* word 1 as it is, where there is no pc */
	uint64_t ticket;   /* of a synchronisation entry */
	uint64_t argument; /* likewise; bytes of a range */
	const char *text;  /* of a TEXT entry, `extra` bytes and a NUL; until the next entry */
};

/* Who takes the entries. `ring` is the number of the ring. */
struct merge_listener {
	void *self;
	void (*begin)(void *self, uint32_t ring, const struct self *thread); /* before the first entry of a thread */
	void (*entry)(void *self, uint32_t ring, const struct entry *e);
	void (*finish)(void *self, uint32_t ring); /* after its last one, however the thread ended */
};

/* What the merge knows of a ring. */
struct ring {
	uint64_t tail;    /* consumed so far */
	uint64_t blocked; /* the ticket it waits to have its turn, or 0 */
	uint64_t told;    /* of tail: what the producer knows */
	uint32_t process, thread;
	int32_t pid;
	bool open;    /* begin was called */
	bool dead;    /* its process is gone: what is complete is all there will be */
	bool insane;  /* what it holds makes no sense */
};

struct merge {
	struct channel *channel;
	struct merge_listener to;
	struct arena *arena;
	struct seg rings; /* struct ring */
	uint64_t next;    /* ticket whose turn it is */
	uint64_t entries; /* handed on */
	uint64_t given_up; /* tickets that never came */
	uint64_t insane;   /* rings that were abandoned */
	char text[TEXT_MOST + 8];
};

void merge_init(struct merge *m, struct arena *a, struct channel *c, struct merge_listener to);

/* Takes what there is. Returns whether there was anything. */
bool merge_step(struct merge *m);

/* No process with that id will write any more. */
void merge_dead(struct merge *m, int pid);

/* Whether the ring's thread is still to be heard of: by its process id, 0 at the end of the list. For asking who lives. */
int merge_living(struct merge *m, uint32_t *from);

/* Nothing has come for a while: gives up a ticket that will never come. Returns whether it did. */
bool merge_unblock(struct merge *m);

/* Every process is gone: takes the rest, in order, and finishes all threads. */
void merge_end(struct merge *m);

#endif
