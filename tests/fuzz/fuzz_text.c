/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a text trace: reading ends, strictly and leniently, and what was read is the same after it was
 * written and read again, as text and as binary.
 */
#include "fuzz.h"

/* Whether all of it could be read. */
static bool read_and_write(const char *path, bool lenient)
{
	struct fuzz_trace f;
	bool whole;

	fuzz_read(&f, path, lenient);
	if (f.opened) {
		fuzz_round_trip(&f, &trace_text);
		fuzz_round_trip(&f, &trace_bin);
	}
	whole = f.opened && !fault_is_set(&f.trace.fault);
	fuzz_free(&f);
	return whole;
}

/* A trace without a mistake is the same to both. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = fuzz_file(data, size);

	if (!read_and_write(path, false))
		read_and_write(path, true);
	return 0;
}
