/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "event/place.h"
#include "policy/lines.h"
#include "policy/rules.h"

/* One line on its way to a rule. */
struct reader {
	struct rules *rules;
	struct lines lines;
};

struct directive {
	const char *name, *operands; /* the operands for messages */
	bool (*take)(struct reader *r, const struct directive *d);
	enum rule_kind kind;
	bool watch;
};

/* The next word, which must be there. */
static bool need(struct reader *r, const struct directive *d, struct text *word)
{
	*word = lines_word(&r->lines);
	if (word->length)
		return true;
	return lines_wrong(&r->lines, *word, "something is missing; write '%s %s'", d->name, d->operands);
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
		return lines_wrong(&r->lines, word, "'%.60s' is not a place; write FILE:LINE, such as bank.c:12",
			lines_copy(&r->lines, word));
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
	while (i < SORTS && strcmp(sorts[i], lines_copy(&r->lines, sort)) != 0)
		i++;
	if (i == SORTS)
		return lines_unknown(&r->lines, sort,
			&(struct lines_choice){"sort", sorts, SORTS, "function, file and variable"});
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
			return lines_wrong(&r->lines, word,
				digit ? "%.60s is too large; write 'array_cutoff 0' for no cut-off"
				      : "'%.60s' is not a number; write how many elements of an array are watched",
				lines_copy(&r->lines, word));
	}
	r->rules->cutoff = n;
	return true;
}

static bool lock_pair(struct reader *r, struct text word)
{
	struct text pair[2];

	if (!lines_lock_pair(&r->lines, word, pair))
		return false;
	rules_add(r->rules, RULE_LOCK, (struct rule){.pattern = pair[0]});
	rules_add(r->rules, RULE_UNLOCK, (struct rule){.pattern = pair[1]});
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
	const char *names[DIRECTIVES], *have = lines_copy(&r->lines, word);

	for (size_t i = 0; i < DIRECTIVES; i++) {
		names[i] = directives[i].name;
		if (strcmp(names[i], have) == 0)
			return &directives[i];
	}
	lines_unknown(&r->lines, word, &(struct lines_choice){"directive", names, DIRECTIVES,
		"atomic, exported, assume_atomic, assume_mover, assume_guarded, no_warn, watch, ignore, foreign, "
		"array_cutoff and lock"});
	return NULL;
}

/* Nothing may follow: a name with a blank in it would be cut without a word. */
static bool line_ends(struct reader *r, const char *what)
{
	struct text more = lines_word(&r->lines);

	if (!more.length)
		return true;
	return lines_wrong(&r->lines, more, "'%.60s' is one word too many; write %s, and ? for each blank in a name",
		lines_copy(&r->lines, more), what);
}

static bool directive_line(struct reader *r)
{
	struct text word = lines_word(&r->lines);
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
	struct text word = lines_word(&r->lines);

	if (!word.length)
		return true;
	rules_add(r->rules, RULE_ATOMIC, (struct rule){.pattern = word});
	return line_ends(r, "one name a line");
}

/* `scratch` ends here: the rules have copies of what they need. */
static bool read_lines(struct rules *rules, const char *path, struct fault *fault, bool (*line)(struct reader *))
{
	struct reader r = {.rules = rules};
	struct arena scratch;
	bool good;

	arena_init(&scratch);
	good = lines_open(&r.lines, &scratch, path, fault);
	while (good && lines_next(&r.lines))
		good = line(&r);
	arena_free(&scratch);
	return good && !fault_is_set(fault);
}

bool config_read(struct rules *r, const char *path, struct fault *fault)
{
	return read_lines(r, path, fault, directive_line);
}

bool config_read_names(struct rules *r, const char *path, struct fault *fault)
{
	return read_lines(r, path, fault, name_line);
}
