/* SPDX-License-Identifier: MIT */
/*
 * The lock of a FILE, where the program takes it by itself; what printf and its kin do inside is theirs. Others may come
 * to wait for it there, where no gate sees it: so whoever has it goes on until it is given back.
 */
#include <stdio.h>

#include "runtime/told.h"

EXPORT void flockfile(FILE *file)
{
	gate_pass((struct gate_op){.kind = EVENT_ACQUIRE, .object = file, .pc = CALLER});
	REAL(flockfile)(file);
	gate_hold();
	told(ENTRY_ACQUIRE, file, CALLER);
}

EXPORT void funlockfile(FILE *file)
{
	told(ENTRY_RELEASE, file, CALLER);
	REAL(funlockfile)(file);
	gate_release();
}

EXPORT int ftrylockfile(FILE *file)
{
	int result;

	gate_pass((struct gate_op){.kind = EVENT_ACQUIRE, .object = file, .pc = CALLER});
	result = REAL(ftrylockfile)(file);
	if (result == 0) {
		gate_hold();
		told(ENTRY_ACQUIRE, file, CALLER);
	}
	return result;
}

EXPORT void _IO_flockfile(FILE *file) __attribute__((alias("flockfile"), nothrow, leaf));
EXPORT void _IO_funlockfile(FILE *file) __attribute__((alias("funlockfile"), nothrow, leaf));
WRAP_ALIAS(_IO_ftrylockfile, ftrylockfile, (FILE *file))
