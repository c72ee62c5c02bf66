/* SPDX-License-Identifier: MIT */
/*
 * A C source as tokens, as far as finding declarations needs it, and the comments that begin with a number sign.
 *
 * Any bytes are taken: a string or character constant that does not end, ends with its line, a comment with the file.
 * Preprocessor directives have no tokens, but their comments count. All branches of an #if are read, so brackets may
 * not pair up: `pair` is 0 for one that has no partner (and for the one that closes token 0, before which nothing is).
 */
#ifndef FISSION_POLICY_TOKENS_H
#define FISSION_POLICY_TOKENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"

struct arena;
struct source;

/* Any other kind is the byte itself. */
enum { TOKEN_WORD = 'a', TOKEN_NUMBER = '0', TOKEN_STRING = '"' };

struct token {
	uint32_t at, length;
	uint32_t pair; /* for an opening bracket: the token that closes it; for a closing one: that opens it */
	char kind;
};

/* A comment with a number sign. */
struct remark {
	uint32_t at;     /* of its first byte */
	uint32_t length; /* up to and with its end */
	uint32_t next;   /* the token behind it */
	uint32_t brace;  /* 1 more than the token of the innermost brace that is open here; 0: none is */
	bool ends;
};

/* A bracket that is not closed yet, and the innermost brace among it and those around it, as in a remark. */
struct open_bracket {
	uint32_t token, brace;
};

struct tokens {
	const struct source *source;
	struct arena *arena;
	struct token *at;
	size_t count, capacity;
	struct remark *remarks;
	size_t remark_count, remark_capacity;
	struct open_bracket *open;
	size_t open_count, open_capacity;
};

/* Reads all tokens, into memory of the arena. The source's lines must have been joined. */
void tokens_read(struct tokens *t, struct arena *a, const struct source *source);

struct text token_text(const struct tokens *t, size_t i);

/* The kind of token i; 0 behind the last one. */
static inline char token_kind(const struct tokens *t, size_t i)
{
	return i < t->count ? t->at[i].kind : 0;
}

#endif
