/* SPDX-License-Identifier: MIT */
/* expect: violation block=push variable=s->length verdict=observed rank=1 enclosing=none */
/* Length, then store: the length is of another time. The object is on the heap. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "order.h"

struct stack {
	pthread_mutex_t lock;
	size_t length;
	int at[16];
};

static size_t length_of(struct stack *s)
{
	pthread_mutex_lock(&s->lock);
	size_t n = s->length;
	pthread_mutex_unlock(&s->lock);
	return n;
}

static void store(struct stack *s, size_t i, int value)
{
	pthread_mutex_lock(&s->lock);
	s->at[i] = value;
	s->length = i + 1;
	pthread_mutex_unlock(&s->lock);
}

static void push(struct stack *s, int value, int slow)
{
	size_t n = length_of(s);

	if (slow) {
		turn_over();
		turn(2);
	}
	store(s, n, value);
}

static void *alice(void *s)
{
	push(s, 1, 1);
	return NULL;
}

static void *bob(void *s)
{
	turn(1);
	push(s, 2, 0);
	turn_over();
	return NULL;
}

int main(void)
{
	struct stack *s = calloc(1, sizeof *s);
	pthread_t a, b;

	pthread_mutex_init(&s->lock, NULL);
	pthread_create(&a, NULL, alice, s);
	pthread_create(&b, NULL, bob, s);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%zu\n", s->length);
	pthread_mutex_destroy(&s->lock);
	free(s);
	return 0;
}
