/* SPDX-License-Identifier: MIT */
#include "tokens.h"

#include <string.h>

#include "base/arena.h"
#include "policy/source.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || (unsigned char)c >= 128;
}

static char opener_of(char c)
{
	return c == ')' ? '(' : c == ']' ? '[' : c == '}' ? '{' : 0;
}

static uint32_t innermost_brace(const struct tokens *t)
{
	return t->open_count ? t->open[t->open_count - 1].brace : 0;
}

static void opens(struct tokens *t, uint32_t i)
{
	uint32_t brace = t->at[i].kind == '{' ? i + 1 : innermost_brace(t);

	t->open = arena_reserve(t->arena, t->open, &t->open_capacity, t->open_count, sizeof *t->open);
	t->open[t->open_count++] = (struct open_bracket){i, brace};
}

/*
 * A brace closes whatever was left open inside it, the others only what they match at once: a wrong bracket does no
 * harm beyond its block.
 */
static void closes(struct tokens *t, uint32_t i)
{
	char want = opener_of(t->at[i].kind);
	uint32_t opener;

	if (want == '{' && innermost_brace(t))
		while (t->open[t->open_count - 1].token + 1 != innermost_brace(t))
			t->open_count--;
	if (!t->open_count)
		return;
	opener = t->open[t->open_count - 1].token;
	if (t->at[opener].kind != want)
		return;
	t->open_count--;
	t->at[i].pair = opener;
	t->at[opener].pair = i;
}

static void push(struct tokens *t, char kind, size_t at, size_t end)
{
	uint32_t i = (uint32_t)t->count++;

	t->at = arena_reserve(t->arena, t->at, &t->capacity, i, sizeof *t->at);
	t->at[i] = (struct token){.kind = kind, .at = (uint32_t)at, .length = (uint32_t)(end - at)};
	if (kind == '(' || kind == '[' || kind == '{')
		opens(t, i);
	else if (opener_of(kind))
		closes(t, i);
}

static void remark(struct tokens *t, size_t at, size_t end, bool ends)
{
	t->remarks = arena_reserve(t->arena, t->remarks, &t->remark_capacity, t->remark_count, sizeof *t->remarks);
	t->remarks[t->remark_count++] = (struct remark){
		.at = (uint32_t)at,
		.length = (uint32_t)(end - at),
		.next = (uint32_t)t->count,
		.brace = innermost_brace(t),
		.ends = ends,
	};
}

/* Each of these takes the token or comment at i and returns where the next one starts. */

static size_t block_comment(struct tokens *t, size_t i)
{
	const struct source *s = t->source;
	const char *end = memmem(s->at + i + 2, s->length - i - 2, "*/", 2);
	size_t behind = end ? (size_t)(end - s->at) + 2 : s->length;

	if (s->at[i + 2] == '#')
		remark(t, i, behind, end != NULL);
	return behind;
}

static size_t line_comment(const struct source *s, size_t i)
{
	const char *end = memchr(s->at + i, '\n', s->length - i);

	return end ? (size_t)(end - s->at) : s->length;
}

static size_t quoted(const struct source *s, size_t i)
{
	char quote = s->at[i++];

	for (; i < s->length && s->at[i] != '\n'; i++) {
		if (s->at[i] == quote)
			return i + 1;
		if (s->at[i] == '\\' && i + 1 < s->length && s->at[i + 1] != '\n')
			i++;
	}
	return i;
}

static size_t word(const struct source *s, size_t i)
{
	while (i < s->length && (is_letter(s->at[i]) || is_digit(s->at[i])))
		i++;
	return i;
}

/* With the quotes that C23 and C++ allow between digits: they start no character constant. */
static size_t number(const struct source *s, size_t i)
{
	for (; i < s->length; i++) {
		char c = s->at[i], next = s->at[i + 1];

		if (c == '\'' ? !is_letter(next) && !is_digit(next) : !is_letter(c) && !is_digit(c) && c != '.')
			break;
	}
	return i;
}

static size_t token(struct tokens *t, size_t i, bool directive)
{
	const struct source *s = t->source;
	char c = s->at[i], kind = c;
	size_t end = i + 1;

	if (is_letter(c)) {
		kind = TOKEN_WORD;
		end = word(s, i);
	} else if (is_digit(c)) {
		kind = TOKEN_NUMBER;
		end = number(s, i);
	} else if (c == '"' || c == '\'') {
		kind = TOKEN_STRING;
		end = quoted(s, i);
	}
	if (!directive)
		push(t, kind, i, end);
	return end;
}

void tokens_read(struct tokens *t, struct arena *a, const struct source *s)
{
	bool directive = false, first = true; /* on its line */
	size_t i = 0;

	*t = (struct tokens){.source = s, .arena = a};
	while (i < s->length) {
		char c = s->at[i], next = s->at[i + 1];

		if (c == '\n') {
			first = true;
			directive = false;
			i++;
		} else if ((unsigned char)c <= ' ') {
			i++;
		} else if (c == '/' && next == '*') {
			i = block_comment(t, i);
		} else if (c == '/' && next == '/') {
			i = line_comment(s, i);
		} else {
			directive |= first && c == '#';
			first = false;
			i = token(t, i, directive);
		}
	}
}

struct text token_text(const struct tokens *t, size_t i)
{
	return (struct text){t->source->at + t->at[i].at, t->at[i].length};
}
