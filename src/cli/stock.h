/* SPDX-License-Identifier: MIT */
/*
 * Programs that were not built with fission-cc. They run with the library in front of the C library, and tell of locks,
 * threads and processes; of their memory nothing is seen.
 */
#ifndef FISSION_CLI_STOCK_H
#define FISSION_CLI_STOCK_H

#include <stdbool.h>

struct arena;

/*
 * Looks at the program that argv names, without running it. The library to put in front of it, in the arena, if it was
 * not built with fission-cc; NULL if it was, or if starting it will tell what is wrong with it. A program into which no
 * library can be brought ends the tool, with the reason.
 */
const char *stock_library(struct arena *a, const char *program);

/* Says in one line what it means. */
void stock_say(const char *program);

#endif
