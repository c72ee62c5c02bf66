/* SPDX-License-Identifier: MIT */
#include "cc_flags.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "cli/cc_args.h"

/*
 * Hooks for accesses and for entries and exits. A fortified memcpy goes around -fno-builtin, and is expanded without a hook.
 */
static const char *const both[] = {
	"-fsanitize=thread", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-D__FISSION__=1", "-U_FORTIFY_SOURCE",
};

/*
 * Functions are left standing: an inlined one has no activations. But those that are no larger than a call of them are
 * expanded, as is_red(n) or read64(p) are: half of all calls in some programs. Such a function does one thing, and what
 * splits that is named by its caller; one of five parameters or more may do two: docs/limits.md. The debug information
 * has their frames. Headers see what they would see without any inlining: libc's have other forms of some functions,
 * which go around hooks.
 */
static const char *const gcc_inlining[] = {
	"-fno-inline-functions", "-fno-inline-functions-called-once", "-fno-indirect-inlining",
	"--param=early-inlining-insns=0", "--param=max-inline-insns-auto=0", "--param=max-inline-insns-single=0",
	"--param=max-inline-insns-small=0", "--param=max-inline-insns-size=0", "--param=inline-min-speedup=100",
	"-D__NO_INLINE__=1",
};

/*
 * gcc expands these functions where it can, without hooks; the library's are seen. Not strlen: it must stay a constant
 * in initialisers. -Wtsan says that fences are not supported by gcc's own runtime, which is not used.
 */
static const char *const gcc_only[] = {
	"-fno-ipa-sra", "-fno-ipa-icf", "-fno-partial-inlining", "--param=tsan-distinguish-volatile=1", "-Wno-tsan",
	"-fno-builtin-memcpy", "-fno-builtin-memmove", "-fno-builtin-memset", "-fno-builtin-memcmp",
	"-fno-builtin-mempcpy", "-fno-builtin-bcmp", "-fno-builtin-bcopy", "-fno-builtin-bzero", "-fno-builtin-strcpy",
	"-fno-builtin-stpcpy", "-fno-builtin-strncpy", "-fno-builtin-stpncpy", "-fno-builtin-strcat",
	"-fno-builtin-strncat", "-fno-builtin-strcmp", "-fno-builtin-strncmp", "-fno-builtin-strcasecmp",
	"-fno-builtin-strncasecmp",
};

/* clang leaves out the read of x = x + 1 otherwise, and makes one access of several where it vectorizes. */
static const char *const clang_only[] = {
	"-fno-inline", "-fno-vectorize", "-fno-slp-vectorize", "-mllvm", "-tsan-instrument-read-before-write=1", "-mllvm",
	"-tsan-distinguish-volatile=1", "-fno-sanitize-link-runtime",
};

#define ADD_ALL(line, table) add_all(line, table, sizeof(table) / sizeof *(table))

void cc_line_add(struct cc_line *line, const char *word)
{
	line->words = arena_reserve(line->arena, line->words, &line->capacity, line->count + 1, sizeof *line->words);
	line->words[line->count++] = word;
	line->words[line->count] = NULL;
}

static void add_all(struct cc_line *line, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		cc_line_add(line, words[i]);
}

/* Cuts the last part off; false at the root. */
static bool go_up(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || slash == path)
		return false;
	*slash = 0;
	return true;
}

static const char *join(struct arena *arena, const char *directory, const char *name)
{
	struct str s;

	str_init(&s, arena);
	str_printf(&s, "%s/%s", directory, name);
	return s.at;
}

static bool has_header(struct arena *arena, const char *directory)
{
	return access(join(arena, directory, "fission.h"), R_OK) == 0;
}

const char *cc_flags_directory(struct arena *arena)
{
	char self[PATH_MAX];
	const char *built, *installed;

	if (!realpath("/proc/self/exe", self) || !go_up(self))
		die(STATUS_UNFIT, "cannot tell where the tool is; /proc must be there");
	built = join(arena, self, "driver");
	if (has_header(arena, built))
		return built;
	installed = join(arena, go_up(self) ? self : "", "lib/fission");
	if (!has_header(arena, installed))
		die(STATUS_UNFIT, "neither %s nor %s has fission.h; install Fission as a whole", built, installed);
	return installed;
}

/*
 * In front of everything else, so that the program's other libraries find our functions before libc's. In -Xlinker
 * and not in -Wl, where the path is: it may have a comma. Not as a file: -x would be about it.
 */
static void add_library(struct cc_line *line, const char *directory)
{
	const char *const words[] = {
		"-L", directory, "-Wl,--push-state,--no-as-needed", "-l:libfission.so", "-Wl,--pop-state", "-Xlinker",
		"-rpath", "-Xlinker", directory,
	};

	if (access(join(line->arena, directory, "libfission.so"), R_OK) != 0)
		die(STATUS_UNFIT, "%s/libfission.so is not there; install Fission as a whole", directory);
	ADD_ALL(line, words);
}

/* Where gcc finds what stands in for its own runtime, even where no library is linked. */
static void add_prefix(struct cc_line *line, const char *directory)
{
	cc_line_add(line, "-B");
	cc_line_add(line, join(line->arena, directory, ""));
}

/* clang complains about what a step has no use for, such as an option of the compiler where only an assembler runs. */
static void quietly(struct cc_line *line, enum cc_family family, bool begin)
{
	if (family == CC_CLANG)
		cc_line_add(line, begin ? "--start-no-unused-arguments" : "--end-no-unused-arguments");
}

void cc_flags_front(struct cc_line *line, enum cc_family family, const struct cc_args *a, const char *directory)
{
	quietly(line, family, true);
	if (a->compiles && !a->has_debug) /* it would show in what the preprocessor writes */
		cc_line_add(line, "-g");
	cc_line_add(line, "-fexceptions");
	if (a->links && family == CC_GCC)
		add_prefix(line, directory);
	if (a->links && !a->relocatable && !a->bare)
		add_library(line, directory);
	quietly(line, family, false);
}

/*
 * Behind the user's own -include, which may be a header that was compiled before: that must come first. Found behind
 * -idirafter it is a system's header, of which dependencies do not speak.
 */
static void add_hooks(struct cc_line *line, const struct cc_args *a)
{
	if (!a->compiles || a->late || a->foreign || a->header)
		return;
	cc_line_add(line, "-include");
	cc_line_add(line, "fission/hooks.h");
}

void cc_flags_back(struct cc_line *line, enum cc_family family, const struct cc_args *a, const char *directory)
{
	quietly(line, family, true);
	ADD_ALL(line, both);
	if (family == CC_GCC) {
		ADD_ALL(line, gcc_inlining);
		ADD_ALL(line, gcc_only);
	} else {
		ADD_ALL(line, clang_only);
	}
	cc_line_add(line, "-idirafter");
	cc_line_add(line, directory);
	if (family == CC_GCC)
		add_hooks(line, a);
	quietly(line, family, false);
}
