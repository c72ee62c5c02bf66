/* SPDX-License-Identifier: MIT */
#include "models.h"

#include "event/walk_value.h"
#include "runtime/inputs.h"

enum { GROWS_MOST = 40, TEXT_MOST = 512, WORD_BITS = 32, LONG_BITS = 64 };

void model_nothing(const void *function)
{
	symbolic_return(function, 0);
}

void model_copy(const void *function, const void *to, const void *from, size_t bytes)
{
	symbolic_copy(to, from, bytes);
	symbolic_return(function, 0);
}

void model_fill(const void *function, const void *to, unsigned value, size_t bytes)
{
	expr_id e = symbolic_cast(WALK_TRUNC, 8, symbolic_argument(function, value));

	for (size_t i = 0; e && i < bytes && i < TEXT_MOST; i++)
		symbolic_set((const char *)to + i, 1, e);
	if (!e)
		symbolic_clear(to, bytes);
	symbolic_return(function, 0);
}

/* Texts, byte by byte. */

struct text_bytes {
	const char *at;
	size_t length;     /* of what is there, without its NUL; SIZE_MAX: it has none */
	bool grows;        /* its NUL is a byte of an input that may grow */
	struct place end;  /* where that is */
};

static size_t length_of(const char *s, size_t most)
{
	size_t n = 0;

	while (n < most && s[n])
		n++;
	return n;
}

static struct text_bytes text_of(const char *s, size_t most)
{
	struct text_bytes t = {.at = s, .length = length_of(s, most)};
	expr_id nul = t.length < most ? symbolic_load(s + t.length, 1, 0) : 0;

	t.grows = nul && inputs_origin(nul, &t.end) && inputs_grows(t.end);
	return t;
}

/* A byte: its expression, if it has one, and its value. False: there is none. */
static bool byte_at(const struct text_bytes *t, size_t i, struct operand *to)
{
	struct place p = t->end;

	*to = (struct operand){0, 0};
	if (i <= t->length) {
		to->value = (unsigned char)t->at[i];
		to->expr = symbolic_load(t->at + i, 1, to->value);
		return true;
	}
	if (!t->grows || i > t->length + GROWS_MOST)
		return false;
	p.offset += (uint32_t)(i - t->length);
	to->expr = inputs_beyond(p);
	return to->expr != 0;
}

static struct operand number(uint64_t value)
{
	return (struct operand){0, value};
}

/* a ? b : c; of b and c at least one has an expression, or they are the same. */
static struct operand choose(expr_id a, unsigned width, struct operand b, struct operand c)
{
	expr_id of[3] = {a, b.expr ? b.expr : symbolic_const(width, b.value),
		c.expr ? c.expr : symbolic_const(width, c.value)};
	expr_id e = of[1] && of[2] ? symbolic_node(WALK_CHOOSE, width, of) : 0;

	return (struct operand){e, e ? symbolic_value(e) : 0};
}

/* If the condition is concrete, that is the choice. */
static struct operand decide(struct operand is, unsigned width, struct operand yes, struct operand no)
{
	return is.expr ? choose(is.expr, width, yes, no) : is.value ? yes : no;
}

/* Of two bytes. */
static struct operand binary(enum walk_op op, struct operand a, struct operand b)
{
	struct walk_term t = {.op = op, .width = op >= WALK_EQ && op <= WALK_SLE ? 1 : 8, .of = 8, .a = a.value, .b = b.value};

	return (struct operand){symbolic_binary(op, 8, a, b), walk_value(&t)};
}

static struct operand fold(struct operand c)
{
	struct operand low = binary(WALK_UGE, c, number('A')), high = binary(WALK_ULE, c, number('Z'));
	struct operand lower = binary(WALK_ADD, c, number('a' - 'A'));

	return decide(low, 8, decide(high, 8, lower, c), c);
}

static struct operand widen(struct operand c)
{
	return (struct operand){symbolic_cast(WALK_ZEXT, WORD_BITS, c.expr), c.value};
}

static struct operand difference(struct operand a, struct operand b)
{
	struct operand x = widen(a), y = widen(b);

	return (struct operand){symbolic_binary(WALK_SUB, WORD_BITS, x, y), (x.value - y.value) & UINT32_MAX};
}

/* How many bytes have to be looked at: to the end of the longer text. */
static size_t compared(const struct model_compare *c, const struct text_bytes *a, const struct text_bytes *b)
{
	size_t n = c->ends ? (a->length > b->length ? a->length : b->length) + 1 : c->most;

	if (n > c->most)
		n = c->most;
	return n < TEXT_MOST ? n : TEXT_MOST;
}

static struct text_bytes compared_text(const struct model_compare *c, const char *s)
{
	return c->ends ? text_of(s, c->most) : (struct text_bytes){.at = s, .length = c->most};
}

/* What the comparison gives from byte i on, if the rest gives `rest`. False: there are no such bytes. */
static bool compare_from(const struct model_compare *c, const struct text_bytes t[2], size_t i, struct operand *rest)
{
	struct operand a, b, differ;

	if (!byte_at(&t[0], i, &a) || !byte_at(&t[1], i, &b))
		return false;
	if (c->ends)
		*rest = decide(binary(WALK_EQ, a, number(0)), WORD_BITS, number(0), *rest);
	if (c->folds) {
		a = fold(a);
		b = fold(b);
	}
	differ = binary(WALK_NE, a, b);
	*rest = decide(differ, WORD_BITS, difference(a, b), *rest);
	return true;
}

void model_compare(const void *function, const struct model_compare *c)
{
	struct text_bytes t[2] = {compared_text(c, c->a), compared_text(c, c->b)};
	struct operand all = number(0), last;
	size_t n = compared(c, &t[0], &t[1]);

	/* Where one text ends for good, the other one's further bytes decide nothing. */
	while (n && (!byte_at(&t[0], n - 1, &last) || !byte_at(&t[1], n - 1, &last)))
		n--;
	while (n-- > 0)
		if (!compare_from(c, t, n, &all))
			all = number(0);
	symbolic_return(function, all.expr && all.value == (uint32_t)c->result ? all.expr : 0);
}

void model_length(const void *function, const char *s, size_t most, size_t result)
{
	struct text_bytes t = text_of(s, most);
	size_t n = t.length;
	struct operand all, c;

	while (n < t.length + GROWS_MOST && n < most && byte_at(&t, n + 1, &c) && t.grows)
		n++;
	all = number(n + 1 < most ? n + 1 : n);
	for (size_t i = n < most ? n + 1 : n; i-- > 0 && t.length < TEXT_MOST;) /* there is nothing at `most` */
		if (byte_at(&t, i, &c))
			all = decide(binary(WALK_EQ, c, number(0)), LONG_BITS, number(i), all);
	symbolic_return(function, all.expr && all.value == result ? all.expr : 0);
}

void model_find(const void *function, const struct model_find *f)
{
	struct operand all = number(0), here;
	struct operand c = {symbolic_cast(WALK_TRUNC, 8, symbolic_argument(function, 1)), (uint8_t)f->c};
	struct text_bytes t = f->ends ? text_of(f->at, TEXT_MOST) : (struct text_bytes){.at = f->at, .length = f->bytes};
	size_t n = f->ends ? t.length + 1 : f->bytes;

	while (f->ends && n < TEXT_MOST && byte_at(&t, n, &here))
		n++;
	while (n < TEXT_MOST && n-- > 0 && byte_at(&t, n, &here)) {
		if (f->ends)
			all = decide(binary(WALK_EQ, here, number(0)), LONG_BITS, number(0), all);
		all = decide(binary(WALK_EQ, here, c), LONG_BITS, number((uint64_t)(uintptr_t)(f->at + n)), all);
	}
	symbolic_return(function, all.expr && all.value == (uint64_t)(uintptr_t)f->result ? all.expr : 0);
}

expr_id model_is_word(const char *text, const char *word)
{
	struct text_bytes t = text_of(text, TEXT_MOST);
	struct operand all = number(1), c;
	size_t n = length_of(word, TEXT_MOST);

	for (size_t i = n + 1; i-- > 0;) {
		if (!byte_at(&t, i, &c))
			return 0;
		all = decide(binary(WALK_EQ, c, number((unsigned char)word[i])), 1, all, number(0));
	}
	return all.expr;
}

/* Numbers. */

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* How long the number's text is, in the base that can be written again; 0: it cannot. */
static size_t digits_of(const char *s, int base)
{
	size_t sign = *s == '-' || *s == '+', n = sign;
	bool prefixed = s[n] == '0' && (s[n + 1] | 32) == 'x' && is_hex(s[n + 2]);

	if (prefixed && (base == 16 || base == 0) && !sign) {
		for (n += 2; is_hex(s[n]); n++)
			;
		return n;
	}
	if (base == 16 || base == 8 || (base != 10 && base != 0) || (base == 0 && s[n] == '0' && is_digit(s[n + 1])))
		return 0;
	while (is_digit(s[n]))
		n++;
	if (n > sign)
		return n;
	for (n = 0; s[n] && !is_space(s[n]); n++)
		; /* a word that is no number was read as 0, and may become one */
	return n;
}

/* The place of a text whose bytes stand one behind the other in one source. */
static bool text_place(const char *s, size_t n, struct place *to)
{
	for (size_t i = 0; i < n; i++) {
		expr_id e = symbolic_load(s + i, 1, (unsigned char)s[i]);
		struct place p;

		if (!e || !inputs_origin(e, &p))
			return false;
		if (!i)
			*to = p;
		else if (p.source != to->source || p.index != to->index || p.offset != to->offset + i)
			return false;
	}
	return n > 0;
}

static void lose(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		symbolic_lost(0, symbolic_load(s + i, 1, (unsigned char)s[i]), WALK_LOST_CALL);
}

expr_id model_number(const struct model_number *n)
{
	const char *s = n->text;
	struct symbolic_source from = {.width = n->width, .value = n->value};
	struct place p;
	size_t length;

	while (is_space(*s))
		s++;
	length = digits_of(s, n->base);
	if (!text_place(s, length, &p)) {
		lose(s, length);
		return 0;
	}
	from.source = p.source;
	from.index = p.index;
	from.offset = p.offset;
	from.length = (uint32_t)length;
	return symbolic_input(&from);
}
