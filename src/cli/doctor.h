/* SPDX-License-Identifier: MIT */
/* What the parts of `fission doctor` share. */
#ifndef FISSION_CLI_DOCTOR_H
#define FISSION_CLI_DOCTOR_H

enum fitness { FIT, DOUBTFUL, UNFIT };

/* One line of the examination: what was looked at, and how it is. Counts the fitness. */
void doctor_say(enum fitness fitness, const char *what, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* What to do about the line before. */
void doctor_advise(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Looks at a program: is it one, was it built with fission-cc, and what will its report know? */
void doctor_program(const char *path);

#endif
