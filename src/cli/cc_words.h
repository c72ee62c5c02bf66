/* SPDX-License-Identifier: MIT */
/*
 * The words of a command line, with those of response files in their places.
 *
 * "@file" stands for the words in the file, which may hold further ones. Words are divided by blanks; quotes of both
 * sorts keep blanks, a backslash keeps the next byte. A file that cannot be read is no response file, and the word
 * stands for itself: so do the compilers. After MOST_FILES of them, which only a file that includes itself needs, words
 * stand for themselves too, and the compiler has to say what it thinks of that.
 */
#ifndef FISSION_CLI_CC_WORDS_H
#define FISSION_CLI_CC_WORDS_H

#include <stddef.h>

struct arena;

enum { CC_MOST_FILES = 2000 };

struct cc_word {
	const char *text;
	int argument; /* the number of the argument that it comes from */
};

struct cc_words {
	struct arena *arena;
	struct cc_word *at;
	size_t count, capacity;
	unsigned files;
};

/* Adds an argument's words. The argument is kept, not copied. */
void cc_words_add(struct cc_words *words, const char *text, int argument);

/* The next word of a text by these rules, copied into the arena, or NULL; *text moves behind it. */
const char *cc_words_next(struct arena *arena, const char **text);

#endif
