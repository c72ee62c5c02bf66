/* SPDX-License-Identifier: MIT */
#include "cc_words.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/str.h"

/* The content of a regular file, or NULL. */
static const char *content(struct arena *arena, const char *path)
{
	struct stat st;
	struct str text;
	char buffer[4096];
	size_t n;
	FILE *f;

	/* Not a pipe: what is read from it here, the compiler would miss. */
	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || !(f = fopen(path, "re")))
		return NULL;
	str_init(&text, arena);
	while ((n = fread(buffer, 1, sizeof buffer, f)) > 0)
		str_bytes(&text, buffer, n);
	fclose(f);
	return text.at;
}

static int is_blank(char c)
{
	return c && strchr(" \t\n\v\f\r", c);
}

const char *cc_words_next(struct arena *arena, const char **text)
{
	const char *p = *text;
	struct str word;
	char quote = 0;

	while (is_blank(*p))
		p++;
	if (!*p)
		return NULL;
	str_init(&word, arena);
	for (; *p && (quote || !is_blank(*p)); p++) {
		if (*p == '\\' && p[1])
			str_char(&word, *++p);
		else if (quote ? *p == quote : *p == '\'' || *p == '"')
			quote = quote ? 0 : *p;
		else
			str_char(&word, *p);
	}
	*text = p;
	return word.at;
}

void cc_words_add(struct cc_words *words, const char *text, int argument)
{
	const char *inside, *word;

	if (text[0] == '@' && words->files < CC_MOST_FILES && (inside = content(words->arena, text + 1))) {
		words->files++;
		while ((word = cc_words_next(words->arena, &inside)))
			cc_words_add(words, word, argument);
		return;
	}
	words->at = arena_reserve(words->arena, words->at, &words->capacity, words->count, sizeof *words->at);
	words->at[words->count++] = (struct cc_word){text, argument};
}
