/* SPDX-License-Identifier: MIT */
#include "short_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/event.h"
#include "event/tables.h"

static enum event_kind kind_of(const char *operation)
{
	for (int k = 1; k < EVENT_KINDS; k++)
		if (strcmp(event_info[k].text, operation) == 0)
			return k;
	printf("short_trace: no such operation: %s\n", operation);
	exit(1);
}

static void read_first(struct event *e, const char *text)
{
	if (strncmp(text, "0x", 2) == 0) {
		e->flags |= EVENT_ADDRESSED;
		e->object = strtoull(text, NULL, 16);
	} else {
		e->object = event_info[e->kind].table == TABLE_THREAD ? (uint64_t)text[0] - '0' : (uint64_t)text[0];
	}
}

static void read_second(struct event *e, const char *text)
{
	switch (event_info[e->kind].shape) {
	case SHAPE_TWO: e->mutex = (uint64_t)text[0]; break;
	case SHAPE_COUNT: e->count = strtoull(text, NULL, 10); break;
	default: e->flags |= EVENT_SIZED; e->size = (uint32_t)strtoul(text, NULL, 10);
	}
}

static struct event read_step(const char *text, uint64_t seq)
{
	char operation[32] = "", first[32] = "", second[32] = "";
	struct event e = {.seq = seq};

	sscanf(text, "%u %31[^ ;] %31[^ ;] %31[^ ;]", &e.thread, operation, first, second);
	e.kind = (uint8_t)kind_of(operation);
	if (*first)
		read_first(&e, first);
	if (*second)
		read_second(&e, second);
	return e;
}

size_t short_trace(const char *text, struct event *events)
{
	size_t n = 0;

	while (text && *text) {
		events[n] = read_step(text, n + 1);
		n++;
		text = strchr(text, ';');
		if (text)
			text++;
	}
	return n;
}
