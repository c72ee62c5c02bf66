/* SPDX-License-Identifier: MIT */
/* Library functions that read or write memory for the program. */
#ifndef FISSION_RUNTIME_WRAP_STRING_H
#define FISSION_RUNTIME_WRAP_STRING_H

/* Looks up the functions behind, at the start, when nobody can be in the middle of one. */
void string_start(void);

#endif
