/* SPDX-License-Identifier: MIT */
/* Cycles of three and more transactions (Wang and Stoller, Theorem 5), by search within a budget. */
#ifndef FISSION_CHECK_BLOCKS_CYCLES_H
#define FISSION_CHECK_BLOCKS_CYCLES_H

struct blocks;

/* Looks for cycles among all shapes; once, at the end. What was not decided is counted as a limit of the run. */
void cycles_search(struct blocks *b);

#endif
