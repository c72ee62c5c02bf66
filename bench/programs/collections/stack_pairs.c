/* SPDX-License-Identifier: MIT */
#define VECTOR(object) (&((struct stack *)(object))->vector)
#include "stack.h"
#include "vector_operations.h"

static void *make(void)
{
	struct stack *s = stack_new();

	for (long i = 1; i <= 3; i++)
		stack_push(s, i);
	return s;
}

static void drop(void *s)
{
	stack_delete(s);
}

OPERATION(push, stack_push(object, 9))
OPERATION(pop, long x; stack_pop(object, &x))
OPERATION(peek, long x; stack_peek(object, &x))
OPERATION(empty, stack_empty(object))
OPERATION(search, stack_search(object, 1))

static const struct fission_operation operations[] = {
	ALONE(push), ALONE(pop), ALONE(peek), ALONE(empty), ALONE(search), VECTOR_OPERATIONS, {0},
};

FISSION_PAIRS("Stack", make, drop, operations)
