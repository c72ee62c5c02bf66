/* SPDX-License-Identifier: MIT */
#include "order.h"

#include "event/event.h"
#include "sched/strategy.h"

#define OFFSET_MOST ((uint64_t)1 << 48)

enum { COUNT_MOST = 1 << 26 }; /* modules, and steps: no order that anybody makes has more */

static bool is_ended(const char *text, size_t room)
{
	for (size_t i = 0; i < room; i++)
		if (!text[i])
			return true;
	return false;
}

static bool is_equal(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

static bool is_hexadecimal(const char *text)
{
	for (; *text; text++)
		if (!((*text >= '0' && *text <= '9') || (*text >= 'a' && *text <= 'f')))
			return false;
	return true;
}

static const char *check_head(const struct order *o, size_t bytes)
{
	if (bytes < sizeof *o)
		return "it is cut";
	if (o->magic != ORDER_MAGIC)
		return "it is no order";
	if (o->version != ORDER_VERSION)
		return "it is of another version";
	if (!is_ended(o->strategy, sizeof o->strategy) || !strategy_named(o->strategy))
		return "its strategy is not known";
	if (o->depth > ORDER_DEPTH_MOST || o->stop > 1)
		return "its settings make no sense";
	if (o->modules > COUNT_MOST || o->steps > COUNT_MOST)
		return "it is larger than can be";
	return bytes < order_bytes(o) ? "it is cut" : bytes > order_bytes(o) ? "it has more than it says" : NULL;
}

static bool is_name(const struct order_module *m)
{
	if (!m->name[0] || !is_ended(m->name, sizeof m->name))
		return false;
	for (const char *c = m->name; *c; c++)
		if (*c == '/' || (unsigned char)*c < ' ' || *c == 0x7f)
			return false;
	return is_ended(m->build_id, sizeof m->build_id) && is_hexadecimal(m->build_id);
}

static bool is_place(const struct order *o, const struct order_step *p)
{
	if (p->module == ORDER_NO_MODULE)
		return p->offset == 0;
	return p->module < o->modules && p->offset < OFFSET_MOST;
}

static bool is_kind(uint32_t kind)
{
	return (kind > EVENT_NONE && kind < EVENT_KINDS) || (kind >= ORDER_START && kind < ORDER_KINDS);
}

static const char *check_step(const struct order *o, const struct order_step *p, bool replay)
{
	if (!p->thread)
		return "a step has no thread";
	if (!is_kind(p->kind))
		return "a step has a kind that is none";
	if (!is_place(o, p))
		return "a step has a place that is none";
	if (p->flags & ~(uint32_t)(ORDER_SAW | ORDER_CULPRIT | ORDER_EXPIRES))
		return "a step has flags that are none";
	if (!(p->flags & ORDER_SAW) && p->saw)
		return "a step saw something and does not say so";
	if (replay && !p->run)
		return "a step of a replay has no length";
	if (!replay && (!p->occurrence || p->run))
		return "a step does not say which one it is";
	return NULL;
}

const char *order_check(const void *block, size_t bytes)
{
	const struct order *o = block;
	const char *wrong = check_head(o, bytes);
	bool replay = !wrong && is_equal(o->strategy, "replay");

	for (uint32_t i = 0; !wrong && i < o->modules; i++)
		wrong = is_name(order_module(o, i)) ? NULL : "a module has a name or a build id that is none";
	for (uint32_t i = 0; !wrong && i < o->steps; i++)
		wrong = check_step(o, order_step(o, i), replay);
	return wrong;
}
