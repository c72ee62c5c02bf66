/* SPDX-License-Identifier: MIT */
/*
 * Both walks look at a limited number of tokens, brackets that are skipped as one, so that a file of annotations
 * costs no more than linear time. No declaration that people write is longer.
 */
#include "declarations.h"

#include <string.h>

#include "policy/tokens.h"

enum { STEPS_MOST = 400 };

enum word {
	WORD_NAME,      /* none of those below */
	WORD_TYPE,
	WORD_TAG,       /* the next name is a type's */
	WORD_QUALIFIER,
	WORD_ATTRIBUTE, /* has an argument in parentheses */
	WORD_TYPEOF,    /* with an argument it is a type, without one a qualifier */
	WORD_STATEMENT, /* no declaration begins or goes on so */
};

static const struct {
	const char *text;
	enum word word;
} words[] = {
	{"void", WORD_TYPE}, {"char", WORD_TYPE}, {"short", WORD_TYPE}, {"int", WORD_TYPE}, {"long", WORD_TYPE},
	{"float", WORD_TYPE}, {"double", WORD_TYPE}, {"signed", WORD_TYPE}, {"unsigned", WORD_TYPE},
	{"_Bool", WORD_TYPE}, {"bool", WORD_TYPE}, {"_Complex", WORD_TYPE}, {"__int128", WORD_TYPE},
	{"auto", WORD_TYPE}, {"__auto_type", WORD_TYPE}, {"struct", WORD_TAG}, {"union", WORD_TAG},
	{"enum", WORD_TAG}, {"class", WORD_TAG}, {"static", WORD_QUALIFIER}, {"extern", WORD_QUALIFIER},
	{"register", WORD_QUALIFIER}, {"inline", WORD_QUALIFIER}, {"__inline", WORD_QUALIFIER},
	{"__inline__", WORD_QUALIFIER}, {"const", WORD_QUALIFIER}, {"__const", WORD_QUALIFIER},
	{"volatile", WORD_QUALIFIER}, {"__volatile__", WORD_QUALIFIER}, {"restrict", WORD_QUALIFIER},
	{"__restrict", WORD_QUALIFIER}, {"__restrict__", WORD_QUALIFIER}, {"_Noreturn", WORD_QUALIFIER},
	{"_Thread_local", WORD_QUALIFIER}, {"thread_local", WORD_QUALIFIER}, {"__thread", WORD_QUALIFIER},
	{"__extension__", WORD_QUALIFIER}, {"constexpr", WORD_QUALIFIER}, {"mutable", WORD_QUALIFIER},
	{"__attribute__", WORD_ATTRIBUTE}, {"__attribute", WORD_ATTRIBUTE}, {"__declspec", WORD_ATTRIBUTE},
	{"_Alignas", WORD_ATTRIBUTE}, {"alignas", WORD_ATTRIBUTE}, {"__asm__", WORD_ATTRIBUTE},
	{"__asm", WORD_ATTRIBUTE}, {"asm", WORD_ATTRIBUTE}, {"typeof", WORD_TYPEOF}, {"__typeof", WORD_TYPEOF},
	{"__typeof__", WORD_TYPEOF}, {"typeof_unqual", WORD_TYPEOF}, {"decltype", WORD_TYPEOF},
	{"_Atomic", WORD_TYPEOF}, {"if", WORD_STATEMENT}, {"else", WORD_STATEMENT}, {"for", WORD_STATEMENT},
	{"while", WORD_STATEMENT}, {"do", WORD_STATEMENT}, {"switch", WORD_STATEMENT}, {"case", WORD_STATEMENT},
	{"default", WORD_STATEMENT}, {"return", WORD_STATEMENT}, {"goto", WORD_STATEMENT},
	{"break", WORD_STATEMENT}, {"continue", WORD_STATEMENT}, {"sizeof", WORD_STATEMENT},
	{"_Static_assert", WORD_STATEMENT}, {"static_assert", WORD_STATEMENT},
};

static enum word word_at(const struct tokens *t, size_t i)
{
	struct text text = token_text(t, i);

	for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
		const char *have = words[k].text;

		if (have[0] == text.at[0] && strlen(have) == text.length && memcmp(have, text.at, text.length) == 0)
			return words[k].word;
	}
	return WORD_NAME;
}

/* The token that closes the bracket i; behind the last token if none does. */
static size_t closing(const struct tokens *t, size_t i)
{
	return t->at[i].pair ? t->at[i].pair : t->count;
}

/* Whether the parenthesis i belongs to a declarator, as in (*f)(void), and holds no arguments or parameters. */
static bool is_declarator(const struct tokens *t, size_t i)
{
	char inside = token_kind(t, i + 1);

	return inside == '*' || inside == '^' || inside == '&';
}

/* A word before the parenthesis and no name: its argument is behind us, at the token returned. */
static size_t skip_argument(const struct tokens *t, size_t i)
{
	return token_kind(t, i + 1) == '(' ? closing(t, i + 1) : i;
}

/*
 * The name is the last word before the first parenthesis. A keyword is none, so in `int (*f(void))(int)` we go on
 * inside, and so we do where the parenthesis starts with a star, as no parameters do.
 */
ptrdiff_t declared_function(const struct tokens *t, size_t i)
{
	ptrdiff_t name = -1;

	for (size_t steps = 0; steps < STEPS_MOST && i < t->count; steps++, i++) {
		switch (t->at[i].kind) {
		case TOKEN_WORD:
			switch (word_at(t, i)) {
			case WORD_NAME: name = (ptrdiff_t)i; break;
			case WORD_ATTRIBUTE:
			case WORD_TYPEOF: i = skip_argument(t, i); break;
			case WORD_STATEMENT: return -1;
			default: name = -1;
			}
			break;
		case '(':
			if (name >= 0 && !is_declarator(t, i))
				return name;
			name = -1;
			break;
		case '[': i = closing(t, i); break;
		case ';':
		case ',':
		case '=':
		case '{':
		case '}': return -1;
		}
	}
	return -1;
}

/* A declaration of variables on the way. */
struct walk {
	const struct tokens *t;
	size_t i;
	bool tag;       /* the next name is a struct's, union's or enum's */
	bool typed;     /* the type is behind us, at least a part of it */
	ptrdiff_t name; /* what this declarator declares, as far as we know; -1: nothing yet */
};

/*
 * A word that is no keyword, before a parenthesis: behind a name it is an attribute in a macro (`int x GUARDED(m)`),
 * behind a type a function, and else a type in a macro.
 */
static bool walk_call(struct walk *w)
{
	if (w->typed && w->name < 0)
		return false;
	w->typed = true;
	w->i = closing(w->t, w->i + 1);
	return true;
}

static bool walk_name(struct walk *w)
{
	const struct tokens *t = w->t;

	if (w->tag)
		w->tag = false;
	else if (token_kind(t, w->i + 1) == '(' && !is_declarator(t, w->i + 1))
		return walk_call(w);
	else if (w->typed)
		w->name = (ptrdiff_t)w->i;
	w->typed = true;
	return true;
}

static bool walk_word(struct walk *w)
{
	size_t behind = skip_argument(w->t, w->i);

	switch (word_at(w->t, w->i)) {
	case WORD_NAME: return walk_name(w);
	case WORD_TYPE: w->typed = true; return true;
	case WORD_TAG: w->tag = true; return true;
	case WORD_QUALIFIER: return true;
	case WORD_TYPEOF: w->typed |= behind > w->i; /* fall through */
	case WORD_ATTRIBUTE: w->i = behind; return true;
	case WORD_STATEMENT: return false;
	}
	return false;
}

/* A struct's or enum's members, unless there is a name already: then it is a function's body. */
static bool walk_brace(struct walk *w)
{
	w->i = closing(w->t, w->i);
	w->tag = false;
	w->typed = true;
	return w->name < 0;
}

/* From '=' or ':' to the last token before the next declarator. In C++, "::" is in the middle of a type's name. */
static void walk_value(struct walk *w)
{
	const struct tokens *t = w->t;

	if (t->at[w->i].kind == ':' && token_kind(t, w->i + 1) == ':') {
		w->i++;
		w->name = -1;
		return;
	}
	for (size_t steps = 0; steps < STEPS_MOST; steps++) {
		char next = token_kind(t, w->i + 1);

		if (!next || next == ',' || next == ';' || next == '}')
			return;
		w->i++;
		if (next == '(' || next == '[' || next == '{')
			w->i = closing(t, w->i);
	}
}

/* One token of a declarator; false if this is no declaration of variables. */
static bool walk_token(struct walk *w)
{
	switch (w->t->at[w->i].kind) {
	case TOKEN_WORD: return walk_word(w);
	case '(':
		if (w->name >= 0) /* parameters of what it points to; else the name is inside */
			w->i = closing(w->t, w->i);
		return true;
	case '[': w->i = closing(w->t, w->i); return true;
	case '{': return walk_brace(w);
	case '}': return false;
	case '=':
	case ':': walk_value(w); return true;
	default: return true;
	}
}

bool declared_variables(const struct tokens *t, size_t i, void (*add)(void *context, size_t token), void *context)
{
	struct walk w = {.t = t, .i = i, .name = -1};

	for (size_t steps = 0; steps < STEPS_MOST && w.i < t->count; steps++, w.i++) {
		char kind = t->at[w.i].kind;

		if (kind != ',' && kind != ';') {
			if (!walk_token(&w))
				return false;
			continue;
		}
		if (w.name < 0)
			return false;
		add(context, (size_t)w.name);
		w.name = -1;
		if (kind == ';')
			return true;
	}
	return false;
}

/* `struct {`, `struct name {`, `struct __attribute__((packed)) {`; but `else {`, `) {` and `extern "C" {` are none. */
bool brace_is_record(const struct tokens *t, size_t brace)
{
	size_t before = brace - 1, opener;

	if (brace == 0)
		return false;
	if (t->at[before].kind == TOKEN_WORD)
		return word_at(t, before) == WORD_TAG || word_at(t, before) == WORD_NAME;
	opener = t->at[before].kind == ')' ? t->at[before].pair : 0;
	return opener && t->at[opener - 1].kind == TOKEN_WORD && word_at(t, opener - 1) == WORD_ATTRIBUTE;
}
