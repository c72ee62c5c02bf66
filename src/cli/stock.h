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
 * Looks at the program of that name, without running it. The library to put in front of it, in the arena, if it was not
 * built with fission-cc; NULL if it was, or if starting it will tell what is wrong with it. NULL as well if neither it
 * nor its libraries can make a thread: a shell, make, a script of theirs. What matters then is what it starts, which
 * may have been built with fission-cc. A program into which no library can be brought ends the tool, with the reason.
 */
const char *stock_library(struct arena *a, const char *program);

/* Says in one line what it means. */
void stock_say(const char *program);

/* The same of a search. */
void stock_say_chase(const char *program);

#endif
