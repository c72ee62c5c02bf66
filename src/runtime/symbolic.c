/* SPDX-License-Identifier: MIT */
#include "symbolic.h"

#include "base/hash.h"
#include "event/walk_value.h"
#include "runtime/os.h"
#include "runtime/walk.h"

enum {
	EXPRS_MOST = 1 << 26,
	DEPTH_MOST = 4096, /* what goes on and on, such as the hash of a file, is no question that anybody could answer */
	RECENT = 1 << 16,
	PAGE_BITS = 12,
	PAGE_BYTES = 1 << PAGE_BITS,
	FLAGS = 1 << 16,
	PAGES_MOST = 1 << 14,     /* 256 MB of shadow */
	BUCKETS = 2 * PAGES_MOST,
	BYTE_BITS = 3,            /* of a byte's shadow: which byte of the expression, below its number */
};

struct expr {
	uint64_t value;
	uint8_t width;
	bool constant;
	uint16_t depth; /* of nodes, one in another */
};

/* A node that was made; found again by what it is of. */
struct recent {
	uint64_t a, b; /* as in its record */
	uint32_t third;
	uint16_t what; /* op and width */
	expr_id expr;
};

/* The shadow of a page. */
struct page {
	uint64_t number; /* of the page; 0: none */
	uint32_t *bytes;
};

static struct expr *exprs;
static uint32_t expr_count = 1;
static struct recent *recent;
static struct page *pages;
static uint32_t page_count;
static uint8_t flags[FLAGS]; /* by the last bits of a page's number: it may have a shadow */

bool symbolic_start(void)
{
	exprs = os_map((size_t)EXPRS_MOST * sizeof *exprs, -1);
	recent = os_map(RECENT * sizeof *recent, -1);
	pages = os_map(BUCKETS * sizeof *pages, -1);
	return exprs && recent && pages;
}

/* Expressions. */

static expr_id new_expr(unsigned width, uint64_t value)
{
	uint32_t e = expr_count;

	if (e == EXPRS_MOST || !walk_on)
		return 0;
	expr_count++;
	exprs[e] = (struct expr){.value = value & walk_mask(width), .width = (uint8_t)width};
	return e;
}

unsigned symbolic_width(expr_id e)
{
	return exprs[e].width;
}

uint64_t symbolic_value(expr_id e)
{
	return exprs[e].value;
}

expr_id symbolic_input(const struct symbolic_source *from)
{
	expr_id e = new_expr(from->width, from->value);

	if (e)
		walk_put((struct walk_record){.kind = WALK_INPUT, .width = (uint8_t)from->width, .expr = e,
			.ordinal = (uint32_t)from->value, .module = (uint32_t)(from->value >> 32),
			.a = walk_input_source(from->source, from->index), .b = walk_input_place(from->offset, from->length)});
	return e;
}

static struct recent *look(const struct recent *like)
{
	struct recent *r = &recent[hash_pair(hash_pair(like->a, like->b), (uint64_t)like->third << 16 | like->what) % RECENT];
	bool same = r->expr && r->a == like->a && r->b == like->b && r->third == like->third && r->what == like->what;

	if (!same) {
		*r = *like;
		r->expr = 0;
	}
	return r;
}

expr_id symbolic_const(unsigned width, uint64_t value)
{
	struct recent *r = look(&(struct recent){.a = value & walk_mask(width), .what = (uint16_t)(WALK_OPS | width << 8)});

	if (r->expr)
		return r->expr;
	r->expr = new_expr(width, value);
	if (r->expr) {
		exprs[r->expr].constant = true;
		walk_put((struct walk_record){.kind = WALK_CONST, .width = (uint8_t)width, .expr = r->expr, .a = r->a});
	}
	return r->expr;
}

/* The value of the node in this run. */
static uint64_t compute(enum walk_op op, unsigned width, const expr_id of[3])
{
	const struct expr *a = &exprs[of[0]];
	uint64_t b = op == WALK_BYTE ? of[1] : exprs[of[1]].value;
	struct walk_term t = {.op = op, .width = width, .of = a->width, .low = exprs[of[1]].width,
		.a = a->value, .b = b, .third = exprs[of[2]].value};

	return walk_value(&t);
}

static unsigned depth_of(enum walk_op op, const expr_id of[3])
{
	unsigned depth = exprs[of[0]].depth;

	if (op != WALK_BYTE && exprs[of[1]].depth > depth)
		depth = exprs[of[1]].depth;
	return exprs[of[2]].depth > depth ? exprs[of[2]].depth + 1u : depth + 1u;
}

/* A part could not be made: then the whole cannot either. */
static bool lacks_part(enum walk_op op, const expr_id of[3])
{
	bool single = op == WALK_ZEXT || op == WALK_SEXT || op == WALK_TRUNC || op == WALK_BYTE;

	return !of[0] || (!single && !of[1]) || (op == WALK_CHOOSE && !of[2]);
}

/* Nothing is made of what is too deep: its parts are concrete from here on, and that is told. */
static expr_id too_deep(enum walk_op op, const expr_id of[3])
{
	symbolic_lost(0, of[0], WALK_LOST_ROOM);
	if (op != WALK_BYTE)
		symbolic_lost(0, of[1], WALK_LOST_ROOM);
	return 0;
}

expr_id symbolic_node(enum walk_op op, unsigned width, const expr_id of[3])
{
	unsigned depth = depth_of(op, of);
	struct recent like = {.a = of[0], .b = of[1], .third = of[2], .what = (uint16_t)((unsigned)op | width << 8)};
	struct recent *r = look(&like);

	if (r->expr || lacks_part(op, of))
		return r->expr;
	if (depth > DEPTH_MOST)
		return too_deep(op, of);
	r->expr = new_expr(width, compute(op, width, of));
	if (!r->expr)
		return 0;
	exprs[r->expr].depth = (uint16_t)depth;
	walk_put((struct walk_record){.kind = WALK_NODE, .width = (uint8_t)width, .ordinal = op, .module = of[2],
		.expr = r->expr, .a = of[0], .b = of[1]});
	return r->expr;
}

expr_id symbolic_cast(enum walk_op op, unsigned width, expr_id of)
{
	return !of || exprs[of].width == width ? of : symbolic_node(op, width, (const expr_id[3]){of});
}

expr_id symbolic_byte(expr_id of, unsigned byte)
{
	return exprs[of].width == 8 ? of : symbolic_node(WALK_BYTE, 8, (const expr_id[3]){of, byte});
}

static expr_id as_expr(struct operand o, unsigned width)
{
	return o.expr ? o.expr : symbolic_const(width, o.value);
}

/* Division by what is 0 in this run cannot be computed, and will not be reached. */
static bool is_undefined(enum walk_op op, expr_id b)
{
	return op >= WALK_UDIV && op <= WALK_SREM && !exprs[b].value;
}

expr_id symbolic_binary(enum walk_op op, unsigned width, struct operand a, struct operand b)
{
	expr_id of[3] = {0};

	if (!a.expr && !b.expr)
		return 0;
	of[0] = as_expr(a, width);
	of[1] = as_expr(b, width);
	if (!of[0] || !of[1] || is_undefined(op, of[1]))
		return 0;
	return symbolic_node(op, op >= WALK_EQ && op <= WALK_SLE ? 1 : width, of);
}

/* Memory. */

static bool may_have(uint64_t number)
{
	return flags[number % FLAGS];
}

static struct page *bucket(uint64_t number)
{
	struct page *p = &pages[hash_word(number) % BUCKETS];

	while (p->number && p->number != number)
		p = p == &pages[BUCKETS - 1] ? pages : p + 1;
	return p;
}

/* The shadow of the byte, or NULL. */
static uint32_t *shadow_of(uintptr_t at)
{
	uint64_t number = at >> PAGE_BITS;
	struct page *p = may_have(number) ? bucket(number) : NULL;

	return p && p->number ? &p->bytes[at & (PAGE_BYTES - 1)] : NULL;
}

static uint32_t *make_shadow(uintptr_t at)
{
	uint64_t number = at >> PAGE_BITS;
	struct page *p = bucket(number);

	if (!p->number) {
		if (page_count == PAGES_MOST)
			return NULL;
		p->bytes = os_map(PAGE_BYTES * sizeof *p->bytes, -1);
		if (!p->bytes)
			return NULL;
		p->number = number;
		page_count++;
		flags[number % FLAGS] = 1;
	}
	return &p->bytes[at & (PAGE_BYTES - 1)];
}

static uint32_t shadow_at(uintptr_t at)
{
	const uint32_t *s = shadow_of(at);

	return s ? *s : 0;
}

static void set_byte(uintptr_t at, uint32_t shadow)
{
	uint32_t *s = shadow ? make_shadow(at) : shadow_of(at);

	if (s)
		*s = shadow;
}

static bool may_have_any(uintptr_t at, size_t bytes)
{
	for (uint64_t page = at >> PAGE_BITS; bytes && page <= (at + bytes - 1) >> PAGE_BITS; page++)
		if (may_have(page))
			return true;
	return false;
}

bool symbolic_any(const void *at, size_t bytes)
{
	if (!may_have_any((uintptr_t)at, bytes))
		return false;
	for (size_t i = 0; i < bytes; i++)
		if (shadow_at((uintptr_t)at + i))
			return true;
	return false;
}

/* What was stored as a whole, or the lower part of it; 0: neither. */
static expr_id load_whole(const uint32_t *shadow, unsigned bytes)
{
	expr_id e = shadow[0] >> BYTE_BITS;

	for (unsigned i = 0; i < bytes; i++)
		if (shadow[i] != (e << BYTE_BITS | i))
			return 0;
	return symbolic_cast(WALK_TRUNC, bytes * 8, e);
}

static expr_id load_byte(uint32_t shadow, uint8_t value)
{
	return shadow ? symbolic_byte(shadow >> BYTE_BITS, shadow & 7) : symbolic_const(8, value);
}

static expr_id load_parts(const uint32_t *shadow, unsigned bytes, uint64_t value)
{
	expr_id e = load_byte(shadow[0], (uint8_t)value);

	for (unsigned i = 1; e && i < bytes; i++) {
		expr_id above = load_byte(shadow[i], (uint8_t)(value >> 8 * i));

		e = above ? symbolic_node(WALK_CONCAT, 8 * (i + 1), (const expr_id[3]){above, e}) : 0;
	}
	return e;
}

/* Whether the byte is what its shadow says it is in this run. Otherwise somebody without shadows has written it. */
static bool is_stale(uint32_t shadow, uint8_t value)
{
	return (uint8_t)(exprs[shadow >> BYTE_BITS].value >> 8 * (shadow & 7)) != value;
}

expr_id symbolic_load(const void *at, unsigned bytes, uint64_t value)
{
	uint32_t shadow[8], any = 0;
	expr_id e;

	if (!may_have_any((uintptr_t)at, bytes))
		return 0;
	for (unsigned i = 0; i < bytes; i++) {
		shadow[i] = shadow_at((uintptr_t)at + i);
		if (shadow[i] && is_stale(shadow[i], (uint8_t)(value >> 8 * i))) {
			shadow[i] = 0;
			set_byte((uintptr_t)at + i, 0);
		}
		any |= shadow[i];
	}
	if (!any)
		return 0;
	e = shadow[0] ? load_whole(shadow, bytes) : 0;
	return e ? e : load_parts(shadow, bytes, value);
}

void symbolic_set(const void *at, unsigned bytes, expr_id e)
{
	if (!e) {
		symbolic_clear(at, bytes);
		return;
	}
	for (unsigned i = 0; i < bytes; i++)
		set_byte((uintptr_t)at + i, e << BYTE_BITS | i);
}

void symbolic_clear(const void *at, size_t bytes)
{
	uintptr_t from = (uintptr_t)at, end = from + bytes;

	while (from < end) {
		uintptr_t next = (from >> PAGE_BITS) + 1, stop = next << PAGE_BITS;
		uint32_t *s = shadow_of(from);

		if (stop > end)
			stop = end;
		for (; s && from < stop; from++)
			*s++ = 0;
		from = stop;
	}
}

void symbolic_copy(const void *to, const void *from, size_t bytes)
{
	uintptr_t t = (uintptr_t)to, f = (uintptr_t)from;

	if (!may_have_any(f, bytes)) {
		symbolic_clear(to, bytes);
		return;
	}
	for (size_t i = 0; i < bytes; i++) {
		size_t k = t < f ? i : bytes - 1 - i;

		set_byte(t + k, shadow_at(f + k));
	}
}

void symbolic_lost(uint64_t site, expr_id e, enum walk_lost why)
{
	if (e && !exprs[e].constant)
		walk_put((struct walk_record){.kind = WALK_CONCRETE, .width = exprs[e].width, .ordinal = (uint32_t)site,
			.module = site_unit(site), .expr = e, .a = exprs[e].value, .b = why});
}

void symbolic_lost_memory(uint64_t site, const void *at, size_t bytes, enum walk_lost why)
{
	expr_id last = 0;

	if (!may_have_any((uintptr_t)at, bytes))
		return;
	for (size_t i = 0; i < bytes; i++) {
		expr_id e = shadow_at((uintptr_t)at + i) >> BYTE_BITS;

		if (e != last)
			symbolic_lost(site, e, why);
		last = e;
	}
	symbolic_clear(at, bytes);
}

/* Calls. */

struct crossing {
	const void *called;   /* who is about to be entered, with these arguments; NULL: they were taken */
	const void *returned; /* who has returned `result` last */
	expr_id result, second; /* second: of a pair */
	expr_id argument[SYMBOLIC_ARGUMENTS];
	bool any;             /* an argument is not 0 */
};

static __thread struct crossing crossing __attribute__((tls_model("initial-exec")));

void symbolic_call(const void *function)
{
	struct crossing *c = &crossing;

	if (c->any)
		for (unsigned i = 0; i < SYMBOLIC_ARGUMENTS; i++)
			c->argument[i] = 0;
	c->any = false;
	c->called = function;
	c->returned = NULL;
	c->second = 0;
}

void symbolic_pass(unsigned i, expr_id e)
{
	if (i >= SYMBOLIC_ARGUMENTS)
		return;
	crossing.argument[i] = e;
	crossing.any |= e != 0;
}

bool symbolic_enter(const void *function)
{
	bool passed = crossing.called == function && crossing.any;

	crossing.called = NULL;
	return passed;
}

expr_id symbolic_argument(const void *function, unsigned i)
{
	return crossing.called == function ? symbolic_take(i) : 0;
}

expr_id symbolic_take(unsigned i)
{
	return i < SYMBOLIC_ARGUMENTS ? crossing.argument[i] : 0;
}

void symbolic_second(expr_id e)
{
	crossing.second = e;
}

expr_id symbolic_second_result(const void *function)
{
	expr_id e = crossing.returned == function ? crossing.second : 0;

	crossing.second = 0;
	return e;
}

void symbolic_return(const void *function, expr_id e)
{
	crossing.called = NULL;
	crossing.returned = function;
	crossing.result = e;
}

expr_id symbolic_result(uint64_t site, const void *function, bool *known)
{
	struct crossing *c = &crossing;

	if (c->called == function) {
		for (unsigned i = 0; c->any && i < SYMBOLIC_ARGUMENTS; i++)
			symbolic_lost(site, c->argument[i], WALK_LOST_CALL);
		c->called = NULL;
	}
	*known = c->returned == function;
	return *known ? c->result : 0;
}
