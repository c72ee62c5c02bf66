/* SPDX-License-Identifier: MIT */
#include "scenario.h"

void _IO_flockfile(FILE *);
int _IO_ftrylockfile(FILE *);
void _IO_funlockfile(FILE *);

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

/* scenario old_names: _IO_flockfile _IO_ftrylockfile _IO_funlockfile
 * says: 0
 * events: T1 acq(f) acq(f) rel(f) rel(f)
 */
static void old_names(void)
{
	_IO_flockfile(stderr);
	say_number(_IO_ftrylockfile(stderr));
	_IO_funlockfile(stderr);
	_IO_funlockfile(stderr);
}
