/* SPDX-License-Identifier: MIT */
/* The page's data: whatever a name holds, it stays inside its element, and every value keeps its digits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/str.h"
#include "base/utf8.h"
#include "report/look.h"
#include "report/page_data.h"
#include "report/report.h"
#include "report/story.h"

#define TEXT(literal) {literal, sizeof(literal) - 1}

static const char hostile[] = "</script><script>alert(1)</script><!--&\"'\\\x01\x7f\xff\xc0\xaf\xed\xa0\x80";

static struct story_event events[] = {
	{.thread = 0, .word = "read", .object = TEXT(hostile), .data = true, .valued = true, .is_unsigned = true,
		.value = UINT64_MAX, .role = STORY_FIRST, .stack = STORY_NONE, .place.source = STORY_NONE},
	{.thread = STORY_NONE, .word = "write", .object = TEXT(hostile), .data = true, .valued = true,
		.value = (uint64_t)INT64_MIN, .role = STORY_CULPRIT, .stack = STORY_NONE,
		.place = {.file = TEXT(hostile), .line = 7, .source = STORY_NONE}},
};
static struct story_finding finding = {
	.id = TEXT("fsn-00000001"), .verdict = VERDICT_PREDICTED, .rank = 1, .function = TEXT(hostile), .event = events,
	.events = 2, .window_from = STORY_NONE, .window_to = STORY_NONE, .block_stack = STORY_NONE,
};
static struct story_thread thread = {.name = TEXT(hostile), .creator = STORY_NONE, .creation = STORY_NONE};

static const struct story story = {
	.program = TEXT(hostile), .status = 66, .thread = &thread, .threads = 1, .finding = &finding, .findings = 1,
};

static size_t times(const char *in, const char *what)
{
	size_t n = 0;

	while ((in = strstr(in, what))) {
		n++;
		in += strlen(what);
	}
	return n;
}

static void assert_harmless(const struct str *s)
{
	for (size_t i = 0; i < s->length;) {
		size_t length = utf8_sequence(s->at + i, s->length - i);

		assert_true(length > 0);
		assert_true(length > 1 || s->at[i] == '\n' || (s->at[i] >= 32 && s->at[i] < 127));
		assert_true(s->at[i] != '<');
		i += length;
	}
}

static void data_is_harmless(void **state)
{
	struct arena a;
	struct str s;

	(void)state;
	arena_init(&a);
	str_init(&s, &a);
	page_data_add(&s, &story, &look_plain);
	assert_harmless(&s);
	assert_int_equal(times(s.at, "alert(1)"), 1); /* a text stands there once, however often it is meant */
	assert_int_equal(times(s.at, "\"18446744073709551615\""), 1);
	assert_int_equal(times(s.at, "\"-9223372036854775808\""), 1);
	arena_free(&a);
}

/* The page has one script that runs, one that is data, and nothing that leads elsewhere. */
static void page_is_whole(void **state)
{
	struct arena a;
	struct str s;

	(void)state;
	arena_init(&a);
	str_init(&s, &a);
	renderer_named("html")->render(&story, &look_plain, &s);
	assert_int_equal(times(s.at, "<script"), 2);
	assert_int_equal(times(s.at, "</script>"), 2);
	assert_int_equal(times(s.at, "<script type=\"application/json\""), 1);
	assert_int_equal(times(s.at, "script-src 'sha256-"), 1);
	assert_int_equal(times(s.at, "://"), 0);
	assert_int_equal(times(s.at, "@DATA@") + times(s.at, "@SCRIPT@") + times(s.at, "@STYLE@") + times(s.at, "@POLICY@"), 0);
	assert_int_equal(times(s.at, "</html>"), 1);
	arena_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_is_harmless),
		cmocka_unit_test(page_is_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
