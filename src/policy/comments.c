/* SPDX-License-Identifier: MIT */
#include "comments.h"

#include <string.h>

#include "base/arena.h"
#include "base/opts.h"
#include "base/str.h"
#include "policy/declarations.h"
#include "policy/pattern.h"
#include "policy/rules.h"
#include "policy/source.h"
#include "policy/tokens.h"

enum about { ABOUT_FUNCTION, ABOUT_VARIABLES, ABOUT_LINE };

static const struct annotation {
	const char *word;
	enum about about;
	enum rule_kind kind;
} annotations[] = {
	{"atomic", ABOUT_FUNCTION, RULE_ATOMIC},
	{"assume_atomic", ABOUT_FUNCTION, RULE_ASSUME_ATOMIC},
	{"assume_mover", ABOUT_FUNCTION, RULE_ASSUME_MOVER},
	{"assume_guarded", ABOUT_VARIABLES, RULE_GUARDED},
	{"no_warn", ABOUT_LINE, RULE_NO_WARN},
};

enum { ANNOTATIONS = sizeof annotations / sizeof *annotations };

static const char *const preprocessor[] = {
	"define", "elif", "elifdef", "elifndef", "else", "embed", "endif", "error", "ident", "if", "ifdef", "ifndef",
	"import", "include", "include_next", "line", "pragma", "undef", "warning",
};

struct reader {
	struct rules *rules;
	struct source source;
	struct tokens tokens;
	struct fault *fault;
	const struct remark *remark; /* the comment in hand */
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The bytes of words as they are written in annotations; no others are worth a message as they stand. */
static bool is_wordly(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/* The next word at or behind `*at` in the text before `end`; empty at its end, or before a byte that is in no word. */
static struct text next_word(const struct source *s, size_t *at, size_t end)
{
	size_t start;

	while (*at < end && is_blank(s->at[*at]))
		++*at;
	start = *at;
	while (*at < end && is_wordly(s->at[*at]))
		++*at;
	return (struct text){s->at + start, *at - start};
}

static bool same(struct text a, const char *b)
{
	return strlen(b) == a.length && memcmp(a.at, b, a.length) == 0;
}

/* Whether the comment, whose words start at `at`, was meant for us; see the header. */
static bool is_annotation(const struct source *s, size_t at, size_t end)
{
	struct text word = next_word(s, &at, end);

	if (!word.length || (word.at[0] >= '0' && word.at[0] <= '9') || word.at[0] == '-')
		return false;
	for (size_t i = 0; i < sizeof preprocessor / sizeof *preprocessor; i++)
		if (same(word, preprocessor[i]))
			return false;
	return true;
}

static bool unknown(struct reader *r, struct text word, size_t at)
{
	const char *names[ANNOTATIONS], *have = arena_text(r->source.arena, word.at, word.length), *near;

	if (!word.length)
		return source_wrong(&r->source, at, r->fault,
			"byte 0x%02x in an annotation; write only its words, or leave out the '#'",
			(unsigned char)r->source.at[at]);
	for (size_t i = 0; i < ANNOTATIONS; i++)
		names[i] = annotations[i].word;
	near = opts_nearest(have, names, ANNOTATIONS);
	return source_wrong(&r->source, at, r->fault, "unknown annotation '%.60s'; %s%s%s", have,
		near ? "did you mean '" : "there are atomic, assume_atomic, assume_mover, assume_guarded and no_warn",
		near ? near : "", near ? "'?" : "");
}

static void add(struct reader *r, enum rule_kind kind, struct text name, uint64_t line)
{
	rules_add(r->rules, kind, (struct rule){.pattern = pattern_literal(r->source.arena, name), .line = line});
}

static void add_suffix(struct reader *r, const char *before, struct text name)
{
	struct str s;

	str_init(&s, r->source.arena);
	str_add(&s, before);
	str_bytes(&s, name.at, name.length);
	rules_add(r->rules, RULE_GUARDED, (struct rule){.pattern = {s.at, s.length}});
}

/* A field goes by its name alone or behind an object's, and which objects there are is not written here. */
static void add_guarded(void *context, size_t token)
{
	struct reader *r = context;
	struct text name = token_text(&r->tokens, token);

	add(r, RULE_GUARDED, name, 0);
	if (!r->remark->brace || !brace_is_record(&r->tokens, r->remark->brace - 1))
		return;
	add_suffix(r, "*.", name);
	add_suffix(r, "*->", name);
}

static bool annotate_function(struct reader *r, const struct annotation *a)
{
	ptrdiff_t name = declared_function(&r->tokens, r->remark->next);

	if (name < 0)
		return false;
	add(r, a->kind, token_text(&r->tokens, (size_t)name), 0);
	return true;
}

static bool annotate(struct reader *r, const struct annotation *a, size_t at)
{
	struct text file = {r->source.name, strlen(r->source.name)};

	switch (a->about) {
	case ABOUT_LINE:
		add(r, a->kind, file, source_line(&r->source, r->remark->at));
		return true;
	case ABOUT_FUNCTION:
		return annotate_function(r, a) ||
		       source_wrong(&r->source, at, r->fault,
			       "no function follows '%s'; put the comment right before a definition or declaration",
			       a->word);
	case ABOUT_VARIABLES:
		return declared_variables(&r->tokens, r->remark->next, add_guarded, r) ||
		       source_wrong(&r->source, at, r->fault,
			       "no variable follows '%s'; put the comment right before its declaration", a->word);
	}
	return false;
}

static const struct annotation *annotation_named(struct text word)
{
	for (size_t i = 0; i < ANNOTATIONS; i++)
		if (same(word, annotations[i].word))
			return &annotations[i];
	return NULL;
}

/* One comment: the text of its words lies between the number sign and its end. */
static bool read_remark(struct reader *r, const struct remark *c)
{
	size_t at = (size_t)c->at + 3, end = (size_t)c->at + c->length - (c->ends ? 2 : 0);

	r->remark = c;
	if (!is_annotation(&r->source, at, end))
		return true;
	if (!c->ends)
		return source_wrong(&r->source, c->at, r->fault, "this annotation never ends; close the comment");
	for (;;) {
		struct text word = next_word(&r->source, &at, end);
		const struct annotation *a = annotation_named(word);

		if (at == end && !word.length)
			return true;
		if (!a)
			return unknown(r, word, (size_t)(word.at - r->source.at));
		if (!annotate(r, a, (size_t)(word.at - r->source.at)))
			return false;
	}
}

bool comments_read(struct rules *rules, const char *path, struct fault *fault)
{
	struct reader r = {.rules = rules, .fault = fault};
	struct arena scratch;
	bool good;

	arena_init(&scratch);
	good = source_read(&r.source, &scratch, path, fault);
	if (good) {
		source_join(&r.source);
		tokens_read(&r.tokens, &scratch, &r.source);
	}
	for (size_t i = 0; good && i < r.tokens.remark_count; i++)
		good = read_remark(&r, &r.tokens.remarks[i]);
	arena_free(&scratch);
	return good;
}
