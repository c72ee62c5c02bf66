/* SPDX-License-Identifier: MIT */
#include "supposed.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "symbolic/helper.h"

static const char *text_of(const json_t *in, const char *key, struct arena *a)
{
	const char *text = json_string_value(json_object_get(in, key));

	return text ? arena_text(a, text, strlen(text)) : "";
}

static uint64_t number_of(const json_t *in, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(in, key));
}

static const char *locks_of(const json_t *in, struct arena *a)
{
	const json_t *list = json_object_get(in, "locks");
	struct str s;

	str_init(&s, a);
	str_add(&s, "");
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *name = json_string_value(json_array_get(list, i));

		str_printf(&s, "%s%s", i ? ", " : "", name ? name : "");
	}
	return s.at;
}

static struct supposed_access take_access(const json_t *in, struct arena *a)
{
	return (struct supposed_access){.operation = text_of(in, "operation", a), .where = text_of(in, "where", a),
		.function = text_of(in, "function", a), .locks = locks_of(in, a), .thread = number_of(in, "thread"),
		.supposed = json_is_true(json_object_get(in, "speculative"))};
}

static struct supposed_branch take_branch(const json_t *in, struct arena *a)
{
	return (struct supposed_branch){.where = text_of(in, "where", a), .function = text_of(in, "function", a),
		.unit = strtoull(text_of(in, "unit", a), NULL, 16), .thread = number_of(in, "thread"),
		.ordinal = (uint32_t)number_of(in, "ordinal"), .edge = (uint32_t)number_of(in, "edge"),
		.value = strtoull(text_of(in, "value", a), NULL, 10), .valued = json_object_get(in, "value") != NULL};
}

static struct supposed_candidate take_candidate(const json_t *in, struct arena *a)
{
	static const char *const keys[3] = {"first", "culprit", "second"};
	struct supposed_candidate c = {.kind = text_of(in, "kind", a), .why = text_of(in, "why", a),
		.variable = text_of(in, "variable", a), .rank = (unsigned)number_of(in, "rank"), .more = number_of(in, "more"),
		.group = number_of(in, "group"),
		.needs = take_branch(json_object_get(in, "needs"), a)};

	for (int i = 0; i < 3; i++)
		c.access[i] = take_access(json_object_get(in, keys[i]), a);
	return c;
}

static void take_rungs(struct supposed *s, const json_t *list, struct arena *a)
{
	s->rungs = json_array_size(list);
	s->rung = arena_alloc(a, (s->rungs + 1) * sizeof *s->rung);
	for (size_t i = 0; i < s->rungs; i++) {
		const json_t *in = json_array_get(list, i);

		s->rung[i] = (struct supposed_count){text_of(in, "rule", a), number_of(in, "count")};
	}
}

static void take_limits(struct supposed *s, json_t *in, struct arena *a)
{
	const char *key;
	json_t *value;

	s->limit = arena_alloc(a, (json_object_size(in) + 1) * sizeof *s->limit);
	json_object_foreach(in, key, value)
		s->limit[s->limits++] = (struct supposed_count){arena_text(a, key, strlen(key)),
			json_is_true(value) ? 1 : (uint64_t)json_integer_value(value)};
}

static void take(struct supposed *s, json_t *root, struct arena *a)
{
	const json_t *list = json_object_get(root, "candidates");

	s->count = json_array_size(list);
	s->at = arena_alloc(a, (s->count + 1) * sizeof *s->at);
	for (size_t i = 0; i < s->count; i++)
		s->at[i] = take_candidate(json_array_get(list, i), a);
	take_rungs(s, json_object_get(root, "rungs"), a);
	take_limits(s, json_object_get(root, "limits"), a);
}

bool supposed_ask(struct supposed *s, const struct supposed_setup *setup, struct arena *a, struct fault *fault)
{
	char *words[] = {arena_text(a, setup->helper, strlen(setup->helper)),
		arena_text(a, setup->program, strlen(setup->program)), arena_text(a, setup->walk, strlen(setup->walk)), NULL};
	struct str said;
	json_t *root;

	*s = (struct supposed){0};
	str_init(&said, a);
	if (helper_run(words, setup->milliseconds, &said) != HELPER_DONE) {
		fault_set(fault, STATUS_TOOL, "%s: has not answered", setup->helper);
		return false;
	}
	root = json_loadb(said.at, said.length, 0, NULL);
	if (!json_is_object(root)) {
		if (said.length)
			fault_set(fault, STATUS_TOOL, "%s: what it has said is no answer", setup->helper);
		else
			fault_set(fault, STATUS_UNFIT, "%s: nothing can be said of it; it must be built with fission-cc --symbolic",
				setup->program);
		json_decref(root);
		return false;
	}
	s->json = (struct text){said.at, said.length};
	take(s, root, a);
	json_decref(root);
	return true;
}
