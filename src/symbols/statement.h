/* SPDX-License-Identifier: MIT */
/*
 * Which variable gets the memory that a call makes, by the text of the statement that the call stands in:
 *
 *   struct account *account = malloc(sizeof *account);      account
 *   bank->slots = (struct slot *)calloc(n, sizeof(struct slot));   bank->slots, and struct slot
 *   return new Account(7);                                   goes to the caller, and Account
 *
 * This is a reading of tokens and no parser: what does not look like one of these forms says nothing. What it says is
 * believed only where the debug information has such a variable, of a type that the bytes are a multiple of.
 */
#ifndef FISSION_SYMBOLS_STATEMENT_H
#define FISSION_SYMBOLS_STATEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"

struct arena;

enum step { STEP_ROOT, STEP_DOT, STEP_ARROW, STEP_ELEMENT };

struct path_step {
	enum step how;
	struct text name; /* of a variable or member; empty for an element */
};

enum { STEPS_MOST = 8 };

struct statement {
	struct path_step step[STEPS_MOST]; /* of what gets the pointer, the variable first */
	size_t steps;     /* 0: that is not known */
	unsigned stars;   /* "*out = malloc(...)" */
	bool returned;    /* it goes to the function's caller, now or later */
	struct text type; /* "account" of new Account or sizeof(struct account); empty: it does not say */
	bool is_new;      /* it is made by new */
	bool is_many;     /* by new T[n] */
	bool is_struct;   /* the type was written with "struct" */
	uint64_t line;    /* of the call */
};

/* What is to be read. */
struct statement_at {
	const char *text; /* the whole source file */
	size_t length;
	uint64_t line;
	struct text callee; /* its last name counts; empty: an allocator of the C library, or new */
};

/* False if there is not just one such call on the line. Texts are owned by the arena. */
bool statement_read(struct statement *s, struct arena *a, const struct statement_at *at);

enum { NEWS_MOST = 32 };

/* The uses of new in the function that begins at the line: how many there are. More than NEWS_MOST are counted only. */
size_t statement_read_news(struct statement *to, struct arena *a, const struct statement_at *at);

#endif
