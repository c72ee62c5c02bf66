/* SPDX-License-Identifier: MIT */
/* Start and end of the process, as the loader tells them. The start may have come before: see self.h. */
#include "runtime/self.h"

__attribute__((constructor(101))) static void start(void)
{
	(void)self();
}

/* Entries of threads that still run are in their rings; the collector takes them when the process is gone. */
__attribute__((destructor(101))) static void end(void)
{
	self_finish();
}
