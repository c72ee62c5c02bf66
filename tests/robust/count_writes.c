/* SPDX-License-Identifier: MIT */
/* How many writes of so many bytes a trace has: count_writes TRACE BYTES. Also of a trace that was cut off. */
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/fail.h"
#include "event/trace.h"

int main(int argc, char **argv)
{
	struct arena a;
	struct tables tables;
	struct trace t;
	struct event batch[TRACE_BATCH];
	unsigned long long count = 0;
	unsigned bytes = argc == 3 ? (unsigned)atoi(argv[2]) : 0;

	if (!bytes)
		die(STATUS_USAGE, "usage: count_writes TRACE BYTES");
	arena_init(&a);
	tables_init(&tables, &a);
	if (!trace_open(&t, argv[1], &tables, false))
		die(t.fault.status, "%s", t.fault.text);
	for (size_t n; (n = trace_next(&t, batch, TRACE_BATCH)) > 0;)
		for (size_t i = 0; i < n; i++)
			count += batch[i].kind == EVENT_WRITE && batch[i].size == bytes;
	if (fault_is_set(&t.fault))
		die(t.fault.status, "%s", t.fault.text);
	printf("%llu%s\n", count, t.incomplete ? " cut" : "");
	trace_close(&t);
	return 0;
}
