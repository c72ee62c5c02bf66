/* SPDX-License-Identifier: MIT */
/*
 * The Atomizer's annotations, in the comments of a C source: a comment that begins with a number sign and holds one or
 * more of the words atomic, assume_atomic, assume_mover (about the function that follows), assume_guarded (about the
 * variables or fields that follow) and no_warn (about its own line).
 *
 * A comment whose first word is a preprocessor directive's, or does not begin with a letter, is code that was
 * commented out, or a drawing, and none of ours. Any other word is a mistake, and so is an annotation that nothing
 * follows: one without effect would pass for one that works.
 *
 * This is no parser of C. Macros are not expanded; the function is the word before the first parenthesis that is not
 * an attribute's. Cost: linear in the file, as a declaration's look-ahead has a limit.
 */
#ifndef FISSION_POLICY_COMMENTS_H
#define FISSION_POLICY_COMMENTS_H

#include <stdbool.h>

struct fault;
struct rules;

/*
 * Adds the annotations of the file. False with a fault: STATUS_USAGE if it cannot be read, STATUS_CONFIG for a mistake
 * in an annotation, with its place and the remedy.
 */
bool comments_read(struct rules *r, const char *path, struct fault *fault);

#endif
