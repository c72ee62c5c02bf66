/* SPDX-License-Identifier: MIT */
/* Any bytes as a text trace into `fission trace program`: it writes a program, or it refuses with a reason. */
#include "fuzz.h"

#include <stdlib.h>

#include "cli/trace_program.h"

static void write_program(struct fuzz_trace *f, const char *path)
{
	struct fault fault = {0};
	struct output out;
	bool written;

	trace_close(&f->trace);
	f->opened = trace_open(&f->trace, path, &f->tables, false);
	fuzz_output();
	if (!f->opened || !output_open(&out, "-"))
		abort();
	written = trace_program_write(&f->trace, &f->tables, &out, &fault);
	if (written == fault_is_set(&fault) || (!written && out.written))
		abort();
	output_abort(&out);
}

/* Read once before, to see how much there is to it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = fuzz_file(data, size);
	struct fuzz_trace f;

	fuzz_read(&f, path, false);
	if (f.opened && !fuzz_is_heavy(&f))
		write_program(&f, path);
	fuzz_free(&f);
	return 0;
}
