/* SPDX-License-Identifier: MIT */
/*
 * Which thread number a pthread_t has: a table of our own, since joining tells only the handle. A handle is in it from
 * its making until it is joined, or until it ends if it was detached.
 *
 * The system gives a handle out again as soon as its thread is joined, or has ended detached. So whoever made a thread
 * may come to enter it late, when it is over and the handle is another's; and whoever has joined one must not take the
 * other's out. Numbers only grow, which tells the old from the new.
 */
#ifndef FISSION_RUNTIME_THREADS_H
#define FISSION_RUNTIME_THREADS_H

#include <pthread.h>
#include <stdint.h>

/* Both the maker and the thread itself enter it: either may be the first that someone else's join can follow. */
void threads_add(pthread_t handle, uint32_t number);

/* The calling thread was not made by a wrapper: it can be joined all the same, and its end is told. */
void threads_adopt(uint32_t number);

/* The number, or 0: to be asked before joining. */
uint32_t threads_find(pthread_t handle);
/* It was joined. */
void threads_joined(pthread_t handle, uint32_t number);

/* Nobody will join it: it leaves when it ends, or now if it has. */
void threads_detached(pthread_t handle);
/* The calling thread ends. */
void threads_ended(void);

/* In a forked child: only the caller is left, and nobody holds the table's lock. */
void threads_forked(void);

#endif
