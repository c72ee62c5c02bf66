/* SPDX-License-Identifier: MIT */
#include "scenario.h"

static void *try_file(void *unused)
{
	say_number(ftrylockfile(stderr) != 0);
	return unused;
}

/* scenario file: flockfile ftrylockfile funlockfile
 * says: 0 1
 * events: T1 acq(f) acq(f) fork(T2) join(T2) rel(f) rel(f)
 */
static void file(void)
{
	flockfile(stderr);
	say_number(ftrylockfile(stderr));
	elsewhere(try_file);
	funlockfile(stderr);
	funlockfile(stderr);
}
