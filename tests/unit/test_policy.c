/* SPDX-License-Identifier: MIT */
/*
 * What the user says is expected to be atomic, assumed and watched: each statement on what it is about, and on a
 * neighbour that it must leave alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/fail.h"
#include "policy/pattern.h"
#include "policy/policy.h"

/* Each test starts with a new policy in a new directory. */
static struct arena arena;
static struct policy policy;
static char directory[64];

static int set_up(void **state)
{
	(void)state;
	arena_init(&arena);
	policy_init(&policy, &arena);
	strcpy(directory, "/tmp/test_policy.XXXXXX");
	return mkdtemp(directory) ? chdir(directory) : -1;
}

static int tear_down(void **state)
{
	DIR *d = opendir(directory);
	struct dirent *e;

	(void)state;
	arena_free(&arena);
	while ((e = readdir(d)))
		unlink(e->d_name);
	closedir(d);
	return chdir("/") || rmdir(directory);
}

static void put_bytes(const char *path, const char *bytes, size_t n)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
}

static void put(const char *path, const char *text)
{
	put_bytes(path, text, strlen(text));
}

static struct text text(const char *s)
{
	return (struct text){s, strlen(s)};
}

static unsigned code(const char *name)
{
	return policy_code(&policy, text(name));
}

static unsigned site(const char *name)
{
	return policy_site(&policy, text(name));
}

static unsigned variable(const char *name)
{
	return policy_variable(&policy, text(name));
}

static void parse(const char *words)
{
	struct fault f = {0};

	if (!policy_parse(&policy, words, &f))
		fail_msg("%s", f.text);
	assert_false(fault_is_set(&f));
}

static void configure(const char *lines)
{
	struct fault f = {0};

	put("policy.conf", lines);
	if (!policy_read(&policy, "policy.conf", &f))
		fail_msg("%s", f.text);
	assert_false(fault_is_set(&f));
}

static void scan_as(const char *path, const char *source)
{
	struct fault f = {0};

	put(path, source);
	if (!policy_scan(&policy, path, &f))
		fail_msg("%s", f.text);
	assert_false(fault_is_set(&f));
}

static void scan(const char *source)
{
	scan_as("bank.c", source);
}

/* The whole message of a mistake. */
static void refuses(bool (*read)(struct policy *, const char *, struct fault *), const char *path, const char *source,
	const char *message)
{
	struct fault f = {0};

	put(path, source);
	assert_false(read(&policy, path, &f));
	assert_string_equal(f.text, message);
	assert_int_equal(f.status, STATUS_CONFIG);
}

static void config_refuses(const char *lines, const char *message)
{
	refuses(policy_read, "c", lines, message);
}

static void scan_refuses(const char *source, const char *message)
{
	refuses(policy_scan, "b.c", source, message);
}

/* ---- Patterns. ---- */

static bool matches(const char *pattern, const char *name)
{
	return pattern_matches(text(pattern), text(name));
}

static bool matches_file(const char *pattern, const char *file)
{
	return pattern_matches_file(text(pattern), text(file));
}

static bool matches_variable(const char *pattern, const char *name)
{
	return pattern_matches_variable(text(pattern), text(name));
}

static void test_wildcards(void **state)
{
	(void)state;
	assert_true(matches("withdraw", "withdraw"));
	assert_false(matches("withdraw", "withdraw2"));
	assert_false(matches("withdraw", "withdra"));
	assert_true(matches("", ""));
	assert_false(matches("", "a"));
	assert_true(matches("*", ""));
	assert_true(matches("log_*", "log_"));
	assert_true(matches("log_*", "log_line"));
	assert_false(matches("log_*", "blog_line"));
	assert_true(matches("*_init", "bank_init"));
	assert_false(matches("*_init", "bank_init2"));
	assert_true(matches("*ab*ab", "abcabab"));
	assert_true(matches("a*b*c", "abbbcbc"));
	assert_false(matches("a*b*c", "abbbcb"));
	assert_true(matches("get?", "get1"));
	assert_false(matches("get?", "get"));
	assert_false(matches("get?", "get12"));
	assert_true(matches("?*", "x"));
	assert_false(matches("?*", ""));
}

static void test_what_is_no_wildcard(void **state)
{
	(void)state;
	assert_true(matches("slot[17]", "slot[17]"));
	assert_false(matches("slot[17]", "slot1"));
	assert_true(matches("operator\\*", "operator*"));
	assert_false(matches("operator\\*", "operator+"));
	assert_true(matches("a\\?", "a?"));
	assert_false(matches("a\\?", "ab"));
	assert_true(matches("C:\\src\\x.c", "C:\\src\\x.c"));
	assert_true(matches("end\\", "end\\"));
}

static void test_many_stars_take_no_time(void **state)
{
	char pattern[2001], name[2001];

	(void)state;
	for (size_t i = 0; i < 2000; i++) {
		pattern[i] = "*a"[i % 2];
		name[i] = 'a';
	}
	pattern[2000] = name[2000] = 0;
	assert_true(matches(pattern, name));
	pattern[1999] = 'b';
	assert_false(matches(pattern, name));
}

static void test_literal(void **state)
{
	static const char *const names[] = {"", "plain", "operator*", "a?b", "\\", "\\*", "\\\\*\\", "**", "slot[1]"};
	enum { NAMES = sizeof names / sizeof *names };

	(void)state;
	for (size_t i = 0; i < NAMES; i++) {
		struct text literal = pattern_literal(&arena, text(names[i]));

		for (size_t j = 0; j < NAMES; j++)
			assert_int_equal(pattern_matches(literal, text(names[j])), i == j);
	}
}

static void test_files(void **state)
{
	(void)state;
	assert_true(matches_file("bank.c", "bank.c"));
	assert_true(matches_file("bank.c", "/build/src/bank.c"));
	assert_true(matches_file("src/bank.c", "/build/src/bank.c"));
	assert_true(matches_file("src/bank.c", "bank.c"));
	assert_true(matches_file("/build/src/bank.c", "src/bank.c"));
	assert_true(matches_file("../src/bank.c", "/build/src/bank.c"));
	assert_true(matches_file("src/bank.c", "./src/bank.c"));
	assert_true(matches_file("/build/src/bank.c", ".././src/bank.c"));
	assert_true(matches_file("src/*", "/build/src/deep/bank.c"));
	assert_true(matches_file("*.so*", "/usr/lib/libz.so.1"));
	assert_false(matches_file("bank.c", "/src/mybank.c"));
	assert_false(matches_file("bank.c", "bank.c/other.c"));
	assert_false(matches_file("src/bank.c", "lib/bank.c"));
	assert_false(matches_file("src/bank.c", "ank.c"));
	assert_false(matches_file("/usr/*", "bank.c"));
	assert_false(matches_file("src/*.c", "bank.c"));
	assert_false(matches_file("src/", ""));
}

static void test_parts_of_variables(void **state)
{
	(void)state;
	assert_true(matches_variable("slot", "slot"));
	assert_true(matches_variable("slot", "slot[17]"));
	assert_true(matches_variable("grid", "grid[3][4]"));
	assert_true(matches_variable("grid[3]", "grid[3][4]"));
	assert_true(matches_variable("bank", "bank.account[3].balance"));
	assert_true(matches_variable("p->slot", "p->slot[1]"));
	assert_true(matches_variable("table", "table+16"));
	assert_false(matches_variable("tabl", "table+16"));
	assert_true(matches_variable("a<b>", "a<b>[1]"));
	assert_true(matches_variable("a", "a.b>c"));
	assert_false(matches_variable("slot", "slots"));
	assert_false(matches_variable("slot", "slots[1]"));
	assert_false(matches_variable("slot[1]", "slot[17]"));
	assert_false(matches_variable("balance", "bank.balance"));
	assert_false(matches_variable("p", "p->slot[1]"));
	assert_false(matches_variable("bank", "bank.owner->name"));
	assert_false(matches_variable("a[0]", "a"));
	assert_false(matches_variable("", "[1]"));
}

/* ---- The policies of --atomic. ---- */

static void test_default(void **state)
{
	(void)state;
	assert_int_equal(policy.blocks, POLICY_FUNCTIONS);
	assert_int_equal(code("withdraw"), CODE_BLOCK);
	assert_int_equal(code("main"), 0);
	assert_int_equal(code("main2"), CODE_BLOCK);
	assert_int_equal(code("mai"), CODE_BLOCK);
	assert_int_equal(site("bank.c:12"), 0);
	assert_int_equal(variable("slot[1000000]"), 0);
	assert_int_equal(policy_cutoff(&policy), 0);
	assert_false(policy_lacks_exported(&policy));
}

static void test_names_that_are_none(void **state)
{
	struct text none = {0};

	(void)state;
	configure("watch function f\nwatch file f\nwatch variable f\nforeign *\nno_warn *:1\nassume_guarded ?*\n");
	assert_int_equal(policy_code(&policy, none), CODE_UNWATCHED | CODE_FOREIGN);
	assert_int_equal(policy_site(&policy, none), 0);
	assert_int_equal(policy_variable(&policy, none), VARIABLE_UNWATCHED);
}

static void test_annotated(void **state)
{
	(void)state;
	configure("atomic withdraw\nexported deposit\n");
	parse("annotated");
	assert_int_equal(policy.blocks, 0);
	assert_int_equal(code("withdraw"), CODE_BLOCK | CODE_DECLARED);
	assert_int_equal(code("deposit"), 0);
}

static void test_locks(void **state)
{
	(void)state;
	configure("atomic withdraw\nexported deposit\n");
	parse("locks");
	assert_int_equal(policy.blocks, POLICY_LOCKS);
	assert_int_equal(code("withdraw"), CODE_BLOCK | CODE_DECLARED);
	assert_int_equal(code("deposit"), 0);
	parse("annotated+locks");
	assert_int_equal(policy.blocks, POLICY_LOCKS);
}

static void test_exported(void **state)
{
	(void)state;
	parse("exported+locks");
	assert_int_equal(policy.blocks, POLICY_EXPORTED | POLICY_LOCKS);
	assert_true(policy_lacks_exported(&policy));
	configure("atomic withdraw\n");
	assert_true(policy_lacks_exported(&policy));
	configure("exported bank_*\nexported main\n");
	assert_false(policy_lacks_exported(&policy));
	assert_int_equal(code("bank_open"), CODE_BLOCK);
	assert_int_equal(code("open"), 0);
	assert_int_equal(code("withdraw"), CODE_BLOCK | CODE_DECLARED);
	assert_int_equal(code("main"), 0);
}

static void test_functions(void **state)
{
	(void)state;
	configure("atomic withdraw\n");
	parse("functions");
	assert_int_equal(policy.blocks, POLICY_FUNCTIONS);
	assert_int_equal(code("anything"), CODE_BLOCK);
	assert_int_equal(code("withdraw"), CODE_BLOCK | CODE_DECLARED);
}

static void test_file_of_names(void **state)
{
	(void)state;
	put("names", "# ours\nwithdraw # both\n\n  bank_?  \r\nlast");
	parse("file:names");
	assert_int_equal(policy.blocks, POLICY_NAMES);
	assert_int_equal(code("withdraw"), CODE_BLOCK | CODE_DECLARED);
	assert_int_equal(code("bank_1"), CODE_BLOCK | CODE_DECLARED);
	assert_int_equal(code("last"), CODE_BLOCK | CODE_DECLARED);
	assert_int_equal(code("bank_12"), 0);
	assert_int_equal(code("both"), 0);
	assert_int_equal(code("ours"), 0);
	parse("functions+file:names+locks");
	assert_int_equal(policy.blocks, POLICY_NAMES | POLICY_FUNCTIONS | POLICY_LOCKS);
}

static void parse_refuses(const char *words, int status, const char *message)
{
	struct fault f = {0};

	assert_false(policy_parse(&policy, words, &f));
	assert_string_equal(f.text, message);
	assert_int_equal(f.status, status);
}

static void test_wrong_policies(void **state)
{
	static const char list[] = "there are annotated, locks, exported, functions and file:NAMES, with + between "
				   "them";
	char message[200];

	(void)state;
	parse_refuses("exportd", STATUS_USAGE, "unknown policy 'exportd'; did you mean 'exported'?");
	parse_refuses("locks+function", STATUS_USAGE, "unknown policy 'function'; did you mean 'functions'?");
	snprintf(message, sizeof message, "unknown policy 'zebra'; %s", list);
	parse_refuses("zebra", STATUS_USAGE, message);
	snprintf(message, sizeof message, "unknown policy ''; %s", list);
	parse_refuses("", STATUS_USAGE, message);
	parse_refuses("locks+", STATUS_USAGE, message);
	parse_refuses("file:", STATUS_USAGE, "policy 'file:' lacks its file; write file:NAMES");
	parse_refuses("file:absent", STATUS_USAGE, "absent: No such file or directory");
	parse_refuses("file:.", STATUS_USAGE, ".: is a directory, not a file");
	put("names", "one\n\t two three\n");
	parse_refuses("locks+file:names", STATUS_CONFIG,
		"names:2:7: 'three' is one word too many; write one name a line, and ? for each blank in a name");
}

/* ---- Functions. ---- */

static void test_atomic(void **state)
{
	(void)state;
	parse("annotated");
	configure("atomic withdraw\natomic set_*\natomic main\n");
	assert_int_equal(code("withdraw"), CODE_BLOCK | CODE_DECLARED);
	assert_int_equal(code("set_balance"), CODE_BLOCK | CODE_DECLARED);
	assert_int_equal(code("withdraws"), 0);
	assert_int_equal(code("get_balance"), 0);
	assert_int_equal(code("main"), CODE_DECLARED);
}

static void test_assumptions(void **state)
{
	(void)state;
	configure("atomic *\nassume_atomic log_*\nassume_mover hash\n");
	assert_int_equal(code("log_line"), CODE_DECLARED | CODE_ATOMIC);
	assert_int_equal(code("hash"), CODE_DECLARED | CODE_MOVER);
	assert_int_equal(code("rehash"), CODE_DECLARED | CODE_BLOCK);
	assert_int_equal(code("blog_line"), CODE_DECLARED | CODE_BLOCK);
}

static void test_assumed_functions_are_no_blocks(void **state)
{
	(void)state;
	configure("assume_atomic log\nassume_mover hash\nexported *\n");
	assert_int_equal(code("log"), CODE_ATOMIC);
	assert_int_equal(code("hash"), CODE_MOVER);
	assert_int_equal(code("other"), CODE_BLOCK);
	parse("exported");
	assert_int_equal(code("log"), CODE_ATOMIC);
	assert_int_equal(code("hash"), CODE_MOVER);
	assert_int_equal(code("other"), CODE_BLOCK);
}

static void test_leave(void **state)
{
	(void)state;
	configure("atomic operator*\n");
	policy_leave(&policy, text("operator*"));
	assert_int_equal(code("operator*"), CODE_DECLARED);
	assert_int_equal(code("operator**"), CODE_DECLARED | CODE_BLOCK);
	assert_int_equal(code("f"), CODE_BLOCK);
	policy_leave(&policy, text("f"));
	assert_int_equal(code("f"), 0);
	assert_int_equal(code("g"), CODE_BLOCK);
}

static void test_foreign(void **state)
{
	(void)state;
	configure("foreign /usr/*\nforeign *.so*\nforeign __kmp_*\n");
	assert_int_equal(site("/usr/include/stdio.h:12"), SITE_FOREIGN);
	assert_int_equal(site("/usr/lib/libz.so.1"), SITE_FOREIGN);
	assert_int_equal(site("libz.so"), SITE_FOREIGN);
	assert_int_equal(site("src/usr/bank.c:12"), 0);
	assert_int_equal(site("bank.c:12"), 0);
	assert_int_equal(code("__kmp_fork"), CODE_BLOCK | CODE_FOREIGN);
	assert_int_equal(code("kmp_fork"), CODE_BLOCK);
}

/* ---- What is watched. ---- */

static void test_ignore(void **state)
{
	(void)state;
	configure("ignore function log_*\nignore file vendor/*\nignore variable debug\natomic log_both\n");
	assert_int_equal(code("log_line"), CODE_UNWATCHED);
	assert_int_equal(code("log_both"), CODE_UNWATCHED | CODE_DECLARED | CODE_BLOCK);
	assert_int_equal(code("vendor/f"), CODE_BLOCK);
	assert_int_equal(code("debug"), CODE_BLOCK);
	assert_int_equal(site("/build/vendor/zlib/inflate.c:3"), SITE_UNWATCHED);
	assert_int_equal(site("log_line.c:3"), 0);
	assert_int_equal(site("vendor.c:3"), 0);
	assert_int_equal(variable("debug"), VARIABLE_UNWATCHED);
	assert_int_equal(variable("debug[3]"), VARIABLE_UNWATCHED);
	assert_int_equal(variable("debugger"), 0);
	assert_int_equal(variable("log_line"), 0);
}

static void test_watch(void **state)
{
	(void)state;
	configure("watch function bank_*\nwatch file src/*\nwatch variable balance\n");
	assert_int_equal(code("bank_open"), CODE_BLOCK);
	assert_int_equal(code("open"), CODE_UNWATCHED);
	assert_int_equal(site("/build/src/bank.c:3"), 0);
	assert_int_equal(site("lib/bank.c:3"), SITE_UNWATCHED);
	assert_int_equal(site("17"), 0);
	assert_int_equal(variable("balance"), 0);
	assert_int_equal(variable("balances"), VARIABLE_UNWATCHED);
}

static void test_watch_is_by_sort(void **state)
{
	(void)state;
	configure("watch function f\n");
	assert_int_equal(code("g"), CODE_UNWATCHED);
	assert_int_equal(site("g.c:1"), 0);
	assert_int_equal(variable("g"), 0);
}

static void test_the_last_line_wins(void **state)
{
	(void)state;
	configure("ignore function *\nwatch function bank_*\nignore function bank_log*\nwatch function bank_log_all\n");
	assert_int_equal(code("f"), CODE_UNWATCHED);
	assert_int_equal(code("bank_open"), CODE_BLOCK);
	assert_int_equal(code("bank_log"), CODE_UNWATCHED);
	assert_int_equal(code("bank_log_all"), CODE_BLOCK);
	configure("watch function *\n");
	assert_int_equal(code("f"), CODE_BLOCK);
	configure("ignore variable *\nwatch variable a*\n");
	assert_int_equal(variable("b"), VARIABLE_UNWATCHED);
	assert_int_equal(variable("a1"), 0);
	configure("watch file *\nignore file *.h\n");
	assert_int_equal(site("a.h:1"), SITE_UNWATCHED);
	assert_int_equal(site("a.c:1"), 0);
}

static void test_guarded(void **state)
{
	(void)state;
	configure("assume_guarded queue\nassume_guarded job->*\n");
	assert_int_equal(variable("queue"), VARIABLE_GUARDED);
	assert_int_equal(variable("queue[3].next"), VARIABLE_GUARDED);
	assert_int_equal(variable("job->state"), VARIABLE_GUARDED);
	assert_int_equal(variable("queues"), 0);
	assert_int_equal(variable("job"), 0);
	assert_int_equal(code("queue"), CODE_BLOCK);
}

static void test_array_cutoff(void **state)
{
	(void)state;
	configure("array_cutoff 3\n");
	assert_int_equal(policy_cutoff(&policy), 3);
	assert_int_equal(variable("slot[2]"), 0);
	assert_int_equal(variable("slot[3]"), VARIABLE_UNWATCHED);
	assert_int_equal(variable("slot[17]"), VARIABLE_UNWATCHED);
	assert_int_equal(variable("grid[2][2]"), 0);
	assert_int_equal(variable("grid[2][3]"), VARIABLE_UNWATCHED);
	assert_int_equal(variable("grid[3][2]"), VARIABLE_UNWATCHED);
	assert_int_equal(variable("bank.slot[9].x"), VARIABLE_UNWATCHED);
	assert_int_equal(variable("slot[99999999999999999999999]"), VARIABLE_UNWATCHED);
	assert_int_equal(variable("slot9"), 0);
	assert_int_equal(variable("slot[10]"), VARIABLE_UNWATCHED);
	assert_int_equal(variable("slot9]"), 0);
	assert_int_equal(variable("slot[i]"), 0);
	assert_int_equal(variable("slot[9"), 0);
	assert_int_equal(variable("slot[9x]"), 0);
	assert_int_equal(variable("slot[]"), 0);
	assert_int_equal(variable("[[9]]"), VARIABLE_UNWATCHED);
	configure("array_cutoff 4294967295\n");
	assert_int_equal(variable("slot[4294967294]"), 0);
	assert_int_equal(variable("slot[4294967295]"), VARIABLE_UNWATCHED);
	configure("array_cutoff 0\n");
	assert_int_equal(policy_cutoff(&policy), 0);
	assert_int_equal(variable("slot[17]"), 0);
}

static enum policy_lock lock_side(const char *name, uint32_t *pair)
{
	return policy_lock(&policy, (struct text){name, strlen(name)}, pair);
}

static void test_lock_functions(void **state)
{
	uint32_t pair = 9;

	(void)state;
	configure("atomic f\n");
	assert_false(policy_has_locks(&policy));
	assert_int_equal(lock_side("my_lock", &pair), LOCK_NONE);
	configure("lock my_lock,my_unlock\nlock:*_take,q_give # two\n");
	assert_true(policy_has_locks(&policy));
	assert_int_equal(lock_side("my_unlock", &pair), LOCK_GIVES);
	assert_int_equal(pair, 0);
	assert_int_equal(lock_side("q_take", &pair), LOCK_TAKES);
	assert_int_equal(pair, 1);
	assert_int_equal(lock_side("q_give", &pair), LOCK_GIVES);
	assert_int_equal(pair, 1);
	assert_int_equal(lock_side("my_lock2", &pair), LOCK_NONE);
	config_refuses("lock a\n", "c:1:6: 'a' does not name two functions; write LOCK,UNLOCK, such as my_lock,my_unlock");
	config_refuses("lock:a,\n", "c:1:6: 'a,' does not name two functions; write LOCK,UNLOCK, such as my_lock,my_unlock");
}

static void test_no_warn(void **state)
{
	(void)state;
	configure("no_warn src/bank.c:12\nno_warn *.h:7\nno_warn log.c:3:9\n");
	assert_int_equal(site("src/bank.c:12"), SITE_NO_WARN);
	assert_int_equal(site("/build/src/bank.c:12:5"), SITE_NO_WARN);
	assert_int_equal(site("bank.c:12"), SITE_NO_WARN);
	assert_int_equal(site("log.c:3"), SITE_NO_WARN);
	assert_int_equal(site("log.c:9"), 0);
	assert_int_equal(site("deep/x.h:7"), SITE_NO_WARN);
	assert_int_equal(site("deep/x.h:8"), 0);
	assert_int_equal(site("src/bank.c:1"), 0);
	assert_int_equal(site("src/bank.c:121"), 0);
	assert_int_equal(site("src/bank.c"), 0);
	assert_int_equal(site("lib/bank.c:12"), 0);
	assert_int_equal(site("12"), 0);
	configure("no_warn *:12\n");
	assert_int_equal(site("12"), SITE_NO_WARN);
}

static void test_everything_at_once(void **state)
{
	(void)state;
	configure("no_warn *:12\nignore file *.c\nforeign bank.?\nassume_guarded *\narray_cutoff 1\n");
	configure("atomic *\nassume_atomic *\nassume_mover *\nignore function *\n");
	assert_int_equal(site("bank.c:12"), SITE_NO_WARN | SITE_UNWATCHED | SITE_FOREIGN);
	assert_int_equal(variable("slot[1]"), VARIABLE_GUARDED | VARIABLE_UNWATCHED);
	assert_int_equal(code("bank.c"), CODE_DECLARED | CODE_ATOMIC | CODE_MOVER | CODE_UNWATCHED | CODE_FOREIGN);
}

/* ---- Mistakes in the configuration file. ---- */

static void test_form_of_lines(void **state)
{
	(void)state;
	parse("annotated");
	configure("\n  # nothing here\n\tatomic\tf#1  # but here\r\natomic g");
	assert_int_equal(code("f#1"), CODE_BLOCK | CODE_DECLARED);
	assert_int_equal(code("g"), CODE_BLOCK | CODE_DECLARED);
	assert_int_equal(code("f"), 0);
	configure("");
	configure("atomic \xc3\xa9t\xc3\xa9\n");
	assert_int_equal(code("\xc3\xa9t\xc3\xa9"), CODE_BLOCK | CODE_DECLARED);
}

static void test_wrong_directives(void **state)
{
	(void)state;
	config_refuses("atomic f\n  atmic g\n", "c:2:3: unknown directive 'atmic'; did you mean 'atomic'?");
	config_refuses("\n\nzebra g",
		"c:3:1: unknown directive 'zebra'; there are atomic, exported, assume_atomic, assume_mover, "
		"assume_guarded, no_warn, watch, ignore, foreign, array_cutoff and lock");
	config_refuses("atomic\n", "c:1:7: something is missing; write 'atomic NAME'");
	config_refuses("exported # f\n", "c:1:10: something is missing; write 'exported NAME'");
	config_refuses("no_warn", "c:1:8: something is missing; write 'no_warn FILE:LINE'");
	config_refuses("array_cutoff ", "c:1:14: something is missing; write 'array_cutoff N'");
	config_refuses("foreign", "c:1:8: something is missing; write 'foreign PATTERN'");
	config_refuses("assume_guarded a b\n",
		"c:1:18: 'b' is one word too many; write one directive a line, and ? for each blank in a name");
	config_refuses("atomic f\natomic \x01g\n", "c:2:8: byte 0x01 in a line of text; remove it");
}

static void test_wrong_operands(void **state)
{
	(void)state;
	config_refuses("watch fille *.c\n", "c:1:7: unknown sort 'fille'; did you mean 'file'?");
	config_refuses("ignore x y\n", "c:1:8: unknown sort 'x'; there are function, file and variable");
	config_refuses("watch\n", "c:1:6: something is missing; write 'watch function|file|variable PATTERN'");
	config_refuses("ignore file \n", "c:1:13: something is missing; write 'ignore function|file|variable PATTERN'");
	config_refuses("no_warn bank.c\n", "c:1:9: 'bank.c' is not a place; write FILE:LINE, such as bank.c:12");
	config_refuses("no_warn 12\n", "c:1:9: '12' is not a place; write FILE:LINE, such as bank.c:12");
	config_refuses("no_warn a:0\n", "c:1:9: 'a:0' is not a place; write FILE:LINE, such as bank.c:12");
	config_refuses("no_warn a:*\n", "c:1:9: 'a:*' is not a place; write FILE:LINE, such as bank.c:12");
	config_refuses("array_cutoff -1\n",
		"c:1:14: '-1' is not a number; write how many elements of an array are watched");
	config_refuses("array_cutoff 4294967296\n",
		"c:1:14: 4294967296 is too large; write 'array_cutoff 0' for no cut-off");
}

static void test_nul_bytes(void **state)
{
	struct fault f = {0};

	(void)state;
	put_bytes("c", "atomic f\0g\n", 11);
	assert_false(policy_read(&policy, "c", &f));
	assert_string_equal(f.text, "c:1:9: byte 0x00 in a line of text; remove it");
}

static void test_files_that_cannot_be_read(void **state)
{
	struct fault f = {0}, g = {0};

	(void)state;
	assert_false(policy_read(&policy, "absent", &f));
	assert_int_equal(f.status, STATUS_USAGE);
	assert_false(policy_scan(&policy, ".", &g));
	assert_int_equal(g.status, STATUS_USAGE);
}

static void test_files_that_are_too_long(void **state)
{
	struct fault f = {0};

	(void)state;
	put("long", "");
	assert_int_equal(truncate("long", (1 << 24) + 1), 0);
	assert_false(policy_scan(&policy, "long", &f));
	assert_string_equal(f.text, "long: is longer than 16 MiB; is this the right file?");
	assert_int_equal(f.status, STATUS_CONFIG);
}

/* ---- Comments in sources. ---- */

enum { DECLARED = CODE_BLOCK | CODE_DECLARED };

static void test_scan_functions(void **state)
{
	(void)state;
	parse("annotated");
	scan("/*# atomic */ void get_chars(int n) { other(); }\n"
	     "/*#assume_atomic*/\nstatic inline int\nlog_line(const char *s);\n"
	     "/*# assume_mover */ unsigned hash(void);\n"
	     "int neighbour(void) { return hash(); }\n");
	assert_int_equal(code("get_chars"), DECLARED);
	assert_int_equal(code("log_line"), CODE_ATOMIC);
	assert_int_equal(code("hash"), CODE_MOVER);
	assert_int_equal(code("other"), 0);
	assert_int_equal(code("neighbour"), 0);
	assert_int_equal(code("n"), 0);
}

static void test_scan_odd_functions(void **state)
{
	(void)state;
	parse("annotated");
	scan("/*#\tatomic\r\n*/ f0(void);\n"
	     "/*# atomic */ __attribute__((noinline, section(\"x\"))) static int f1(void);\n"
	     "/*# atomic */ [[nodiscard]] int f2(void);\n"
	     "/*# atomic */ int (*f3(int a))(int) { }\n"
	     "/*# atomic */ handler_t (*f4(void))(int);\n"
	     "/*# atomic */ _Atomic(int) f5 (void);\n"
	     "/*# atomic */ int (f6)(void);\n"
	     "/*# atomic */ struct s *f7(struct s *s);\n"
	     "/*# atomic */\n#ifdef X\nextern\n#define Y(x) y(x)\n#endif\nint f8(void);\n"
	     "/*# atomic */ /* and */ // a word (\nint f9(void);\n"
	     "/*# atomic */ extern \"C\" int f10(void);\n"
	     "/*# atomic assume_mover */ int f11(void);\n"
	     "/*# atomic */ /*# assume_atomic */ int f12(void);\n"
	     "/*# atomic */ void (*f13(int sig, void (*func)(int)))(int);\n"
	     "int /*# atomic */ f14(void);\n");
	for (int i = 0; i <= 14; i++) {
		char name[8];

		snprintf(name, sizeof name, "f%d", i);
		assert_int_equal(code(name), i == 11 ? CODE_DECLARED | CODE_MOVER
					     : i == 12 ? CODE_DECLARED | CODE_ATOMIC : DECLARED);
	}
	assert_int_equal(code("s"), 0);
	assert_int_equal(code("handler_t"), 0);
	assert_int_equal(code("__attribute__"), 0);
	assert_int_equal(code("y"), 0);
}

static void test_scan_what_is_no_comment(void **state)
{
	(void)state;
	parse("annotated");
	scan("char *s = \"/*# atomic */ int f1(void);\";\n"
	     "char c = '\"', *t = \"\\\"/*# zebra */\"; // /*# atomic */ int f2(void);\n"
	     "// goes on \\\n/*# zebra */ int f3(void);\n"
	     "int q = 1'000; /*# atomic */ int f4(void);\n"
	     "#error don't /*# no_warn */\n"
	     "char *u = \"never ends\n/*# atomic */ int f5(void);\n"
	     "/* /*# zebra */\n"
	     "/**# zebra */\n");
	assert_int_equal(code("f1"), 0);
	assert_int_equal(code("f2"), 0);
	assert_int_equal(code("f3"), 0);
	assert_int_equal(code("f4"), DECLARED);
	assert_int_equal(code("f5"), DECLARED);
	assert_int_equal(site("bank.c:6"), 0); /* it is in the constant that does not end */
}

static void test_scan_what_is_no_annotation(void **state)
{
	(void)state;
	parse("annotated");
	scan("/*#include <stdio.h>*/\n/*# define X 1 */\n/*#endif*/\n"
	     "/*####*/\n/*# */\n/*#*/\n/*#1: a bug */\n/*#-- x --*/\n"
	     "int f(void);\n/*#");
	assert_int_equal(code("f"), 0);
	scan("/*# pragma");
	scan("/* never ends");
	scan("/*");
	scan("/");
	scan("");
}

static void test_scan_joins_lines(void **state)
{
	(void)state;
	parse("annotated");
	scan("/\\\n*# ato\\\nmic *\\\r\n/ int wi\\\nthdraw(void);\n/*# no_warn */\n");
	assert_int_equal(code("withdraw"), DECLARED);
	assert_int_equal(site("bank.c:6"), SITE_NO_WARN);
	assert_int_equal(site("bank.c:2"), 0);
}

static void test_scan_no_warn(void **state)
{
	(void)state;
	scan_as("log.c", "int a;\na = 1; /*# no_warn */ a = 2;\nif (a) {\n} /*# no_warn\n*/\n#if A /*# no_warn */\n");
	assert_int_equal(site("log.c:2"), SITE_NO_WARN);
	assert_int_equal(site("/build/src/log.c:2:7"), SITE_NO_WARN);
	assert_int_equal(site("log.c:4"), SITE_NO_WARN);
	assert_int_equal(site("log.c:6"), SITE_NO_WARN);
	assert_int_equal(site("log.c:1"), 0);
	assert_int_equal(site("log.c:3"), 0);
	assert_int_equal(site("log.c:5"), 0);
	assert_int_equal(site("blog.c:2"), 0);
	scan_as("a*.c", "/*# no_warn */");
	assert_int_equal(site("a*.c:1"), SITE_NO_WARN);
	assert_int_equal(site("ab.c:1"), 0);
}

static void guards(const char *name)
{
	if (variable(name) != VARIABLE_GUARDED)
		fail_msg("%s is not guarded", name);
}

static void test_scan_guarded(void **state)
{
	static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "o", "p",
		"q", "r", "s", "t", "u", "v", "w"};
	static const char *const others[] = {"tag", "x", "y", "z", "T", "mu", "GUARDED_BY", "MACRO", "n", "std", "int",
		"A", "three"};

	(void)state;
	scan("/*# assume_guarded */ int a, *b;\nint x;\n"
	     "/*# assume_guarded */ static volatile unsigned long c[3][4] = {{y, z}, {1}}, d = y + (z, 1), **e;\n"
	     "/*# assume_guarded */ struct tag f;\n"
	     "/*# assume_guarded */ struct { int x, y; } g, *h;\n"
	     "/*# assume_guarded */ int (*i)(int x, T y), (*j)[3];\n"
	     "/*# assume_guarded */ T (*k)(void);\n"
	     "/*# assume_guarded */ T l GUARDED_BY(mu);\n"
	     "/*# assume_guarded */ _Atomic(T) m;\n"
	     "/*# assume_guarded */ __attribute__((aligned(8))) const T o __attribute__((unused)) = x;\n"
	     "/*# assume_guarded */ enum tag { A, three } p;\n"
	     "/*# assume_guarded */ MACRO(T) q;\n"
	     "/*# assume_guarded */ std::T r;\n"
	     "/*# assume_guarded */ _Thread_local typeof(x) s;\n"
	     "/*# assume_guarded */ struct __attribute__((packed)) tag t;\n"
	     "/*# assume_guarded */ T *const u = &x;\n"
	     "/*# assume_guarded */ T (^v)(void);\n"
	     "/*# assume_guarded */ _Atomic int w;\n"
	     "int n;\n");
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		guards(names[i]);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (variable(others[i]))
			fail_msg("%s is guarded", others[i]);
	guards("c[1][2]");
	assert_int_equal(variable("other.a"), 0);
	assert_int_equal(code("a"), CODE_BLOCK);
}

static void test_scan_guarded_fields(void **state)
{
	(void)state;
	scan("struct bank {\n\tint x;\n\t/*# assume_guarded */ int count : 3, *slot[4];\n\tint y;\n} b = { 1 };\n"
	     "union __attribute__((packed)) { /*# assume_guarded */ T value; };\n"
	     "extern \"C\" {\n/*# assume_guarded */ int global;\n}\n"
	     "void f(void) { if (x) { } else { /*# assume_guarded */ static int local; } }\n"
	     "void g(void) { /*# assume_guarded */ static int own; }\n");
	guards("count");
	guards("b.count");
	guards("p->count");
	guards("bank[3].slot[2]");
	guards("p->value");
	guards("global");
	guards("local");
	assert_int_equal(variable("b.x"), 0);
	assert_int_equal(variable("b.y"), 0);
	assert_int_equal(variable("b.counter"), 0);
	assert_int_equal(variable("p->global"), 0);
	guards("own");
	assert_int_equal(variable("p->local"), 0);
	assert_int_equal(variable("p->own"), 0);
	assert_int_equal(variable("bcount"), 0);
}

static void test_scan_brackets_that_do_not_match(void **state)
{
	(void)state;
	parse("annotated");
	scan("void f(void) { g((1]; }\n#if X\nvoid h(void) {\n#else\nvoid h(int x) {\n#endif\n}\n"
	     "struct s { /*# assume_guarded */ int a; };\n}}})]\n/*# atomic */ int k(void);\n");
	guards("a");
	guards("s.a");
	assert_int_equal(code("k"), DECLARED);
}

static void test_scan_wrong_words(void **state)
{
	(void)state;
	scan_refuses("int x;\n\t/*# atomik */ int f(void);\n",
		"b.c:2:6: unknown annotation 'atomik'; did you mean 'atomic'?");
	scan_refuses("/*# zebra */",
		"b.c:1:5: unknown annotation 'zebra'; there are atomic, assume_atomic, assume_mover, assume_guarded "
		"and no_warn");
	scan_refuses("/*# no_warn no_worn */", "b.c:1:13: unknown annotation 'no_worn'; did you mean 'no_warn'?");
	scan_refuses("x \\\n/*# no_warn\n  , */",
		"b.c:3:3: byte 0x2c in an annotation; write only its words, or leave out the '#'");
	scan_refuses("int x;\n /*# atomic", "b.c:2:2: this annotation never ends; close the comment");
}

static void test_scan_nothing_follows(void **state)
{
	static const char *const after_atomic[] = {"", "int x;", "int x = f(1);", "struct s { int (*f)(void); };",
		"if (x) f();", "}", "else f();", "return f();", "int a, f(void);", "[f(", "__attribute__((x", "(((((("};
	static const char *const after_guarded[] = {"", "int;", "x;", "int f(void);", "static T f(void) {}", "int x",
		"int x }", "int x {", "_Atomic x;", "return x;", "int a, ;", "struct s { int x; };", "int x[3;", "int :3;",
		"struct s f(int);"};
	char source[100];

	(void)state;
	for (size_t i = 0; i < sizeof after_atomic / sizeof *after_atomic; i++) {
		snprintf(source, sizeof source, "\n/*# atomic */ %s", after_atomic[i]);
		scan_refuses(source, "b.c:2:5: no function follows 'atomic'; put the comment right before a "
				     "definition or declaration");
	}
	for (size_t i = 0; i < sizeof after_guarded / sizeof *after_guarded; i++) {
		snprintf(source, sizeof source, "\n/*# assume_guarded */ %s", after_guarded[i]);
		scan_refuses(source, "b.c:2:5: no variable follows 'assume_guarded'; put the comment right before its "
				     "declaration");
	}
}

/* A look-ahead from each of many comments must not make the time quadratic. */
static void test_scan_many_comments(void **state)
{
	enum { MANY = 20000 };
	FILE *file = fopen("many.c", "w");
	struct fault f = {0};

	(void)state;
	for (int i = 0; i < MANY; i++)
		fputs(i % 350 ? "a /*# atomic */" : "a(/*# atomic */", file);
	fclose(file);
	assert_false(policy_scan(&policy, "many.c", &f));
	assert_int_equal(f.status, STATUS_CONFIG);
	file = fopen("more.c", "w");
	for (int i = 0; i < MANY; i++)
		fputs("{(/*# no_warn */", file);
	fclose(file);
	f.status = 0;
	assert_true(policy_scan(&policy, "more.c", &f));
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_wildcards),
		TEST(test_what_is_no_wildcard),
		TEST(test_many_stars_take_no_time),
		TEST(test_literal),
		TEST(test_files),
		TEST(test_parts_of_variables),
		TEST(test_default),
		TEST(test_names_that_are_none),
		TEST(test_annotated),
		TEST(test_locks),
		TEST(test_exported),
		TEST(test_functions),
		TEST(test_file_of_names),
		TEST(test_wrong_policies),
		TEST(test_atomic),
		TEST(test_assumptions),
		TEST(test_assumed_functions_are_no_blocks),
		TEST(test_leave),
		TEST(test_foreign),
		TEST(test_ignore),
		TEST(test_watch),
		TEST(test_watch_is_by_sort),
		TEST(test_the_last_line_wins),
		TEST(test_guarded),
		TEST(test_array_cutoff),
		TEST(test_lock_functions), TEST(test_no_warn),
		TEST(test_everything_at_once),
		TEST(test_form_of_lines),
		TEST(test_wrong_directives),
		TEST(test_wrong_operands),
		TEST(test_nul_bytes),
		TEST(test_files_that_cannot_be_read),
		TEST(test_files_that_are_too_long),
		TEST(test_scan_functions),
		TEST(test_scan_odd_functions),
		TEST(test_scan_what_is_no_comment),
		TEST(test_scan_what_is_no_annotation),
		TEST(test_scan_joins_lines),
		TEST(test_scan_no_warn),
		TEST(test_scan_guarded),
		TEST(test_scan_guarded_fields),
		TEST(test_scan_brackets_that_do_not_match),
		TEST(test_scan_wrong_words),
		TEST(test_scan_nothing_follows),
		TEST(test_scan_many_comments),
	};

	return cmocka_run_group_tests_name("policy", tests, NULL, NULL);
}
