/* SPDX-License-Identifier: MIT */
/* The lock of a FILE, where the program takes it by itself; what printf and its kin do inside is theirs. */
#include <stdio.h>

#include "runtime/told.h"

EXPORT void flockfile(FILE *file)
{
	REAL(flockfile)(file);
	told(ENTRY_ACQUIRE, file, CALLER);
}

EXPORT void funlockfile(FILE *file)
{
	told(ENTRY_RELEASE, file, CALLER);
	REAL(funlockfile)(file);
}

WRAP_AFTER(ftrylockfile, is_zero, ENTRY_ACQUIRE, (FILE *o), (o))

EXPORT void _IO_flockfile(FILE *file) __attribute__((alias("flockfile"), nothrow, leaf));
EXPORT void _IO_funlockfile(FILE *file) __attribute__((alias("funlockfile"), nothrow, leaf));
WRAP_ALIAS(_IO_ftrylockfile, ftrylockfile, (FILE *o))
