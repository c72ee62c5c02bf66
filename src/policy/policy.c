/* SPDX-License-Identifier: MIT */
#include "policy.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/opts.h"
#include "event/place.h"
#include "policy/comments.h"
#include "policy/config.h"
#include "policy/pattern.h"

static const char *const words[] = {"annotated", "locks", "exported", "functions"};
static const unsigned word_blocks[] = {0, POLICY_LOCKS, POLICY_EXPORTED, POLICY_FUNCTIONS};

enum { WORDS = sizeof words / sizeof *words };

void policy_init(struct policy *p, struct arena *a)
{
	*p = (struct policy){.blocks = POLICY_FUNCTIONS};
	rules_init(&p->rules, a);
}

static bool unknown(const char *word, struct fault *fault)
{
	const char *near = opts_nearest(word, words, WORDS);

	if (near)
		fault_set(fault, STATUS_USAGE, "unknown policy '%.60s'; did you mean '%s'?", word, near);
	else
		fault_set(fault, STATUS_USAGE,
			"unknown policy '%.60s'; there are annotated, locks, exported, functions and file:NAMES, "
			"with + between them", word);
	return false;
}

static bool parse_names(struct policy *p, const char *path, struct fault *fault)
{
	if (!*path) {
		fault_set(fault, STATUS_USAGE, "policy 'file:' lacks its file; write file:NAMES");
		return false;
	}
	p->blocks |= POLICY_NAMES;
	return config_read_names(&p->rules, path, fault);
}

static bool parse_word(struct policy *p, const char *word, struct fault *fault)
{
	if (strncmp(word, "file:", 5) == 0)
		return parse_names(p, word + 5, fault);
	for (size_t i = 0; i < WORDS; i++) {
		if (strcmp(words[i], word) == 0) {
			p->blocks |= word_blocks[i];
			return true;
		}
	}
	return unknown(word, fault);
}

bool policy_parse(struct policy *p, const char *list, struct fault *fault)
{
	size_t n;

	p->blocks = 0;
	for (;; list += n + 1) {
		n = strcspn(list, "+");
		if (!parse_word(p, arena_text(p->rules.arena, list, n), fault))
			return false;
		if (!list[n])
			return true;
	}
}

bool policy_read(struct policy *p, const char *path, struct fault *fault)
{
	return config_read(&p->rules, path, fault);
}

bool policy_scan(struct policy *p, const char *path, struct fault *fault)
{
	return comments_read(&p->rules, path, fault);
}

bool policy_lacks_exported(const struct policy *p)
{
	return (p->blocks & POLICY_EXPORTED) && p->rules.list[RULE_EXPORTED].count == 0;
}

void policy_leave(struct policy *p, struct text name)
{
	rules_add(&p->rules, RULE_LEFT, (struct rule){.pattern = pattern_literal(p->rules.arena, name)});
}

static bool is(const struct policy *p, enum rule_kind kind, struct text name)
{
	return rules_find(&p->rules, kind, name, pattern_matches) != NULL;
}

struct policy policy_copy(const struct policy *p, struct arena *a)
{
	struct policy copy = *p;

	copy.rules.arena = a;
	copy.rules.list[RULE_LEFT] = (struct rule_list){0};
	return copy;
}

bool policy_has_left(const struct policy *p, struct text name)
{
	return p->rules.list[RULE_LEFT].count && is(p, RULE_LEFT, name);
}

bool policy_says_little(const struct policy *p)
{
	static const enum rule_kind speaking[] = {
		RULE_ASSUME_ATOMIC, RULE_ASSUME_MOVER, RULE_GUARDED, RULE_NO_WARN, RULE_FUNCTION, RULE_FILE, RULE_VARIABLE,
	};

	for (size_t i = 0; i < sizeof speaking / sizeof *speaking; i++)
		if (p->rules.list[speaking[i]].count)
			return false;
	return !p->rules.cutoff;
}

/* Whether the name is a block, given what else is known of it. Assumptions win over everything that demands. */
static bool is_block(const struct policy *p, struct text name, unsigned code)
{
	if (code & (CODE_ATOMIC | CODE_MOVER) || is(p, RULE_LEFT, name))
		return false;
	if (name.length == 4 && memcmp(name.at, "main", 4) == 0)
		return false;
	if (code & CODE_DECLARED)
		return true;
	if (code & CODE_UNWATCHED)
		return false;
	return p->blocks & POLICY_FUNCTIONS || (p->blocks & POLICY_EXPORTED && is(p, RULE_EXPORTED, name));
}

unsigned policy_code(const struct policy *p, struct text name)
{
	unsigned code = 0;

	code |= is(p, RULE_ATOMIC, name) ? CODE_DECLARED : 0;
	code |= is(p, RULE_ASSUME_ATOMIC, name) ? CODE_ATOMIC : 0;
	code |= is(p, RULE_ASSUME_MOVER, name) ? CODE_MOVER : 0;
	code |= is(p, RULE_FOREIGN, name) ? CODE_FOREIGN : 0;
	code |= rules_watch(&p->rules, RULE_FUNCTION, name, pattern_matches) ? 0 : CODE_UNWATCHED;
	return code | (is_block(p, name, code) ? CODE_BLOCK : 0);
}

static bool is_silenced(const struct policy *p, struct place_parts place)
{
	const struct rule_list *l = &p->rules.list[RULE_NO_WARN];

	for (size_t i = 0; i < l->count; i++)
		if (l->at[i].line == place.line && pattern_matches_file(l->at[i].pattern, place.file))
			return true;
	return false;
}

unsigned policy_site(const struct policy *p, struct text site)
{
	struct place_parts place;
	unsigned answer;

	if (!site.length)
		return 0;
	place = place_parse(site);
	answer = is_silenced(p, place) ? SITE_NO_WARN : 0;
	if (!place.file.length)
		return answer;
	if (!rules_watch(&p->rules, RULE_FILE, place.file, pattern_matches_file))
		answer |= SITE_UNWATCHED;
	if (rules_find(&p->rules, RULE_FOREIGN, place.file, pattern_matches_file))
		answer |= SITE_FOREIGN;
	return answer;
}

/*
 * Whether any index in the name is at or beyond the cut-off, which is not 0. What is in brackets but no number is no
 * index; empty brackets count as 0, which is never beyond it.
 */
static bool is_cut_off(struct text name, uint64_t cutoff)
{
	for (size_t i = 0; i < name.length; i++) {
		uint64_t index = 0;

		if (name.at[i] != '[')
			continue;
		for (i++; i < name.length && name.at[i] >= '0' && name.at[i] <= '9'; i++)
			index = index > UINT32_MAX ? index : index * 10 + (uint64_t)(name.at[i] - '0');
		if (i < name.length && name.at[i] == ']' && index >= cutoff)
			return true;
		i--; /* it may be the next bracket */
	}
	return false;
}

unsigned policy_variable(const struct policy *p, struct text name)
{
	unsigned answer = 0;

	if (rules_find(&p->rules, RULE_GUARDED, name, pattern_matches_variable))
		answer |= VARIABLE_GUARDED;
	if (!rules_watch(&p->rules, RULE_VARIABLE, name, pattern_matches_variable) ||
		(p->rules.cutoff && is_cut_off(name, p->rules.cutoff)))
		answer |= VARIABLE_UNWATCHED;
	return answer;
}

enum policy_lock policy_lock(const struct policy *p, struct text function, uint32_t *pair)
{
	static const enum rule_kind kinds[] = {RULE_LOCK, RULE_UNLOCK};

	for (int side = 0; side < 2; side++) {
		const struct rule *rule = rules_find(&p->rules, kinds[side], function, pattern_matches);

		if (rule) {
			*pair = (uint32_t)(rule - p->rules.list[kinds[side]].at);
			return side ? LOCK_GIVES : LOCK_TAKES;
		}
	}
	return LOCK_NONE;
}

bool policy_has_locks(const struct policy *p)
{
	return p->rules.list[RULE_LOCK].count > 0;
}

static void add_literally(struct policy *p, enum rule_kind kind, struct text name)
{
	rules_add(&p->rules, kind, (struct rule){.pattern = pattern_literal(p->rules.arena, name)});
}

void policy_assume_atomic(struct policy *p, struct text function)
{
	add_literally(p, RULE_ASSUME_ATOMIC, function);
}

void policy_assume_mover(struct policy *p, struct text function)
{
	add_literally(p, RULE_ASSUME_MOVER, function);
}

void policy_no_warn(struct policy *p, struct text place)
{
	struct place_parts parts = place_parse(place);

	if (parts.line && parts.file.length)
		rules_add(&p->rules, RULE_NO_WARN,
			(struct rule){.pattern = pattern_literal(p->rules.arena, parts.file), .line = parts.line});
}
