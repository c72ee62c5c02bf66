/* SPDX-License-Identifier: MIT */
/* `fission trace program`: a C program that performs a trace. trace_program.c says what such a program is. */
#ifndef FISSION_CLI_TRACE_PROGRAM_H
#define FISSION_CLI_TRACE_PROGRAM_H

#include <stdbool.h>

struct fault;
struct output;
struct tables;
struct trace;

/*
 * Reads the opened trace to its end and writes the program. `tables` are the trace's own. The output is neither
 * committed nor aborted. False with a fault: the trace's own, or STATUS_TRACE with the place of the first event
 * that is not well-formed or that no program can perform; nothing has been written then.
 */
bool trace_program_write(struct trace *t, const struct tables *tables, struct output *out, struct fault *fault);

#endif
