/* SPDX-License-Identifier: MIT */
/*
 * What the nodes of a walk compute, on plain numbers. The runtime computes with it beside the program; the tool can try
 * a solution before it runs the program again. A division by 0 and a shift by the width or more have no value; here it
 * is 0.
 */
#ifndef FISSION_EVENT_WALK_VALUE_H
#define FISSION_EVENT_WALK_VALUE_H

#include <stdbool.h>

#include "event/walk.h"

struct walk_term {
	enum walk_op op;
	unsigned width;    /* of the result */
	unsigned of;       /* width of a; in all but casts, CONCAT, BYTE and CHOOSE that of b too */
	unsigned low;      /* width of b: CONCAT */
	uint64_t a, b, third;
};

static inline uint64_t walk_mask(unsigned width)
{
	return width >= 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
}

static inline int64_t walk_signed(uint64_t x, unsigned width)
{
	return width >= 64 ? (int64_t)x : (int64_t)(x << (64 - width)) >> (64 - width);
}

static inline uint64_t walk_divide(const struct walk_term *t)
{
	int64_t a = walk_signed(t->a, t->of), b = walk_signed(t->b, t->of);

	if (!t->b)
		return 0;
	switch (t->op) {
	case WALK_UDIV: return t->a / t->b;
	case WALK_UREM: return t->a % t->b;
	case WALK_SDIV: return b == -1 ? -(uint64_t)a : (uint64_t)(a / b);
	default: return b == -1 ? 0 : (uint64_t)(a % b);
	}
}

static inline uint64_t walk_shift(const struct walk_term *t)
{
	if (t->b >= t->of)
		return 0;
	switch (t->op) {
	case WALK_SHL: return t->a << t->b;
	case WALK_LSHR: return t->a >> t->b;
	default: return (uint64_t)(walk_signed(t->a, t->of) >> t->b);
	}
}

static inline bool walk_compare(const struct walk_term *t)
{
	int64_t a = walk_signed(t->a, t->of), b = walk_signed(t->b, t->of);

	switch (t->op) {
	case WALK_EQ: return t->a == t->b;
	case WALK_NE: return t->a != t->b;
	case WALK_UGT: return t->a > t->b;
	case WALK_UGE: return t->a >= t->b;
	case WALK_ULT: return t->a < t->b;
	case WALK_ULE: return t->a <= t->b;
	case WALK_SGT: return a > b;
	case WALK_SGE: return a >= b;
	case WALK_SLT: return a < b;
	default: return a <= b;
	}
}

static inline uint64_t walk_compute(const struct walk_term *t)
{
	switch (t->op) {
	case WALK_ADD: return t->a + t->b;
	case WALK_SUB: return t->a - t->b;
	case WALK_MUL: return t->a * t->b;
	case WALK_AND: return t->a & t->b;
	case WALK_OR: return t->a | t->b;
	case WALK_XOR: return t->a ^ t->b;
	case WALK_SEXT: return (uint64_t)walk_signed(t->a, t->of);
	case WALK_ZEXT:
	case WALK_TRUNC: return t->a;
	case WALK_CONCAT: return t->low >= 64 ? t->b : t->a << t->low | t->b;
	case WALK_BYTE: return t->b >= 8 ? 0 : t->a >> 8 * t->b & 0xff;
	case WALK_CHOOSE: return t->a ? t->b : t->third;
	default: break;
	}
	if (t->op >= WALK_UDIV && t->op <= WALK_SREM)
		return walk_divide(t);
	return t->op >= WALK_SHL && t->op <= WALK_ASHR ? walk_shift(t) : walk_compare(t);
}

static inline uint64_t walk_value(const struct walk_term *t)
{
	return walk_compute(t) & walk_mask(t->width);
}

#endif
