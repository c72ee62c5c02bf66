/* SPDX-License-Identifier: MIT */
#include "trace_bin_events.h"

#include <string.h>

#include "event/trace_bin.h"

/* What the value of an event must be. */
enum value_rule { VALUE_NONE, VALUE_ANY, VALUE_UNSIGNED, VALUE_PARTIES, VALUE_MUTEX };

/* By number of bytes. */
static const uint64_t width_mask[] = {
	0, 0xff, 0xffff, 0xffffff, 0xffffffff, 0xffffffffff, 0xffffffffffff, 0xffffffffffffff, UINT64_MAX,
};

static bool fail(struct bin_events *d, const char *wrong)
{
	d->wrong = wrong;
	return false;
}

static uint8_t value_rule(const struct bin_template *m, uint8_t part)
{
	if (part == PART_NEVER || (part == PART_MAYBE && !(m->flags & EVENT_VALUED)))
		return VALUE_NONE;
	if (m->kind == EVENT_WAIT)
		return VALUE_MUTEX;
	if (m->kind == EVENT_BARRIER)
		return VALUE_PARTIES;
	return m->flags & EVENT_UNSIGNED ? VALUE_UNSIGNED : VALUE_ANY;
}

/* Which objects the template's events may have. */
static bool object_range(struct bin_events *d, struct bin_template *m, uint8_t part)
{
	uint32_t known = d->known.names[event_info[m->kind].table];

	if (m->flags & EVENT_ADDRESSED) {
		m->span = UINT64_MAX;
	} else if (part == PART_ALWAYS) {
		if (known == 0)
			return fail(d, "an event names something of an empty table");
		m->first = 1;
		m->span = known - 1;
	} else {
		m->span = part == PART_MAYBE ? known : 0;
	}
	return true;
}

static bool template_check(struct bin_events *d, struct bin_template *m)
{
	struct bin_parts parts;

	if (m->kind == EVENT_NONE || m->kind >= EVENT_KINDS)
		return fail(d, "an unknown kind of event");
	parts = bin_parts_of(m->kind);
	if (m->flags & ~parts.flags)
		return fail(d, "a flag that the kind of event does not have");
	if ((m->flags & EVENT_UNSIGNED) && !(m->flags & EVENT_VALUED))
		return fail(d, "an unsigned value that is not there");
	if (m->order >= ORDERS || (m->order != ORDER_NONE) != (parts.order == PART_ALWAYS))
		return fail(d, "a memory order that the kind of event does not have");
	if ((m->flags & EVENT_SIZED) && (m->size == 0 || m->size > EVENT_SIZE_MOST))
		return fail(d, "an access of no or too many bytes");
	if (m->site > d->known.names[TABLE_SITE] || m->stack > d->known.stacks)
		return fail(d, "a place or stack that is not in the tables");
	m->value = value_rule(m, parts.value);
	return object_range(d, m, parts.object);
}

static bool template_read(struct bin_events *d, struct bytes *b, site_id before)
{
	struct bin_template m = {.kind = bytes_byte(b)};
	uint8_t bits = bytes_byte(b);

	m.order = bits >> 4;
	m.flags = bits & 15;
	if (m.flags & EVENT_SIZED)
		m.size = (uint32_t)bytes_varint(b, UINT32_MAX);
	m.site = before + (uint32_t)unzigzag(bytes_varint(b, (uint64_t)UINT32_MAX * 2));
	m.stack = (uint32_t)bytes_varint(b, UINT32_MAX);
	if (b->bad)
		return fail(d, "a template is cut short");
	d->template[d->templates++] = m;
	return template_check(d, &d->template[d->templates - 1]);
}

/* The columns behind the templates take exactly what is left of the payload. */
static bool columns(struct bin_events *d, struct bytes *b, const unsigned char *head)
{
	uint64_t runs = load32(head + 4), objects = load32(head + 8), values = load32(head + 12);

	if (runs + objects + values + 2 * (uint64_t)d->left != bytes_left(b))
		return fail(d, "the parts of an events chunk do not add up to its length");
	d->runs = (struct bytes){b->at, b->at + runs, false};
	d->heads = d->runs.end;
	d->objects = d->heads + 2 * (size_t)d->left;
	d->values = d->objects_end = d->objects + objects;
	d->values_end = d->values + values;
	return true;
}

/* Where the chunk before has said it: the addresses of the templates. */
static bool take_addresses(struct bin_events *d)
{
	if (d->addresses && d->addresses != d->templates)
		return fail(d, "as many addresses as there are templates do not come before an events chunk");
	for (uint32_t i = 0; i < d->addresses; i++)
		d->template[i].pc = d->address[i];
	d->addresses = 0;
	return true;
}

/* Loops. */

static void loop_await(struct bin_events *d)
{
	const struct bin_loop *l = &d->loop[d->looped];

	d->until = d->looped < d->loops ? l->before + l->items : UINT32_MAX;
}

/* Those that are there belong to a chunk that was opened: what comes now is about the next one. */
static void loops_renew(struct bin_events *d)
{
	if (d->loops_taken)
		d->loops = d->strides = d->way_item = d->way_loop = d->way_first = 0;
	d->loops_taken = false;
}

const char *bin_loop_read(struct bin_events *d, struct bytes *b)
{
	struct bin_loop l = {.before = (uint32_t)bytes_varint(b, BIN_EVENTS_MOST)};
	uint32_t count;

	loops_renew(d);
	l.items = (uint32_t)bytes_varint(b, BIN_LOOP_MOST);
	count = (uint32_t)bytes_varint(b, BIN_LOOPS_MOST);
	if (b->bad || !l.items || count <= l.items)
		return "a loop that is cut short, of no items, or that does nothing again";
	if (l.before + l.items > BIN_EVENTS_MOST - d->loop_heads || count > BIN_LOOPS_MOST - d->loop_events)
		return "loops of more events than a chunk can have";
	for (uint32_t i = 0; i < l.items; i++)
		d->items[d->strides++] = (struct bin_item){.stride = unzigzag(bytes_varint(b, UINT64_MAX))};
	l.count = count - l.items;
	d->loop_heads += l.before + l.items;
	d->loop_events += count;
	d->loop[d->loops++] = l;
	return b->bad ? "the strides of a loop are cut short" : NULL;
}

/* How many events of the item are behind its loop's first round. The item is way_item, and becomes the one behind. */
static uint32_t way_events(struct bin_events *d)
{
	const struct bin_loop *l = &d->loop[d->way_loop];

	for (; d->way_item >= d->way_first + l->items; l = &d->loop[d->way_loop])
		d->way_first += d->loop[d->way_loop++].items;
	return (l->count + l->items - 1 - (d->way_item++ - d->way_first)) / l->items;
}

/* The bytes are put aside: what they are about comes in another chunk. */
const char *bin_way_read(struct bin_events *d, struct bytes *b)
{
	uint32_t skip = (uint32_t)bytes_varint(b, BIN_EVENTS_MOST), width = bytes_byte(b);
	struct bin_item *i;
	const unsigned char *from;
	size_t n;

	loops_renew(d);
	if (b->bad || !width || width > sizeof(uint64_t) || skip >= d->strides - d->way_item)
		return "a way that is cut short, of no width, or of no item of a loop";
	d->way_item += skip;
	i = &d->items[d->way_item];
	n = (size_t)way_events(d) * width;
	from = bytes_take(b, n);
	if (!from || n > BIN_WAYS_MOST - d->difference_bytes)
		return "the differences of a way are cut short, or are too many";
	i->width = width;
	i->at = (uint32_t)d->difference_bytes;
	memcpy(d->differences + d->difference_bytes, from, n);
	d->difference_bytes += n;
	return NULL;
}

/* Those that stand before the chunk are about its events. */
static bool take_loops(struct bin_events *d)
{
	if (d->loops_taken)
		d->loops = 0;
	d->loops_taken = true;
	d->difference_bytes = 0;
	d->looped = d->stepped = d->again = 0;
	loop_await(d);
	if (d->loop_heads > d->left)
		return fail(d, "a loop reaches beyond the events of its chunk");
	d->loop_heads = d->loop_events = 0;
	return true;
}

/* The heads of its first round were taken: they are the last ones. */
static bool loop_begin(struct bin_events *d)
{
	const struct bin_loop *l = &d->loop[d->looped];

	if (d->run_done < l->items)
		return fail(d, "a loop over events of more than one thread");
	for (uint32_t i = 1; i <= l->items; i++) {
		const struct bin_template *m = &d->template[load16(d->heads - 2 * (size_t)i) / BIN_WIDTHS];

		if ((m->kind != EVENT_READ && m->kind != EVENT_WRITE) || !(m->flags & EVENT_ADDRESSED) || m->value)
			return fail(d, "a loop over something else than accesses without values");
	}
	d->again = l->count;
	d->item = 0;
	return true;
}

static void loop_end(struct bin_events *d)
{
	d->stepped += d->loop[d->looped++].items;
	loop_await(d);
}

static struct event template_event(const struct bin_events *d, const struct bin_template *m)
{
	return (struct event){.kind = m->kind, .order = m->order, .flags = m->flags, .thread = d->thread,
		.object = m->object, .size = m->size, .site = m->site, .stack = m->stack, .pc = m->pc};
}

/* How much further it is this time. */
static inline uint64_t item_step(const struct bin_events *d, struct bin_item *i)
{
	uint64_t z;

	if (!i->width)
		return i->stride;
	z = load64(d->differences + i->at) & width_mask[i->width];
	i->at += i->width;
	return unzigzag(z);
}

/* What the loop does after its first round; up to `most`. Every address will do. */
static size_t loop_decode(struct bin_events *d, struct event *e, size_t most)
{
	const uint32_t items = d->loop[d->looped].items;
	const unsigned char *heads = d->heads - 2 * (size_t)items;
	size_t n = most < d->again ? most : d->again;

	for (size_t i = 0; i < n; i++, e++) {
		struct bin_template *m = &d->template[load16(heads + 2 * (size_t)d->item) / BIN_WIDTHS];

		m->object += item_step(d, &d->items[d->stepped + d->item]);
		*e = template_event(d, m);
		d->item = d->item + 1 == items ? 0 : d->item + 1;
	}
	d->again -= (uint32_t)n;
	if (!d->again)
		loop_end(d);
	return n;
}

bool bin_events_open(struct bin_events *d, const unsigned char *payload, size_t n, uint32_t count)
{
	struct bytes b = {payload, payload + n, false};
	const unsigned char *head = bytes_take(&b, BIN_EVENTS_HEAD);
	uint32_t templates;

	d->templates = d->run = d->left = d->again = 0;
	if (!head || count == 0 || count > BIN_EVENTS_MOST)
		return fail(d, "an events chunk without a head, without events or with too many");
	templates = load32(head);
	if (templates > BIN_TEMPLATES_MOST)
		return fail(d, "an events chunk with too many templates");
	while (d->templates < templates) {
		site_id before = d->templates ? d->template[d->templates - 1].site : 0;

		if (!template_read(d, &b, before))
			return false;
	}
	d->left = count;
	return take_addresses(d) && columns(d, &b, head) && take_loops(d);
}

static bool run_next(struct bin_events *d)
{
	d->thread = (thread_id)bytes_varint(&d->runs, d->known.names[TABLE_THREAD]);
	d->run = (uint32_t)bytes_varint(&d->runs, d->left);
	if (d->runs.bad || d->thread == 0 || d->run == 0)
		return fail(d, "a run of events of no thread, of none, or of more than there are");
	d->run_done = 0;
	return true;
}

static bool value_fits(const struct bin_events *d, uint8_t rule, uint64_t value)
{
	switch (rule) {
	case VALUE_UNSIGNED: return value > INT64_MAX;
	case VALUE_PARTIES: return value > 0;
	case VALUE_MUTEX: return value > 0 && value <= d->known.names[TABLE_SYNC];
	default: return true;
	}
}

/* Takes over how far n events of the current run have come. */
static bool run_end(struct bin_events *d, size_t n, const unsigned char *object, const unsigned char *value)
{
	if (object > d->objects_end || value > d->values_end)
		return fail(d, "the objects or values of a chunk end before its events");
	d->heads += 2 * n;
	d->objects = object;
	d->values = value;
	d->run -= (uint32_t)n;
	d->run_done += (uint32_t)n;
	d->left -= (uint32_t)n;
	d->until -= d->until == UINT32_MAX ? 0 : (uint32_t)n;
	return d->until || loop_begin(d);
}

/*
 * n events of one thread, at most BIN_STEP. False, with `wrong`, if one of them cannot be read.
 *
 * This is the inner loop of every reader of binary traces. The columns' ends are not looked at here: n events
 * cannot go further behind them than BIN_SLACK, and run_end finds out.
 */
static bool run_decode(struct bin_events *d, struct event *e, size_t n)
{
	const unsigned char *object = d->objects, *value = d->values;

	for (size_t i = 0; i < n; i++, e++) {
		unsigned word = load16(d->heads + 2 * i), code = word % BIN_WIDTHS;
		struct bin_template *m = &d->template[word / BIN_WIDTHS];

		if (word / BIN_WIDTHS >= d->templates)
			return fail(d, "a template that the chunk does not have");
		m->object += unzigzag(load64(object) & width_mask[bin_width[code]]);
		object += bin_width[code];
		if (m->object - m->first > m->span)
			return fail(d, "an object that is not in the tables");
		*e = template_event(d, m);
		if (m->value == VALUE_NONE)
			continue;
		if (*value > 8)
			return fail(d, "a value of more than 8 bytes");
		e->value = load64(value + 1) & width_mask[*value];
		value += 1 + *value;
		if (m->value != VALUE_ANY && !value_fits(d, m->value, e->value))
			return fail(d, "a value that the kind of event does not have");
	}
	return run_end(d, n, object, value);
}

/* Nothing may be left over behind the last event. */
static bool columns_end(struct bin_events *d)
{
	if (bytes_left(&d->runs) || d->objects != d->objects_end || d->values != d->values_end)
		return fail(d, "bytes are left over behind the events of a chunk");
	return true;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t bin_events_next(struct bin_events *d, struct event *events, size_t most)
{
	size_t done = 0;

	d->wrong = NULL;
	while (done < most && bin_events_any(d)) {
		size_t n;

		if (d->again) {
			done += loop_decode(d, events + done, most - done);
			continue;
		}
		if (!d->run && !run_next(d))
			break;
		n = least(least(least(most - done, d->run), d->until), BIN_STEP);
		if (!run_decode(d, events + done, n))
			break;
		done += n;
		if (!d->left && !columns_end(d))
			break;
	}
	return done;
}
