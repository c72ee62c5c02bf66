/* SPDX-License-Identifier: MIT */
/*
 * Names of symbols as their authors wrote them.
 *
 * C++ names are taken apart by libiberty, which is linked in: libstdc++'s own demangler would make a C++ program of the
 * tool. Only its demangler is used, whose licence allows that for any program. Parameters are left out, so that a name
 * is what a policy would say ("Bank::transfer"), and overloads share theirs.
 */
#ifndef FISSION_SYMBOLS_DEMANGLE_H
#define FISSION_SYMBOLS_DEMANGLE_H

#include "base/intern.h"

struct arena;

/*
 * The name behind a function's symbol, owned by the arena. What compilers append to the parts and copies that they
 * make (".cold", ".part.0", ".constprop.1") goes: it is the same function to whoever wrote it.
 */
struct text demangle_function(struct arena *a, const char *symbol);

/* The same for a variable. A static variable of a function goes by its own name alone, in C++ as in C. */
struct text demangle_variable(struct arena *a, const char *symbol);

#endif
