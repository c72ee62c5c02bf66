/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define FIRST 1.0    /* seconds before anything is shown */
#define REFRESH 0.1  /* between two looks of the line */
#define PLAIN 10.0   /* between two plain lines */

enum { NARROW = 80, LONGEST = 240 };

static bool shown; /* a line stands on the terminal; there is one terminal */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void progress_start(struct progress *p, enum progress_form form, bool utf8)
{
	*p = (struct progress){.form = form, .between = utf8 ? " · " : " - ", .start = now()};
	p->next = p->start + (form == PROGRESS_PLAIN ? PLAIN : FIRST);
}

bool progress_due(const struct progress *p)
{
	return p->form != PROGRESS_NONE && now() >= p->next;
}

static size_t columns(void)
{
	struct winsize size;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : NARROW;
}

/* Cuts the text so that the line does not wrap: it could not be erased then. */
static void cut(char *text, size_t most)
{
	size_t n = 0;

	for (; *text; text++) {
		n += ((unsigned char)*text & 0xC0) != 0x80; /* not the rest of a character */
		if (n > most) {
			*text = 0;
			return;
		}
	}
}

void progress_show(struct progress *p, const char *format, ...)
{
	unsigned seconds = (unsigned)(now() - p->start);
	char text[LONGEST];
	size_t n;
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	n = strlen(text);
	snprintf(text + n, sizeof text - n, "%s%02u:%02u", p->between, seconds / 60, seconds % 60);
	p->next = now() + (p->form == PROGRESS_PLAIN ? PLAIN : REFRESH);
	if (p->form == PROGRESS_PLAIN) {
		fprintf(stderr, "fission: %s\n", text);
		return;
	}
	cut(text, columns() - 1);
	fprintf(stderr, "\r%s\033[K", text);
	fflush(stderr);
	shown = true;
}

void progress_clear(void)
{
	if (shown)
		fputs("\r\033[K", stderr);
	shown = false;
}

const char *progress_number(uint64_t n, char to[16])
{
	static const char unit[] = "kMGT";
	double x = (double)n;
	size_t i = 0;

	if (n < 1000) {
		snprintf(to, 16, "%" PRIu64, n);
		return to;
	}
	for (x /= 1000; x >= 1000 && i < sizeof unit - 2; i++)
		x /= 1000;
	snprintf(to, 16, "%.*f%c", x < 10, x, unit[i]);
	return to;
}
