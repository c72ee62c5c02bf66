/* SPDX-License-Identifier: MIT */
/*
 * Traces short enough to stand in a test's table: steps with semicolons between them, "THREAD OPERATION ARGUMENT
 * ARGUMENT"; a thread is a digit, a name is a letter and its own id, "0x..." an address.
 */
#ifndef FISSION_TESTS_PROPS_SHORT_TRACE_H
#define FISSION_TESTS_PROPS_SHORT_TRACE_H

#include <stddef.h>

struct event;

/* Fills `events`, seqs from 1, and returns how many; ends the program if an operation is none. */
size_t short_trace(const char *text, struct event *events);

#endif
