/* SPDX-License-Identifier: MIT */
/*
 * Stack of the JDK 1.4.2: a Vector with five more methods. It has all methods of its parent, on `vector`, and with them
 * all its violations but that of the constructor, which is not inherited. Its own methods are atomic.
 */
#ifndef COLLECTIONS_STACK_H
#define COLLECTIONS_STACK_H

#include "vector.h"

struct stack {
	struct vector vector; /* the last element is on top */
};

struct stack *stack_new(void);
void stack_delete(struct stack *s);

long stack_push(struct stack *s, long item); /* returns the item */
int stack_pop(struct stack *s, long *to);    /* VECTOR_BAD: it is empty */
int stack_peek(struct stack *s, long *to);
bool stack_empty(struct stack *s);
int stack_search(struct stack *s, long item); /* how deep it is, from 1; -1: it is not there */

#endif
