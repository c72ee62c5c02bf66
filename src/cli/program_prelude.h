/* SPDX-License-Identifier: MIT */
/* The part that all programs of `fission trace program` have in common, as C text. */
#ifndef FISSION_CLI_PROGRAM_PRELUDE_H
#define FISSION_CLI_PROGRAM_PRELUDE_H

/*
 * Headers, the turn, and what else the steps call. It takes THREADS and BLOCKS, the numbers of threads and of
 * allocations, as defined before it.
 */
extern const char program_prelude[];

#endif
