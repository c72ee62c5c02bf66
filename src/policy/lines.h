/* SPDX-License-Identifier: MIT */
/*
 * A file that a person has written, line by line and word by word: what configurations, suppressions and baselines
 * have in common. '#' at the start of a word begins a comment; a line may end with CR LF, and the file may begin with
 * the mark of UTF-8. Words are bytes of the source, which must stay.
 *
 * Every mistake is told by source_wrong: the place, what is wrong, what would be right.
 */
#ifndef FISSION_POLICY_LINES_H
#define FISSION_POLICY_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/intern.h"
#include "policy/source.h"

struct fault;

struct lines {
	struct source source;
	struct fault *fault;
	size_t next;    /* the line that comes next, from 0 */
	size_t at, end; /* what is left of this one */
};

/* Reads the file, into memory of the arena. False with a fault, as source_read. */
bool lines_open(struct lines *l, struct arena *a, const char *path, struct fault *fault);

/* The same of a text that is in memory already. */
void lines_take(struct lines *l, struct arena *a, struct text text, struct fault *fault);

/* Goes to the next line. False at the end of the file, and, with a fault, where a line has control characters. */
bool lines_next(struct lines *l);

/* The next word of the line; empty where the line, or what of it is no comment, ends. */
struct text lines_word(struct lines *l);

/* Where in the file the word stands. */
size_t lines_place(const struct lines *l, struct text word);

/* A NUL-terminated copy, for messages. */
const char *lines_copy(const struct lines *l, struct text word);

/* A mistake at the word, or, with several names to choose from, a word that is none of them. Always false. */
bool lines_wrong(const struct lines *l, struct text word, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

struct lines_choice {
	const char *what; /* "directive" */
	const char *const *names;
	size_t count;
	const char *list; /* of all, for messages */
};

bool lines_unknown(const struct lines *l, struct text word, const struct lines_choice *choice);

/* LOCK,UNLOCK: the two names. */
bool lines_lock_pair(const struct lines *l, struct text word, struct text pair[2]);

static inline bool word_is(struct text t, const char *word)
{
	size_t n = __builtin_strlen(word);

	return t.length == n && __builtin_memcmp(t.at, word, n) == 0;
}

#endif
