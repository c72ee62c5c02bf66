/* SPDX-License-Identifier: MIT */
/*
 * What speculation has found, as JSON (docs/speculate.md has its members): candidates, one a group, best first; the
 * rungs, with how many have passed each; and what could not be looked at, with counts.
 */
#ifndef FISSION_SYMBOLIC_SPECULATE_OUT_H
#define FISSION_SYMBOLIC_SPECULATE_OUT_H

struct speculation;
struct str;

void speculate_write(const struct speculation *s, struct str *to);

#endif
