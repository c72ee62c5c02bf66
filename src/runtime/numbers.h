/* SPDX-License-Identifier: MIT */
/*
 * A number for an address: which thread a handle is, how many parties a barrier has, how often a semaphore is open.
 *
 * Open addressing in memory of our own, under a spin lock that is held for a few instructions and never while
 * anything of the program runs. What was taken out leaves its number behind as a mark until the table is rebuilt, which
 * happens when half of it is in use. Without memory a table knows less: whoever asks gets 0.
 */
#ifndef FISSION_RUNTIME_NUMBERS_H
#define FISSION_RUNTIME_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

struct number {
	uint64_t address; /* 0: the place is free */
	uint32_t value;   /* the mark, if it is gone */
	bool gone;
	bool flag; /* the owner's */
};

/* All zero at first. */
struct numbers {
	uint32_t lock;
	struct number *at;
	uint64_t capacity, used; /* used: places that are not free */
};

extern struct numbers numbers_threads __attribute__((visibility("hidden"))); /* by handle; see threads.h */
extern struct numbers numbers_parties __attribute__((visibility("hidden"))); /* of a barrier */
extern struct numbers numbers_opens __attribute__((visibility("hidden")));   /* of a named semaphore */

/* In a forked child: nobody holds a lock. A table that was being changed is lost. */
void numbers_forked(void);

void numbers_lock(struct numbers *n);
void numbers_unlock(struct numbers *n);

/* These with the lock held. The place of the address, or NULL; until the next put. */
struct number *numbers_get(struct numbers *n, const void *address);
/* The same; there is one now, unless there is no memory. A new one, or one that is gone, is as it was left. */
struct number *numbers_put(struct numbers *n, const void *address);

/* And these take it. Of what is not there the number is 0; setting 0 takes out. */
uint32_t numbers_find(struct numbers *n, const void *address);
void numbers_set(struct numbers *n, const void *address, uint32_t value);
/* One more, or one less; the number then. */
uint32_t numbers_count(struct numbers *n, const void *address, int by);

#endif
