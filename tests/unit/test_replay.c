/* SPDX-License-Identifier: MIT */
/* Replay files: what is written is read; each mistake is told with its place; cut and damaged files are only errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/rng.h"
#include "chase/replay_file.h"
#include "event/event.h"

static struct arena arena;
static char path[] = "test_replay.XXXXXX";

#define T(word) ((struct text){word, sizeof word - 1})

static void put(const char *text, size_t length)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, length, f), length);
	assert_int_equal(fclose(f), 0);
}

static char *get(size_t *length)
{
	char *text = arena_alloc(&arena, 1 << 16);
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	*length = fread(text, 1, (1 << 16) - 1, f);
	fclose(f);
	return text;
}

static struct replay sample(void)
{
	static char words[5][12] = {"./my bank", "10", "", "a\n\"#\\\xff", "-"};
	static char *argv[] = {words[0], words[1], words[2], words[3], words[4], NULL};
	static const struct text places[] = {{"bank.c:5", 8}, {"my bank.c:8", 11}, {"", 0}};
	struct replay r = {.argv = argv, .argc = 5, .input = {"7\n\0x#", 5}, .strategy = T("pos"), .seed = UINT64_MAX,
		.finding = T("fsn-7c1f0a2b"), .block = T("operator ()"), .outcome = {ENDING_SIGNAL, 6, 9, 0x1234},
		.places = places};

	inputs_set(&r.more, INPUTS_ENV, (struct inputs_named){T("MODE"), T("")}, &arena);
	inputs_set(&r.more, INPUTS_FILE, (struct inputs_named){T("my file"), {"\0\n\xff", 3}}, &arena);
	inputs_set(&r.more, INPUTS_NAMED, (struct inputs_named){T("bob"), {"\x05\0\0\0", 4}}, &arena);
	inputs_set(&r.more, INPUTS_NAMED, (struct inputs_named){T("alice"), T("x")}, &arena);
	r.mark[MARK_FIRST] = (struct replay_mark){{2, EVENT_READ, 1, 7, 0x99, 0, 0, 0}, true, (uint64_t)-20, T("balance"),
		T("bank.c:5")};
	r.mark[MARK_SECOND] = (struct replay_mark){{3, EVENT_ATOMIC_RMW, ORDER_NO_MODULE, 0, 0, 0, 0, 0}, false, 0, T("a b"),
		T("bank.c:8")};
	r.order = replay_order(&arena, 2, 3);
	strcpy(replay_module(r.order, 0)->name, "my bank");
	strcpy(replay_module(r.order, 0)->build_id, "0123456789abcdef");
	strcpy(replay_module(r.order, 1)->name, "lib+0x1.so");
	*replay_step(r.order, 0) = (struct order_step){2, EVENT_READ, 0, 1, 0x1234, UINT64_MAX, ORDER_SAW, 9};
	*replay_step(r.order, 1) = (struct order_step){3, ORDER_WOKEN, 1, UINT32_MAX, 0xffffffffffff, 0,
		ORDER_CULPRIT | ORDER_EXPIRES, 1};
	*replay_step(r.order, 2) = (struct order_step){1, ORDER_FINISH, ORDER_NO_MODULE, 0, 0, 0, 0, UINT32_MAX};
	return r;
}

static void same_text(struct text a, struct text b)
{
	assert_int_equal(a.length, b.length);
	assert_memory_equal(a.at ? a.at : "", b.at ? b.at : "", a.length);
}

static void same_mark(const struct replay_mark *a, const struct replay_mark *b)
{
	assert_memory_equal(&a->step, &b->step, sizeof a->step);
	assert_int_equal(a->valued, b->valued);
	assert_int_equal(a->value, b->value);
	same_text(a->variable, b->variable);
	same_text(a->place, b->place);
}

static void same_replay(const struct replay *a, const struct replay *b)
{
	assert_int_equal(a->argc, b->argc);
	for (size_t i = 0; i < a->argc; i++)
		assert_string_equal(a->argv[i], b->argv[i]);
	assert_null(b->argv[b->argc]);
	same_text(a->input, b->input);
	for (int k = 0; k < INPUTS_KINDS; k++) {
		assert_int_equal(a->more.of[k].count, b->more.of[k].count);
		for (size_t i = 0; i < a->more.of[k].count; i++) {
			same_text(a->more.of[k].at[i].name, b->more.of[k].at[i].name);
			same_text(a->more.of[k].at[i].value, b->more.of[k].at[i].value);
		}
	}
	same_text(a->strategy, b->strategy);
	assert_int_equal(a->seed, b->seed);
	same_text(a->finding, b->finding);
	same_text(a->block, b->block);
	assert_memory_equal(&a->outcome, &b->outcome, sizeof a->outcome);
	for (size_t i = 0; i < MARKS; i++)
		same_mark(&a->mark[i], &b->mark[i]);
	assert_int_equal(order_bytes(a->order), order_bytes(b->order));
	assert_memory_equal(a->order, b->order, order_bytes(a->order));
}

static void written_is_read(void **state)
{
	struct replay r = sample(), back;
	struct fault fault = {0};

	(void)state;
	assert_true(replay_write(&r, &arena, path, &fault));
	if (!replay_read(&back, &arena, path, &fault))
		fail_msg("%s", fault.text);
	assert_null(order_check(back.order, order_bytes(back.order)));
	same_replay(&r, &back);
	same_text(back.places[0], r.places[0]);
}

#define HEAD "fission-replay 1\nprogram ./bank\nmodule bank 0a1b\nexpect exit 0\n"
#define WHOLE HEAD "steps 1\n1 1 r bank+0x10 1\nend\n"

/* A file, and what is said about it behind its name; NULL: it is right. */
static const struct mistake {
	const char *file, *says;
} mistakes[] = {
	{WHOLE, NULL},
	{HEAD "steps 0\nend\n", NULL},
	{HEAD "env A \"b\"\nenv A \"c\"\nfile x \"\"\ninput y \"\\x00\"\nsteps 0\nend\n", NULL},
	{HEAD "env A=B \"c\"\n", ":5:5: 'A=B' is no name"},
	{HEAD "env A \"\\x00\"\n", ":5:7: a variable with a NUL; no program can be given one"},
	{HEAD "file \"\" \"\"\n", ":5:6: '' is no name"},
	{HEAD "input x\n", ":5:8: what it is, in quotes is missing here"},
	{"", ":1:1: not a replay file: its first line is 'fission-replay 1'"},
	{"T1|r(x)\n", ":1:1: not a replay file"},
	{"fission-replay\n", ":1:15: the version is missing here"},
	{"fission-replay 2\n", ":1:1: written by a newer fission"},
	{"fission-replay 0\n", ":1:16: 0 is not the version: it is from 1"},
	{"fission-replay 1 x\n", ":1:18: 'x' is too much in this line; remove it"},
	{"fission-replay 1\nprograms x\n", ":2:1: unknown line 'programs'; did you mean 'program'?"},
	{"fission-replay 1\n\x01\x02\n", ":2:1: unknown line '?""?'; is this a replay file?"},
	{"fission-replay 1\nprogram\n", ":2:8: the program is missing here"},
	{"fission-replay 1\nprogram \"\"\n", "the program has no name"},
	{"fission-replay 1\nprogram \"a\n", ":2:9: the quote is not closed"},
	{"fission-replay 1\nprogram \"a\\q\"\n", ":2:11: a backslash before something else"},
	{"fission-replay 1\nprogram \"a\\x0\"\n", ":2:11: a backslash before something else"},
	{"fission-replay 1\nprogram \"a\\x00\"\n", ":2:9: an argument with a NUL"},
	{"fission-replay 1\nmodule\n", ":2:7: the module's name is missing here"},
	{"fission-replay 1\nmodule bank\n", ":2:12: its build id, or - is missing here"},
	{"fission-replay 1\nmodule bank xyz\n", ":2:13: 'xyz' is no build id"},
	{"fission-replay 1\nmodule bank 000000000000000000000000000000000000000000000000\n", ":2:13: "},
	{"fission-replay 1\nmodule 0123456789012345678901234567890123456789012345678901234567890123 -\n", ":2:8: a module's name"},
	{"fission-replay 1\nexpect\n", ":2:7: how the program ends is missing here"},
	{"fission-replay 1\nexpect explosion\n", ":2:8: 'explosion' is no ending; write exit N, signal N"},
	{"fission-replay 1\nexpect exit 256\n", ":2:13: 256 is not the exit status: it is from 0 to 255"},
	{"fission-replay 1\nexpect signal x\n", ":2:15: 'x' is no number; write the signal"},
	{"fission-replay 1\nfinding a\nfinding b\n", ":3:1: a second line 'finding'"},
	{"fission-replay 1\nstdout 3 xyz\n", ":2:10: 'xyz' is no hash"},
	{"fission-replay 1\nstdout 99999999999999999999 0\n", ":2:8: '99999999999999999999' is no number"},
	{"fission-replay 1\nfirst 0 r - 1 x at y\n", ":2:7: 0 is not the thread"},
	{"fission-replay 1\nfirst 1 x - 1 x at y\n", ":2:9: unknown operation 'x'"},
	{"fission-replay 1\nfirst 1 r - 1 x = y at z\n", ":2:19: 'y' is no value"},
	{"fission-replay 1\nfirst 1 r - 1 x by z\n", ":2:17: 'by'; write 'at' and the place"},
	{"fission-replay 1\nsteps 1\n", ":2:6: no 'module' line stands before the steps"},
	{HEAD "steps 4000000000\n", "4000000000 is not the number of steps"},
	{HEAD "steps 1\nprogram x\n", "a second line 'program'"},
	{HEAD "steps 1\nfinding x\n", ":6:1: 'finding' stands behind 'steps'; move it before that line"},
	{HEAD "steps 1\n1 1 r bank+0x10\n", ":6:16: how many times is missing here"},
	{HEAD "steps 1\n1 0 r bank+0x10 1\n", ":6:3: 0 is not the thread's steps"},
	{HEAD "steps 1\n1 1 read bank+0x10 1\n", ":6:5: unknown operation 'read'"},
	{HEAD "steps 1\n1 1 r bank+10 1\n", ":6:7: 'bank+10' is no place; write MODULE+0xOFFSET"},
	{HEAD "steps 1\n1 1 r bank+0xg 1\n", ":6:7: 'bank+0xg' has no hexadecimal offset of"},
	{HEAD "steps 1\n1 1 r +0x10 1\n", ":6:7: there is no line 'module '"},
	{HEAD "steps 1\n1 1 r shop+0x10 1\n", ":6:7: there is no line 'module shop'"},
	{HEAD "steps 1\n1 1 r bank+0x10 1 = \n", ":6:21: the value is missing here"},
	{HEAD "steps 1\n1 1 r bank+0x10 1 later\n", ":6:19: 'later'; write '= VALUE', 'culprit', 'expires' or nothing"},
	{HEAD "steps 1\nend\n", "'end' after 0 steps of 1; the others are missing"},
	{HEAD "steps 0\n1 1 r bank+0x10 1\nend\n", ":6:1: more steps than the 0 of the line 'steps'"},
	{HEAD "steps 1\n1 1 r bank+0x10 1\n", "the file is cut: there is no line 'end'"},
	{"fission-replay 1\nprogram ./bank\nmodule bank -\nsteps 0\nend\n", "there is no line 'expect'"},
	{WHOLE "end\n", ":8:1: something stands behind 'end'"},
};

static void mistakes_have_places(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
		struct fault fault = {0};
		struct replay r;
		bool right;

		put(mistakes[i].file, strlen(mistakes[i].file));
		right = replay_read(&r, &arena, path, &fault);
		if (right != !mistakes[i].says || (!right && !strstr(fault.text, mistakes[i].says)))
			fail_msg("file %zu: '%s' instead of '%s'", i, fault.text, mistakes[i].says ? mistakes[i].says : "");
		if (!right)
			assert_int_equal(fault.status, STATUS_TRACE);
	}
}

/* Up to the last newline, which is of no matter, nothing less than the whole file is one. */
static void cut_anywhere(void **state)
{
	struct replay r = sample(), back;
	struct fault fault = {0};
	size_t length;
	char *text;

	(void)state;
	assert_true(replay_write(&r, &arena, path, &fault));
	text = get(&length);
	for (size_t n = 0; n + 1 < length; n++) {
		fault = (struct fault){0};
		put(text, n);
		if (replay_read(&back, &arena, path, &fault))
			fail_msg("%zu bytes of %zu are taken for a whole file", n, length);
		assert_int_equal(fault.status, STATUS_TRACE);
	}
}

/* Whatever is read from a damaged file makes sense: it is written and read again the same. */
static void damaged_anywhere(void **state)
{
	struct replay r = sample(), back, again;
	struct fault fault = {0};
	struct rng rng = {1};
	size_t length, taken = 0;
	char *text, *bad;

	(void)state;
	assert_true(replay_write(&r, &arena, path, &fault));
	text = get(&length);
	bad = arena_alloc(&arena, length);
	for (int i = 0; i < 3000; i++) {
		memcpy(bad, text, length);
		for (uint32_t n = rng_below(&rng, 3) + 1; n--;) {
			char other = text[rng_below(&rng, (uint32_t)length)];

			bad[rng_below(&rng, (uint32_t)length)] = rng_below(&rng, 2) ? (char)rng_next(&rng) : other;
		}
		put(bad, length);
		fault = (struct fault){0};
		if (!replay_read(&back, &arena, path, &fault))
			continue;
		taken++;
		assert_null(order_check(back.order, order_bytes(back.order)));
		assert_true(replay_write(&back, &arena, path, &fault));
		assert_true(replay_read(&again, &arena, path, &fault));
		same_replay(&back, &again);
	}
	assert_true(taken > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written_is_read), cmocka_unit_test(mistakes_have_places),
		cmocka_unit_test(cut_anywhere), cmocka_unit_test(damaged_anywhere),
	};
	int failed, fd = mkstemp(path);

	if (fd < 0)
		return 1;
	close(fd);
	arena_init(&arena);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	arena_free(&arena);
	unlink(path);
	return failed;
}
