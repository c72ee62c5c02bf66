/* SPDX-License-Identifier: MIT */
/*
 * Which thread number a pthread_t has: a table of our own, since joining tells only the handle. A handle is in it from
 * its making until it is joined, or until it ends if it was detached.
 */
#ifndef FISSION_RUNTIME_THREADS_H
#define FISSION_RUNTIME_THREADS_H

#include <pthread.h>
#include <stdint.h>

void threads_add(pthread_t handle, uint32_t number);

/* The number, or 0. */
uint32_t threads_find(pthread_t handle);
/* The same, and takes it out. */
uint32_t threads_take(pthread_t handle);

/* In a forked child: only the caller is left, and nobody holds the table's lock. */
void threads_forked(void);

#endif
