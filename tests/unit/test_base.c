/* SPDX-License-Identifier: MIT */
/* What everything else is built from: memory, tables, texts, options, files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/input.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/opts.h"
#include "base/output.h"
#include "base/progress.h"
#include "base/rng.h"
#include "base/seg.h"
#include "base/str.h"

/* ---- Memory. ---- */

static bool is_zero(const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i])
			return false;
	return true;
}

static void test_arena_zeroes_and_aligns(void **state)
{
	struct arena a;

	(void)state;
	arena_init(&a);
	for (size_t n = 1; n < (size_t)1 << 20; n += n / 3 + 1) {
		unsigned char *p = arena_alloc(&a, n);

		assert_true(is_zero(p, n));
		assert_int_equal((uintptr_t)p % (n >= 64 ? 64 : 16), 0);
		memset(p, 0xa5, n);
	}
	arena_free(&a);
}

static void test_arena_recycles(void **state)
{
	struct arena a;

	(void)state;
	arena_init(&a);
	for (size_t n = 1; n < (size_t)1 << 20; n = n * 2 + 1) {
		unsigned char *p = arena_alloc(&a, n), *q;

		memset(p, 0xa5, n);
		arena_recycle(&a, p, n);
		q = arena_alloc(&a, n);
		assert_ptr_equal(p, q);
		assert_true(is_zero(q, n));
	}
	arena_recycle(&a, NULL, 0);
	arena_free(&a);
}

/* Blocks of random sizes are given out and back; each keeps its own byte as long as it lives. */
static void test_arena_blocks_do_not_overlap(void **state)
{
	enum { BLOCKS = 64, ROUNDS = 20000 };
	struct rng r = {1};
	struct arena a;
	struct {
		unsigned char *at;
		size_t bytes;
	} block[BLOCKS] = {0};

	(void)state;
	arena_init(&a);
	for (int round = 0; round < ROUNDS; round++) {
		uint32_t i = rng_below(&r, BLOCKS);

		for (size_t k = 0; k < block[i].bytes; k++)
			assert_int_equal(block[i].at[k], i + 1);
		arena_recycle(&a, block[i].at, block[i].bytes);
		block[i].bytes = 1 + rng_below(&r, 1u << rng_below(&r, 12));
		block[i].at = arena_alloc(&a, block[i].bytes);
		assert_true(is_zero(block[i].at, block[i].bytes));
		memset(block[i].at, (int)i + 1, block[i].bytes);
	}
	assert_true(a.bytes < (size_t)1 << 22);
	arena_free(&a);
	assert_int_equal(a.bytes, 0);
}

static void test_arena_grows(void **state)
{
	struct arena a;
	uint32_t *array = NULL;
	size_t capacity = 0;

	(void)state;
	arena_init(&a);
	for (uint32_t i = 0; i < 100000; i++) {
		array = arena_reserve(&a, array, &capacity, i, sizeof *array);
		assert_true(capacity > i);
		assert_int_equal(array[i], 0);
		array[i] = i + 1;
	}
	for (uint32_t i = 0; i < 100000; i++)
		assert_int_equal(array[i], i + 1);
	assert_string_equal(arena_text(&a, "abcdef", 3), "abc");
	assert_true(a.bytes < 4 * 100000 * sizeof *array);
	arena_free(&a);
}

static void test_seg(void **state)
{
	struct arena a;
	struct seg s;
	uint64_t *first;

	(void)state;
	arena_init(&a);
	seg_init(&s, &a, sizeof *first);
	assert_null(seg_hint(&s, 0, sizeof *first));
	first = seg_at(&s, 0, sizeof *first);
	for (uint64_t i = 0; i < 100000; i++) {
		uint64_t *p = seg_at(&s, i, sizeof *p);

		assert_int_equal(*p, 0);
		*p = i + 1;
	}
	assert_ptr_equal(seg_at(&s, 0, sizeof *first), first);
	for (uint64_t i = 0; i < 100000; i++)
		assert_int_equal(*(const uint64_t *)seg_hint(&s, i, sizeof *first), i + 1);
	*(uint64_t *)seg_at(&s, 5000000, sizeof *first) = 7;
	assert_int_equal(*(uint64_t *)seg_at(&s, 5000000, sizeof *first), 7);
	assert_int_equal(*(uint64_t *)seg_at(&s, 4999999, sizeof *first), 0);
	arena_free(&a);
}

/* ---- Tables. ---- */

static uint32_t intern_number(struct intern *in, uint32_t i)
{
	char name[24];

	return intern_add(in, name, (size_t)snprintf(name, sizeof name, "name%u", i));
}

static void test_intern(void **state)
{
	enum { NAMES = 100000 };
	struct arena a;
	struct intern in;
	char name[24];

	(void)state;
	arena_init(&a);
	intern_init(&in, &a);
	for (uint32_t i = 1; i <= NAMES; i++)
		assert_int_equal(intern_number(&in, i), i);
	for (uint32_t i = NAMES; i >= 1; i--)
		assert_int_equal(intern_number(&in, i), i);
	assert_int_equal(in.count, NAMES);
	for (uint32_t i = 1; i <= NAMES; i++) {
		struct text t = intern_text(&in, i);

		snprintf(name, sizeof name, "name%u", i);
		assert_int_equal(t.length, strlen(name));
		assert_string_equal(t.at, name);
		assert_int_equal(intern_find(&in, name, strlen(name)), i);
	}
	assert_int_equal(intern_find(&in, "name", 4), 0);
	arena_free(&a);
}

static void test_intern_odd_texts(void **state)
{
	struct arena a;
	struct intern in;

	(void)state;
	arena_init(&a);
	intern_init(&in, &a);
	assert_int_equal(intern_add(&in, "", 0), 1);
	assert_int_equal(intern_add(&in, "a\0b", 3), 2);
	assert_int_equal(intern_add(&in, "a\0c", 3), 3);
	assert_int_equal(intern_add(&in, "a", 1), 4);
	assert_int_equal(intern_add(&in, "a\0c", 3), 3);
	assert_int_equal(intern_add(&in, "", 0), 1);
	assert_int_equal(intern_text(&in, 2).length, 3);
	assert_int_equal(intern_text(&in, 0).length, 0);
	assert_int_equal(intern_text(&in, 5).length, 0);
	assert_string_equal(intern_text(&in, 99).at, "");
	arena_free(&a);
}

/* Against an array. Keys are few and far apart, so that they meet again and collide. */
static void test_map(void **state)
{
	enum { KEYS = 3000, ROUNDS = 100000 };
	uint32_t model[KEYS] = {0};
	struct rng r = {2};
	struct arena a;
	struct map m;

	(void)state;
	arena_init(&a);
	map_init(&m, &a);
	for (int round = 0; round < ROUNDS; round++) {
		uint32_t i = rng_below(&r, KEYS);
		uint64_t key = i * 0x100000001u;

		assert_int_equal(map_get(&m, key), model[i]);
		if (rng_below(&r, 2))
			*map_put(&m, key) = model[i] = rng_below(&r, 5);
	}
	assert_true(m.count <= KEYS);
	assert_int_equal(map_get(&m, UINT64_MAX), 0);
	*map_put(&m, UINT64_MAX) = 9;
	*map_put(&m, 0) = 8;
	assert_int_equal(map_get(&m, UINT64_MAX), 9);
	assert_int_equal(map_get(&m, 0), 8);
	arena_free(&a);
}

static void test_str(void **state)
{
	struct arena a;
	struct str s;
	char line[200], *behind;

	(void)state;
	arena_init(&a);
	str_init(&s, &a);
	behind = arena_alloc(&a, 256);
	memset(line, 'l', sizeof line);
	str_bytes(&s, line, sizeof line);
	assert_int_equal(s.length, sizeof line);
	assert_true(is_zero((unsigned char *)behind, 256));
	str_clear(&s);
	assert_string_equal(s.at, "");
	str_add(&s, "a");
	str_char(&s, 'b');
	str_bytes(&s, "cdef", 2);
	str_printf(&s, "%d%s", -5, "");
	str_number(&s, 0);
	str_number(&s, UINT64_MAX);
	assert_string_equal(s.at, "abcd-5018446744073709551615");
	assert_int_equal(s.length, strlen(s.at));
	str_clear(&s);
	assert_string_equal(s.at, "");
	for (size_t i = 0; i < 5000; i++) {
		assert_int_equal(s.length, 2 * i);
		if (i % 2)
			str_printf(&s, "%02zu", i % 100);
		else
			str_char(&s, 'x'), str_char(&s, 'y');
		assert_int_equal(strlen(s.at), s.length);
	}
	assert_memory_equal(s.at, "xy01xy03", 8);
	arena_free(&a);
}

/* ---- Options. ---- */

static void test_progress_number(void **state)
{
	static const struct {
		uint64_t n;
		const char *text;
	} row[] = {{0, "0"}, {999, "999"}, {1000, "1.0k"}, {9949, "9.9k"}, {41234, "41k"}, {3200000, "3.2M"}, {5000000000, "5.0G"}};
	char text[16];

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++)
		assert_string_equal(progress_number(row[i].n, text), row[i].text);
}

static void test_nearest(void **state)
{
	static const char *const names[] = {"checks", "format", "lenient", "help", "to"};
	char longest[200];

	(void)state;
	memset(longest, 'x', sizeof longest - 1);
	longest[sizeof longest - 1] = 0;
	assert_string_equal(opts_nearest("cheks", names, 5), "checks");
	assert_string_equal(opts_nearest("formt", names, 5), "format");
	assert_string_equal(opts_nearest("fromat", names, 5), "format");
	assert_string_equal(opts_nearest("help", names, 5), "help");
	assert_string_equal(opts_nearest("t", names, 5), "to");
	assert_null(opts_nearest("x", names, 5));
	assert_null(opts_nearest("5", (const char *const[]){"1", "2"}, 2));
	assert_null(opts_nearest("xyzzy", names, 5));
	assert_null(opts_nearest(longest, names, 5));
	assert_null(opts_nearest("checks", names, 0));
}

static void test_options(void **state)
{
	const char *checks = "none", *to = "none";
	bool lenient = false;
	unsigned long count = 0;
	const struct opt table[] = {
		{"checks", 0, OPT_TEXT, &checks, "LIST", ""},
		{"to", 'o', OPT_TEXT, &to, "FILE", ""},
		{"lenient", 'l', OPT_FLAG, &lenient, NULL, ""},
		{"count", 'n', OPT_COUNT, &count, "N", ""},
		{0},
	};
	char words[][16] = {"check", "--checks=a,b", "one", "-o", "x", "-l", "-n12", "--", "--lenient", "-"};
	char *argv[sizeof words / sizeof *words + 1] = {0};

	(void)state;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		argv[i] = words[i];
	assert_int_equal(opts_parse(table, "check", sizeof words / sizeof *words, argv), 3);
	assert_string_equal(argv[1], "one");
	assert_string_equal(argv[2], "--lenient");
	assert_string_equal(argv[3], "-");
	assert_null(argv[4]);
	assert_string_equal(checks, "a,b");
	assert_string_equal(to, "x");
	assert_true(lenient);
	assert_int_equal(count, 12);
}

static void test_fault_keeps_the_first(void **state)
{
	struct fault f = {0};

	(void)state;
	assert_false(fault_is_set(&f));
	fault_set(&f, STATUS_TRACE, "a:%d", 1);
	fault_set(&f, STATUS_UNFIT, "b");
	assert_true(fault_is_set(&f));
	assert_int_equal(f.status, STATUS_TRACE);
	assert_string_equal(f.text, "a:1");
}

/* ---- Files. A directory of its own for each test, as the current one. ---- */

static char directory[64];

static int directory_make(void **state)
{
	(void)state;
	strcpy(directory, "/tmp/test_base.XXXXXX");
	return mkdtemp(directory) ? chdir(directory) : -1;
}

static int directory_drop(void **state)
{
	DIR *d = opendir(directory);
	struct dirent *e;

	(void)state;
	while ((e = readdir(d)))
		unlink(e->d_name);
	closedir(d);
	return chdir("/") || rmdir(directory);
}

static size_t files_here(void)
{
	DIR *d = opendir(".");
	struct dirent *e;
	size_t n = 0;

	while ((e = readdir(d)))
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

static void file_put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	fputs(text, f);
	fclose(f);
}

static void assert_file(const char *path, const char *text)
{
	char have[64] = "";
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	have[fread(have, 1, sizeof have - 1, f)] = 0;
	fclose(f);
	assert_string_equal(have, text);
}

static void test_output_commits(void **state)
{
	struct output o;

	(void)state;
	file_put("out", "old");
	assert_true(output_open(&o, "out"));
	output_write(&o, "new", 3);
	assert_file("out", "old");
	assert_true(output_commit(&o));
	assert_file("out", "new");
	assert_int_equal(files_here(), 1);
	assert_int_equal(o.written, 3);
}

static void test_output_aborts(void **state)
{
	struct output o;

	(void)state;
	assert_true(output_open(&o, "out"));
	output_write(&o, "new", 3);
	output_abort(&o);
	assert_int_equal(files_here(), 0);
	file_put("out", "old");
	assert_true(output_open(&o, "out"));
	output_write(&o, "new", 3);
	output_abort(&o);
	assert_file("out", "old");
	assert_int_equal(files_here(), 1);
}

static void test_output_is_whole(void **state)
{
	enum { PIECES = 3000 };
	char piece[97], want[sizeof piece];
	struct output o;
	FILE *f;

	(void)state;
	assert_true(output_open(&o, "out"));
	for (int i = 0; i < PIECES; i++) {
		memset(piece, i, sizeof piece);
		output_write(&o, piece, (size_t)i % sizeof piece);
	}
	assert_true(output_commit(&o));
	f = fopen("out", "r");
	for (int i = 0; i < PIECES; i++) {
		memset(want, i, sizeof want);
		assert_int_equal(fread(piece, 1, (size_t)i % sizeof piece, f), (size_t)i % sizeof piece);
		assert_memory_equal(piece, want, (size_t)i % sizeof piece);
	}
	assert_int_equal(fgetc(f), EOF);
	fclose(f);
}

enum { MIB = 1 << 20 };

/* Something that differs everywhere, in odd pieces, n bytes in all. */
static void output_much(struct output *o, size_t n)
{
	static uint32_t piece[75001];

	for (size_t at = 0, part; at < n; at += part) {
		part = (at * 7919 + 1) % sizeof piece + 1;
		part = part < n - at ? part : n - at;
		for (size_t i = 0; i < sizeof piece / sizeof *piece; i++)
			piece[i] = (uint32_t)((at + i) * 2654435761u);
		output_write(o, piece, part);
	}
}

static bool can_go_straight(void)
{
	static _Alignas(4096) char block[4096];
	int fd = open("probe", O_WRONLY | O_CREAT | O_DIRECT, 0600);
	bool can = fd >= 0 && write(fd, block, sizeof block) == sizeof block;

	if (fd >= 0)
		close(fd);
	unlink("probe");
	return can;
}

/* Hasty or not, the file is the same; if it is large, the hasty one has gone straight to the disk. */
static void test_output_hasty(void **state)
{
	static const size_t sizes[] = {0, 1, MIB - 1, MIB, 4 * MIB, 5 * MIB, 5 * MIB + 1, 40 * MIB - 1};
	const bool can = can_go_straight();

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct output o;

		assert_true(output_open(&o, "plain"));
		output_much(&o, sizes[i]);
		assert_true(output_commit(&o));
		assert_true(output_open(&o, "hasty"));
		output_hasten(&o);
		output_much(&o, sizes[i]);
		assert_int_equal(o.way.blocks, sizes[i] < 4 * MIB ? sizes[i] / (MIB / 16) : 60 + sizes[i] / MIB);
		if (sizes[i] / MIB == 5)
			assert_int_equal((fcntl(o.fd, F_GETFL) & O_DIRECT) != 0, can);
		assert_true(output_commit(&o));
		assert_int_equal(o.written, sizes[i]);
		assert_int_equal(system("cmp plain hasty"), 0);
	}
}

static void test_output_hasty_fails(void **state)
{
	struct rlimit before, less;

	(void)state;
	getrlimit(RLIMIT_FSIZE, &before);
	for (less = before, less.rlim_cur = 3 * MIB; less.rlim_cur < 9 * MIB; less.rlim_cur += MIB + MIB / 2 + 1) {
		struct output o;

		assert_true(output_open(&o, "out"));
		output_hasten(&o);
		setrlimit(RLIMIT_FSIZE, &less);
		output_much(&o, 10 * MIB);
		setrlimit(RLIMIT_FSIZE, &before);
		assert_true(fault_is_set(&o.fault));
		assert_non_null(strstr(o.fault.text, strerror(EFBIG)));
		assert_false(output_commit(&o));
		assert_int_equal(files_here(), 0);
	}
}

static void test_output_fails(void **state)
{
	static const char block[1 << 18];
	struct output o;

	(void)state;
	assert_false(output_open(&o, "no/such/place"));
	assert_int_equal(o.fault.status, STATUS_UNFIT);
	assert_true(output_open(&o, "/dev/full"));
	output_write(&o, block, sizeof block);
	output_write(&o, "x", 1);
	assert_true(fault_is_set(&o.fault));
	assert_false(output_commit(&o));
	assert_int_equal(files_here(), 0);
}

/* The child ends with an open output, in each of the ways that leave it a chance. */
static void child_ends(int how)
{
	struct output o;

	if (how)
		signal(how, SIG_DFL); /* a shell's background has SIGINT ignored, and that would stay so */
	output_open(&o, "out");
	output_write(&o, "new", 3);
	if (how)
		raise(how);
	exit(0);
}

static void test_output_leaves_nothing(void **state)
{
	static const int ways[] = {0, SIGTERM, SIGINT, SIGHUP};

	(void)state;
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		int status;
		pid_t child = fork();

		if (child == 0)
			child_ends(ways[i]);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(WIFSIGNALED(status) ? WTERMSIG(status) : 0, ways[i]);
		assert_int_equal(files_here(), 0);
	}
}

static void test_input(void **state)
{
	enum { BYTES = 1 << 20 };
	struct fault fault = {0};
	struct input in;
	FILE *f = fopen("in", "w");
	struct rng r = {3};

	(void)state;
	for (uint32_t i = 0; i < BYTES; i++)
		fputc((int)(i * 2654435761u >> 24), f);
	fclose(f);
	assert_true(input_open(&in, "in", &fault));
	for (uint32_t i = 0; i < BYTES;) {
		size_t want = 1 + rng_below(&r, 1 << 16), have;
		bool enough = input_need(&in, want, &fault);

		have = (size_t)(in.end - in.at);
		assert_int_equal(enough, have >= want);
		assert_int_equal(input_offset(&in), i);
		if (have > want)
			have = want;
		for (size_t k = 0; k < have; k++, i++)
			if ((unsigned char)in.at[k] != i * 2654435761u >> 24)
				fail_msg("byte %u is wrong", i);
		in.at += have;
	}
	assert_false(input_more(&in, &fault));
	assert_false(fault_is_set(&fault));
	input_close(&in);
}

static void test_input_refuses(void **state)
{
	struct fault missing = {0}, place = {0};
	struct input in;

	(void)state;
	assert_false(input_open(&in, "in", &missing));
	assert_int_equal(missing.status, STATUS_USAGE);
	assert_false(input_open(&in, ".", &place));
	assert_int_equal(place.status, STATUS_USAGE);
}

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, directory_make, directory_drop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arena_zeroes_and_aligns),
		cmocka_unit_test(test_arena_recycles),
		cmocka_unit_test(test_arena_blocks_do_not_overlap),
		cmocka_unit_test(test_arena_grows),
		cmocka_unit_test(test_seg),
		cmocka_unit_test(test_intern),
		cmocka_unit_test(test_intern_odd_texts),
		cmocka_unit_test(test_map),
		cmocka_unit_test(test_str),
		cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_progress_number),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_fault_keeps_the_first),
		IN_DIRECTORY(test_output_commits),
		IN_DIRECTORY(test_output_aborts),
		IN_DIRECTORY(test_output_is_whole),
		IN_DIRECTORY(test_output_hasty),
		IN_DIRECTORY(test_output_hasty_fails),
		IN_DIRECTORY(test_output_fails),
		IN_DIRECTORY(test_output_leaves_nothing),
		IN_DIRECTORY(test_input),
		IN_DIRECTORY(test_input_refuses),
	};

	return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
