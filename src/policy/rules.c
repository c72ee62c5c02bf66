/* SPDX-License-Identifier: MIT */
#include "rules.h"

#include "base/arena.h"

void rules_init(struct rules *r, struct arena *a)
{
	*r = (struct rules){.arena = a};
}

void rules_add(struct rules *r, enum rule_kind kind, struct rule rule)
{
	struct rule_list *l = &r->list[kind];

	rule.pattern.at = arena_text(r->arena, rule.pattern.at, rule.pattern.length);
	l->at = arena_reserve(r->arena, l->at, &l->capacity, l->count, sizeof *l->at);
	l->at[l->count++] = rule;
}

const struct rule *rules_find(const struct rules *r, enum rule_kind kind, struct text name, rule_match *match)
{
	const struct rule_list *l = &r->list[kind];

	for (size_t i = l->count; i-- > 0;)
		if (match(l->at[i].pattern, name))
			return &l->at[i];
	return NULL;
}

bool rules_watch(const struct rules *r, enum rule_kind kind, struct text name, rule_match *match)
{
	const struct rule_list *l = &r->list[kind];
	const struct rule *rule = rules_find(r, kind, name, match);

	if (rule)
		return rule->watch;
	for (size_t i = 0; i < l->count; i++)
		if (l->at[i].watch)
			return false;
	return true;
}
