/* SPDX-License-Identifier: MIT */
/*
 * The judge of serializability, for one sequence of events and for all that a trace can be reordered into.
 *
 * Transactions are the declared blocks, from an outermost begin to its end or to the end of the sequence, and every
 * event outside them. A sequence is serializable
 *
 * - by conflicts if the order of conflicting events makes no cycle of transactions; SERIAL_DATA and SERIAL_FULL are
 *   the data order and the full order of docs/traces.md, so that fork and join count in both;
 * - by view (004 section 2) if there is a serial sequence of the same events in which every read sees the same write
 *   and every variable has the same last write. The serial sequence is a trace too: threads keep their order, and
 *   locks that are held across transactions, fork, join, barriers and semaphores are respected.
 *
 * A trace is atomic if every maximal REORDER_SYNC reordering is serializable, and none gets stuck while a thread is
 * within a block (004 says that such a one is not equivalent to any serial trace; who wants to tell the two apart asks
 * reorder_deadlocks() first).
 *
 * UNDECIDED is what is too large (see reorder.h) and, of atomic_by_*(), any trace with an alloc by address: which
 * accesses conflict depends on where that goes. serial_by_view() takes an alloc for a write.
 */
#ifndef FISSION_TESTS_PROPS_SERIAL_H
#define FISSION_TESTS_PROPS_SERIAL_H

#include "reorder.h"

enum serial_order { SERIAL_DATA, SERIAL_FULL };

/* Seqs play no role: the order is that of the array. YES: it is serializable. */
enum reorder_answer serial_by_conflicts(const struct event *sequence, size_t n, enum serial_order order);
enum reorder_answer serial_by_view(const struct event *sequence, size_t n);

/* YES: every reordering is serializable. */
enum reorder_answer atomic_by_conflicts(const struct event *events, size_t n, enum serial_order order);
enum reorder_answer atomic_by_view(const struct event *events, size_t n);

#endif
