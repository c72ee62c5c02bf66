/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "base/arena.h"
#include "base/opts.h"
#include "event/place.h"
#include "policy/rules.h"
#include "policy/source.h"

/* One line on its way to a rule. */
struct reader {
	struct rules *rules;
	struct source source;
	struct fault *fault;
	size_t at, end; /* what is left of the line */
};

struct directive {
	const char *name, *operands; /* the operands for messages */
	bool (*take)(struct reader *r, const struct directive *d);
	enum rule_kind kind;
	bool watch;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool is_control(char c)
{
	return (unsigned char)c < 32 || c == 127;
}

/* The next word of the line; empty where the line, or what of it is no comment, ends. */
static struct text next_word(struct reader *r)
{
	const char *text = r->source.at;
	size_t start;

	while (r->at < r->end && is_blank(text[r->at]))
		r->at++;
	if (r->at < r->end && text[r->at] == '#')
		r->end = r->at;
	start = r->at;
	while (r->at < r->end && !is_blank(text[r->at]))
		r->at++;
	return (struct text){text + start, r->at - start};
}

static size_t place_of(const struct reader *r, struct text word)
{
	return (size_t)(word.at - r->source.at);
}

/* A NUL-terminated copy, for messages. */
static const char *copy(struct reader *r, struct text word)
{
	return arena_text(r->source.arena, word.at, word.length);
}

/* Control bytes would spoil messages, and no name has any: this is not the file that was meant. */
static bool bytes_are_plain(struct reader *r)
{
	for (size_t i = r->at; i < r->end; i++)
		if (is_control(r->source.at[i]) && !is_blank(r->source.at[i]))
			return source_wrong(&r->source, i, r->fault, "byte 0x%02x in a line of text; remove it",
				(unsigned char)r->source.at[i]);
	return true;
}

static bool unknown(struct reader *r, struct text word, const char *what, const char *const *names, size_t n,
	const char *list)
{
	const char *have = copy(r, word), *near = opts_nearest(have, names, n);

	if (near)
		return source_wrong(&r->source, place_of(r, word), r->fault, "unknown %s '%.60s'; did you mean '%s'?",
			what, have, near);
	return source_wrong(&r->source, place_of(r, word), r->fault, "unknown %s '%.60s'; there are %s", what, have,
		list);
}

/* The next word, which must be there. */
static bool need(struct reader *r, const struct directive *d, struct text *word)
{
	*word = next_word(r);
	if (word->length)
		return true;
	return source_wrong(&r->source, place_of(r, *word), r->fault, "something is missing; write '%s %s'", d->name,
		d->operands);
}

static bool take_pattern(struct reader *r, const struct directive *d)
{
	struct text word;

	if (!need(r, d, &word))
		return false;
	rules_add(r->rules, d->kind, (struct rule){.pattern = word});
	return true;
}

static bool take_place(struct reader *r, const struct directive *d)
{
	struct text word;
	struct place_parts place;

	if (!need(r, d, &word))
		return false;
	place = place_parse(word);
	if (!place.line || !place.file.length)
		return source_wrong(&r->source, place_of(r, word), r->fault,
			"'%.60s' is not a place; write FILE:LINE, such as bank.c:12", copy(r, word));
	rules_add(r->rules, d->kind, (struct rule){.pattern = place.file, .line = place.line});
	return true;
}

static bool take_sort(struct reader *r, const struct directive *d)
{
	static const char *const sorts[] = {"function", "file", "variable"};
	static const enum rule_kind kinds[] = {RULE_FUNCTION, RULE_FILE, RULE_VARIABLE};
	enum { SORTS = sizeof sorts / sizeof *sorts };
	struct text sort, word;
	size_t i = 0;

	if (!need(r, d, &sort))
		return false;
	while (i < SORTS && strcmp(sorts[i], copy(r, sort)) != 0)
		i++;
	if (i == SORTS)
		return unknown(r, sort, "sort", sorts, SORTS, "function, file and variable");
	if (!need(r, d, &word))
		return false;
	rules_add(r->rules, kinds[i], (struct rule){.pattern = word, .watch = d->watch});
	return true;
}

/* At most 32 bits, so that no index has to be read further than that to be told from it. */
static bool take_cutoff(struct reader *r, const struct directive *d)
{
	struct text word;
	uint64_t n = 0;

	if (!need(r, d, &word))
		return false;
	for (size_t i = 0; i < word.length; i++) {
		bool digit = word.at[i] >= '0' && word.at[i] <= '9';

		n = n * 10 + (uint64_t)(digit ? word.at[i] - '0' : 0);
		if (!digit || n > UINT32_MAX)
			return source_wrong(&r->source, place_of(r, word), r->fault,
				digit ? "%.60s is too large; write 'array_cutoff 0' for no cut-off"
				      : "'%.60s' is not a number; write how many elements of an array are watched",
				copy(r, word));
	}
	r->rules->cutoff = n;
	return true;
}

/* LOCK,UNLOCK */
static bool lock_pair(struct reader *r, struct text word)
{
	const char *comma = memchr(word.at, ',', word.length);
	size_t n = comma ? (size_t)(comma - word.at) : 0;

	if (n == 0 || n + 1 == word.length)
		return source_wrong(&r->source, place_of(r, word), r->fault,
			"'%.60s' does not name two functions; write LOCK,UNLOCK, such as my_lock,my_unlock", copy(r, word));
	rules_add(r->rules, RULE_LOCK, (struct rule){.pattern = {word.at, n}});
	rules_add(r->rules, RULE_UNLOCK, (struct rule){.pattern = {word.at + n + 1, word.length - n - 1}});
	return true;
}

static bool take_lock(struct reader *r, const struct directive *d)
{
	struct text word;

	return need(r, d, &word) && lock_pair(r, word);
}

static const struct directive directives[] = {
	{"atomic", "NAME", take_pattern, RULE_ATOMIC, false},
	{"exported", "NAME", take_pattern, RULE_EXPORTED, false},
	{"assume_atomic", "NAME", take_pattern, RULE_ASSUME_ATOMIC, false},
	{"assume_mover", "NAME", take_pattern, RULE_ASSUME_MOVER, false},
	{"assume_guarded", "VARIABLE", take_pattern, RULE_GUARDED, false},
	{"no_warn", "FILE:LINE", take_place, RULE_NO_WARN, false},
	{"watch", "function|file|variable PATTERN", take_sort, RULE_FUNCTION, true},
	{"ignore", "function|file|variable PATTERN", take_sort, RULE_FUNCTION, false},
	{"foreign", "PATTERN", take_pattern, RULE_FOREIGN, false},
	{"array_cutoff", "N", take_cutoff, RULE_VARIABLE, false},
	{"lock", "LOCK,UNLOCK", take_lock, RULE_LOCK, false},
};

enum { DIRECTIVES = sizeof directives / sizeof *directives };

static const struct directive *directive_named(struct reader *r, struct text word)
{
	const char *names[DIRECTIVES], *have = copy(r, word);

	for (size_t i = 0; i < DIRECTIVES; i++) {
		names[i] = directives[i].name;
		if (strcmp(names[i], have) == 0)
			return &directives[i];
	}
	unknown(r, word, "directive", names, DIRECTIVES,
		"atomic, exported, assume_atomic, assume_mover, assume_guarded, no_warn, watch, ignore, foreign, "
		"array_cutoff and lock");
	return NULL;
}

/* Nothing may follow: a name with a blank in it would be cut without a word. */
static bool line_ends(struct reader *r, const char *what)
{
	struct text more = next_word(r);

	if (!more.length)
		return true;
	return source_wrong(&r->source, place_of(r, more), r->fault,
		"'%.60s' is one word too many; write %s, and ? for each blank in a name", copy(r, more), what);
}

static bool directive_line(struct reader *r)
{
	struct text word = next_word(r);
	const struct directive *d;

	if (!word.length)
		return true;
	/* As it stands in a file of suppressions. */
	if (word.length > 5 && memcmp(word.at, "lock:", 5) == 0)
		return lock_pair(r, (struct text){word.at + 5, word.length - 5}) && line_ends(r, "one directive a line");
	d = directive_named(r, word);
	return d && d->take(r, d) && line_ends(r, "one directive a line");
}

static bool name_line(struct reader *r)
{
	struct text word = next_word(r);

	if (!word.length)
		return true;
	rules_add(r->rules, RULE_ATOMIC, (struct rule){.pattern = word});
	return line_ends(r, "one name a line");
}

/* `scratch` ends here: the rules have copies of what they need. */
static bool read_lines(struct rules *rules, const char *path, struct fault *fault, bool (*line)(struct reader *))
{
	struct reader r = {.rules = rules, .fault = fault};
	struct arena scratch;
	bool good;

	arena_init(&scratch);
	good = source_read(&r.source, &scratch, path, fault);
	for (size_t i = 0; good && i < r.source.lines; i++) {
		r.at = r.source.line[i];
		r.end = i + 1 < r.source.lines ? r.source.line[i + 1] - 1 : r.source.length;
		good = bytes_are_plain(&r) && line(&r);
	}
	arena_free(&scratch);
	return good;
}

bool config_read(struct rules *r, const char *path, struct fault *fault)
{
	return read_lines(r, path, fault, directive_line);
}

bool config_read_names(struct rules *r, const char *path, struct fault *fault)
{
	return read_lines(r, path, fault, name_line);
}
