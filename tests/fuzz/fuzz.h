/* SPDX-License-Identifier: MIT */
/*
 * What the fuzzing harnesses share: bytes as a file that a trace can be opened from, all events of a trace, and
 * whether two traces say the same.
 *
 * Each harness is one file with LLVMFuzzerTestOneInput. Built with -DFUZZ_STANDALONE it has a main that takes files
 * instead, to run what a fuzzer has found, or the seeds, without one.
 *
 * A property that does not hold is told on standard error, and abort() ends the run: that is a crash to the fuzzer.
 */
#ifndef FISSION_TESTS_FUZZ_H
#define FISSION_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "event/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A trace, read as far as it can be. */
struct fuzz_trace {
	struct arena arena;
	struct tables tables;
	struct trace trace;
	struct event *events;
	size_t count, capacity;
	bool opened;
};

/* The path of a file in memory with these bytes. It is the same file, with other bytes, after the next call. */
const char *fuzz_file(const uint8_t *data, size_t size);

/* Opens and reads all of the trace at the path. To be freed in any case. */
void fuzz_read(struct fuzz_trace *f, const char *path, bool lenient);
void fuzz_free(struct fuzz_trace *f);

/*
 * Standard output becomes a file in memory: what the code under test writes to "-" goes there. The path of that
 * file, emptied.
 */
const char *fuzz_output(void);

/* Writes the events in that format and reads them back; aborts unless they, their names and stacks are the same. */
void fuzz_round_trip(const struct fuzz_trace *f, const struct trace_format *format);

/* Whether following every byte of the accesses would take too long for a fuzzer, but not be of any interest. */
bool fuzz_is_heavy(const struct fuzz_trace *f);

#endif
