/* SPDX-License-Identifier: MIT */
/* Names for a terminal: bytes that JSON cannot hold and golden files cannot show, and where a name is cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/str.h"
#include "report/harmless.h"

static struct arena arena;

/* What becomes of a name, how many columns that is said to be, and that measuring alone says the same. */
static void shown_as(const char *name, struct harmless how, const char *expected, unsigned columns)
{
	struct text t = {name, strlen(name)};
	struct str to;

	str_init(&to, &arena);
	assert_int_equal(harmless_add(&to, t, how), columns);
	assert_int_equal(harmless_add(NULL, t, how), columns);
	assert_string_equal(to.length ? to.at : "", expected);
}

static void plain_names_stay(void **state)
{
	(void)state;
	shown_as("", (struct harmless){true, 0}, "", 0);
	shown_as("a b\\<>\"'~", (struct harmless){false, 0}, "a b\\<>\"'~", 9);
	shown_as("größe", (struct harmless){true, 0}, "größe", 5);
	shown_as("日本", (struct harmless){true, 0}, "日本", 4);
	shown_as("e\xcc\x81", (struct harmless){true, 0}, "e\xcc\x81", 1);
}

static void without_utf8_it_is_spelt(void **state)
{
	(void)state;
	shown_as("ö", (struct harmless){false, 0}, "\\xc3\\xb6", 8);
}

static void controls_are_spelt(void **state)
{
	(void)state;
	shown_as("\x1b[2J\r\n\t\x7f", (struct harmless){true, 0}, "\\x1b[2J\\x0d\\x0a\\x09\\x7f", 23);
	shown_as("\xc2\x9b" "31m", (struct harmless){true, 0}, "\\xc2\\x9b31m", 11);       /* CSI as one character */
	shown_as("\xe2\x80\xae", (struct harmless){true, 0}, "\\xe2\\x80\\xae", 12);     /* right-to-left override */
	shown_as("\xef\xbb\xbf", (struct harmless){true, 0}, "\\xef\\xbb\\xbf", 12);     /* byte order mark */
}

static void what_is_no_utf8_is_spelt(void **state)
{
	(void)state;
	shown_as("\xff", (struct harmless){true, 0}, "\\xff", 4);
	shown_as("a\xc3", (struct harmless){true, 0}, "a\\xc3", 5);                      /* cut */
	shown_as("\xc0\xaf", (struct harmless){true, 0}, "\\xc0\\xaf", 8);               /* overlong */
	shown_as("\xed\xa0\x80", (struct harmless){true, 0}, "\\xed\\xa0\\x80", 12);     /* half of a pair */
	shown_as("\xf4\x90\x80\x80", (struct harmless){true, 0}, "\\xf4\\x90\\x80\\x80", 16);
}

/* Never within a character nor within a byte that is spelt, and never wider than asked for. */
static void long_names_are_cut(void **state)
{
	(void)state;
	shown_as("abcdefgh", (struct harmless){true, 8}, "abcdefgh", 8);
	shown_as("abcdefghi", (struct harmless){true, 8}, "abcde...", 8);
	shown_as("日本日本日", (struct harmless){true, 8}, "日本...", 7);
	shown_as("ab\xff\xff\xff", (struct harmless){true, 8}, "ab...", 5);
}

static void ten_thousand_characters(void **state)
{
	static char name[10001], marks[20003];
	struct str to;

	(void)state;
	memset(name, 'x', sizeof name - 1);
	str_init(&to, &arena);
	assert_int_equal(harmless_add(&to, (struct text){name, sizeof name - 1}, (struct harmless){true, 0}), NAME_MOST);
	assert_int_equal(to.length, NAME_MOST);
	assert_string_equal(to.at + NAME_MOST - 4, "x...");
	marks[0] = 'e';
	for (size_t i = 1; i + 1 < sizeof marks - 1; i += 2)
		memcpy(marks + i, "\xcc\x81", 2);
	str_clear(&to);
	harmless_add(&to, (struct text){marks, sizeof marks - 2}, (struct harmless){true, 0});
	assert_in_range(to.length, 4, 4 * NAME_MOST + 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_names_stay), cmocka_unit_test(without_utf8_it_is_spelt),
		cmocka_unit_test(controls_are_spelt), cmocka_unit_test(what_is_no_utf8_is_spelt),
		cmocka_unit_test(long_names_are_cut), cmocka_unit_test(ten_thousand_characters),
	};
	int failed;

	arena_init(&arena);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	arena_free(&arena);
	return failed;
}
