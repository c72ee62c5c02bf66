/* SPDX-License-Identifier: MIT */
/* Robust mutexes that a thread holds when it ends: the kernel releases them, which nobody else would tell. */
#ifndef FISSION_RUNTIME_ROBUST_H
#define FISSION_RUNTIME_ROBUST_H

/* The calling thread ends. */
void robust_told(void);

#endif
