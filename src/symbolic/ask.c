/* SPDX-License-Identifier: MIT */
#include "ask.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/str.h"
#include "symbolic/helper.h"
#include "symbolic/walk_read.h"

enum { OWN_WORDS = 3, GRACE = 10000, PATIENCE = 10, MOST = 120000 }; /* milliseconds but for the first and third */

static char **words_of(const struct ask_setup *setup, const struct walk *w, const struct ask *ask, struct arena *a)
{
	size_t count = 0, n = 0;
	char **words;
	struct str s;

	while (ask[count].condition != SIZE_MAX)
		count++;
	words = arena_alloc(a, (OWN_WORDS + count + 1) * sizeof *words);
	words[n++] = arena_text(a, setup->solver, strlen(setup->solver));
	str_init(&s, a);
	str_printf(&s, "/proc/%d/fd/%d", (int)getpid(), setup->walk);
	words[n++] = s.at;
	str_init(&s, a);
	str_printf(&s, "%u", setup->each);
	words[n++] = s.at;
	for (size_t i = 0; i < count; i++) {
		str_init(&s, a);
		str_printf(&s, "%" PRIu32, w->condition[ask[i].condition].record);
		if (ask[i].valued)
			str_printf(&s, "=%" PRIu64, ask[i].value);
		words[n++] = s.at;
	}
	return words;
}

/* The input whose expression that is; false: there is none. */
static bool find_input(const struct walk *w, uint64_t expr, uint32_t *to)
{
	if (expr >= w->nodes || w->node[expr].kind != WALK_INPUT)
		return false;
	*to = w->node[expr].a;
	return true;
}

static void take_changes(const struct walk *w, struct ask *q, char *at, struct arena *a)
{
	q->answer = ASK_SAT;
	for (;;) {
		struct change c;
		char *end;
		uint64_t expr = strtoull(at, &end, 10);

		if (end == at || !find_input(w, expr, &c.input))
			return;
		at = end;
		c.value = walk_bits(strtoull(at, &end, 10), w->input[c.input].width);
		if (end == at)
			return;
		at = end;
		q->changes.at = arena_grow(a, q->changes.at, q->changes.count * sizeof c, (q->changes.count + 1) * sizeof c);
		q->changes.at[q->changes.count++] = c;
	}
}

/* A line an answer, in the order of the questions. */
static void take_answers(const struct walk *w, struct ask *ask, char *text, struct arena *a)
{
	char *line, *rest;

	for (line = strtok_r(text, "\n", &rest); line && ask->condition != SIZE_MAX; line = strtok_r(NULL, "\n", &rest)) {
		char *word = strchr(line, ' ');

		if (word && strncmp(word, " sat", 4) == 0)
			take_changes(w, ask, word + 4, a);
		else if (word && strcmp(word, " unsat") == 0)
			ask->answer = ASK_UNSAT;
		ask++;
	}
}

bool ask_all(const struct ask_setup *setup, const struct walk *w, struct ask *ask, struct arena *a)
{
	long most = GRACE;
	struct str said;

	for (size_t i = 0; ask[i].condition != SIZE_MAX && most < GRACE + MOST; i++)
		most += setup->each * PATIENCE;
	str_init(&said, a);
	if (helper_run(words_of(setup, w, ask, a), most, &said) == HELPER_NONE)
		return false;
	take_answers(w, ask, said.at, a);
	return true;
}
