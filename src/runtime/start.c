/* SPDX-License-Identifier: MIT */
/*
 * Start of the process, as the loader tells it; it may have come before: see self.h.
 *
 * There is no end: destructors and exit handlers of the program run after any of ours could. What is in the rings when
 * the process is gone is all there is, and the collector finishes its threads then.
 */
#include "runtime/inputs.h"
#include "runtime/self.h"
#include "runtime/wrap_string.h"

__attribute__((constructor(101))) static void start(int argc, char **argv)
{
	string_start();
	(void)self();
	inputs_start(argc, argv);
}
