/* SPDX-License-Identifier: MIT */
#include "fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/progress.h"

static void say(const char *format, va_list ap)
{
	progress_clear();
	fflush(stdout);
	fputs("fission: ", stderr);
	vfprintf(stderr, format, ap);
	fputc('\n', stderr);
}

void fault_set(struct fault *f, int status, const char *format, ...)
{
	va_list ap;

	if (fault_is_set(f))
		return;
	f->status = status;
	va_start(ap, format);
	vsnprintf(f->text, sizeof f->text, format, ap);
	va_end(ap);
}

void die(int status, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say(format, ap);
	va_end(ap);
	exit(status);
}

void warn(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say(format, ap);
	va_end(ap);
}
