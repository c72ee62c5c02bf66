/* SPDX-License-Identifier: MIT */
#include "sarif_rules.h"

#include <ctype.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "policy/rank.h"
#include "report/json_out.h"

/* Hidden and demoted ones are mostly meant to be so; what to do is to look whether that is true. */
#define HOLD "Hold the lock from the first section to the end of the second"
#define LOOK "Usually nothing. "
#define DECIDE "Decide whether the two sections belong together. If they do, hold one lock from the first to the end " \
	"of the second; if not, suppress the finding with a reason."

struct help {
	const char *name;  /* of the rank's rule, or of the whole rule if it is about none */
	const char *title;
	const char *advice;
};

/* The first is for all rules that have no other. */
static const struct help helps[] = {
	{"", "Code that is not atomic", DECIDE},
	{"plain", "Code that is not atomic, with nothing that speaks for a mistake or against one", DECIDE},
	{"declared", "Code that was declared atomic is not",
		HOLD ", or take the declaration back if it is no longer meant."},
	{"harm", "The program fails when another thread comes in between",
		HOLD ". 'fission replay' shows the failure again, and with --expect=absent that it is gone."},
	{"reproduced", "Another thread was made to come in between, and it shows in the values",
		HOLD ". 'fission replay' shows it again, and with --expect=absent that it is gone."},
	{"stale-pointer", "A pointer is used after the lock that protects it was given back",
		HOLD ", or take a reference to the object before the lock is given back, or load the pointer again under the "
		"lock and look whether it is still there."},
	{"lost-update", "An update by another thread is lost",
		HOLD ", or read the value again under the second lock before it is written, or use one atomic operation for both."},
	{"stale-value", "A value that has changed meanwhile is written back or acted upon",
		HOLD ", or read the value again under the second lock and decide anew."},
	{"pattern", "Another thread comes between two accesses that belong together",
		HOLD ". If each section is right whatever the other threads do in between, suppress the finding with a reason."},
	{"two-callees", "Two calls that are atomic each, but not together",
		"If the second call relies on what the first has returned, give the caller one operation that does both under "
		"one lock. If it does not, suppress the finding with a reason."},
	{"wait", "A condition wait lets others in",
		LOOK "Make sure that the condition is tested again after the wait, in a loop."},
	{"same-site", "The rounds of a loop are not atomic together",
		LOOK "Make sure that no round relies on what an earlier one has read."},
	{"backward", "The rounds of a loop are not atomic together, seen across its end",
		LOOK "Make sure that no round relies on what an earlier one has read."},
	{"start-routine", "A whole thread is not atomic", LOOK "A thread that is atomic as a whole would run alone."},
	{"foreign", "Code of a library is not atomic",
		LOOK "If the library promises that the call is atomic, tell its authors."},
	{"commutes", "Additions in any order", LOOK "Make sure that nobody relies on a sum that is not yet complete."},
	{"cyclic", "A loop over the same lock or variable", LOOK "Make sure that each round stands by itself."},
	{"wait-inside", "A condition wait between two sections",
		LOOK "Make sure that nothing that was read before the wait is relied upon after it."},
	{"waiter", "A function that waits on a condition elsewhere", LOOK "Make sure that each round stands by itself."},
	{"other-lock", "Another lock is held throughout",
		LOOK "If that lock is the one that protects the data, let every access take it."},
	{"before-only", "The culprit was only seen before the first section",
		LOOK "If it can come in between as well, hold the lock over both sections."},
	{"apart", "The sections have nothing in common",
		LOOK "If they are to be atomic for another reason, declare the block atomic."},
	{"scattered", "The sections read different data",
		LOOK "If the two values are to agree, read both under one lock."},
	{"both-direct", "The function itself gives the lock back in between",
		LOOK "If that was done for speed only, read again what was read before the lock was given back."},
	{"data-race", "Two accesses to the same memory with nothing that orders them",
		"Protect both by the same lock, or make both atomic. What a prediction says about code with a data race is not "
		"sure, and findings that rest on it are suspected only."},
	{"deadlock", "Threads that can each wait for a lock that the next one holds",
		"Take the locks in one order everywhere, or take them with one call that cannot block half-way. Findings that "
		"rest on these locks are suspected only."},
};

struct rule {
	const char *prefix, *name; /* the id is both */
	const char *full;
	const char *cwe;
	unsigned rank;
};

static const struct rule others[] = {
	{"atomicity", "", "Another thread can come between two parts of a block that is expected to be atomic.", "362", 3},
	{"", "data-race", "Two threads access the same memory, one of them writes, and nothing orders the two.", "366", 3},
	{"", "deadlock", "Each of some threads holds a lock and wants one that another of them holds.", "833", 3},
};

enum { OTHERS = sizeof others / sizeof *others };

static struct rule rule_at(size_t index)
{
	if (index >= rank_rule_count)
		return others[index - rank_rule_count];
	return (struct rule){"atomicity/", rank_rules[index].name, rank_rules[index].why, "362", rank_rules[index].rank};
}

static const struct help *help_for(const char *name)
{
	for (size_t i = 0; i < sizeof helps / sizeof *helps; i++)
		if (strcmp(helps[i].name, name) == 0)
			return &helps[i];
	return &helps[0];
}

/* "stale-value" is StaleValue. */
static void add_camel(struct str *to, const char *name)
{
	for (const char *p = name; *p; p++)
		if (*p != '-')
			str_char(to, p == name || p[-1] == '-' ? (char)toupper((unsigned char)*p) : *p);
}

static struct text whole(const struct str *s)
{
	return (struct text){s->at, s->length};
}

static void add_message(struct json_out *j, const char *key, const char *text)
{
	json_open(j, key, '{');
	json_word(j, "text", text);
	json_close(j, '}');
}

/* What a rule is about begins in lower case, as it stands in the middle of a sentence elsewhere. */
static void add_full(struct str *to, const char *full)
{
	str_char(to, (char)toupper((unsigned char)*full));
	str_add(to, full + 1);
	if (to->at[to->length - 1] != '.')
		str_char(to, '.');
}

static void add_help(struct json_out *j, const struct rule *r, const struct help *h)
{
	struct str s;

	json_open(j, "help", '{');
	str_init(&s, j->to->arena);
	add_full(&s, r->full);
	str_printf(&s, " What to do: %s", h->advice);
	json_text(j, "text", whole(&s));
	str_clear(&s);
	str_printf(&s, "## %s\n\n", h->title);
	add_full(&s, r->full);
	str_printf(&s, "\n\n**What to do:** %s\n\n", h->advice);
	str_add(&s, "`fission show ID` draws the interleaving, `fission suppress ID --reason \"...\"` accepts the finding. "
		"The id is the fingerprint `fissionId/v1`.\n");
	json_text(j, "markdown", whole(&s));
	json_close(j, '}');
}

static void add_tags(struct json_out *j, const struct rule *r)
{
	struct str s;

	str_init(&s, j->to->arena);
	str_printf(&s, "external/cwe/cwe-%s", r->cwe);
	json_open(j, "properties", '{');
	json_open(j, "tags", '[');
	json_word(j, NULL, "concurrency");
	json_text(j, NULL, whole(&s));
	json_close(j, ']');
	json_close(j, '}');
}

static struct str rule_id(const struct rule *r, struct arena *a)
{
	struct str s;

	str_init(&s, a);
	str_printf(&s, "%s%s", r->prefix, r->name);
	return s;
}

static void add_rule(struct json_out *j, const struct rule *r)
{
	static const char *const level[] = {"", "error", "error", "warning", "note"};
	const struct help *h = help_for(r->name);
	struct str id = rule_id(r, j->to->arena), s;

	json_open(j, NULL, '{');
	json_text(j, "id", whole(&id));
	str_init(&s, j->to->arena);
	add_camel(&s, *r->name ? r->name : r->prefix);
	json_text(j, "name", whole(&s));
	add_message(j, "shortDescription", h->title);
	str_clear(&s);
	add_full(&s, r->full);
	add_message(j, "fullDescription", s.at);
	add_help(j, r, h);
	json_open(j, "defaultConfiguration", '{');
	json_word(j, "level", level[r->rank]);
	json_close(j, '}');
	add_tags(j, r);
	json_close(j, '}');
}

void sarif_rules(struct json_out *j)
{
	json_open(j, "rules", '[');
	for (size_t i = 0; i < rank_rule_count + OTHERS; i++) {
		struct rule r = rule_at(i);

		add_rule(j, &r);
	}
	json_close(j, ']');
}

size_t sarif_rule_of(struct text name)
{
	size_t i = 0;

	while (i < rank_rule_count && (strlen(rank_rules[i].name) != name.length ||
		memcmp(rank_rules[i].name, name.at, name.length) != 0))
		i++;
	return i;
}

size_t sarif_rule_of_hazard(enum hazard_kind kind)
{
	return rank_rule_count + (kind == HAZARD_RACE ? 1 : 2);
}

void sarif_rule(struct json_out *j, size_t index)
{
	struct rule r = rule_at(index);
	struct str id = rule_id(&r, j->to->arena);

	json_text(j, "ruleId", whole(&id));
	json_number(j, "ruleIndex", index);
}
