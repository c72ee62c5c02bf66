/* SPDX-License-Identifier: MIT */
#include "live.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/str.h"
#include "collect/collect.h"

double live_seconds(const char *words)
{
	char *end;
	double seconds;

	if (!words)
		return 0;
	seconds = strtod(words, &end);
	if (strcmp(end, "m") == 0)
		seconds *= 60;
	else if (*end && strcmp(end, "s") != 0)
		end = (char *)words;
	if (end == words || !(seconds > 0) || seconds > 1e9)
		return 0;
	return seconds;
}

const char *live_time_right(const char *words)
{
	return live_seconds(words) > 0 ? NULL : "takes seconds, as 90, 90s or 5m";
}

bool live_lacks(const struct collected *c)
{
	return c->lost || c->unringed || c->given_up || c->late || c->skipped || c->unknown;
}

void live_complain(const struct collected *c)
{
	if (c->timed_out)
		warn("the time is over; this is what was seen until then");
	if (c->halted)
		warn("the program was ended at its first finding (--halt-on-error)");
	if (c->cut)
		warn("the program synchronised more than 2147483646 times; what it did after that was not checked");
	if (c->lost)
		warn("%llu events were lost: there was no room for them", (unsigned long long)c->lost);
	if (c->unringed)
		warn("%llu threads were not recorded: too many were alive at a time", (unsigned long long)c->unringed);
	if (c->given_up)
		warn("%llu synchronisation events never arrived: a process was killed", (unsigned long long)c->given_up);
	if (c->late)
		warn("%llu synchronisation events came too late to stand in their order", (unsigned long long)c->late);
	if (c->skipped)
		warn("%llu events are missing: signal handlers interrupted their recording", (unsigned long long)c->skipped);
	if (c->unknown)
		warn("%llu entries of the program's rings made no sense", (unsigned long long)c->unknown);
	if (c->lockless)
		warn("%llu calls of functions that 'lock' lines name did no atomic operation that takes a lock; call "
			"fission_lock_acquire() in them", (unsigned long long)c->lockless);
	if (c->unheard)
		warn("%llu functions of signal handlers that ran inside a wait are left out", (unsigned long long)c->unheard);
	if (c->processes == 0)
		warn("the program has recorded nothing: it was not built with fission-cc, and has no threads or runs as another user");
}

const char *live_path(const char *word, struct arena *a)
{
	const char *at = strchr(word, '/') ? NULL : getenv("PATH");
	struct str s;

	while (at && *at) {
		size_t length = strcspn(at, ":");

		str_init(&s, a);
		str_bytes(&s, at, length);
		str_printf(&s, "/%s", word);
		if (access(s.at, X_OK) == 0)
			return s.at;
		at += length + (at[length] != 0);
	}
	return word;
}
