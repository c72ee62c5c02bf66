/* SPDX-License-Identifier: MIT */
/*
 * From a deadlock that an execution shows to be possible (check/deadlocks.c) to an order in which it happens: each
 * thread of the circle takes the lock that it holds in it, one after the other, and then goes on to the one that it
 * wants.
 */
#ifndef FISSION_CHASE_WAITS_H
#define FISSION_CHASE_WAITS_H

#include <stddef.h>

struct arena;
struct judged;
struct order;
struct policy;

/* So many of one execution are tried. */
enum { WAITS_MOST = 4 };

/* Orders of the execution's possible deadlocks, in the arena; returns how many there are. */
size_t waits_orders(const struct judged *j, const struct policy *policy, struct arena *a, struct order *to[WAITS_MOST]);

#endif
