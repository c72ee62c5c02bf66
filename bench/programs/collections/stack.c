/* SPDX-License-Identifier: MIT */
#include "stack.h"

#include <stdlib.h>

struct stack *stack_new(void)
{
	struct stack *s = malloc(sizeof *s);

	if (!s)
		abort();
	vector_init(&s->vector, 10);
	return s;
}

void stack_delete(struct stack *s)
{
	vector_free(&s->vector);
	free(s);
}

long stack_push(struct stack *s, long item)
{
	vector_add_element(&s->vector, item);
	return item;
}

int stack_pop(struct stack *s, long *to)
{
	int length, result;

	monitor_enter(&s->vector.monitor);
	length = vector_size(&s->vector);
	result = stack_peek(s, to);
	if (result == VECTOR_GOOD)
		vector_remove_element_at(&s->vector, length - 1);
	monitor_exit(&s->vector.monitor);
	return result;
}

int stack_peek(struct stack *s, long *to)
{
	int length, result = VECTOR_BAD;

	monitor_enter(&s->vector.monitor);
	length = vector_size(&s->vector);
	if (length > 0)
		result = vector_element_at(&s->vector, length - 1, to);
	monitor_exit(&s->vector.monitor);
	return result;
}

bool stack_empty(struct stack *s)
{
	return vector_size(&s->vector) == 0;
}

int stack_search(struct stack *s, long item)
{
	int at, depth = -1;

	monitor_enter(&s->vector.monitor);
	at = vector_last_index_of(&s->vector, item);
	if (at >= 0)
		depth = vector_size(&s->vector) - at;
	monitor_exit(&s->vector.monitor);
	return depth;
}
