/* SPDX-License-Identifier: MIT */
#include "statement.h"

#include <ctype.h>
#include <string.h>

#include "base/arena.h"

/* Lines that are looked at: around a call, and of a function. */
enum { BEFORE = 4, BEHIND = 60, FUNCTION = 4000 };

static const char *const allocators[] = {
	"malloc", "calloc", "realloc", "reallocarray", "aligned_alloc", "memalign", "valloc", "pvalloc", "mmap", "mmap64",
	"mremap", "new",
};

struct token {
	const char *at;
	uint32_t length;
	uint64_t line;
};

struct tokens {
	struct arena *arena;
	const char *text;
	struct token *at;
	size_t count, capacity;
	uint64_t first, last; /* lines that are kept */
};

/* Tokens. */

static bool is_word_start(char c)
{
	return isalpha((unsigned char)c) || c == '_';
}

static bool is_word(char c)
{
	return is_word_start(c) || isdigit((unsigned char)c);
}

/* The length of a comment, literal or preprocessor line at p; 0 if it is none. It does not go beyond the end. */
static size_t skipped(const char *p, const char *end, bool fresh)
{
	const char *q = p + 1;

	if (*p == '/' && q < end && *q == '*') {
		for (q++; q < end && !(q[-1] == '*' && *q == '/' && q - p > 2); q++)
			;
		return (size_t)((q < end ? q + 1 : end) - p);
	}
	if ((*p == '/' && q < end && *q == '/') || (*p == '#' && fresh)) {
		while (q < end && !(*q == '\n' && q[-1] != '\\'))
			q++;
		return (size_t)(q - p);
	}
	if (*p != '"' && *p != '\'')
		return 0;
	while (q < end && *q != *p && *q != '\n')
		q += *q == '\\' && q + 1 < end ? 2 : 1;
	return (size_t)((q < end ? q + (*q == *p) : end) - p);
}

static size_t word_length(const char *p, const char *end)
{
	static const char *const pairs[] = {"->", "::", "==", "!=", "<=", ">=", "&&", "||", "+=", "-=", "*=", "/=", "|=", "&="};
	size_t n = 1;

	if (is_word(*p)) {
		while (p + n < end && is_word(p[n]))
			n++;
		return n;
	}
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
		if (p + 1 < end && p[0] == pairs[i][0] && p[1] == pairs[i][1])
			return 2;
	return 1;
}

static void keep(struct tokens *t, const char *p, size_t n, uint64_t line)
{
	if (line < t->first || line > t->last)
		return;
	t->at = arena_reserve(t->arena, t->at, &t->capacity, t->count, sizeof *t->at);
	t->at[t->count++] = (struct token){p, (uint32_t)n, line};
}

static uint64_t lines_in(const char *p, size_t n)
{
	uint64_t lines = 0;

	for (size_t i = 0; i < n; i++)
		lines += p[i] == '\n';
	return lines;
}

static void read_tokens(struct tokens *t, const char *text, size_t length)
{
	const char *end = text + length;
	uint64_t line = 1;
	bool fresh = true; /* nothing but white space stands before on the line */

	for (const char *p = text; p < end && line <= t->last;) {
		size_t n = skipped(p, end, fresh);

		if (n == 0 && isspace((unsigned char)*p)) {
			fresh |= *p == '\n';
			line += *p++ == '\n';
			continue;
		}
		fresh = false;
		if (n == 0) {
			n = word_length(p, end);
			keep(t, p, n, line);
		} else if (*p == '"' || *p == '\'') {
			keep(t, "\"", 1, line);
		}
		line += lines_in(p, n);
		p += n;
	}
}

static bool is(const struct tokens *t, size_t i, const char *text)
{
	return i < t->count && t->at[i].length == strlen(text) && memcmp(t->at[i].at, text, t->at[i].length) == 0;
}

static bool is_any(const struct tokens *t, size_t i, const char *const *texts)
{
	for (; *texts; texts++)
		if (is(t, i, *texts))
			return true;
	return false;
}

static bool is_name(const struct tokens *t, size_t i)
{
	return i < t->count && is_word_start(*t->at[i].at);
}

static struct text text_of(const struct tokens *t, size_t i)
{
	return (struct text){arena_text(t->arena, t->at[i].at, t->at[i].length), t->at[i].length};
}

/* The bracket that belongs to the one at i, `step` being 1 or -1; t->count if there is none. */
static size_t partner(const struct tokens *t, size_t i, int step)
{
	int depth = 0;

	for (size_t k = i; k < t->count; k += (size_t)step) { /* below 0 it is beyond count */
		char c = t->at[k].length == 1 ? *t->at[k].at : 0;

		depth += c == '(' || c == '[' || c == '{' ? step : c == ')' || c == ']' || c == '}' ? -step : 0;
		if (depth == 0)
			return k;
	}
	return t->count;
}

/* The call. */

static bool is_callee(const struct tokens *t, size_t i, struct text name)
{
	if (name.length > 0)
		return t->at[i].length == name.length && memcmp(t->at[i].at, name.at, name.length) == 0 && is(t, i + 1, "(");
	for (size_t k = 0; k < sizeof allocators / sizeof *allocators; k++)
		if (is(t, i, allocators[k]))
			return is(t, i, "new") || is(t, i + 1, "(");
	return false;
}

/* The only call on the line; t->count if there is none, or more. */
static size_t find_call(const struct tokens *t, uint64_t line, struct text name)
{
	size_t found = t->count;

	for (size_t i = 0; i < t->count; i++) {
		if (t->at[i].line != line || !is_callee(t, i, name))
			continue;
		if (found < t->count)
			return t->count;
		found = i;
	}
	return found;
}

/* "Bank::open<int>" to "open". */
static struct text last_name(struct text name)
{
	size_t end = 0, start = 0;

	if (!name.length)
		return name;
	while (end < name.length && name.at[end] != '<')
		end++;
	for (size_t i = 0; i < end; i++)
		if (!is_word(name.at[i]))
			start = i + 1;
	return (struct text){name.at + start, end - start};
}

/* Types. */

/* Of "new ns::Account(", "new (std::nothrow) Account[n]": the last of the names. */
static void type_of_new(struct statement *s, const struct tokens *t, size_t i)
{
	size_t k = i + 1;

	if (is(t, k, "("))
		k = partner(t, k, 1) + 1;
	while (is(t, k, "::") || is(t, k, "const") || is(t, k, "struct") || (is_name(t, k) && is(t, k + 1, "::")))
		k++;
	if (is_name(t, k) && (is(t, k + 1, "(") || is(t, k + 1, "[") || is(t, k + 1, "{") || is(t, k + 1, ";") ||
		is(t, k + 1, ",") || is(t, k + 1, ")")))
		s->type = text_of(t, k);
	s->is_many = is(t, k + 1, "[");
}

/* Of the only sizeof among the arguments, if a type stands in it. "sizeof(account)" may be a variable: then no type is found. */
static void type_of_size(struct statement *s, const struct tokens *t, size_t open)
{
	size_t close = partner(t, open, 1), at = 0;
	unsigned sizes = 0;

	for (size_t i = open; i < close; i++)
		if (is(t, i, "sizeof")) {
			at = i;
			sizes++;
		}
	if (sizes != 1 || close == t->count || !is(t, at + 1, "("))
		return;
	at += 2;
	if (is(t, at, "struct") || is(t, at, "union")) {
		s->is_struct = true;
		at++;
	}
	if (is_name(t, at) && is(t, at + 1, ")"))
		s->type = text_of(t, at);
}

/* What stands before. */

/* Goes over "(struct account *)" that ends before i, and over "static_cast<T *>(". */
static size_t skip_cast(const struct tokens *t, size_t i)
{
	static const char *const casts[] = {"static_cast", "reinterpret_cast", NULL};
	size_t open;

	if (i > 0 && is(t, i - 1, ")")) {
		open = partner(t, i - 1, -1);
		for (size_t k = open + 1; open < t->count && k + 1 < i; k++)
			if (!is_name(t, k) && !is(t, k, "*") && !is(t, k, "::"))
				return i;
		return open < t->count && open + 2 < i && !(open > 0 && is_name(t, open - 1)) ? open : i;
	}
	if (i > 1 && is(t, i - 1, "(") && is(t, i - 2, ">"))
		for (size_t k = i - 2; k > 0 && i - k < 16; k--)
			if (is(t, k, "<") && is_any(t, k - 1, casts))
				return k - 1;
	return i;
}

static bool add_step(struct statement *s, struct path_step step)
{
	if (s->steps == STEPS_MOST)
		return false;
	memmove(s->step + 1, s->step, s->steps * sizeof *s->step);
	s->step[0] = step;
	s->steps++;
	return true;
}

/* The path that ends before i; returns where it starts, or t->count. */
static size_t read_path(struct statement *s, const struct tokens *t, size_t i)
{
	struct path_step step = {0};

	while (i > 0) {
		while (i > 0 && is(t, i - 1, "]")) {
			i = partner(t, i - 1, -1);
			if (i == t->count || !add_step(s, (struct path_step){.how = STEP_ELEMENT}))
				return t->count;
		}
		if (i == 0 || !is_name(t, i - 1))
			return t->count;
		i--;
		step.name = text_of(t, i);
		step.how = i > 0 && is(t, i - 1, "->") ? STEP_ARROW : i > 0 && is(t, i - 1, ".") ? STEP_DOT : STEP_ROOT;
		if (!add_step(s, step))
			return t->count;
		if (step.how == STEP_ROOT)
			return i;
		i--;
	}
	return t->count;
}

/* Whether the stars before i belong to the expression, or to a declaration: "struct account *a". */
static unsigned stars_before(const struct tokens *t, size_t i)
{
	static const char *const words[] = {"else", "do", "return", NULL};
	unsigned n = 0;

	for (; i > 0 && is(t, i - 1, "*"); i--)
		n++;
	if (i == 0 || is(t, i - 1, ",") || is(t, i - 1, ">"))
		return 0;
	return is_name(t, i - 1) && !is_any(t, i - 1, words) ? 0 : n;
}

/* What may come before the variable that gets it: nothing that computes. */
static bool may_precede(const struct tokens *t, size_t i)
{
	static const char *const fine[] = {";", "{", "}", "*", "&", ",", "(", ")", ":", ">", "&&", "||", "!", NULL};

	return i == 0 || is_name(t, i - 1) || is_any(t, i - 1, fine);
}

static bool is_returned_later(const struct tokens *t, size_t from, struct text name)
{
	for (size_t i = from; i + 2 < t->count; i++) {
		if (is(t, i, "return") && is(t, i + 2, ";") && t->at[i + 1].length == name.length &&
			memcmp(t->at[i + 1].at, name.at, name.length) == 0)
			return true;
		/* The function ends where a line begins with its closing brace. */
		if (is(t, i, "}") && (t->at[i].at == t->text || t->at[i].at[-1] == '\n'))
			return false;
	}
	return false;
}

static void read_receiver(struct statement *s, const struct tokens *t, size_t call)
{
	size_t i = call, start;

	while (i > 0 && is(t, i - 1, "::"))
		i -= i > 1 && is_name(t, i - 2) ? 2 : 1;
	for (size_t next; (next = skip_cast(t, i)) != i;)
		i = next;
	if (i > 0 && is(t, i - 1, "return"))
		s->returned = true;
	if (i == 0 || !is(t, i - 1, "="))
		return;
	start = read_path(s, t, i - 1);
	if (start == t->count || !may_precede(t, start)) {
		s->steps = 0;
		return;
	}
	s->stars = stars_before(t, start);
	s->returned = s->steps == 1 && s->stars == 0 && is_returned_later(t, call, s->step[0].name);
}

/* Behind a call that is computed with, the variable has something else. */
static bool is_whole(const struct tokens *t, size_t call)
{
	static const char *const ends[] = {";", ",", ")", "==", "!=", "&&", "||", NULL};
	size_t open = call + 1, close;

	if (is(t, call, "new"))
		return true; /* nobody computes with it */
	close = partner(t, open, 1);
	return close < t->count && is_any(t, close + 1, ends);
}

static void read_call(struct statement *s, const struct tokens *t, size_t call)
{
	*s = (struct statement){.line = t->at[call].line, .is_new = is(t, call, "new")};
	if (s->is_new)
		type_of_new(s, t, call);
	else
		type_of_size(s, t, call + 1);
	read_receiver(s, t, call);
}

bool statement_read(struct statement *s, struct arena *a, const struct statement_at *at)
{
	struct tokens t = {
		.arena = a, .text = at->text, .first = at->line > BEFORE ? at->line - BEFORE : 1, .last = at->line + BEHIND,
	};
	size_t call;

	read_tokens(&t, at->text, at->length);
	call = find_call(&t, at->line, last_name(at->callee));
	if (call == t.count || !is_whole(&t, call))
		return false;
	read_call(s, &t, call);
	return true;
}

/* The closing brace of the body: the first braces outside of parentheses behind which the function does not go on. */
static size_t body_end(const struct tokens *t)
{
	for (size_t i = 0; i < t->count; i++) {
		if (is(t, i, ";"))
			return t->count; /* a declaration */
		if (is(t, i, "(")) {
			i = partner(t, i, 1);
		} else if (is(t, i, "{")) {
			i = partner(t, i, 1);
			if (!is(t, i + 1, ",") && !is(t, i + 1, "{")) /* of a constructor's initialisers */
				return i;
		}
	}
	return t->count;
}

size_t statement_read_news(struct statement *to, struct arena *a, const struct statement_at *at)
{
	struct tokens t = {.arena = a, .text = at->text, .first = at->line, .last = at->line + FUNCTION};
	size_t end, count = 0;

	read_tokens(&t, at->text, at->length);
	end = body_end(&t);
	for (size_t i = 0; i < end && end < t.count; i++)
		if (is(&t, i, "new") && count++ < NEWS_MOST)
			read_call(&to[count - 1], &t, i);
	return count;
}
