/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a configuration file, as a file of names and as a C source with annotations: each is read, or refused
 * with a reason; then the policy is asked about every word of the same bytes, which is where matching names are most
 * likely to be. What is promised of all answers must hold.
 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "policy/policy.h"

enum { WORDS_MOST = 50, WORD_MOST = 200 };

static void must(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "fuzz: %s\n", what);
	abort();
}

static void ask(struct policy *p, struct text name)
{
	unsigned code = policy_code(p, name);
	bool assumed = code & (CODE_ATOMIC | CODE_MOVER), is_main = name.length == 4 && memcmp(name.at, "main", 4) == 0;

	must(!(assumed || is_main) || !(code & CODE_BLOCK), "main or an assumed function is a block");
	must(assumed || is_main || !(code & CODE_DECLARED) || code & CODE_BLOCK, "a declared function is no block");
	policy_site(p, name);
	policy_variable(p, name);
}

static void leave(struct policy *p, struct text name)
{
	unsigned before = policy_code(p, name);

	policy_leave(p, name);
	must(policy_code(p, name) == (before & ~(unsigned)CODE_BLOCK), "what has left is a block or something else");
}

/* The words of the bytes, from the front, as long as it takes no time. */
static void each_word(const char *text, size_t size, void (*each)(struct policy *, struct text), struct policy *p)
{
	size_t start = 0;

	for (size_t i = 0, asked = 0; i <= size && asked < WORDS_MOST; i++) {
		struct text name = {text + start, i - start};

		if (i < size && text[i] != ' ' && text[i] != '\n')
			continue;
		start = i + 1;
		if (!name.length || name.length > WORD_MOST)
			continue;
		each(p, name);
		asked++;
	}
}

static void read_and_ask(bool (*read)(struct policy *, const char *, struct fault *), const char *words,
	const uint8_t *data, size_t size)
{
	struct fault fault = {0};
	struct policy policy;
	struct arena arena;
	bool good;

	arena_init(&arena);
	policy_init(&policy, &arena);
	good = read(&policy, words, &fault);
	must(good != fault_is_set(&fault), "neither read nor refused");
	must(good || fault.status == STATUS_CONFIG, "refused as if it could not be opened");
	each_word((const char *)data, size, ask, &policy);
	each_word((const char *)data, size, leave, &policy);
	arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = fuzz_file(data, size);
	char words[64];

	snprintf(words, sizeof words, "exported+file:%s", path);
	read_and_ask(policy_read, path, data, size);
	read_and_ask(policy_scan, path, data, size);
	read_and_ask(policy_parse, words, data, size);
	return 0;
}
