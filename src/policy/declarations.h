/* SPDX-License-Identifier: MIT */
/* Which names a C declaration declares, from its tokens alone: without types and macros, so by shape. */
#ifndef FISSION_POLICY_DECLARATIONS_H
#define FISSION_POLICY_DECLARATIONS_H

#include <stdbool.h>
#include <stddef.h>

struct tokens;

/* The token with the name of the function that is defined or declared at token i, or -1. */
ptrdiff_t declared_function(const struct tokens *t, size_t i);

/*
 * Calls `add` for the token of each variable or field that is declared at token i: `int a, *b[3] = {0}, (*c)(int);`
 * has three. False if this is not such a declaration; `add` may have been called for the first names of it.
 */
bool declared_variables(const struct tokens *t, size_t i, void (*add)(void *context, size_t token), void *context);

/* Whether the brace is that of a struct or union, by what stands before it. */
bool brace_is_record(const struct tokens *t, size_t brace);

#endif
