/* SPDX-License-Identifier: MIT */
/*
 * Models: what functions of libc do to expressions. A wrapper calls the real function, then its model if a walk is
 * written, and returns what the real one did; the program's values are never touched. `function` is the wrapper, as the
 * program calls it.
 *
 * Texts. What is compared, searched or measured is an expression over the bytes, as far as they are symbolic: the
 * decision that the program then makes can be made otherwise. The NUL of a text that may grow counts as a byte, and
 * some behind it that are not there yet, so that an argument can become a longer word.
 *
 * Numbers. A text that was read as a number is an input of its own: the number; see event/walk.h.
 */
#ifndef FISSION_RUNTIME_MODELS_H
#define FISSION_RUNTIME_MODELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/symbolic.h"
#include "runtime/walk.h"

/* It has copied bytes; filled them with what is no input, or is argument number `value`. */
void model_copy(const void *function, const void *to, const void *from, size_t bytes);
void model_fill(const void *function, const void *to, unsigned value, size_t bytes);
/* It has done nothing that matters. */
void model_nothing(const void *function);

/* How two texts are compared. */
struct model_compare {
	const char *a, *b;
	size_t most;   /* bytes */
	bool ends;     /* at a NUL */
	bool folds;    /* upper and lower case are the same */
	int result;    /* of the real function */
};

void model_compare(const void *function, const struct model_compare *c);
/* strlen, strnlen: the length is `result`. */
void model_length(const void *function, const char *s, size_t most, size_t result);
/* strchr, memchr: the first byte that is c among so many. */
struct model_find {
	const char *at;
	size_t bytes;
	int c;
	bool ends;          /* at a NUL: then `bytes` is not asked for */
	const void *result; /* NULL: there is none */
};

void model_find(const void *function, const struct model_find *f);

/* A text that was read as a number of so many bits, which begins somewhere behind white space. */
struct model_number {
	const char *text;
	unsigned width;
	uint64_t value;
	int base;
};

/* The number's expression; 0: it is concrete. */
expr_id model_number(const struct model_number *n);

/* Whether the text is that word, as one bit; 0: that depends on no input. */
expr_id model_is_word(const char *text, const char *word);

#endif
