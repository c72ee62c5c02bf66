/* SPDX-License-Identifier: MIT */
#include "date.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"

enum { YEAR = 10000, MONTH = 100, FIRST_YEAR = 1970 };

static bool is_leap(unsigned year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static unsigned days_of(unsigned year, unsigned month)
{
	static const unsigned char days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

	return month == 2 && is_leap(year) ? 29 : days[month - 1];
}

/* The digits without the dashes, which must be where they belong; 0 otherwise. */
static date digits_of(struct text t)
{
	date d = 0;

	if (t.length != DATE_LENGTH)
		return 0;
	for (size_t i = 0; i < DATE_LENGTH; i++) {
		bool dash = i == 4 || i == 7;

		if (dash ? t.at[i] != '-' : t.at[i] < '0' || t.at[i] > '9')
			return 0;
		if (!dash)
			d = d * 10 + (unsigned)(t.at[i] - '0');
	}
	return d;
}

date date_parse(struct text t, const char **why)
{
	date d = digits_of(t);
	unsigned year = d / YEAR, month = d / MONTH % 100, day = d % MONTH;

	*why = NULL;
	if (d == 0)
		*why = "is not a date";
	else if (year < FIRST_YEAR || month < 1 || month > 12 || day < 1 || day > days_of(year, month))
		*why = "is not a day of the calendar";
	return *why ? 0 : d;
}

date date_today(struct fault *fault)
{
	const char *said = getenv("FISSION_TODAY"), *why;
	time_t now = time(NULL);
	struct tm tm;
	date d;

	if (!said) {
		gmtime_r(&now, &tm);
		return (unsigned)(tm.tm_year + 1900) * YEAR + (unsigned)(tm.tm_mon + 1) * MONTH + (unsigned)tm.tm_mday;
	}
	d = date_parse((struct text){said, strlen(said)}, &why);
	if (!d)
		fault_set(fault, STATUS_USAGE, "FISSION_TODAY: '%.60s' %s; write YEAR-MONTH-DAY, such as 2027-06-30", said, why);
	return d;
}

void date_write(date d, char to[DATE_LENGTH + 1])
{
	snprintf(to, DATE_LENGTH + 1, "%04u-%02u-%02u", d / YEAR % 10000, d / MONTH % 100, d % MONTH);
}
