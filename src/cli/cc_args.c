/* SPDX-License-Identifier: MIT */
#include "cc_args.h"

#include <string.h>

#include "base/arena.h"
#include "cli/cc_words.h"

/* Options whose argument may stand in the next word. */
static const char *const with_argument[] = {
	"-A", "-B", "-D", "-F", "-G", "-I", "-L", "-MF", "-MQ", "-MT", "-T", "-Tbss", "-Tdata", "-Ttext", "-U",
	"-Xassembler", "-Xclang", "-Xlinker", "-Xpreprocessor", "-Xanalyzer", "-Xopenmp-target", "-arch", "-aux-info",
	"-cxx-isystem", "-dumpbase", "-dumpbase-ext", "-dumpdir", "-e", "-gcc-toolchain", "-idirafter", "-imacros",
	"-imultilib", "-include", "-include-pch", "-iprefix", "-iquote", "-isysroot", "-isystem", "-isystem-after",
	"-ivfsoverlay", "-iwithprefix", "-iwithprefixbefore", "-mllvm", "-mthread-model", "-o", "-plugin", "-rpath",
	"-serialize-diagnostics", "-specs", "-target", "-u", "-working-directory", "-wrapper", "-x", "-z",
	"--assert", "--config", "--define-macro", "--entry", "--for-assembler", "--for-linker", "--imacros",
	"--include", "--include-directory", "--include-directory-after", "--include-prefix", "--language",
	"--library-directory", "--output", "--param", "--prefix", "--specs", "--std", "--sysroot", "--undefine-macro",
};

/* Options after which the linker does not run. */
static const char *const no_link[] = {
	"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "-emit-ast", "-emit-pch", "-verify-pch", "-rewrite-objc",
	"-module-file-info", "--analyze", "--assemble", "--compile", "--dependencies", "--precompile", "--preprocess",
	"--user-dependencies",
};

/* Of these, those after which only the preprocessor runs. */
static const char *const only_preprocess[] = {
	"-E", "-M", "-MM", "--dependencies", "--preprocess", "--user-dependencies",
};

/* Sanitizers that no compiler combines with thread's. */
static const char *const excluding[] = {
	"address", "dataflow", "hwaddress", "kernel-address", "kernel-hwaddress", "kernel-memory", "leak", "memory",
};

enum { EXCLUDING = sizeof excluding / sizeof *excluding };

#define IN(word, table) is_in(word, table, sizeof(table) / sizeof *(table))

static bool is_in(const char *word, const char *const *table, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(word, table[i]) == 0)
			return true;
	return false;
}

static bool starts(const char *word, const char *with)
{
	return strncmp(word, with, strlen(with)) == 0;
}

struct reading {
	struct cc_args *a;
	const char *language;   /* of -x, or NULL */
	bool named_libc;
	bool makes_program;     /* an input that is not a header */
	bool asked[EXCLUDING];  /* which of the excluding sanitizers are on */
};

/* A header by itself is compiled, and not linked. */
static bool is_header(const struct reading *r, const char *name)
{
	static const char *const suffixes[] = {".h", ".hh", ".hp", ".hpp", ".hxx", ".h++", ".H", ".HPP", ".tcc"};
	const char *dot = strrchr(name, '.');

	if (r->language)
		return strstr(r->language, "-header") != NULL;
	return dot && IN(dot, suffixes);
}

static void take_input(struct reading *r, const char *word)
{
	r->a->has_input = true;
	if (!is_header(r, word))
		r->makes_program = true;
}

static void take_language(struct reading *r, const char *language)
{
	r->language = language && strcmp(language, "none") != 0 ? language : NULL;
}

/* One list of -fsanitize= or -fno-sanitize=; later ones undo earlier ones. */
static void take_sanitizers(struct reading *r, const char *list, bool on)
{
	while (*list) {
		size_t n = strcspn(list, ",");

		for (size_t i = 0; i < EXCLUDING; i++)
			if ((strlen(excluding[i]) == n && memcmp(list, excluding[i], n) == 0) ||
				(!on && n == 3 && memcmp(list, "all", n) == 0))
				r->asked[i] = on;
		list += n + (list[n] == ',');
	}
}

/* -gz and the like say how, not whether. */
static bool chooses_debug(const char *word)
{
	return starts(word, "-g") && !starts(word, "-gz") && !starts(word, "-gno-") && !starts(word, "-grecord") &&
		!starts(word, "-gcc-");
}

static void take_option(struct reading *r, const char *word)
{
	static const char *const statics[] = {"-static", "--static", "-static-pie"};
	static const char *const partial[] = {"-r", "-Wl,-r", "-Wl,--relocatable"};
	static const char *const bare[] = {"-nostdlib", "--no-standard-libraries", "-nodefaultlibs", "-nolibc"};
	struct cc_args *a = r->a;

	a->links &= !IN(word, no_link);
	a->compiles &= !IN(word, only_preprocess);
	a->is_static |= IN(word, statics);
	a->relocatable |= IN(word, partial);
	a->bare |= IN(word, bare);
	a->has_debug |= chooses_debug(word);
	if (starts(word, "-masm="))
		a->foreign = strcmp(word, "-masm=att") != 0;
	a->late = starts(word, "-flto") || (a->late && strcmp(word, "-fno-lto") != 0);
	r->named_libc |= strcmp(word, "-lc") == 0;
	a->has_input |= starts(word, "-l");
	r->makes_program |= starts(word, "-l");
	if (starts(word, "-fsanitize="))
		take_sanitizers(r, strchr(word, '=') + 1, true);
	else if (starts(word, "-fno-sanitize="))
		take_sanitizers(r, strchr(word, '=') + 1, false);
	else if (starts(word, "-x") && word[2])
		take_language(r, word + 2);
	else if (starts(word, "--language="))
		take_language(r, strchr(word, '=') + 1);
}

/*
 * All words in order. `end` is the argument before which flags can be added: the one with a "--" in it, after which
 * all is files, or an option at the very end whose argument is missing, which must not take ours for it.
 */
static void take_words(struct reading *r, const struct cc_words *words)
{
	for (size_t i = 0; i < words->count; i++) {
		const struct cc_word *w = &words->at[i];

		if (strcmp(w->text, "--") == 0) {
			r->a->end = w->argument;
			for (i++; i < words->count; i++)
				take_input(r, words->at[i].text);
		} else if (w->text[0] != '-' || !w->text[1]) {
			take_input(r, w->text);
		} else if (IN(w->text, with_argument)) {
			if (strcmp(w->text, "-x") == 0 && i + 1 < words->count)
				take_language(r, words->at[i + 1].text);
			if (++i == words->count)
				r->a->end = w->argument;
		} else {
			take_option(r, w->text);
		}
	}
}

bool cc_args_takes_next(const char *word)
{
	return IN(word, with_argument);
}

void cc_args_read(struct cc_args *a, int argc, char **argv, struct arena *arena)
{
	struct cc_words words = {.arena = arena};
	struct reading r = {.a = a};

	*a = (struct cc_args){.links = true, .compiles = true, .end = argc};
	for (int i = 1; i < argc; i++)
		cc_words_add(&words, argv[i], i);
	take_words(&r, &words);
	a->links &= r.makes_program;
	a->header = !r.makes_program;
	a->bare &= !r.named_libc;
	for (size_t i = 0; i < EXCLUDING; i++)
		if (r.asked[i])
			a->clash = excluding[i];
}
