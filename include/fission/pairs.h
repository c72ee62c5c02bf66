/* SPDX-License-Identifier: MIT */
/*
 * A library's operations in a table, for `fission pairs`: it runs every two of them against each other, on objects that
 * they share, in the orders that could split one of them, and prints which are not atomic with each other.
 *
 *	#include <fission/pairs.h>
 *	#include "queue.h"
 *
 *	static void *make(void) { return queue_new(); }
 *	static void drop(void *q) { queue_delete(q); }
 *	static void put(void *q, void *other, const void *argument) { queue_put(q, *(const int *)argument); }
 *	static void move(void *q, void *other, const void *argument) { queue_move(q, other); }
 *
 *	static const int seven = 7;
 *	static const struct fission_operation operations[] = {
 *		{"put", put, &seven, 0},
 *		{"move", move, 0, FISSION_OTHER},
 *		{0, 0, 0, 0}
 *	};
 *	FISSION_PAIRS("queue", make, drop, operations)
 *
 *	fission-cc -pthread queue_pairs.c queue.c -o queue_pairs && fission pairs ./queue_pairs
 *
 * One source of a program includes this file, and FISSION_PAIRS is its main(). Each run makes two objects, has two
 * threads call one operation each, once, and drops the objects. `make` is to give every object the same content, of a
 * few elements: what an empty object does is short, and what a large one does is long. An operation that takes another
 * object of its kind gets the second one; it is marked with FISSION_OTHER, and then is also run with the objects
 * exchanged.
 *
 * Each operation is declared a block of its name. Under a plain compiler the program works, too: it does once what it
 * is told to do. C89, C++, POSIX threads.
 */
#ifndef FISSION_PAIRS_H
#define FISSION_PAIRS_H

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "../fission.h"

/* For `uses`: it takes another object of its kind. */
#define FISSION_OTHER 1

struct fission_operation {
	const char *name; /* letters, digits and _.-:<>()~, at most 63; NULL ends the table */
	void (*call)(void *self, void *other, const void *argument);
	const void *argument; /* what it is called with beside the objects; may be NULL */
	int uses;             /* FISSION_OTHER or 0 */
};

struct fission_table {
	const char *name; /* of the kind of object */
	void *(*make)(void);
	void (*drop)(void *self); /* may be NULL */
	const struct fission_operation *operations;
};

#define FISSION_PAIRS(name, make, drop, operations) \
	int main(int argc, char **argv) \
	{ \
		static const struct fission_table table = {name, make, drop, operations}; \
\
		return fission_pairs_main(&table, argc, argv); \
	}

/* What follows is for FISSION_PAIRS alone. */

struct fission_turn {
	const struct fission_operation *operation;
	void *self, *other;
};

static void *fission_turn(void *of)
{
	const struct fission_turn *t = (const struct fission_turn *)of;

	FISSION_ATOMIC_BEGIN(t->operation->name);
	t->operation->call(t->self, t->other, t->operation->argument);
	FISSION_ATOMIC_END(t->operation->name);
	return 0;
}

static const struct fission_operation *fission_operation(const struct fission_table *table, const char *name)
{
	const struct fission_operation *o = table->operations;

	while (o->name && strcmp(o->name, name) != 0)
		o++;
	return o->name ? o : 0;
}

static int fission_pairs_list(const struct fission_table *table)
{
	const struct fission_operation *o;

	printf("fission-pairs 1\nobject %s\n", table->name);
	for (o = table->operations; o->name; o++)
		printf("operation %s %s\n", o->name, o->uses & FISSION_OTHER ? "other" : "alone");
	puts("end");
	return 0;
}

/* Both threads are there before either is waited for: who does what first is left to the schedule. */
static int fission_pairs_run(const struct fission_table *table, struct fission_turn turn[2], int crossed)
{
	void *one = table->make(), *two = table->make();
	pthread_t thread[2];
	int i;

	for (i = 0; i < 2; i++) {
		turn[i].self = i && crossed ? two : one;
		turn[i].other = i && crossed ? one : two;
		if (pthread_create(&thread[i], 0, fission_turn, &turn[i]) != 0) {
			fprintf(stderr, "a thread could not be made\n");
			return 69;
		}
	}
	for (i = 0; i < 2; i++)
		pthread_join(thread[i], 0);
	if (table->drop) {
		table->drop(one);
		table->drop(two);
	}
	return 0;
}

/* PROGRAM list; PROGRAM same|crossed OPERATION OPERATION. */
static int fission_pairs_main(const struct fission_table *table, int argc, char **argv)
{
	struct fission_turn turn[2];
	int crossed = argc == 4 && strcmp(argv[1], "crossed") == 0;

	memset(turn, 0, sizeof turn);
	if (argc == 2 && strcmp(argv[1], "list") == 0)
		return fission_pairs_list(table);
	if (argc == 4 && (crossed || strcmp(argv[1], "same") == 0)) {
		turn[0].operation = fission_operation(table, argv[2]);
		turn[1].operation = fission_operation(table, argv[3]);
	}
	if (turn[0].operation && turn[1].operation)
		return fission_pairs_run(table, turn, crossed);
	fprintf(stderr, "operations of '%s'; 'fission pairs %s' runs every two of them against each other.\n"
		"By hand: %s list, or %s same|crossed OPERATION OPERATION\n", table->name, argv[0], argv[0], argv[0]);
	return 64;
}

#endif
