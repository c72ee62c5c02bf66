/* SPDX-License-Identifier: MIT */
#define VECTOR(object) ((struct vector *)(object))
#include "vector_operations.h"

static void *make(void)
{
	struct vector *v = vector_new();

	for (long i = 1; i <= 3; i++)
		vector_add(v, i);
	return v;
}

static void drop(void *v)
{
	vector_delete(v);
}

/* 004 Figure 1: the object is the new one; what is shared is the other. */
OPERATION(new_from, vector_delete(vector_new_from(o)))

static const struct fission_operation operations[] = {OTHER(new_from), VECTOR_OPERATIONS, {0}};

FISSION_PAIRS("Vector", make, drop, operations)
