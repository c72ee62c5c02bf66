/* SPDX-License-Identifier: MIT */
#include "walk_read.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/hash.h"

enum { NAME_MOST = 4096 };

/* What an operation takes and gives. */
enum shape { SHAPE_SAME, SHAPE_COMPARE, SHAPE_WIDEN, SHAPE_NARROW, SHAPE_CONCAT, SHAPE_BYTE, SHAPE_CHOOSE };

static const uint8_t shape_of[WALK_OPS] = {
	[WALK_EQ] = SHAPE_COMPARE, [WALK_NE] = SHAPE_COMPARE, [WALK_UGT] = SHAPE_COMPARE, [WALK_UGE] = SHAPE_COMPARE,
	[WALK_ULT] = SHAPE_COMPARE, [WALK_ULE] = SHAPE_COMPARE, [WALK_SGT] = SHAPE_COMPARE, [WALK_SGE] = SHAPE_COMPARE,
	[WALK_SLT] = SHAPE_COMPARE, [WALK_SLE] = SHAPE_COMPARE, [WALK_ZEXT] = SHAPE_WIDEN, [WALK_SEXT] = SHAPE_WIDEN,
	[WALK_TRUNC] = SHAPE_NARROW, [WALK_CONCAT] = SHAPE_CONCAT, [WALK_BYTE] = SHAPE_BYTE, [WALK_CHOOSE] = SHAPE_CHOOSE,
};

/* Expressions. */

static const struct walk_node *known(const struct walk *w, uint64_t expr)
{
	return expr < w->nodes && w->node[expr].kind ? &w->node[expr] : NULL;
}

static bool fits(const struct walk *w, const struct walk_node *n, const struct walk_record *r)
{
	const struct walk_node *a = known(w, r->a), *b = known(w, r->b), *c = known(w, r->module);
	enum shape shape = n->op < WALK_OPS ? shape_of[n->op] : SHAPE_SAME;

	if (!a || n->op >= WALK_OPS)
		return false;
	switch (shape) {
	case SHAPE_WIDEN: return a->width <= n->width;
	case SHAPE_NARROW: return a->width >= n->width;
	case SHAPE_BYTE: return n->width == 8 && r->b < 8 && 8 * (r->b + 1) <= a->width;
	case SHAPE_CONCAT: return b && a->width + b->width == n->width;
	case SHAPE_CHOOSE: return b && c && a->width == 1 && b->width == n->width && c->width == n->width;
	case SHAPE_COMPARE: return b && a->width == b->width && n->width == 1;
	default: return b && a->width == b->width && a->width == n->width;
	}
}

static bool take_node(struct walk *w, struct walk_node *n, const struct walk_record *r)
{
	static const struct walk_node none;
	const struct walk_node *a, *b, *c;

	n->op = (uint8_t)r->ordinal;
	if (r->ordinal >= WALK_OPS || !fits(w, n, r))
		return false;
	n->a = (uint32_t)r->a;
	n->b = shape_of[n->op] == SHAPE_WIDEN || shape_of[n->op] == SHAPE_NARROW ? 0 : (uint32_t)r->b;
	n->c = shape_of[n->op] == SHAPE_CHOOSE ? r->module : 0;
	a = &w->node[n->a];
	b = shape_of[n->op] == SHAPE_BYTE || !known(w, n->b) ? &none : &w->node[n->b];
	c = n->c ? &w->node[n->c] : &none;
	n->value = walk_bits(walk_value(&(struct walk_term){.op = n->op, .width = n->width, .of = a->width, .low = b->width,
		.a = a->value, .b = shape_of[n->op] == SHAPE_BYTE ? n->b : b->value, .third = c->value}), n->width);
	n->hash = hash_pair(hash_pair(a->hash, shape_of[n->op] == SHAPE_BYTE ? n->b : b->hash),
		hash_pair(c->hash, (uint64_t)n->op << 8 | n->width));
	return true;
}

static struct text name_of(const struct walk *w, uint64_t source)
{
	uint32_t n = map_get(&w->name, source);
	const char *text = n ? w->names[n - 1] : "";

	return (struct text){text, strlen(text)};
}

/* Inputs of the same place and width are one, however often the program looked at it. */
static bool take_input(struct walk *w, struct walk_node *n, const struct walk_record *r)
{
	enum walk_source source = (enum walk_source)(r->a >> 56);
	struct walk_input in = {.expr = r->expr, .width = n->width, .source = source, .index = r->a << 8 >> 8,
		.offset = (uint32_t)r->b, .length = (uint32_t)(r->b >> 32), .value = walk_bits(walk_input_value(r), n->width)};
	bool named = source == WALK_NAMED || source == WALK_FILE || source == WALK_ENV;
	uint32_t *at;

	if (source >= WALK_SOURCES || (!in.length && source != WALK_NAMED && n->width != 8))
		return false;
	in.name = named ? name_of(w, r->a) : (struct text){"", 0};
	if (named && !in.name.length)
		return false;
	n->hash = hash_pair(hash_pair(r->b, n->width),
		hash_pair(source, named ? hash_bytes(in.name.at, in.name.length) : r->a));
	n->value = in.value;
	at = map_put(&w->place, n->hash);
	if (!*at) {
		w->input = arena_reserve(w->arena, w->input, &w->input_room, w->inputs, sizeof *w->input);
		in.hash = n->hash;
		w->input[w->inputs++] = in;
		*at = (uint32_t)w->inputs;
	}
	n->a = *at - 1;
	return w->input[n->a].value == n->value; /* a file that has changed meanwhile is two things */
}

static void take_expression(struct walk *w, const struct walk_record *r)
{
	struct walk_node n = {.kind = r->kind, .width = r->width};
	bool good = r->width >= 1 && r->width <= 64 && r->expr && r->expr < w->nodes && !w->node[r->expr].kind;

	if (good && r->kind == WALK_CONST) {
		n.value = walk_bits(r->a, n.width);
		n.hash = hash_pair(n.value, (uint64_t)n.width << 32);
	} else if (good) {
		good = r->kind == WALK_INPUT ? take_input(w, &n, r) : take_node(w, &n, r);
	}
	if (good) {
		w->node[r->expr] = n;
		w->defined[w->definitions++] = r->expr;
	}
	w->wrong += !good;
}

/* The rest. */

static uint64_t unit_of(const struct walk *w, uint32_t module)
{
	uint32_t n = map_get(&w->units, module);

	return n ? w->unit[n - 1] : 0;
}

static void take_module(struct walk *w, const struct walk_record *r)
{
	w->unit = arena_reserve(w->arena, w->unit, &w->unit_room, w->unit_count, sizeof *w->unit);
	w->unit[w->unit_count++] = r->a;
	*map_put(&w->units, r->module) = (uint32_t)w->unit_count;
}

static void take_name(struct walk *w, const struct walk_record *r)
{
	uint32_t *n = map_put(&w->name, r->a);

	if (!*n) {
		w->names = arena_reserve(w->arena, w->names, &w->name_room, w->name_count, sizeof *w->names);
		w->names[w->name_count++] = arena_alloc(w->arena, NAME_MOST + 8);
		*n = (uint32_t)w->name_count;
	}
	if (r->ordinal % 8 == 0 && r->ordinal < NAME_MOST)
		memcpy(w->names[*n - 1] + r->ordinal, &r->b, sizeof r->b);
}

static void take_condition(struct walk *w, const struct walk_record *r, size_t at)
{
	const struct walk_node *n = known(w, r->expr);
	struct walk_condition c = {.record = (uint32_t)at, .expr = r->expr, .value = r->a, .thread = r->thread,
		.kind = r->kind, .ordinal = r->ordinal, .module = unit_of(w, r->module)};

	if (r->kind == WALK_CONCRETE && r->b < WALK_LOST_REASONS)
		w->lost[r->b]++;
	/* What a function without a model was given is still what it was. */
	if (!r->expr || !n || n->kind == WALK_CONST || (r->kind == WALK_CONCRETE && r->b == WALK_LOST_CALL))
		return;
	c.value = walk_bits(c.value, n->width);
	if (c.value != n->value) {
		w->wrong++; /* something has changed it that nobody saw: nothing may be built on that */
		return;
	}
	while (r->kind == WALK_SWITCH && at + 1 + c.cases < w->records && w->record[at + 1 + c.cases].kind == WALK_CASE)
		c.cases++;
	w->condition = arena_reserve(w->arena, w->condition, &w->condition_room, w->conditions, sizeof *w->condition);
	w->condition[w->conditions++] = c;
}

/* From a copy: whoever has the file may still write to it. */
static void take(struct walk *w, size_t at)
{
	const struct walk_record copy = w->record[at], *r = &copy;

	switch (r->kind) {
	case WALK_FULL: w->full = true; break;
	case WALK_MODULE: take_module(w, r); break;
	case WALK_NAME: take_name(w, r); break;
	case WALK_INPUT: case WALK_CONST: case WALK_NODE: take_expression(w, r); break;
	case WALK_BRANCH: case WALK_SELECT: case WALK_SWITCH: case WALK_CONCRETE: case WALK_ADDRESS:
		take_condition(w, r, at);
		break;
	case WALK_CASE: break;
	default: w->wrong += r->kind >= WALK_KINDS;
	}
}

static bool fail(struct fault *fault, const char *why)
{
	fault_set(fault, STATUS_TRACE, "this is no walk: %s", why);
	return false;
}

static bool open_file(struct walk *w, int fd, struct fault *fault)
{
	const struct walk_head *head;
	struct stat st;

	if (fstat(fd, &st) != 0 || st.st_size < (off_t)sizeof *head)
		return fail(fault, "it is too short");
	w->bytes = (size_t)st.st_size;
	w->map = mmap(NULL, w->bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (w->map == MAP_FAILED) {
		w->map = NULL;
		return fail(fault, strerror(errno));
	}
	head = w->map;
	if (head->magic[0] && memcmp(head->magic, WALK_MAGIC, sizeof head->magic) != 0)
		return fail(fault, "it does not begin like one");
	w->record = (const struct walk_record *)(head + 1);
	w->records = head->magic[0] ? (w->bytes - sizeof *head) / sizeof *w->record : 0;
	return true;
}

bool walk_read(struct walk *w, struct arena *a, int fd, struct fault *fault)
{
	size_t n = 0;

	*w = (struct walk){.arena = a};
	map_init(&w->units, a);
	map_init(&w->place, a);
	map_init(&w->name, a);
	if (!open_file(w, fd, fault)) {
		walk_close(w);
		return false;
	}
	while (n < w->records && n < UINT32_MAX && w->record[n].kind)
		n++;
	w->records = n;
	w->nodes = (uint32_t)n + 1;
	w->node = arena_alloc(a, (n + 1) * sizeof *w->node);
	w->defined = arena_alloc(a, (n + 1) * sizeof *w->defined);
	for (size_t i = 0; i < n; i++)
		take(w, i);
	return true;
}

void walk_close(struct walk *w)
{
	if (w->map)
		munmap(w->map, w->bytes);
	w->map = NULL;
	w->record = NULL;
}
