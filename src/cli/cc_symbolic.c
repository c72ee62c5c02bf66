/* SPDX-License-Identifier: MIT */
#include "cc_symbolic.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "cli/cc_args.h"
#include "cli/cc_flags.h"
#include "cli/cc_words.h"

extern char **environ;

#define CLANG_VARIABLE "FISSION_CLANG"
#define CLANG "clang-14"

/* What of the user's options the three commands get. */
enum role {
	ROLE_BOTH,       /* the front end and the back end */
	ROLE_FRONT,      /* the preprocessor's and the language's: nothing for bitcode */
	ROLE_LINK,       /* the linker's alone */
	ROLE_OUTPUT,     /* -o */
	ROLE_STOP,       /* -c, -S */
	ROLE_LANGUAGE,   /* -x */
	ROLE_DEPENDENCY, /* -MD, -MMD: a file beside the output */
};

struct prefix {
	const char *text;
	enum role role;
	bool whole; /* the word is that, and not only begins so */
};

static const struct prefix prefixes[] = {
	{"-c", ROLE_STOP, true}, {"--compile", ROLE_STOP, true}, {"-S", ROLE_STOP, true}, {"--assemble", ROLE_STOP, true},
	{"-o", ROLE_OUTPUT, false}, {"--output", ROLE_OUTPUT, true}, {"-x", ROLE_LANGUAGE, false},
	{"-MD", ROLE_DEPENDENCY, true}, {"-MMD", ROLE_DEPENDENCY, true}, {"-M", ROLE_FRONT, false},
	{"-D", ROLE_FRONT, false}, {"-U", ROLE_FRONT, false}, {"-I", ROLE_FRONT, false}, {"-include", ROLE_FRONT, false},
	{"-imacros", ROLE_FRONT, true}, {"-isystem", ROLE_FRONT, false}, {"-iquote", ROLE_FRONT, false},
	{"-idirafter", ROLE_FRONT, false}, {"-std=", ROLE_FRONT, false}, {"-ansi", ROLE_FRONT, true},
	{"-W", ROLE_FRONT, false},
	{"-pedantic", ROLE_FRONT, false}, {"-Wl,", ROLE_LINK, false}, {"-Xpreprocessor", ROLE_FRONT, true},
	{"-l", ROLE_LINK, false}, {"-L", ROLE_LINK, false}, {"-Xlinker", ROLE_LINK, true}, {"-shared", ROLE_LINK, false},
	{"-rdynamic", ROLE_LINK, true}, {"-z", ROLE_LINK, true}, {"-u", ROLE_LINK, true}, {"-T", ROLE_LINK, false},
	{"-e", ROLE_LINK, true}, {"-rpath", ROLE_LINK, true}, {"-static", ROLE_LINK, false}, {"-pie", ROLE_LINK, true},
	{"-no-pie", ROLE_LINK, true}, {"-nopie", ROLE_LINK, true}, {"-nostdlib", ROLE_LINK, true}, {"-r", ROLE_LINK, true},
	{"-nodefaultlibs", ROLE_LINK, true}, {"-nostartfiles", ROLE_LINK, true}, {"-fuse-ld=", ROLE_LINK, false},
};

/* One of the user's words, with its argument if that is the next word. */
struct piece {
	const char *word, *argument;
	enum role role;
	bool is_input, is_c;
};

struct job {
	struct arena *arena;
	const char *directory; /* of the tool's own */
	struct piece *pieces;
	size_t count, capacity;
	const char *output;
	bool stops, to_assembler, has_debug, has_dependency, has_dependency_file, has_target;
};

static char *folder; /* with the temporary files, NULL: none */

static const char *printed(struct arena *arena, const char *format, const char *a, const char *b)
{
	struct str s;

	str_init(&s, arena);
	str_printf(&s, format, a, b);
	return s.at;
}

static bool matches(const struct prefix *p, const char *word)
{
	return p->whole ? strcmp(word, p->text) == 0 : strncmp(word, p->text, strlen(p->text)) == 0;
}

/* The longest that fits: -MD before -M, -Wl, before -W. */
static enum role role_of(const char *word)
{
	const struct prefix *best = NULL;

	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (matches(&prefixes[i], word) && (!best || strlen(prefixes[i].text) > strlen(best->text)))
			best = &prefixes[i];
	return best ? best->role : ROLE_BOTH;
}

/* Of C, before and behind the preprocessor. */
static bool is_c(const char *name, const char *language)
{
	const char *dot = strrchr(name, '.');

	if (language && strcmp(language, "none") != 0)
		return strcmp(language, "c") == 0 || strcmp(language, "cpp-output") == 0;
	return dot && (strcmp(dot, ".c") == 0 || strcmp(dot, ".i") == 0);
}

static void add_piece(struct job *j, struct piece p)
{
	j->pieces = arena_reserve(j->arena, j->pieces, &j->capacity, j->count, sizeof *j->pieces);
	j->pieces[j->count++] = p;
}

static void take_option(struct job *j, const struct piece *p)
{
	if (p->role == ROLE_OUTPUT)
		j->output = p->argument ? p->argument : p->word + 2;
	j->stops |= p->role == ROLE_STOP;
	j->to_assembler |= strcmp(p->word, "-S") == 0 || strcmp(p->word, "--assemble") == 0;
	j->has_dependency |= p->role == ROLE_DEPENDENCY;
	j->has_dependency_file |= strncmp(p->word, "-MF", 3) == 0;
	j->has_target |= strncmp(p->word, "-MT", 3) == 0 || strncmp(p->word, "-MQ", 3) == 0;
}

static void read_line(struct job *j, int argc, char **argv)
{
	struct cc_words words = {.arena = j->arena};
	const char *language = NULL;
	bool only_files = false;

	for (int i = 1; i < argc; i++)
		cc_words_add(&words, argv[i], i);
	for (size_t i = 0; i < words.count; i++) {
		struct piece p = {.word = words.at[i].text};

		p.is_input = only_files || p.word[0] != '-' || !p.word[1];
		if (!p.is_input) {
			if (cc_args_takes_next(p.word) && i + 1 < words.count)
				p.argument = words.at[++i].text;
			p.role = role_of(p.word);
			if (p.role == ROLE_LANGUAGE)
				language = p.argument ? p.argument : p.word + 2;
			only_files |= strcmp(p.word, "--") == 0;
			take_option(j, &p);
		}
		p.is_c = p.is_input && is_c(p.word, language);
		add_piece(j, p);
	}
}

/* Commands. */

static void start_line(struct cc_line *line, struct job *j)
{
	const char *clang = getenv(CLANG_VARIABLE);

	*line = (struct cc_line){.arena = j->arena};
	cc_line_add(line, clang && *clang ? clang : CLANG);
	cc_line_add(line, "-Qunused-arguments");
}

static void add_options(struct cc_line *line, const struct job *j, bool front)
{
	for (size_t i = 0; i < j->count; i++) {
		const struct piece *p = &j->pieces[i];
		bool fits = p->role == ROLE_BOTH || (front && (p->role == ROLE_FRONT || p->role == ROLE_DEPENDENCY ||
			p->role == ROLE_LANGUAGE));

		if (p->is_input || !fits || strcmp(p->word, "--") == 0)
			continue;
		cc_line_add(line, p->word);
		if (p->argument)
			cc_line_add(line, p->argument);
	}
}

static void add_words(struct cc_line *line, const char *const *words)
{
	for (; *words; words++)
		cc_line_add(line, *words);
}

/* As the front end makes it: without optimisations, which would leave out what the code says, and without hooks. */
static const char *const front_words[] = {
	"-O0", "-Xclang", "-disable-O0-optnone", "-Xclang", "-disable-llvm-passes", "-fsanitize=thread", "-fexceptions",
	"-fno-inline", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-D__FISSION__=1", "-U_FORTIFY_SOURCE",
	"-fno-builtin-memcpy", "-fno-builtin-memmove", "-fno-builtin-memset", "-fno-builtin-memcmp", "-fno-builtin-bcmp",
	"-fno-builtin-mempcpy", "-fno-builtin-bcopy", "-fno-builtin-bzero", "-fno-builtin-strcpy", "-fno-builtin-stpcpy",
	"-fno-builtin-strncpy", "-fno-builtin-strcat", "-fno-builtin-strncat", "-fno-builtin-strcmp", "-fno-builtin-strncmp",
	"-fno-builtin-strcasecmp", "-fno-builtin-strncasecmp", "-fno-builtin-strchr", "-fno-builtin-strrchr",
	"-fno-builtin-strstr", "-fno-builtin-memchr", "-fno-builtin-atoi", "-fno-builtin-strtol", "-emit-llvm", "-c", NULL,
};

/* What it does not do: merge calls of hooks, and several accesses into one. */
static const char *const back_words[] = {"-fno-inline", "-fno-vectorize", "-fno-slp-vectorize", NULL};

static void add_dependency(struct cc_line *line, struct job *j, const char *output)
{
	const char *dot = strrchr(output, '.'), *slash = strrchr(output, '/');
	size_t n = dot && (!slash || dot > slash) ? (size_t)(dot - output) : strlen(output);

	if (!j->has_dependency)
		return;
	if (!j->has_dependency_file) {
		cc_line_add(line, "-MF");
		cc_line_add(line, printed(j->arena, "%s%s", arena_text(j->arena, output, n), ".d"));
	}
	if (!j->has_target) {
		cc_line_add(line, "-MT");
		cc_line_add(line, output);
	}
}

static int front(struct job *j, const struct piece *p, const char *output, const char *to)
{
	struct cc_line line;

	start_line(&line, j);
	if (!j->has_debug)
		cc_line_add(&line, "-g");
	add_options(&line, j, true);
	add_words(&line, front_words);
	add_dependency(&line, j, output);
	cc_line_add(&line, "-idirafter");
	cc_line_add(&line, j->directory);
	cc_line_add(&line, "-o");
	cc_line_add(&line, to);
	cc_line_add(&line, p->word);
	return cc_symbolic_run(line.words);
}

static int back(struct job *j, const char *from, const char *to)
{
	struct cc_line line;

	start_line(&line, j);
	add_options(&line, j, false);
	add_words(&line, back_words);
	cc_line_add(&line, j->to_assembler ? "-S" : "-c");
	cc_line_add(&line, from);
	cc_line_add(&line, "-o");
	cc_line_add(&line, to);
	return cc_symbolic_run(line.words);
}

static int compile_one(struct job *j, const struct piece *p, const char *stem, const char *to)
{
	const char *made = printed(j->arena, "%s%s", stem, ".made.bc");
	const char *numbered = printed(j->arena, "%s%s", stem, ".numbered");
	const char *rewritten = printed(j->arena, "%s%s", stem, ".bc");
	const char *tool = printed(j->arena, "%s/%s", j->directory, "fission-rewrite");
	int status = front(j, p, j->stops ? to : j->output ? j->output : "a.out", made);

	if (!status)
		status = cc_symbolic_run((const char *const[]){tool, made, numbered, rewritten, NULL});
	return status ? status : back(j, rewritten, to);
}

/* Where the compiler itself would put it. */
static const char *output_of(struct job *j, const struct piece *p)
{
	const char *slash = strrchr(p->word, '/'), *name = slash ? slash + 1 : p->word, *dot = strrchr(name, '.');

	if (j->output)
		return j->output;
	return printed(j->arena, "%s%s", arena_text(j->arena, name, dot ? (size_t)(dot - name) : strlen(name)),
		j->to_assembler ? ".s" : ".o");
}

static void make_folder(struct arena *arena)
{
	const char *base = getenv("TMPDIR");

	folder = (char *)printed(arena, "%s/%s", base && *base ? base : "/tmp", "fission-cc-XXXXXX");
	if (!mkdtemp(folder))
		die(STATUS_UNFIT, "cannot make a folder for temporary files, %s: %s; set TMPDIR", folder, strerror(errno));
}

static void check_fit(const struct job *j)
{
	const char *tool = printed(j->arena, "%s/%s", j->directory, "fission-rewrite");

	if (access(tool, X_OK) != 0)
		die(STATUS_UNFIT, "--symbolic needs fission-rewrite, which is not there; install the package fission-symbolic, or LLVM 14 "
			"(tools/deps.sh symbolic) and build Fission again");
}

/* What was about the sources. */
static bool is_settled(const struct piece *p)
{
	return p->role == ROLE_LANGUAGE || p->role == ROLE_DEPENDENCY || (!p->is_input && strncmp(p->word, "-M", 2) == 0);
}

/* The line that is left: objects for sources, and nothing that would make objects something else. */
static void leave(struct cc_symbolic *s, struct job *j, const char *const *objects)
{
	struct cc_line line = {.arena = j->arena};
	bool inputs = false;

	cc_line_add(&line, s->argv[0]);
	for (size_t i = 0; i < j->count; i++) {
		const struct piece *p = &j->pieces[i];
		const char *word = objects[i] ? objects[i] : p->word;

		inputs |= p->is_input && !p->is_c;
		if ((p->is_c && j->stops) || is_settled(p))
			continue;
		cc_line_add(&line, word);
		if (p->argument)
			cc_line_add(&line, p->argument);
	}
	s->is_done = j->stops && !inputs;
	s->argc = (int)line.count;
	s->argv = (char **)line.words;
}

static bool has_sources(const struct job *j)
{
	for (size_t i = 0; i < j->count; i++)
		if (j->pieces[i].is_c)
			return true;
	return false;
}

void cc_symbolic_compile(struct cc_symbolic *s, int argc, char **argv, struct arena *arena)
{
	struct job j = {.arena = arena, .directory = cc_flags_directory(arena)};
	struct cc_args a;
	const char **objects;

	*s = (struct cc_symbolic){.argc = argc, .argv = argv};
	cc_args_read(&a, argc, argv, arena);
	j.has_debug = a.has_debug;
	read_line(&j, argc, argv);
	check_fit(&j);
	if (!a.compiles || !has_sources(&j))
		return;
	make_folder(arena);
	objects = arena_alloc(arena, (j.count + 1) * sizeof *objects);
	for (size_t i = 0; i < j.count && !s->status; i++) {
		char number[24];

		if (!j.pieces[i].is_c)
			continue;
		snprintf(number, sizeof number, "/%zu", i);
		objects[i] = j.stops ? output_of(&j, &j.pieces[i]) : printed(arena, "%s%s.o", folder, number);
		s->status = compile_one(&j, &j.pieces[i], printed(arena, "%s%s", folder, number), objects[i]);
	}
	leave(s, &j, objects);
}

void cc_symbolic_clean(void)
{
	DIR *d = folder ? opendir(folder) : NULL;
	struct dirent *e;

	while (d && (e = readdir(d)))
		unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	if (folder)
		rmdir(folder);
	folder = NULL;
}

static int shell_status(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static const int ends[] = {SIGHUP, SIGINT, SIGTERM};
static volatile sig_atomic_t running, ended_by; /* the child; the signal that ends us */

static void pass_on(int number)
{
	ended_by = number;
	if (running)
		kill((pid_t)running, number);
}

/* Signals end the step that runs; then nothing is left behind, and we end by the same. What is ignored stays so. */
static void hear_signals(bool hear)
{
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (signal(ends[i], hear ? pass_on : SIG_DFL) == SIG_IGN)
			signal(ends[i], SIG_IGN);
	if (hear || !ended_by)
		return;
	cc_symbolic_clean();
	raise(ended_by);
}

static pid_t start(const char *const *words)
{
	posix_spawnattr_t attributes;
	sigset_t defaults;
	pid_t child;
	int error;

	posix_spawnattr_init(&attributes);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE); /* main has it ignored */
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	error = posix_spawnp(&child, words[0], NULL, &attributes, (char **)words, environ);
	posix_spawnattr_destroy(&attributes);
	if (error) {
		cc_symbolic_clean();
		die(STATUS_UNFIT, "cannot run '%s': %s; --symbolic needs clang 14 (tools/deps.sh symbolic), or set "
			CLANG_VARIABLE, words[0], strerror(error));
	}
	return child;
}

int cc_symbolic_run(const char *const *words)
{
	int status = 0;
	pid_t child;

	hear_signals(true);
	child = start(words);
	running = child;
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	running = 0;
	hear_signals(false);
	return shell_status(status);
}
