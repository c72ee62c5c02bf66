/* SPDX-License-Identifier: MIT */
/*
 * fission doctor PROGRAM: what can be told of a program without running it.
 *
 * fission-cc leaves three marks: libfission.so among the libraries that the program needs, hooks (__tsan_...) among the
 * functions that it takes from there, and debug information. A program that lacks one of the first two tells nothing.
 */
#include "doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "symbols/elf_file.h"

#if defined(__x86_64__)
enum { MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { MACHINE = EM_AARCH64 };
#else
enum { MACHINE = EM_NONE };
#endif

static const char rebuild[] = "build it with fission-cc: make CC=fission-cc CXX=fission-c++";

/* What the dynamic section says. */
struct needs {
	bool dynamic, fission;
	const char *sanitizer; /* of another kind, or NULL */
	const char *path;      /* where libraries are looked for first, with colons, or NULL */
};

static void note(struct needs *n, const char *library)
{
	static const char *const others[] = {"libasan.so", "libtsan.so", "libmsan.so", "libubsan.so"};

	if (!library)
		return;
	n->fission |= strcmp(library, "libfission.so") == 0;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (strncmp(library, others[i], strlen(others[i])) == 0)
			n->sanitizer = others[i];
}

static struct needs needs_of(const struct elf_file *f)
{
	struct needs n = {0};
	GElf_Shdr header;
	Elf_Scn *section = elf_file_section(f, ".dynamic", &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	GElf_Dyn entry;

	n.dynamic = data != NULL;
	for (int i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++)
		if (entry.d_tag == DT_NEEDED)
			note(&n, elf_strptr(f->elf, header.sh_link, entry.d_un.d_val));
		else if (entry.d_tag == DT_RUNPATH || entry.d_tag == DT_RPATH)
			n.path = elf_strptr(f->elf, header.sh_link, entry.d_un.d_val);
	return n;
}

/* Whether the library is in one of the directories. */
static bool has_library(const char *path)
{
	char file[PATH_MAX];

	for (size_t n; path; path = path[n] ? path + n + 1 : NULL) {
		n = strcspn(path, ":");
		if (snprintf(file, sizeof file, "%.*s/libfission.so", (int)n, path) < (int)sizeof file && access(file, R_OK) == 0)
			return true;
	}
	return false;
}

/* Those in the program's own code go on in the library, too. */
static bool is_hook(const char *name)
{
	return (strncmp(name, "__tsan_", 7) == 0 && strcmp(name, "__tsan_init") != 0) ||
	       strcmp(name, "__fission_func_entry") == 0;
}

/* How many hooks the program takes from the library. */
static size_t hooks_of(const struct elf_file *f)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_file_section(f, ".dynsym", &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	GElf_Sym symbol;
	size_t n = 0;

	for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
		const char *name = elf_strptr(f->elf, header.sh_link, symbol.st_name);

		n += name && symbol.st_shndx == SHN_UNDEF && is_hook(name);
	}
	return n;
}

static void look_at_linking(const struct elf_file *f)
{
	struct needs n = needs_of(f);
	size_t hooks = hooks_of(f);

	if (!n.dynamic) {
		doctor_say(UNFIT, "linking", "it is static: Fission's library cannot be in front of the C library");
		doctor_advise("link it without -static, with fission-cc");
	} else if (n.sanitizer) {
		doctor_say(UNFIT, "linking", "it is linked with %s, whose hooks are in the way of Fission's", n.sanitizer);
		doctor_advise("build it without -fsanitize=..., with fission-cc");
	} else if (!n.fission) {
		doctor_say(UNFIT, "linking", "it was not linked with fission-cc: it would run, and only its locks would be seen");
		doctor_advise("%s", rebuild);
	} else if (!has_library(n.path)) {
		doctor_say(UNFIT, "linking", "it needs libfission.so, which is not in %s", n.path ? n.path : "any place it looks at");
		doctor_advise("link it again with fission-cc: Fission was moved, or the program comes from another machine");
	} else {
		doctor_say(FIT, "linking", "linked with fission-cc");
	}
	if (n.fission && !hooks) {
		doctor_say(UNFIT, "hooks",
			"none: its objects were not compiled with fission-cc; only locks and threads would be seen");
		doctor_advise("compile with it, too, from scratch: make clean; make CC=fission-cc CXX=fission-c++");
	} else if (n.fission) {
		doctor_say(FIT, "hooks", "its reads, writes and calls are seen");
	}
}

static void look_at_debug(const struct elf_file *f, const char *path)
{
	struct elf_file apart;
	GElf_Shdr header;
	struct arena arena;

	arena_init(&arena);
	if (elf_file_has_debug(f)) {
		doctor_say(FIT, "debug info", "reports will have files and lines");
	} else if (elf_file_open_debug(&apart, f, path, "/usr/lib/debug", &arena)) {
		doctor_say(FIT, "debug info", "in a file of its own; reports will have files and lines");
		elf_file_close(&apart);
	} else if (elf_file_section(f, ".symtab", &header)) {
		doctor_say(DOUBTFUL, "debug info", "none: reports will have functions, but neither files nor lines");
		doctor_advise("compile with -g, which fission-cc adds unless -g0 is given");
	} else {
		doctor_say(DOUBTFUL, "debug info", "none, and it is stripped: reports will have addresses");
		doctor_advise("leave out strip and -s, or keep the debug file where .gnu_debuglink says");
	}
	arena_free(&arena);
}

static void look_at_binary(const struct elf_file *f, const char *path)
{
	GElf_Ehdr header;

	if (!gelf_getehdr(f->elf, &header) || (header.e_type != ET_EXEC && header.e_type != ET_DYN)) {
		doctor_say(UNFIT, "program", "%s is no program, but something that is linked into one", path);
		doctor_advise("give the program that it belongs to");
		return;
	}
	if (MACHINE != EM_NONE && header.e_machine != MACHINE) {
		doctor_say(UNFIT, "program", "%s is for another machine", path);
		doctor_advise("build it for this one, with fission-cc");
		return;
	}
	if (access(path, X_OK) != 0) {
		doctor_say(UNFIT, "program", "%s is not executable", path);
		doctor_advise("chmod +x %s", path);
	} else {
		doctor_say(FIT, "program", "%s", path);
	}
	look_at_linking(f);
	look_at_debug(f, path);
}

static void look_at_other(const char *path)
{
	char head[2] = {0};
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool script = fd >= 0 && read(fd, head, 2) == 2 && head[0] == '#' && head[1] == '!';

	if (fd >= 0)
		close(fd);
	doctor_say(UNFIT, "program", script ? "%s is a script" : "%s is no program for Linux", path);
	if (script)
		doctor_advise("give the program that it starts; 'fission run' follows scripts into programs, doctor does not");
	else
		doctor_advise("give the program that your build has made");
}

void doctor_program(const char *path)
{
	struct elf_file f;
	struct stat s;

	if (stat(path, &s) != 0) {
		doctor_say(UNFIT, "program", "%s: %s", path, strerror(errno));
		doctor_advise("give a path to the program; names are not looked up in PATH");
		return;
	}
	if (!S_ISREG(s.st_mode)) {
		doctor_say(UNFIT, "program", "%s is no file", path);
		return;
	}
	if (s.st_mode & (S_ISUID | S_ISGID)) {
		doctor_say(DOUBTFUL, "owner", "%s runs as another user, and is kept from our library then", path);
		doctor_advise("run it as that user, without the set-user-id bit");
	}
	if (!elf_file_open(&f, path)) {
		look_at_other(path);
		return;
	}
	look_at_binary(&f, path);
	elf_file_close(&f);
}
