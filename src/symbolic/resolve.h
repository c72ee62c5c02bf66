/* SPDX-License-Identifier: MIT */
/*
 * What a value of the bitcode would be at a moment of the run: in an activation that is there, or in a call that is
 * only supposed, whose arguments are known as far as they are.
 *
 * Only what follows is known: constants, variables of the program by their symbols, what the activation has seen, and
 * arithmetic on that. There is no guessing by type.
 */
#ifndef FISSION_SYMBOLIC_RESOLVE_H
#define FISSION_SYMBOLIC_RESOLVE_H

#include "base/map.h"
#include "symbolic/units.h"

struct follow;
struct frame;

enum known { KNOWN_NOT, KNOWN_VALUE, KNOWN_OWN }; /* OWN: the address of something that nobody else can know */

struct known_value {
	enum known known;
	uint64_t value;
};

struct scope {
	struct follow *follow;
	struct unit_function *function;
	struct frame *frame;                 /* NULL: a call that is supposed */
	const struct known_value *argument;  /* then its arguments */
	struct map bound;                    /* instruction to index + 1: what it was found to be on the way */
	struct known_value *value;
	size_t values, room;
	const struct scope *caller;          /* of a supposed call */
	LLVMValueRef call;
};

void scope_init(struct scope *s, struct follow *f, struct unit_function *function);

/* From here on the instruction has that value in the scope. */
void scope_bind(struct scope *s, LLVMValueRef instruction, struct known_value value);

struct known_value resolve(const struct scope *s, LLVMValueRef value);

/*
 * Takes off what adds a constant to an address: returns the value below, and the sum in `offset`.
 * The value itself and 0 if there is nothing of that kind.
 */
LLVMValueRef resolve_base(const struct unit *u, LLVMValueRef pointer, int64_t *offset);

#endif
