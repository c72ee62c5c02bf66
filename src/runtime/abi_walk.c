/* SPDX-License-Identifier: MIT */
/*
 * What code from the rewriter calls: see abi_walk.def. Each writes its record and says what the expression is.
 */
#include <stddef.h>

#include "runtime/real.h"
#include "runtime/symbolic.h"
#include "runtime/walk.h"

#define RECORD(kind_, site_) .kind = (kind_), .ordinal = (uint32_t)(site_), .module = site_unit(site_)

static const void *pointer(uint64_t address)
{
	return (const void *)(uintptr_t)address;
}

static uint32_t upper(uint64_t pair)
{
	return (uint32_t)(pair >> 32);
}

/* With an expression always, without one a few times. */
static void put(struct walk_record r)
{
	if (r.expr)
		walk_put(r);
	else
		walk_put_some(r);
}

EXPORT uint64_t __fission_walk_unit(uint64_t hash);
EXPORT uint32_t __fission_walk_load(uint64_t site, uint64_t address, uint32_t bits, uint64_t value);
EXPORT void __fission_walk_store(uint64_t site, uint64_t address, uint64_t expr_bits, uint64_t value);
EXPORT void __fission_walk_clear(uint64_t site, uint64_t address, uint64_t lost_bytes);
EXPORT void __fission_walk_fresh(uint64_t address, uint64_t bytes);
EXPORT uint32_t __fission_walk_binary(uint32_t what, uint64_t exprs, uint64_t a, uint64_t b);
EXPORT uint32_t __fission_walk_overflow(uint32_t what, uint64_t exprs, uint64_t a, uint64_t b);
EXPORT uint32_t __fission_walk_cast(uint32_t what, uint32_t e);
EXPORT void __fission_walk_branch(uint64_t site, uint32_t e, uint32_t taken);
EXPORT void __fission_walk_select(uint64_t site, uint32_t e, uint32_t taken);
EXPORT void __fission_walk_switch(uint64_t site, uint32_t e, uint64_t value);
EXPORT void __fission_walk_cases(uint64_t site, uint64_t expr_count, const uint64_t *values);
EXPORT void __fission_walk_address(uint64_t site, uint32_t e, uint64_t value);
EXPORT void __fission_walk_lost(uint64_t site, uint32_t e, uint32_t why);
EXPORT void __fission_walk_block(uint64_t site);
EXPORT uint32_t __fission_walk_enter(uint64_t site, uint64_t function);
EXPORT uint32_t __fission_walk_argument(uint64_t site, uint64_t number_passed, uint32_t width, uint64_t value);
EXPORT void __fission_walk_exit(uint64_t site, uint64_t function, uint32_t e);
EXPORT void __fission_walk_second(uint32_t e);
EXPORT uint32_t __fission_walk_second_result(uint64_t function);
EXPORT void __fission_walk_call(uint64_t function);
EXPORT void __fission_walk_pass(uint32_t i, uint32_t e);
EXPORT uint32_t __fission_walk_result(uint64_t site, uint64_t function, uint32_t width, uint64_t value);

/* Called by a constructor of each unit. */
uint64_t __fission_walk_unit(uint64_t hash)
{
	return walk_unit(hash);
}

uint32_t __fission_walk_load(uint64_t site, uint64_t address, uint32_t bits, uint64_t value)
{
	expr_id e = symbolic_load(pointer(address), bits / 8, value);

	put((struct walk_record){RECORD(WALK_LOAD, site), .width = (uint8_t)bits, .expr = e, .a = address, .b = value});
	return e;
}

void __fission_walk_store(uint64_t site, uint64_t address, uint64_t expr_bits, uint64_t value)
{
	uint32_t bits = (uint32_t)expr_bits;
	expr_id e = upper(expr_bits);

	symbolic_set(pointer(address), bits / 8, e);
	put((struct walk_record){RECORD(WALK_STORE, site), .width = (uint8_t)bits, .expr = e, .a = address, .b = value});
}

void __fission_walk_clear(uint64_t site, uint64_t address, uint64_t lost_bytes)
{
	symbolic_lost_memory(site, pointer(address), (uint32_t)lost_bytes, (enum walk_lost)upper(lost_bytes));
}

void __fission_walk_fresh(uint64_t address, uint64_t bytes)
{
	symbolic_clear(pointer(address), bytes);
}

uint32_t __fission_walk_binary(uint32_t what, uint64_t exprs, uint64_t a, uint64_t b)
{
	return symbolic_binary((enum walk_op)(what & 0xff), what >> 8, (struct operand){upper(exprs), a},
		(struct operand){(uint32_t)exprs, b});
}

/* The operands and the result with twice the bits: what does not come back from half of them has overflown. */
static expr_id wide(struct operand o, enum walk_op extend, unsigned width)
{
	return symbolic_cast(extend, 2 * width, o.expr ? o.expr : symbolic_const(width, o.value));
}

uint32_t __fission_walk_overflow(uint32_t what, uint64_t exprs, uint64_t a, uint64_t b)
{
	enum walk_op extend = what >> 16 ? WALK_SEXT : WALK_ZEXT;
	unsigned width = what >> 8 & 0xff;
	expr_id x = wide((struct operand){upper(exprs), a}, extend, width), half;
	expr_id y = wide((struct operand){(uint32_t)exprs, b}, extend, width);

	if (!x || !y)
		return 0;
	x = symbolic_node((enum walk_op)(what & 0xff), 2 * width, (const expr_id[3]){x, y});
	half = symbolic_cast(extend, 2 * width, symbolic_cast(WALK_TRUNC, width, x));
	return x && half ? symbolic_node(WALK_NE, 1, (const expr_id[3]){x, half}) : 0;
}

uint32_t __fission_walk_cast(uint32_t what, uint32_t e)
{
	return symbolic_cast((enum walk_op)(what & 0xff), what >> 8, e);
}

void __fission_walk_branch(uint64_t site, uint32_t e, uint32_t taken)
{
	put((struct walk_record){RECORD(WALK_BRANCH, site), .width = 1, .expr = e, .a = taken});
}

void __fission_walk_select(uint64_t site, uint32_t e, uint32_t taken)
{
	if (e)
		walk_put((struct walk_record){RECORD(WALK_SELECT, site), .width = 1, .expr = e, .a = taken});
}

void __fission_walk_switch(uint64_t site, uint32_t e, uint64_t value)
{
	put((struct walk_record){RECORD(WALK_SWITCH, site), .width = e ? (uint8_t)symbolic_width(e) : 0, .expr = e,
		.a = value});
}

void __fission_walk_cases(uint64_t site, uint64_t expr_count, const uint64_t *values)
{
	expr_id e = upper(expr_count);

	for (uint32_t i = 0; e && i < (uint32_t)expr_count; i++)
		walk_put((struct walk_record){RECORD(WALK_CASE, site), .width = (uint8_t)symbolic_width(e), .a = values[i]});
}

void __fission_walk_address(uint64_t site, uint32_t e, uint64_t value)
{
	if (e)
		walk_put((struct walk_record){RECORD(WALK_ADDRESS, site), .width = 64, .expr = e, .a = value});
}

void __fission_walk_lost(uint64_t site, uint32_t e, uint32_t why)
{
	symbolic_lost(site, e, (enum walk_lost)why);
}

void __fission_walk_block(uint64_t site)
{
	walk_put_some((struct walk_record){RECORD(WALK_BLOCK, site)});
}

uint32_t __fission_walk_enter(uint64_t site, uint64_t function)
{
	walk_put_some((struct walk_record){RECORD(WALK_ENTER, site), .a = function});
	return symbolic_enter(pointer(function));
}

uint32_t __fission_walk_argument(uint64_t site, uint64_t number_passed, uint32_t width, uint64_t value)
{
	uint32_t number = upper(number_passed);
	expr_id e = (uint32_t)number_passed ? symbolic_take(number) : 0;

	put((struct walk_record){RECORD(WALK_ARGUMENT, site), .width = (uint8_t)width, .expr = e, .a = value, .b = number});
	return e;
}

void __fission_walk_exit(uint64_t site, uint64_t function, uint32_t e)
{
	walk_put_some((struct walk_record){RECORD(WALK_EXIT, site), .a = function});
	symbolic_return(pointer(function), e);
}

void __fission_walk_second(uint32_t e)
{
	symbolic_second(e);
}

uint32_t __fission_walk_second_result(uint64_t function)
{
	return symbolic_second_result(pointer(function));
}

void __fission_walk_call(uint64_t function)
{
	symbolic_call(pointer(function));
}

void __fission_walk_pass(uint32_t i, uint32_t e)
{
	symbolic_pass(i, e);
}

uint32_t __fission_walk_result(uint64_t site, uint64_t function, uint32_t width, uint64_t value)
{
	bool shadowed;
	expr_id e = symbolic_result(site, pointer(function), &shadowed);

	if (width && (e || !shadowed))
		put((struct walk_record){RECORD(WALK_RESULT, site), .width = (uint8_t)width, .expr = e, .a = value});
	return e;
}
