/* SPDX-License-Identifier: MIT */
/*
 * fission cc and fission c++, also as fission-cc and fission-c++: a compiler's command line, with what Fission needs.
 *
 * Nothing of the user's line is changed; flags are added before and behind it. A line without an input, which is a
 * question (--version, -dumpmachine, -print-search-dirs), goes to the compiler as it is. Then this process becomes
 * the compiler: its output, its exit status and its signals are the compiler's own.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/fail.h"
#include "cli/cc_args.h"
#include "cli/cc_compiler.h"
#include "cli/cc_flags.h"
#include "cli/cc_symbolic.h"
#include "cli/commands.h"

struct language {
	const char *variable; /* that chooses the compiler */
	const char *fallback;
};

static const struct language c = {"FISSION_CC", "cc"};
static const struct language cxx = {"FISSION_CXX", "c++"};

/* A word that a shell reads back as it is. */
static void print_quoted(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";

	if (*word && word[strspn(word, plain)] == 0) {
		fputs(word, stdout);
		return;
	}
	putchar('\'');
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*word);
	putchar('\'');
}

static void print_line(const struct cc_line *line)
{
	for (size_t i = 0; i < line->count; i++) {
		if (i)
			putchar(' ');
		print_quoted(line->words[i]);
	}
	putchar('\n');
}

/* What can be said better than the compiler would say it. */
static void refuse(const struct cc_args *a)
{
	if (a->clash)
		die(STATUS_USAGE, "-fsanitize=%s cannot be combined with Fission, whose hooks are those of "
			"-fsanitize=thread; build without it", a->clash);
	if (a->is_static && a->links && !a->bare)
		die(STATUS_UNFIT, "-static: Fission's library watches the functions of a shared C library, so a "
			"static program cannot be linked for it; build without -static");
}

static void put_together(struct cc_line *line, const struct cc_compiler *compiler, int argc, char **argv)
{
	enum cc_family family = CC_GCC;
	const char *directory = NULL;
	struct cc_args a;

	cc_args_read(&a, argc, argv, line->arena);
	for (size_t i = 0; i < compiler->count; i++)
		cc_line_add(line, compiler->words[i]);
	if (a.has_input) {
		refuse(&a);
		family = cc_compiler_family(compiler);
		directory = cc_flags_directory(line->arena);
		cc_flags_front(line, family, &a, directory);
	}
	for (int i = 1; i <= argc; i++) {
		if (i == a.end && a.has_input)
			cc_flags_back(line, family, &a, directory);
		if (i < argc)
			cc_line_add(line, argv[i]);
	}
}

/* Becomes the command. */
static _Noreturn void become(const struct cc_line *line, const struct cc_compiler *compiler)
{
	signal(SIGPIPE, SIG_DFL); /* main has it ignored */
	execvp(line->words[0], (char **)line->words);
	cc_compiler_missing(compiler, errno);
}

/* What is C goes through bitcode first; temporary files stay until the rest is linked. */
static int compile_symbolic(struct cc_line *line, const struct cc_compiler *compiler, int argc, char **argv)
{
	struct cc_symbolic s;
	int status;

	cc_symbolic_compile(&s, argc, argv, line->arena);
	status = s.status;
	if (!status && !s.is_done) {
		put_together(line, compiler, s.argc, s.argv);
		status = cc_symbolic_run(line->words);
	}
	cc_symbolic_clean();
	return status;
}

/* Fission's own words, which come first. */
struct wishes {
	bool show, symbolic;
	int count;
};

static struct wishes take_wishes(int argc, char **argv)
{
	struct wishes w = {0};

	for (; w.count + 1 < argc; w.count++) {
		bool show = strcmp(argv[w.count + 1], "--show") == 0, symbolic = strcmp(argv[w.count + 1], "--symbolic") == 0;

		if (!show && !symbolic)
			break;
		w.show |= show;
		w.symbolic |= symbolic;
	}
	return w;
}

static int compile(const struct language *l, int argc, char **argv)
{
	struct wishes w = take_wishes(argc, argv);
	struct arena arena;
	struct cc_line line = {.arena = &arena};
	struct cc_compiler compiler;
	int status = STATUS_CLEAN;

	arena_init(&arena);
	cc_compiler_choose(&compiler, l->variable, l->fallback, &arena);
	if (w.symbolic && !w.show) {
		status = compile_symbolic(&line, &compiler, argc - w.count, argv + w.count);
	} else {
		put_together(&line, &compiler, argc - w.count, argv + w.count);
		if (!w.show)
			become(&line, &compiler);
		print_line(&line);
	}
	arena_free(&arena);
	return status;
}

static int run_cc(int argc, char **argv)
{
	return compile(&c, argc, argv);
}

static int run_cxx(int argc, char **argv)
{
	return compile(&cxx, argc, argv);
}

static const struct command_status statuses[] = {
	{"64", "another sanitizer is asked for, which excludes ours"},
	{"69", "the compiler cannot be run, is neither a gcc nor a clang, or is to link a static program"},
	{"other", "the compiler's own"},
	{0},
};

static const char more[] =
	"With --show as the first argument the command that would be run is printed, and not run.\n"
	"\n"
	"With --symbolic as the first argument C goes through bitcode (clang 14, or what FISSION_CLANG names, and "
	"fission-rewrite), so that 'fission chase' can look for inputs too; see docs/inputs.md. The program does the same otherwise.\n"
	"\n"
	"Under the name fission-NAME the driver is a compiler in all things, and --help is the compiler's.";

const struct command command_cc = {
	.name = "cc",
	.summary = "compile and link C for checking; also installed as fission-cc",
	.run = run_cc,
	.words = "[--show] [--symbolic] COMPILER_ARGUMENTS...",
	.about = "Compiles and links for checking, with the compiler that FISSION_CC names, a gcc or a clang (default: cc). All "
		"arguments are the compiler's.",
	.more = more,
	.examples = (const struct command_example[]){
		{"fission cc -O2 -pthread -o bank bank.c", NULL},
		{"make CC=fission-cc", NULL},
		{"FISSION_CC=\"ccache clang\" fission-cc --show -c bank.c", NULL},
		{0},
	},
	.statuses = statuses,
	.see = (const char *const[]){"c++", "run", "gcc(1)", "clang(1)", NULL},
};

const struct command command_cxx = {
	.name = "c++",
	.summary = "compile and link C++ for checking; also installed as fission-c++",
	.run = run_cxx,
	.words = "[--show] [--symbolic] COMPILER_ARGUMENTS...",
	.about = "Compiles and links for checking, with the compiler that FISSION_CXX names, a g++ or a clang++ (default: c++). "
		"All arguments are the compiler's.",
	.more = more,
	.examples = (const struct command_example[]){
		{"fission c++ -O2 -pthread -o bank bank.cc", NULL},
		{"make CXX=fission-c++", NULL},
		{"FISSION_CXX=\"ccache clang++\" fission-c++ --show -c bank.cc", NULL},
		{0},
	},
	.statuses = statuses,
	.see = (const char *const[]){"cc", "run", "gcc(1)", "clang(1)", NULL},
};
