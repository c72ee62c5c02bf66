/* SPDX-License-Identifier: MIT */
/*
 * How a source file is spelt in a place: the same wherever the project was built.
 *
 * Debug information has the file as the compiler was given it and the directory in which it ran. Both are joined, "."
 * and ".." folded, and the file is told from the deepest directory that holds both on: "bank.c" for bank.c and
 * ./bank.c, "src/bank.c" for ../src/bank.c and for the absolute path that CMake gives from a build directory inside the
 * project. The system's headers keep their absolute path, and so does a file that has nothing but / in common with the
 * directory.
 */
#ifndef FISSION_SYMBOLS_SOURCE_PATH_H
#define FISSION_SYMBOLS_SOURCE_PATH_H

#include "base/intern.h"

struct arena;

/* `directory` may be NULL. The text is owned by the arena. */
struct text source_path(struct arena *a, const char *directory, const char *file);

#endif
