/* SPDX-License-Identifier: MIT */
/*
 * Reads text traces: one event a line, THREAD|OPERATION(ARGUMENTS)|PLACE, a superset of RAPID's STD format.
 * docs/traces.md is the definition. trace_text_write.c is the other direction.
 *
 * A line is parsed where it lies in the input's window: each field is scanned once with a table of byte classes,
 * hashed and looked up. The newline is the sentinel that ends every scan; a last line without one gets it from us.
 * plain_line() takes nearly every line; whatever is unusual about one, event_line() takes it, and says what is wrong.
 *
 * For messages about an event that is found wrong later, the lines and columns of the latest batch are kept.
 */
#include "trace_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/opts.h"
#include "event/text_names.h"
#include "event/trace.h"

enum { LINE_MOST = 1 << 24, OPERATION_SLOTS = 256 };

struct place {
	uint64_t line;
	uint32_t column[3]; /* by enum trace_field */
};

struct text_reader {
	uint64_t line;              /* the number of the line being parsed */
	const char *start;          /* of that line */
	uint8_t slot[OPERATION_SLOTS]; /* operation's hash to its kind */
	struct map stacks;          /* a stack's number in the file to its id */
	struct place place[TRACE_BATCH];
};

/* One line on its way to an event. */
struct cursor {
	struct trace *t;
	struct text_reader *r;
	char *p;             /* the next byte */
	struct place *place; /* to fill in */
};

/* A scanned name: [at, end), its last comma if any, and whether it holds a percent sign. */
struct name {
	char *at, *end;
	char *comma;
	bool percent;
};

static uint8_t operation_slot(const char *text, size_t n)
{
	return (uint8_t)((uint8_t)text[0] * 7 + (uint8_t)text[n - 1] * 31 + n * 13);
}

static void operations_init(struct text_reader *r)
{
	for (int kind = 1; kind < EVENT_KINDS; kind++) {
		const char *text = event_info[kind].text;
		uint8_t i = operation_slot(text, strlen(text));

		while (r->slot[i])
			i++;
		r->slot[i] = (uint8_t)kind;
	}
}

static inline enum event_kind operation_named(const struct text_reader *r, const char *text, size_t n)
{
	uint8_t i;

	if (n == 1)
		return *text == 'r' ? EVENT_READ : *text == 'w' ? EVENT_WRITE : EVENT_NONE;
	if (n == 0)
		return EVENT_NONE;
	for (i = operation_slot(text, n); r->slot[i]; i++) {
		const char *have = event_info[r->slot[i]].text;

		if (strncmp(have, text, n) == 0 && have[n] == 0) /* `have` may be the shorter one */
			return r->slot[i];
	}
	return EVENT_NONE;
}

/* Every failure of a line ends here. `at` is the byte to point at. */
static bool bad(struct cursor *c, const char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static bool bad(struct cursor *c, const char *at, const char *format, ...)
{
	char what[256];
	va_list ap;

	va_start(ap, format);
	vsnprintf(what, sizeof what, format, ap);
	va_end(ap);
	if (c->t->lenient)
		c->t->skipped++;
	else
		fault_set(&c->t->fault, STATUS_TRACE, "%s:%llu:%llu: %s", c->t->input.name,
			(unsigned long long)c->r->line, (unsigned long long)(at - c->r->start) + 1, what);
	return false;
}

static bool bad_byte(struct cursor *c, const char *wanted)
{
	uint8_t byte = (uint8_t)*c->p;

	if (byte == '\n')
		return bad(c, c->p, "the line ends where %s should stand", wanted);
	if (byte < 32 || byte >= 127)
		return bad(c, c->p, "byte 0x%02x where %s should stand", byte, wanted);
	return bad(c, c->p, "'%c' where %s should stand", byte, wanted);
}

/* Scans a name up to the byte that ends it. */
static inline struct name scan(struct cursor *c, const uint8_t class[256])
{
	struct name n = {.at = c->p};
	char *p = c->p;
	uint8_t what;

	for (;; p++) {
		while ((what = class[(uint8_t)*p]) == BYTE_PLAIN)
			p++;
		if (what == BYTE_ENDS)
			break;
		if (what == BYTE_COMMA)
			n.comma = p;
		n.percent |= what == BYTE_PERCENT;
	}
	n.end = c->p = p;
	return n;
}

static inline size_t length_of(struct name n)
{
	return (size_t)(n.end - n.at);
}

/* The id of a name. Undoing escapes shortens the name in the window, which nobody reads again. */
static inline uint32_t id_of(struct cursor *c, enum table_class class, struct name n)
{
	size_t length = length_of(n);

	if (__builtin_expect(n.percent, 0))
		length = text_unescape(n.at, length);
	return intern_add(&c->t->tables->names[class], n.at, length);
}

/* A decimal or hexadecimal number that takes all of [p, end). */
static bool number(const char *p, const char *end, uint64_t *to)
{
	bool hexadecimal = end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X');
	uint64_t base = hexadecimal ? 16 : 10, n = 0;

	p += hexadecimal ? 2 : 0;
	if (p == end)
		return false;
	for (; p < end; p++) {
		uint64_t digit = *p >= '0' && *p <= '9' ? (uint64_t)(*p - '0') : 99;

		if (hexadecimal && digit == 99 && (*p | 32) >= 'a' && (*p | 32) <= 'f')
			digit = (uint64_t)((*p | 32) - 'a') + 10;
		if (digit >= base || __builtin_mul_overflow(n, base, &n) || __builtin_add_overflow(n, digit, &n))
			return false;
	}
	*to = n;
	return true;
}

/* Cuts the part behind the last comma off the name and returns it; the comma must be there. */
static struct name cut_last(struct name *n)
{
	struct name last = {.at = n->comma + 1, .end = n->end, .percent = n->percent};

	n->end = n->comma;
	n->comma = NULL;
	for (char *p = n->at; p < n->end; p++)
		if (*p == ',')
			n->comma = p;
	return last;
}

/* A variable or pointer: an address, or a name. */
static bool object_of(struct cursor *c, struct event *e, struct name n)
{
	uint64_t address;

	if (n.at == n.end)
		return bad(c, n.at, "a variable's name is missing");
	if (n.at[0] == '0' && length_of(n) > 2 && n.at[1] == 'x' && number(n.at, n.end, &address)) {
		e->object = address;
		e->flags |= EVENT_ADDRESSED;
	} else {
		e->object = id_of(c, TABLE_OBJECT, n);
	}
	return true;
}

/* [,size] behind a variable. A comma before anything but a number is part of the name. */
static bool sized_object(struct cursor *c, struct event *e, struct name n)
{
	struct name whole = n, last;
	uint64_t size;

	if (!n.comma)
		return object_of(c, e, n);
	last = cut_last(&n);
	if (!number(last.at, last.end, &size))
		return object_of(c, e, whole);
	if (size == 0 || size > EVENT_SIZE_MOST)
		return bad(c, last.at, "an access has from 1 to %d bytes", EVENT_SIZE_MOST);
	e->size = (uint32_t)size;
	e->flags |= EVENT_SIZED;
	return object_of(c, e, n);
}

static bool order_of(struct cursor *c, struct event *e, struct name n)
{
	const char *near;

	for (uint8_t o = ORDER_RELAXED; o < ORDERS; o++)
		if (strlen(event_order_text[o]) == length_of(n) &&
			memcmp(event_order_text[o], n.at, length_of(n)) == 0) {
			e->order = o;
			return true;
		}
	*n.end = 0;
	near = opts_nearest(n.at, event_order_text + 1, ORDERS - 1);
	return bad(c, n.at, "'%.40s' is no memory order; %s%s", n.at, near ? "did you mean " : "they are ",
		near ? near : "relaxed consume acquire release acq_rel seq_cst");
}

static bool atomic_arguments(struct cursor *c, struct event *e, struct name n)
{
	struct name order;

	if (!n.comma)
		return bad(c, n.at, "an atomic operation needs its memory order: (variable,order)");
	order = cut_last(&n);
	return sized_object(c, e, n) && order_of(c, e, order);
}

static bool one_name(struct cursor *c, struct event *e, struct name n)
{
	if (event_info[e->kind].table == TABLE_OBJECT)
		return object_of(c, e, n);
	if (n.at == n.end)
		return bad(c, n.at, "a name is missing");
	e->object = id_of(c, event_info[e->kind].table, n);
	return true;
}

static bool counted(struct cursor *c, struct event *e, struct name n)
{
	struct name last;
	const char *what = e->kind == EVENT_ALLOC ? "bytes" : "parties";

	if (!n.comma)
		return bad(c, n.at, "the number of %s is missing: (name,%s)", what, what);
	last = cut_last(&n);
	if (!number(last.at, last.end, &e->count) || (e->kind == EVENT_BARRIER && e->count == 0))
		return bad(c, last.at, "the number of %s should stand here", what);
	return one_name(c, e, n);
}

static bool two_names(struct cursor *c, struct event *e, struct name n)
{
	struct name last;

	if (!n.comma)
		return bad(c, n.at, "a wait names its condition and its mutex: (condition,mutex)");
	last = cut_last(&n);
	if (n.at == n.end || last.at == last.end)
		return bad(c, n.at, "a name is missing");
	e->object = id_of(c, TABLE_SYNC, n);
	e->mutex = id_of(c, TABLE_SYNC, last);
	return true;
}

static bool shaped(struct cursor *c, struct event *e, struct name n)
{
	switch (event_info[e->kind].shape) {
	case SHAPE_ACCESS: return sized_object(c, e, n);
	case SHAPE_ONE: return one_name(c, e, n);
	case SHAPE_TWO: return two_names(c, e, n);
	case SHAPE_COUNT: return counted(c, e, n);
	case SHAPE_ATOMIC: return atomic_arguments(c, e, n);
	case SHAPE_ORDER: return order_of(c, e, n);
	default: return n.at == n.end || one_name(c, e, n);
	}
}

static bool value_of(struct cursor *c, struct event *e)
{
	char *start = ++c->p, *digits;
	bool negative = *start == '-';
	struct name n;

	if (!event_is_access(e->kind))
		return bad(c, start - 1, "only reads, writes and atomic operations have values");
	c->p += negative;
	digits = c->p;
	n = scan(c, text_name_class);
	if (!number(digits, n.end, &e->value) || (negative && e->value > (uint64_t)1 << 63))
		return bad(c, start, "a value is a whole number from -2^63 to 2^64-1");
	if (negative)
		e->value = 0 - e->value;
	else if (e->value > INT64_MAX)
		e->flags |= EVENT_UNSIGNED;
	e->flags |= EVENT_VALUED;
	return true;
}

static bool arguments(struct cursor *c, struct event *e)
{
	struct name n;

	if (*c->p != '(') {
		if (event_info[e->kind].shape == SHAPE_LABEL)
			return true;
		return bad_byte(c, "'('");
	}
	c->p++;
	c->place->column[FIELD_ARGUMENT] = (uint32_t)(c->p - c->r->start) + 1;
	n = scan(c, text_name_class);
	if (*c->p != ')')
		return bad_byte(c, "')'");
	c->p++;
	if (!shaped(c, e, n))
		return false;
	return *c->p != '=' || value_of(c, e);
}

static bool operation(struct cursor *c, struct event *e)
{
	struct name n = scan(c, text_name_class);
	const char *near, *names[EVENT_KINDS];

	e->kind = (uint8_t)operation_named(c->r, n.at, length_of(n));
	if (e->kind != EVENT_NONE)
		return arguments(c, e);
	if (n.at == n.end)
		return bad_byte(c, "an operation");
	for (int kind = 1; kind < EVENT_KINDS; kind++)
		names[kind - 1] = event_info[kind].text;
	*n.end = 0;
	near = opts_nearest(n.at, names, EVENT_KINDS - 1);
	return bad(c, n.at, "unknown operation '%.40s'%s%s%s", n.at, near ? "; did you mean '" : "",
		near ? near : "", near ? "'?" : "");
}

static bool place_of(struct cursor *c, struct event *e)
{
	struct name n = scan(c, text_place_class);

	while (n.end > n.at && (n.end[-1] == ' ' || n.end[-1] == '\t'))
		n.end--;
	if (n.at < n.end)
		e->site = id_of(c, TABLE_SITE, n);
	return true;
}

static bool stack_of(struct cursor *c, struct event *e)
{
	struct name n = scan(c, text_name_class);
	uint64_t file_number;

	if (!number(n.at, n.end, &file_number))
		return bad(c, n.at, "the number of a call stack should stand here");
	e->stack = map_get(&c->r->stacks, file_number);
	if (!e->stack)
		return bad(c, n.at, "stack %llu has no '# stack:' line before this one",
			(unsigned long long)file_number);
	return true;
}

static bool line_ends(struct cursor *c)
{
	while (*c->p == ' ' || *c->p == '\t')
		c->p++;
	if (*c->p == '\r' && c->p[1] == '\n')
		return true;
	return *c->p == '\n' || bad_byte(c, "the end of the line");
}

static inline char *plain_end(char *p, const uint8_t class[256])
{
	while (class[(uint8_t)*p] == BYTE_PLAIN)
		p++;
	return p;
}

static inline uint32_t plain_id(struct cursor *c, enum table_class class, const char *from, const char *to)
{
	return intern_add(&c->t->tables->names[class], from, (size_t)(to - from));
}

/*
 * The fast path: THREAD|OPERATION(NAME)|PLACE and nothing unusual in it, which is nearly every line. False for every
 * other line, right or wrong, and then nothing has been done: event_line() will see to it.
 */
static bool plain_line(struct cursor *c, struct event *e)
{
	char *thread = c->p, *bar = plain_end(thread, text_name_class), *operation = bar + 1, *open, *close, *end;
	enum event_kind kind;

	if (*bar != '|' || bar == thread)
		return false;
	open = plain_end(operation, text_name_class);
	if (*open != '(')
		return false;
	close = plain_end(open + 1, text_name_class);
	if (*close != ')' || close[1] != '|' || close == open + 1 || open[1] == '0')
		return false;
	end = plain_end(close + 2, text_place_class);
	if (*end != '\n' || end == close + 2 || end[-1] == ' ' || end[-1] == '\t')
		return false;
	kind = operation_named(c->r, operation, (size_t)(open - operation));
	if (kind == EVENT_NONE || event_info[kind].shape > SHAPE_ONE)
		return false;
	e->kind = (uint8_t)kind;
	e->thread = plain_id(c, TABLE_THREAD, thread, bar);
	e->object = plain_id(c, event_info[kind].table, open + 1, close);
	e->site = plain_id(c, TABLE_SITE, close + 2, end);
	*c->place = (struct place){c->r->line, {1, (uint32_t)(operation - thread) + 1, (uint32_t)(open - thread) + 2}};
	return true;
}

static bool event_line(struct cursor *c, struct event *e)
{
	struct name thread = scan(c, text_name_class);

	if (thread.at == thread.end)
		return bad_byte(c, "a thread's name");
	if (*c->p != '|')
		return bad_byte(c, "'|'");
	e->thread = id_of(c, TABLE_THREAD, thread);
	c->p++;
	c->place->line = c->r->line;
	c->place->column[FIELD_THREAD] = (uint32_t)(thread.at - c->r->start) + 1;
	c->place->column[FIELD_OPERATION] = (uint32_t)(c->p - c->r->start) + 1;
	c->place->column[FIELD_ARGUMENT] = c->place->column[FIELD_OPERATION];
	if (!operation(c, e))
		return false;
	if (*c->p == '|' && (c->p++, !place_of(c, e)))
		return false;
	if (*c->p == '|' && (c->p++, !stack_of(c, e)))
		return false;
	return line_ends(c);
}

/* The next word of a directive, [at, end); empty at the end of the line. */
static struct name word(struct cursor *c)
{
	while (*c->p == ' ' || *c->p == '\t')
		c->p++;
	return scan(c, text_name_class);
}

static struct name rest(struct cursor *c)
{
	struct name n;

	while (*c->p == ' ' || *c->p == '\t')
		c->p++;
	n = scan(c, text_place_class);
	while (n.end > n.at && (n.end[-1] == ' ' || n.end[-1] == '\t'))
		n.end--;
	return n;
}

static bool is_none(struct name n)
{
	return n.at == n.end || (length_of(n) == 1 && *n.at == '-');
}

/* "# stack: NUMBER PARENT FUNCTION PLACE" */
static bool stack_line(struct cursor *c)
{
	uint64_t file_number, parent;
	struct name first = word(c), below = word(c), code, site;
	struct frame f = {0};

	if (!number(first.at, first.end, &file_number) || file_number == 0)
		return bad(c, first.at, "a stack's number should stand here: '# stack: NUMBER BELOW FUNCTION PLACE'");
	if (!number(below.at, below.end, &parent))
		return bad(c, below.at, "the number of the stack below, or 0, should stand here");
	f.parent = map_get(&c->r->stacks, parent);
	if (parent && !f.parent)
		return bad(c, below.at, "stack %llu is not defined before this line", (unsigned long long)parent);
	code = word(c);
	f.code = is_none(code) ? 0 : id_of(c, TABLE_CODE, code);
	site = rest(c);
	f.site = is_none(site) ? 0 : id_of(c, TABLE_SITE, site);
	*map_put(&c->r->stacks, file_number) = tables_stack(c->t->tables, f);
	return line_ends(c);
}

static struct text text_of(struct name n)
{
	size_t length = is_none(n) ? 0 : n.percent ? text_unescape(n.at, length_of(n)) : length_of(n);

	return (struct text){n.at, length};
}

/* "# module: BASE SIZE BUILD-ID PATH" */
static bool module_line(struct cursor *c)
{
	struct module m = {0};
	struct name base = word(c), size = word(c), build_id, path;

	if (!number(base.at, base.end, &m.base) || !number(size.at, size.end, &m.size))
		return bad(c, base.at, "address and size should stand here: '# module: BASE SIZE BUILD-ID PATH'");
	build_id = word(c);
	path = rest(c);
	m.build_id = text_of(build_id);
	m.path = text_of(path);
	tables_module(c->t->tables, m);
	return line_ends(c);
}

static bool starts_with(const char *p, const char *end, const char *prefix)
{
	size_t n = strlen(prefix);

	return (size_t)(end - p) >= n && memcmp(p, prefix, n) == 0;
}

/* Comments are free but for two words that define something. A NUL byte is not text. */
static bool comment_line(struct cursor *c, const char *end)
{
	const char *nul = memchr(c->p, 0, (size_t)(end - c->p));

	if (nul)
		return bad(c, nul, "a NUL byte: this is not a text trace");
	if (starts_with(c->p, end, "# stack:"))
		return c->p += strlen("# stack:"), stack_line(c);
	if (starts_with(c->p, end, "# module:"))
		return c->p += strlen("# module:"), module_line(c);
	return true;
}

static bool is_blank(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\r'))
		p++;
	return p == end;
}

/* Makes a whole line available at input.at and returns its newline; NULL at the end of the file. */
static char *line_end(struct trace *t)
{
	struct input *in = &t->input;
	size_t seen = 0;

	for (;;) {
		char *newline = memchr(in->at + seen, '\n', (size_t)(in->end - in->at) - seen);

		if (newline)
			return newline;
		seen = (size_t)(in->end - in->at);
		if (seen > LINE_MOST) {
			fault_set(&t->fault, STATUS_TRACE, "%s:%llu:1: the line is longer than %d bytes",
				in->name, (unsigned long long)((struct text_reader *)t->state)->line + 1, LINE_MOST);
			return NULL;
		}
		if (!input_more(in, &t->fault)) {
			if (seen == 0 || fault_is_set(&t->fault))
				return NULL;
			*in->end = '\n';
			return in->end;
		}
	}
}

/* Parses one line. Whether it gave an event is told by e->kind; false when the trace ends here with a fault. */
static bool one_line(struct trace *t, char *newline, struct event *e, struct place *place)
{
	struct text_reader *r = t->state;
	struct cursor c = {.t = t, .r = r, .p = t->input.at, .place = place};
	bool good;

	r->line++;
	r->start = t->input.at;
	*e = (struct event){0};
	if (*c.p == '#' || (*c.p <= ' ' && is_blank(c.p, newline)))
		good = *c.p != '#' || comment_line(&c, newline);
	else
		good = plain_line(&c, e) || event_line(&c, e);
	if (!good)
		e->kind = EVENT_NONE;
	t->input.at = newline < t->input.end ? newline + 1 : t->input.end;
	return good || t->lenient;
}

static size_t text_next(struct trace *t, struct event *events, size_t most)
{
	struct text_reader *r = t->state;
	size_t n = 0;
	char *newline;

	if (most > TRACE_BATCH)
		most = TRACE_BATCH;
	while (n < most && (newline = line_end(t)) && one_line(t, newline, &events[n], &r->place[n]))
		n += events[n].kind != EVENT_NONE;
	return n;
}

static bool text_fits(const char *start, size_t n)
{
	(void)start, (void)n;
	return true;
}

static bool text_open(struct trace *t)
{
	struct text_reader *r = arena_alloc(t->tables->arena, sizeof *r);

	map_init(&r->stacks, t->tables->arena);
	operations_init(r);
	t->state = r;
	return true;
}

static void text_place(struct trace *t, size_t index, enum trace_field field, char *to, size_t n)
{
	const struct text_reader *r = t->state;
	const struct place *p = &r->place[index];

	snprintf(to, n, "%s:%llu:%u", t->input.name, (unsigned long long)p->line, p->column[field]);
}

/* The state belongs to the arena. */
static void text_close(struct trace *t)
{
	t->state = NULL;
}

const struct trace_format trace_text = {
	.name = "text",
	.fits = text_fits,
	.open = text_open,
	.next = text_next,
	.place = text_place,
	.close = text_close,
	.start = trace_text_start,
	.put = trace_text_put,
	.finish = trace_text_finish,
};
