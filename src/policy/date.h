/* SPDX-License-Identifier: MIT */
/*
 * Days of the calendar, written 2027-06-30. A date is the number 20270630, so that later ones are larger; 0 is none.
 * Today is the day in UTC, so that everybody's run on one day says the same.
 */
#ifndef FISSION_POLICY_DATE_H
#define FISSION_POLICY_DATE_H

#include "base/intern.h"

struct fault;

typedef unsigned date;

/* 0 if the text is no day of the calendar from the year 1970 on; *why then says what is wrong with it. */
date date_parse(struct text t, const char **why);

/* The day of the clock, or what FISSION_TODAY says. 0 with a fault, STATUS_USAGE, if that is no date. */
date date_today(struct fault *fault);

/* Writes it as it is parsed. */
enum { DATE_LENGTH = 10 };
void date_write(date d, char to[DATE_LENGTH + 1]);

#endif
