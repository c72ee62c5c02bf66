/* SPDX-License-Identifier: MIT */
#include "suppressions.h"

#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "policy/lines.h"
#include "policy/pattern.h"
#include "policy/rules.h"

const char *const suppression_word[SUPPRESSION_KINDS] = {
	[SUPPRESS_FUNCTION] = "atomicity", [SUPPRESS_VARIABLE] = "atomicity_var", [SUPPRESS_LOCK] = "atomicity_lock",
	[SUPPRESS_FILE] = "atomicity_file", [SUPPRESS_ID] = "atomicity_id",
};

const char *const suppression_by[SUPPRESSION_KINDS] = {
	[SUPPRESS_FUNCTION] = "function", [SUPPRESS_VARIABLE] = "variable", [SUPPRESS_LOCK] = "lock",
	[SUPPRESS_FILE] = "file", [SUPPRESS_ID] = "id",
};

static const char *const examples[SUPPRESSION_KINDS] = {"withdraw", "balance", "mu", "src/cache*.c", "fsn-7c1f0a2b"};

static const char kinds_list[] =
	"atomicity, atomicity_var, atomicity_lock, atomicity_file, atomicity_id and lock";

/*
 * Kinds of ThreadSanitizer's files. None of them speaks of atomicity, and a line that does nothing is a mistake that
 * nobody would notice.
 */
static const struct {
	const char *kind, *instead;
} foreign_kinds[] = {
	{"race", "Fission does not report data races as findings; write 'atomicity:' if the function need not be atomic"},
	{"race_top", "Fission does not report data races as findings; write 'atomicity:' if the function need not be atomic"},
	{"deadlock", "Fission does not report deadlocks as findings; remove the line"},
	{"mutex", "Fission does not report misuse of locks; remove the line"},
	{"signal", "Fission does not report handlers of signals; remove the line"},
	{"thread", "Fission does not report threads that are left; remove the line"},
	{"called_from_lib", "for a library that is not yours write 'foreign PATTERN' in a configuration (--config)"},
};

/* One line on its way. */
struct reader {
	struct suppressions *to;
	struct lines lines;
	struct suppression line;
};

static struct text behind(struct text t, size_t n)
{
	return (struct text){t.at + n, t.length - n};
}

/* The part up to the first such byte, or all of it. */
static struct text before(struct text t, char c)
{
	const char *at = memchr(t.at, c, t.length);

	return (struct text){t.at, at ? (size_t)(at - t.at) : t.length};
}

static struct text keep(struct suppressions *s, struct text t)
{
	return (struct text){arena_text(s->arena, t.at, t.length), t.length};
}

void suppressions_init(struct suppressions *s, struct arena *a, struct rules *rules, date today)
{
	*s = (struct suppressions){.arena = a, .rules = rules, .today = today};
}

bool id_is_good(struct text id, size_t least)
{
	if (id.length < 4 + least || id.length > 4 + ID_DIGITS || memcmp(id.at, "fsn-", 4) != 0)
		return false;
	for (size_t i = 4; i < id.length; i++)
		if (!memchr("0123456789abcdef", id.at[i], 16))
			return false;
	return true;
}

/* ---- Attributes. */

static bool take_reason(struct reader *r, struct text word, struct text value)
{
	(void)word;
	r->line.reason = value;
	return true;
}

static bool take_owner(struct reader *r, struct text word, struct text value)
{
	(void)word;
	r->line.owner = value;
	return true;
}

static bool take_expires(struct reader *r, struct text word, struct text value)
{
	const char *why;

	r->line.expires = date_parse(value, &why);
	r->line.expired = r->line.expires && r->line.expires < r->to->today;
	return r->line.expires || lines_wrong(&r->lines, word, "'%.60s' %s; write YEAR-MONTH-DAY, such as expires=2027-06-30",
		lines_copy(&r->lines, value), why);
}

static const char *const attributes[] = {"reason", "owner", "expires"};

static bool (*const take_attribute[])(struct reader *, struct text, struct text) = {
	take_reason, take_owner, take_expires,
};

enum { ATTRIBUTES = sizeof attributes / sizeof *attributes };

/* A text in quotes, in which \" and \\ are a quote and a backslash. The line goes on behind it. */
static bool quoted(struct reader *r, struct text open, struct text *value)
{
	struct lines *l = &r->lines;
	struct str text;

	str_init(&text, r->to->arena);
	for (l->at = lines_place(l, open) + 1; l->at < l->end && l->source.at[l->at] != '"'; l->at++) {
		struct text here = {l->source.at + l->at, 1};

		if (*here.at == '\\' && (l->at + 1 == l->end || !memchr("\"\\", here.at[1], 2)))
			return lines_wrong(l, here, "a backslash before something else than a quote or a backslash; write \\\\ for one");
		l->at += *here.at == '\\';
		str_char(&text, l->source.at[l->at]);
	}
	if (l->at == l->end)
		return lines_wrong(l, open, "the quote is not closed on this line; write a second \", and \\\" for one in the text");
	*value = (struct text){text.at, text.length};
	l->at++;
	if (l->at < l->end && !memchr(" \t\r", l->source.at[l->at], 3))
		return lines_wrong(l, (struct text){l->source.at + l->at, 1},
			"something follows the closing quote; write a blank behind it");
	return true;
}

/* NAME=VALUE, the value in quotes if it has blanks. */
static bool attribute(struct reader *r, struct text word, unsigned *had)
{
	struct text name = before(word, '='), value = behind(word, name.length);
	size_t i = 0;

	while (i < ATTRIBUTES && !word_is(name, attributes[i]))
		i++;
	if (i == ATTRIBUTES)
		return lines_unknown(&r->lines, name,
			&(struct lines_choice){"attribute", attributes, ATTRIBUTES, "reason=, owner= and expires="});
	if (*had & 1u << i)
		return lines_wrong(&r->lines, word, "%s is given twice; keep one of them", attributes[i]);
	*had |= 1u << i;
	if (value.length > 1 && value.at[1] == '"') {
		if (!quoted(r, behind(value, 1), &value))
			return false;
	} else {
		value = value.length ? keep(r->to, behind(value, 1)) : value;
	}
	if (!value.length)
		return lines_wrong(&r->lines, word, "%s has no value; write %s=%s", attributes[i], attributes[i],
			i == 2 ? "2027-06-30" : i ? "ana" : "\"see #812\"");
	return take_attribute[i](r, word, value);
}

static bool all_attributes(struct reader *r)
{
	struct text word;
	unsigned had = 0;

	while ((word = lines_word(&r->lines)).length)
		if (!attribute(r, word, &had))
			return false;
	return true;
}

/* ---- Lines. */

static bool unknown_kind(struct reader *r, struct text kind)
{
	const char *names[SUPPRESSION_KINDS + 1];

	for (size_t i = 0; i < sizeof foreign_kinds / sizeof *foreign_kinds; i++)
		if (word_is(kind, foreign_kinds[i].kind))
			return lines_wrong(&r->lines, kind, "'%s:' is a line for ThreadSanitizer; %s", foreign_kinds[i].kind,
				foreign_kinds[i].instead);
	for (size_t i = 0; i < SUPPRESSION_KINDS; i++)
		names[i] = suppression_word[i];
	names[SUPPRESSION_KINDS] = "lock";
	return lines_unknown(&r->lines, kind, &(struct lines_choice){"kind", names, SUPPRESSION_KINDS + 1, kinds_list});
}

static bool lock_line(struct reader *r, struct text word)
{
	struct text pair[2], more;

	if (!lines_lock_pair(&r->lines, word, pair))
		return false;
	more = lines_word(&r->lines);
	if (more.length)
		return lines_wrong(&r->lines, more, "'%.60s' is one word too many; a lock line is LOCK,UNLOCK and nothing else",
			lines_copy(&r->lines, more));
	if (r->to->rules) {
		rules_add(r->to->rules, RULE_LOCK, (struct rule){.pattern = pair[0]});
		rules_add(r->to->rules, RULE_UNLOCK, (struct rule){.pattern = pair[1]});
	}
	return true;
}

static bool pattern_is_good(struct reader *r, struct text word, size_t kind)
{
	if (!word.length)
		return lines_wrong(&r->lines, word, "there is no pattern; write %s:%s, with no blank behind the colon",
			suppression_word[kind], examples[kind]);
	if (*word.at == '^')
		return lines_wrong(&r->lines, word, "a pattern matches the whole name, without ^ and $; write %s:%s",
			suppression_word[kind], examples[kind]);
	if (kind == SUPPRESS_ID && !memchr(word.at, '*', word.length) && !id_is_good(word, ID_DIGITS_LEAST))
		return lines_wrong(&r->lines, word, "'%.60s' is no id; write fsn- and %d to %d hexadecimal digits, such as %s",
			lines_copy(&r->lines, word), ID_DIGITS_LEAST, ID_DIGITS, examples[kind]);
	return true;
}

/* "fission.supp:12" */
static struct text place_of(struct reader *r)
{
	struct str s;

	str_init(&s, r->to->arena);
	str_printf(&s, "%s:%zu", r->lines.source.name, r->lines.next);
	return (struct text){s.at, s.length};
}

static bool add_line(struct reader *r, struct text pattern, size_t kind)
{
	struct suppressions *s = r->to;

	if (!pattern_is_good(r, pattern, kind))
		return false;
	r->line = (struct suppression){.kind = (enum suppression_kind)kind, .pattern = keep(s, pattern), .place = place_of(r)};
	if (!all_attributes(r))
		return false;
	s->at = arena_reserve(s->arena, s->at, &s->capacity, s->count, sizeof *s->at);
	s->at[s->count++] = r->line;
	return true;
}

static bool line(struct reader *r)
{
	struct text word = lines_word(&r->lines), kind = before(word, ':');
	size_t i = 0;

	if (!word.length)
		return true;
	if (kind.length == word.length)
		return lines_wrong(&r->lines, word, "'%.60s' has no colon; write KIND:PATTERN, such as atomicity:withdraw",
			lines_copy(&r->lines, word));
	if (word_is(kind, "lock"))
		return lock_line(r, behind(word, kind.length + 1));
	while (i < SUPPRESSION_KINDS && !word_is(kind, suppression_word[i]))
		i++;
	return i < SUPPRESSION_KINDS ? add_line(r, behind(word, kind.length + 1), i) : unknown_kind(r, kind);
}

static bool all_lines(struct reader *r, struct fault *fault)
{
	while (lines_next(&r->lines))
		if (!line(r))
			return false;
	return !fault_is_set(fault);
}

bool suppressions_read(struct suppressions *s, const char *path, struct fault *fault)
{
	struct reader r = {.to = s};
	struct arena scratch;
	bool good;

	arena_init(&scratch);
	good = lines_open(&r.lines, &scratch, path, fault) && all_lines(&r, fault);
	if (!good)
		fault->status = STATUS_CONFIG;
	arena_free(&scratch);
	return good;
}

bool suppressions_take(struct suppressions *s, struct text text, struct fault *fault)
{
	struct reader r = {.to = s};
	struct arena scratch;
	bool good;

	arena_init(&scratch);
	lines_take(&r.lines, &scratch, text, fault);
	good = all_lines(&r, fault);
	arena_free(&scratch);
	return good;
}

/* ---- Names. */

static bool id_matches(struct text pattern, struct text id)
{
	return pattern_matches(pattern, id) ||
		(pattern.length <= id.length && memcmp(pattern.at, id.at, pattern.length) == 0);
}

bool suppression_matches(const struct suppression *s, struct text name)
{
	static bool (*const matches[])(struct text, struct text) = {
		[SUPPRESS_FUNCTION] = pattern_matches, [SUPPRESS_VARIABLE] = pattern_matches_variable,
		[SUPPRESS_LOCK] = pattern_matches_variable, [SUPPRESS_FILE] = pattern_matches_file, [SUPPRESS_ID] = id_matches,
	};

	return name.length && matches[s->kind](s->pattern, name);
}

/* U+FFFD is what a report has for bytes that are no UTF-8: the name itself has others there. */
static bool is_replaced(struct text t, size_t i)
{
	return i + 3 <= t.length && memcmp(t.at + i, "\xef\xbf\xbd", 3) == 0;
}

struct text suppression_pattern(struct arena *a, struct text name)
{
	struct text literal = pattern_literal(a, name);
	struct str s;

	str_init(&s, a);
	for (size_t i = 0; i < literal.length; i++) {
		char c = literal.at[i];

		if (is_replaced(literal, i)) {
			str_char(&s, '*');
			i += 2;
		} else {
			str_char(&s, (unsigned char)c <= ' ' || c == 127 || (i == 0 && c == '^') ? '?' : c);
		}
	}
	return (struct text){s.at, s.length};
}

static void add_attribute(struct str *to, const char *name, struct text value)
{
	if (!value.length)
		return;
	str_printf(to, " %s=\"", name);
	for (size_t i = 0; i < value.length; i++) {
		if (value.at[i] == '"' || value.at[i] == '\\')
			str_char(to, '\\');
		str_char(to, value.at[i]);
	}
	str_char(to, '"');
}

/* A word stays one without quotes, which is easier to read. */
static bool is_plain(struct text t)
{
	for (size_t i = 0; i < t.length; i++)
		if (memchr(" \"\\#", t.at[i], 4))
			return false;
	return t.length > 0;
}

void suppression_write(struct str *to, const struct suppression *s)
{
	char day[DATE_LENGTH + 1];

	str_printf(to, "%s:", suppression_word[s->kind]);
	str_bytes(to, s->pattern.at, s->pattern.length);
	add_attribute(to, "reason", s->reason);
	if (is_plain(s->owner)) {
		str_add(to, " owner=");
		str_bytes(to, s->owner.at, s->owner.length);
	} else {
		add_attribute(to, "owner", s->owner);
	}
	if (s->expires) {
		date_write(s->expires, day);
		str_printf(to, " expires=%s", day);
	}
	str_char(to, '\n');
}
