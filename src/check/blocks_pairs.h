/* SPDX-License-Identifier: MIT */
/* 2v-blocks: what two transactions can do to two variables (Wang and Stoller, Theorem 4). */
#ifndef FISSION_CHECK_BLOCKS_PAIRS_H
#define FISSION_CHECK_BLOCKS_PAIRS_H

struct blocks;

/* Compares the 2v-blocks of all shapes; once, at the end. */
void pairs_compare(struct blocks *b);

#endif
