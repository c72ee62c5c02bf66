/* SPDX-License-Identifier: MIT */
#include "event.h"

#include "event/tables.h"

const struct event_info event_info[EVENT_KINDS] = {
#define EVENT(kind, text, word, shape, names) [EVENT_##kind] = {text, word, SHAPE_##shape, TABLE_##names},
#include "event/events.def"
#undef EVENT
};

const char *const event_order_text[ORDERS] = {
	[ORDER_NONE] = "",
	[ORDER_RELAXED] = "relaxed",
	[ORDER_CONSUME] = "consume",
	[ORDER_ACQUIRE] = "acquire",
	[ORDER_RELEASE] = "release",
	[ORDER_ACQ_REL] = "acq_rel",
	[ORDER_SEQ_CST] = "seq_cst",
};

bool event_equal(const struct event *a, const struct event *b)
{
	return a->kind == b->kind && a->order == b->order && a->flags == b->flags &&
	       a->thread == b->thread && a->object == b->object && a->value == b->value &&
	       a->size == b->size && a->site == b->site && a->stack == b->stack;
}
