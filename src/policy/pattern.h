/* SPDX-License-Identifier: MIT */
/*
 * Names with wildcards: '*' is any bytes, '?' any one byte, '\*' and '\?' are the bytes themselves; everything else
 * stands for itself.
 *
 * Not libc's fnmatch: to it slot[17] is slot1 or slot7, its answer depends on the locale, and a pattern with many
 * stars can take exponential time. Here the cost is at most the product of the lengths, times the number of parts of
 * the name where parts are tried one by one.
 */
#ifndef FISSION_POLICY_PATTERN_H
#define FISSION_POLICY_PATTERN_H

#include <stdbool.h>

#include "base/intern.h"

struct arena;

bool pattern_matches(struct text pattern, struct text name);

/*
 * A file as a path or a part of one. A trace may know more of the path than the pattern says, or less: the pattern
 * may match the last parts of the file ("bank.c" and "/src/bank.c"), and the file may be the last parts of the
 * pattern ("src/bank.c" and "bank.c"). A '*' goes across slashes.
 */
bool pattern_matches_file(struct text pattern, struct text file);

/*
 * A variable, or what it is a part of: "bank" matches bank.slot[3] and bank+16, but not bank->slot, which lies
 * elsewhere.
 */
bool pattern_matches_variable(struct text pattern, struct text name);

/* The pattern that matches this name only, owned by the arena. */
struct text pattern_literal(struct arena *a, struct text name);

#endif
